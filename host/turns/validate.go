package turns

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/wire"
)

// given is the value of one field as the rules see it. What Go's types already say is not checked again.
type given struct {
	present bool
	text    string
	number  float64
}

func givenText[S ~string](s S) given    { return given{present: true, text: string(s)} }
func optionalText[S ~string](s S) given { return given{present: s != "", text: string(s)} }
func givenNumber(n float64) given       { return given{present: true, number: n} }
func givenTime(t time.Time) given       { return given{present: !t.IsZero()} }
func givenIf(present bool) given        { return given{present: present} }
func optionalNumber(n *float64) (g given) {
	if n != nil {
		g = givenNumber(*n)
	}
	return g
}

// violations lists what is wrong with values, which stand in the order of the table's fields. The names of the fields
// are prefixed with path.
func violations(rules *abi.Rules, path string, values []given) (list []string) {
	for i := range rules.Fields {
		f := &rules.Fields[i]
		if i < len(values) && obeys(f, values[i]) {
			continue
		}
		list = append(list, violation(f, path, values[min(i, len(values)-1)]))
	}
	at := func(name string) given {
		i := slices.IndexFunc(rules.Fields, func(f abi.Field) bool { return f.Name == name })
		return values[i]
	}
	for _, c := range rules.Cross {
		field, other := at(c.Field), at(c.Other)
		broken := false
		switch c.Rule {
		case abi.RuleRequires:
			broken = field.present && !other.present
		case abi.RuleRequiredWithout:
			broken = !other.present && field.text == ""
		case abi.RuleExactlyOne:
			broken = field.present == other.present
		case abi.RuleEither:
			broken = !field.present && !other.present
		}
		if broken {
			list = append(list, abi.Violation(c.Rule, "field", path+c.Field, "other", path+c.Other))
		}
	}
	return list
}

func obeys(f *abi.Field, v given) bool {
	switch {
	case !v.present:
		return !f.Required
	case f.NonEmpty && v.text == "" && f.Kind.IsText():
		return false
	case f.Range != nil && !(v.number >= f.Range.Min && v.number <= f.Range.Max): // also refuses NaN
		return false
	case len(f.Enum) > 0 && !slices.Contains(f.Enum, v.text):
		return false
	}
	return true
}

func violation(f *abi.Field, path string, v given) string {
	name := path + f.Name
	switch {
	case !v.present:
		return abi.Violation(abi.RuleRequired, "field", name)
	case f.NonEmpty && v.text == "":
		return abi.Violation(abi.RuleNonEmpty, "field", name)
	case f.Range != nil:
		return abi.Violation(abi.RuleRange, "field", name, "min", number(f.Range.Min), "max", number(f.Range.Max))
	}
	quoted := make([]string, len(f.Enum))
	for i, s := range f.Enum {
		quoted[i] = strconv.Quote(s)
	}
	return abi.Violation(abi.RuleEnum, "field", name, "values", strings.Join(quoted, ", "))
}

func number(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }

// invalid makes the error of a type whose rules are broken; nil if list is empty.
func invalid(rules *abi.Rules, list []string) error {
	if len(list) == 0 {
		return nil
	}
	return newError(rules.Code, strings.Join(list, "; "), newError(abi.CodeValidationException, strings.Join(list, " and "), nil))
}

// Validate checks the identity against the rules of E_INVALID_INITIAL_IDENTITY_VALUE.
func (i *Identity) Validate() error {
	return invalid(abi.IdentityRules, i.violations(""))
}

func (i *Identity) violations(path string) []string {
	if i == nil {
		return nil
	}
	return violations(abi.IdentityRules, path, []given{givenText(i.Identifier), givenText(i.Representation)})
}

// givenContentOr is content as the rules see it: a Tokenizable counts as text that is there.
func givenContentOr(content given, t *Tokenizable) given {
	if t == nil {
		return content
	}
	return given{present: true, text: "content"}
}

// twoContents refuses content that is given twice.
func twoContents(content string, t *Tokenizable) []string {
	if content == "" || t == nil {
		return nil
	}
	return []string{abi.Violation(abi.RuleExactlyOne, "field", "content", "other", "tokenizable")}
}

// Validate checks the message against the rules of E_INVALID_INITIAL_MESSAGE_VALUE.
func (m *Message) Validate() error {
	if m == nil {
		return missing(abi.MessageRules)
	}
	if err := renderable(m.Tokenizable); err != nil {
		return err
	}
	v := [...]given{
		givenText(m.ID), givenText(m.Role), givenContentOr(optionalText(m.Content), m.Tokenizable), givenIf(m.Identity != nil),
		givenTime(m.CreatedAt), givenTime(m.UpdatedAt), givenIf(len(m.Attachments) > 0),
	}
	list := append(violations(abi.MessageRules, "", v[:]), m.Identity.violations("identity.")...)
	list = append(list, twoContents(m.Content, m.Tokenizable)...)
	return invalid(abi.MessageRules, append(list, invalidMedia("attachments", m.Attachments)...))
}

// invalidMedia lists what is wrong with media.
func invalidMedia(field string, list []*Media) (wrong []string) {
	for i, m := range list {
		if err := m.Validate(); err != nil {
			wrong = append(wrong, at(field, i)+": "+err.Error())
		}
	}
	return wrong
}

// invalidArtifact says what is wrong with an artifact.
func invalidArtifact(field string, a *SpooledArtifact) []string {
	if err := a.Validate(); err != nil {
		return []string{field + ": " + err.Error()}
	}
	return nil
}

// invalidResults lists what is wrong with the results of a tool call.
func invalidResults(results any) (wrong []string) {
	const field = "results"
	empty := []string{abi.Violation(abi.RuleNonEmptyList, "field", field)}
	switch r := results.(type) {
	case nil, string: // that they are there is checked by the table
	case *Tokenizable:
		if r == nil {
			return []string{abi.Violation(abi.RuleRequired, "field", field)}
		}
	case *SpooledArtifact:
		return invalidArtifact(field, r)
	case *Media:
		if err := r.Validate(); err != nil {
			return []string{field + ": " + err.Error()}
		}
	case []*SpooledArtifact:
		for i, a := range r {
			wrong = append(wrong, invalidArtifact(at(field, i), a)...)
		}
		if len(r) == 0 {
			return empty
		}
	case []*Media:
		if len(r) == 0 {
			return empty
		}
		return invalidMedia(field, r)
	default:
		return []string{abi.Violation(string(abi.KindResults), "field", field)}
	}
	return wrong
}

// givenContent is the content of a document as the rules see it.
func givenContent(content any) given {
	if text, ok := content.(string); ok {
		return givenText(text)
	}
	// What it is otherwise is checked apart.
	return given{present: content != nil, text: "content"}
}

// invalidContent lists what is wrong with the content of a document.
func invalidContent(content any) []string {
	switch c := content.(type) {
	case nil, string:
		return nil
	case *Tokenizable:
		if c == nil {
			return []string{abi.Violation(abi.RuleRequired, "field", "content")}
		}
		return nil
	case *SpooledArtifact:
		return invalidArtifact("content", c)
	}
	return []string{abi.Violation(string(abi.KindContent), "field", "content")}
}

// Validate checks the memory against the rules of E_INVALID_INITIAL_MEMORY_VALUE.
func (m *Memory) Validate() error {
	if m == nil {
		return missing(abi.MemoryRules)
	}
	if err := renderable(m.Tokenizable); err != nil {
		return err
	}
	v := [...]given{
		givenText(m.ID), givenContentOr(givenText(m.Content), m.Tokenizable), givenNumber(m.Confidence), givenNumber(m.Importance),
		givenTime(m.CreatedAt), givenTime(m.UpdatedAt),
	}
	return invalid(abi.MemoryRules, append(violations(abi.MemoryRules, "", v[:]), twoContents(m.Content, m.Tokenizable)...))
}

// Validate checks the thought against the rules of E_INVALID_INITIAL_THOUGHT_VALUE.
func (t *Thought) Validate() error {
	if t == nil {
		return missing(abi.ThoughtRules)
	}
	if err := renderable(t.Tokenizable); err != nil {
		return err
	}
	v := [...]given{
		givenText(t.ID), givenContentOr(givenText(t.Content), t.Tokenizable), givenIf(t.Identity != nil), givenIf(t.Payload != nil),
		optionalText(t.ReplayCompatibility), givenTime(t.CreatedAt), givenTime(t.UpdatedAt),
	}
	list := append(violations(abi.ThoughtRules, "", v[:]), t.Identity.violations("identity.")...)
	list = append(list, twoContents(t.Content, t.Tokenizable)...)
	return invalid(abi.ThoughtRules, appendUnencodable(list, "payload", t.Payload))
}

// Validate checks the tool call against the rules of E_INVALID_INITIAL_TOOL_CALL_VALUE.
func (c *ToolCall) Validate() error {
	if c == nil {
		return missing(abi.ToolCallRules)
	}
	if err := renderable(c.Results); err != nil {
		return err
	}
	v := [...]given{
		givenText(c.ID), givenText(c.Tool), givenIf(len(c.Args) > 0), givenText(c.Checksum),
		optionalText(c.ExecutionID), optionalText(c.ProviderCallID),
		givenIf(true), givenIf(true), givenIf(c.Results != nil), givenIf(c.Payload != nil), optionalText(c.ReplayCompatibility),
		givenIf(true), givenIf(true), givenTime(c.CreatedAt), givenTime(c.UpdatedAt), givenTime(c.CompletedAt),
	}
	list := violations(abi.ToolCallRules, "", v[:])
	if len(c.Args) > 0 && !isObject(c.Args) {
		list = append(list, abi.Violation(string(abi.KindArgs), "field", "args"))
	}
	list = append(list, invalidResults(c.Results)...)
	return invalid(abi.ToolCallRules, appendUnencodable(list, "payload", c.Payload))
}

// Validate checks the document against the rules of E_INVALID_INITIAL_RETRIEVABLE_VALUE.
func (r *Retrievable) Validate() error {
	if r == nil {
		return missing(abi.RetrievableRules)
	}
	if err := renderable(r.Content); err != nil {
		return err
	}
	v := [...]given{
		givenText(r.ID), givenContent(r.Content), givenText(r.TrustTier), optionalText(r.Source), optionalText(r.Kind),
		optionalNumber(r.Score), givenIf(true), givenTime(r.CreatedAt), givenTime(r.UpdatedAt), givenIf(r.ArtifactClass != nil),
	}
	return invalid(abi.RetrievableRules, append(violations(abi.RetrievableRules, "", v[:]), invalidContent(r.Content)...))
}

// Validate refuses an empty text with E_INVALID_TURN_CONTEXT.
func (i *Instruction) Validate() error {
	if i == nil || i.Text == "" {
		return invalid(abi.TurnInputRules, []string{abi.Violation(abi.RuleNonEmpty, "field", "standingInstructions")})
	}
	return nil
}

func missing(rules *abi.Rules) error {
	return invalid(rules, []string{abi.Violation(abi.RuleType, "type", rules.Title)})
}

// isObject tells whether text is the JSON text of an object.
func isObject(text json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte{'{'}) && json.Valid(text)
}

func appendUnencodable(list []string, field string, v any) []string {
	if v == nil {
		return list
	}
	if _, err := wire.Append(nil, v, field); err != nil {
		list = append(list, err.Error())
	}
	return list
}
