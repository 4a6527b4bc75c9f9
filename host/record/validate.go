package record

import (
	"errors"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/check"
)

// Validate checks the identity against the rules of E_INVALID_INITIAL_IDENTITY_VALUE.
func (i *Identity) Validate() error {
	return check.Invalid(abi.IdentityRules, i.violations(""))
}

func (i *Identity) violations(path string) []string {
	if i == nil {
		return nil
	}
	return check.Violations(abi.IdentityRules, path, []check.Given{check.Text(i.Identifier), check.Text(i.Representation)})
}

// givenContentOr is content as the rules see it: a Tokenizable counts as text that is there.
func givenContentOr(content check.Given, t *Tokenizable) check.Given {
	if t == nil {
		return content
	}
	return check.Given{Present: true, Text: "content"}
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
		return check.Missing(abi.MessageRules)
	}
	if err := renderable(m.Tokenizable); err != nil {
		return err
	}
	v := [...]check.Given{
		check.Text(m.ID), check.Text(m.Role), givenContentOr(check.OptionalText(m.Content), m.Tokenizable), check.If(m.Identity != nil),
		check.Time(m.CreatedAt), check.Time(m.UpdatedAt), check.If(len(m.Attachments) > 0),
		check.If(len(m.Metadata) > 0),
	}
	list := append(check.Violations(abi.MessageRules, "", v[:]), m.Identity.violations("identity.")...)
	list = append(list, twoContents(m.Content, m.Tokenizable)...)
	list = appendMetadata(list, m.Metadata)
	return check.Invalid(abi.MessageRules, append(list, check.Elements("attachments", m.Attachments)...))
}

// invalid says what is wrong with an artifact or a media.
func invalid(field string, v interface{ Validate() error }) []string {
	if err := v.Validate(); err != nil {
		return []string{field + ": " + err.Error()}
	}
	return nil
}

// ValidateResults says what is wrong with the results of a tool call, nil if they are valid.
func ValidateResults(results any) error {
	if wrong := invalidResults(results); len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "; "))
	}
	return nil
}

// invalidResults lists what is wrong with the results of a tool call.
func invalidResults(results any) []string {
	const field = "results"
	empty := []string{abi.Violation(abi.RuleNonEmptyList, "field", field)}
	switch r := results.(type) {
	case nil, string: // that they are there is checked by the table
	case *Tokenizable:
		if r == nil {
			return []string{abi.Violation(abi.RuleRequired, "field", field)}
		}
	case *SpooledArtifact:
		return invalid(field, r)
	case *Media:
		return invalid(field, r)
	case []*SpooledArtifact:
		if len(r) == 0 {
			return empty
		}
		return check.Elements(field, r)
	case []*Media:
		if len(r) == 0 {
			return empty
		}
		return check.Elements(field, r)
	default:
		return []string{abi.Violation(string(abi.KindResults), "field", field)}
	}
	return nil
}

// givenContent is the content of a document as the rules see it.
func givenContent(content any) check.Given {
	if text, ok := content.(string); ok {
		return check.Text(text)
	}
	// What it is otherwise is checked apart.
	return check.Given{Present: content != nil, Text: "content"}
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
		return invalid("content", c)
	}
	return []string{abi.Violation(string(abi.KindContent), "field", "content")}
}

// appendMetadata lists what is wrong with metadata behind other violations.
func appendMetadata(list []string, m map[string]any) []string {
	if len(m) == 0 {
		return list
	}
	return check.AppendUnencodable(list, "metadata", m)
}

// Validate checks the memory against the rules of E_INVALID_INITIAL_MEMORY_VALUE.
func (m *Memory) Validate() error {
	if m == nil {
		return check.Missing(abi.MemoryRules)
	}
	if err := renderable(m.Tokenizable); err != nil {
		return err
	}
	v := [...]check.Given{
		check.Text(m.ID), givenContentOr(check.Text(m.Content), m.Tokenizable), check.Number(m.Confidence), check.Number(m.Importance),
		check.Time(m.CreatedAt), check.Time(m.UpdatedAt), check.If(len(m.Metadata) > 0),
	}
	list := append(check.Violations(abi.MemoryRules, "", v[:]), twoContents(m.Content, m.Tokenizable)...)
	return check.Invalid(abi.MemoryRules, appendMetadata(list, m.Metadata))
}

// Validate checks the thought against the rules of E_INVALID_INITIAL_THOUGHT_VALUE.
func (t *Thought) Validate() error {
	if t == nil {
		return check.Missing(abi.ThoughtRules)
	}
	if err := renderable(t.Tokenizable); err != nil {
		return err
	}
	v := [...]check.Given{
		check.Text(t.ID), givenContentOr(check.Text(t.Content), t.Tokenizable), check.If(t.Identity != nil), check.If(t.Payload != nil),
		check.OptionalText(t.ReplayCompatibility), check.Time(t.CreatedAt), check.Time(t.UpdatedAt), check.If(len(t.Metadata) > 0),
	}
	list := append(check.Violations(abi.ThoughtRules, "", v[:]), t.Identity.violations("identity.")...)
	list = append(list, twoContents(t.Content, t.Tokenizable)...)
	return check.Invalid(abi.ThoughtRules, appendMetadata(check.AppendUnencodable(list, "payload", t.Payload), t.Metadata))
}

// Validate checks the tool call against the rules of E_INVALID_INITIAL_TOOL_CALL_VALUE.
func (c *ToolCall) Validate() error {
	if c == nil {
		return check.Missing(abi.ToolCallRules)
	}
	if err := renderable(c.Results); err != nil {
		return err
	}
	v := [...]check.Given{
		check.Text(c.ID), check.Text(c.Tool), check.If(len(c.Args) > 0), check.Text(c.Checksum),
		check.OptionalText(c.ExecutionID), check.OptionalText(c.ProviderCallID),
		check.If(true), check.If(true), check.If(c.Results != nil), check.If(c.Payload != nil), check.OptionalText(c.ReplayCompatibility),
		check.If(true), check.If(true), check.Time(c.CreatedAt), check.Time(c.UpdatedAt), check.Time(c.CompletedAt),
		check.If(len(c.Metadata) > 0),
	}
	list := check.Violations(abi.ToolCallRules, "", v[:])
	if len(c.Args) > 0 && !check.IsObject(c.Args) {
		list = append(list, abi.Violation(string(abi.KindArgs), "field", "args"))
	}
	list = append(list, invalidResults(c.Results)...)
	return check.Invalid(abi.ToolCallRules, appendMetadata(check.AppendUnencodable(list, "payload", c.Payload), c.Metadata))
}

// Validate checks the document against the rules of E_INVALID_INITIAL_RETRIEVABLE_VALUE.
func (r *Retrievable) Validate() error {
	if r == nil {
		return check.Missing(abi.RetrievableRules)
	}
	if err := renderable(r.Content); err != nil {
		return err
	}
	v := [...]check.Given{
		check.Text(r.ID), givenContent(r.Content), check.Text(r.TrustTier), check.OptionalText(r.Source), check.OptionalText(r.Kind),
		check.OptionalNumber(r.Score), check.If(true), check.Time(r.CreatedAt), check.Time(r.UpdatedAt), check.If(r.ArtifactClass != nil),
		check.If(len(r.Metadata) > 0),
	}
	list := append(check.Violations(abi.RetrievableRules, "", v[:]), invalidContent(r.Content)...)
	return check.Invalid(abi.RetrievableRules, appendMetadata(list, r.Metadata))
}

// Validate rejects an empty text with E_INVALID_TURN_CONTEXT.
func (i *Instruction) Validate() error {
	if i == nil || i.Text == "" {
		return check.Invalid(abi.TurnInputRules, []string{abi.Violation(abi.RuleNonEmpty, "field", "standingInstructions")})
	}
	return nil
}
