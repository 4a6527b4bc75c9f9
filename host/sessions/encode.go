package sessions

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/wire"
)

// members are those of a map that is being made.
type members wire.Map

func (m *members) put(name string, v any) { *m = append(*m, wire.Member{Key: name, Value: v}) }

func (m *members) text(name, s string) {
	if s != "" {
		m.put(name, s)
	}
}

func (m *members) flag(name string, b bool) {
	if b {
		m.put(name, true)
	}
}

func (m *members) number(name string, n int) {
	if n != 0 {
		m.put(name, n)
	}
}

func (m *members) object(name string, v map[string]any) {
	if len(v) > 0 {
		m.put(name, v)
	}
}

// more adds further members, unless they are there.
func (m *members) more(v map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if !slices.ContainsFunc(*m, func(o wire.Member) bool { return o.Key == name }) {
			m.put(name, v[name])
		}
	}
}

func (m members) value() wire.Map { return wire.Map(m) }

// encode appends an event's value.
func (e *Event) encode(dst []byte) ([]byte, error) {
	if e == nil {
		return dst, invalidEvent("must be an event")
	}
	v, err := wire.Append(dst, e.form(), "event")
	if err != nil {
		return dst, invalidIn("event", err)
	}
	return v, nil
}

// invalidIn is the error of an event, or of an answer, that has no encoding. It names the member.
func invalidIn(whole string, err error) error {
	field := strings.TrimPrefix(strings.TrimPrefix(fieldOf(err), whole), ".")
	code := host.CodeInvalidEvent
	if strings.HasPrefix(field, "actions.stateDelta") {
		code = host.CodeInvalidState
	}
	return invalid(code, field, err)
}

// invalidAnswer is the error of what a hook has answered, or of its actions.
func invalidAnswer(hook string, err error) error {
	field, code := strings.TrimPrefix(fieldOf(err), "."), host.CodeInvalidEvent
	if strings.HasPrefix(field, "actions.stateDelta") {
		code = host.CodeInvalidState
	}
	if of, ofValue := strings.CutPrefix(field, "value"); ofValue {
		field = hook + of
	} else {
		field = hook + "." + field
	}
	return invalid(code, field, err)
}

// encoded appends a value. Errors have a code and name the field within the value.
func encoded(dst []byte, v any, field string, code host.Code) ([]byte, error) {
	b, err := wire.Append(dst, v, field)
	if err != nil {
		return dst, invalid(code, fieldOf(err), err)
	}
	return b, nil
}

func fieldOf(err error) string {
	var e *wire.Error
	if errors.As(err, &e) {
		return e.Field
	}
	return ""
}

// invalid is an error about a field.
func invalid(code host.Code, field string, cause error) error {
	detail := cause.Error()
	var e *wire.Error
	if errors.As(cause, &e) {
		detail = e.Reason
	}
	if field != "" {
		detail = field + ": " + detail
	}
	out := host.NewError(code, detail, cause)
	out.Details = map[string]any{"field": field}
	return out
}

func (e *Event) form() wire.Map {
	m := make(members, 0, 8)
	m.text("id", e.ID)
	m.text("invocationId", e.InvocationID)
	m.text("author", e.Author)
	if !e.Timestamp.IsZero() {
		m.put("timestamp", e.Timestamp.UnixMilli())
	}
	m.text("branch", e.Branch)
	if e.Content != nil {
		m.put("content", e.Content.form())
	}
	m.flag("partial", e.Partial)
	m.flag("turnComplete", e.TurnComplete)
	m.flag("interrupted", e.Interrupted)
	m.text("finishReason", e.FinishReason)
	m.text("errorCode", e.ErrorCode)
	m.text("errorMessage", e.ErrorMessage)
	if e.Usage != nil {
		m.put("usage", e.Usage.form())
	}
	if len(e.LongRunningToolIDs) > 0 {
		m.put("longRunningToolIds", e.LongRunningToolIDs)
	}
	m.object("customMetadata", e.CustomMetadata)
	if !e.Actions.Empty() {
		m.put("actions", e.Actions.form())
	}
	return m.value()
}

func (c *Content) form() wire.Map {
	m := make(members, 0, 2)
	m.text("role", c.Role)
	parts := make([]any, len(c.Parts))
	for i := range c.Parts {
		parts[i] = c.Parts[i].form()
	}
	m.put("parts", parts)
	return m.value()
}

func (p *Part) form() wire.Map {
	m := make(members, 0, 2)
	if p.Text != "" || p.isText() { // a text beside another member is refused, not lost
		m.put("text", p.Text)
	}
	m.flag("thought", p.Thought)
	if b := p.InlineData; b != nil {
		m.put("inlineData", wire.Map{{Key: "mimeType", Value: b.MIMEType}, {Key: "data", Value: slices.Concat([]byte{}, b.Data)}})
	}
	if f := p.FileData; f != nil {
		file := members{}
		file.put("fileUri", f.URI)
		file.text("mimeType", f.MIMEType)
		m.put("fileData", file.value())
	}
	if c := p.FunctionCall; c != nil {
		m.put("functionCall", functionForm(c.ID, c.Name, "args", c.Args))
	}
	if r := p.FunctionResponse; r != nil {
		m.put("functionResponse", functionForm(r.ID, r.Name, "response", r.Response))
	}
	if p.ExecutableCode != nil {
		m.put("executableCode", p.ExecutableCode)
	}
	if p.CodeExecutionResult != nil {
		m.put("codeExecutionResult", p.CodeExecutionResult)
	}
	if p.ThoughtSignature != nil {
		m.put("thoughtSignature", p.ThoughtSignature)
	}
	m.more(p.More)
	return m.value()
}

func functionForm(id, name, member string, v map[string]any) wire.Map {
	m := make(members, 0, 3)
	m.text("id", id)
	m.put("name", name)
	if v == nil {
		v = map[string]any{}
	}
	m.put(member, v)
	return m.value()
}

func (u *Usage) form() wire.Map {
	m := members{}
	m.number("promptTokens", u.PromptTokens)
	m.number("completionTokens", u.CompletionTokens)
	m.number("totalTokens", u.TotalTokens)
	m.number("cachedTokens", u.CachedTokens)
	m.number("reasoningTokens", u.ReasoningTokens)
	m.more(u.More)
	return m.value()
}

func (a *Actions) form() wire.Map {
	m := members{}
	m.object("stateDelta", a.StateDelta)
	if len(a.ArtifactDelta) > 0 {
		m.put("artifactDelta", a.ArtifactDelta)
	}
	m.flag("skipSummarization", a.SkipSummarization)
	m.text("transferToAgent", a.TransferToAgent)
	m.flag("escalate", a.Escalate)
	if len(a.RequestedConfirmations) > 0 {
		asked := members{}
		for _, id := range slices.Sorted(maps.Keys(a.RequestedConfirmations)) {
			c := a.RequestedConfirmations[id]
			asked.put(id, c.form())
		}
		m.put("requestedConfirmations", asked.value())
	}
	m.object("compaction", a.Compaction)
	m.text("rewindBeforeInvocationId", a.RewindBeforeInvocationID)
	m.more(a.More)
	return m.value()
}

func (c *Confirmation) form() wire.Map {
	m := members{}
	m.text("name", c.Name)
	if c.Args != nil {
		m.put("args", c.Args)
	}
	m.text("hint", c.Hint)
	if c.Payload != nil {
		m.put("payload", c.Payload)
	}
	return m.value()
}

// timeOf is the time of so many ms since the Unix epoch.
func timeOf(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
