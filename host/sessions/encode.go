package sessions

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/turn"
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

func (m members) value() wire.Map { return wire.Map(m) }

// encode appends an event's value.
func (e *Event) encode(dst []byte) ([]byte, error) {
	if e == nil {
		return dst, invalidEvent("must be an event")
	}
	if !utf8.ValidString(e.ID) {
		return dst, invalid(host.CodeInvalidEvent, "id", errors.New("must be valid UTF-8"))
	}
	return encodeEvent(dst, e.form())
}

// encodeEvent appends the value of an event, or of a response.
func encodeEvent(dst []byte, form wire.Former) ([]byte, error) {
	v, err := wire.Append(dst, form, "event")
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

// tooLarge is the error of a message that cannot be encoded: E_ABI_LIMIT_EXCEEDED for one that no frame holds.
func tooLarge(err error) error {
	var e *wire.Error
	if !errors.As(err, &e) || e.Size == 0 {
		return err
	}
	return turn.TooLarge(e.Field, "", e.Size, abi.MaxFrame, err)
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

// What has a form of its own in the core writes it member by member.
type (
	eventForm        Event
	answerForm       Response
	contentForm      Content
	partForm         Part
	callForm         FunctionCall
	responseForm     FunctionResponse
	usageForm        Usage
	actionsForm      Actions
	confirmationForm Confirmation
	confirmations    map[string]Confirmation
)

func (e *Event) form() wire.Former { return (*eventForm)(e) }

func (r *Response) form() wire.Former { return (*answerForm)(r) }

func (c *Content) form() wire.Former { return (*contentForm)(c) }

func (a *Actions) form() wire.Former { return (*actionsForm)(a) }

// Form implements wire.Former, as do those below.
func (e *eventForm) Form(m *wire.Encoder) {
	m.Text("id", e.ID)
	m.Text("invocationId", e.InvocationID)
	m.Text("author", e.Author)
	if !e.Timestamp.IsZero() {
		m.Put("timestamp", e.Timestamp.UnixMilli())
	}
	m.Text("branch", e.Branch)
	responseOf((*Event)(e)).answer(m)
	if len(e.LongRunningToolIDs) > 0 {
		m.Put("longRunningToolIds", e.LongRunningToolIDs)
	}
	m.Object("customMetadata", e.CustomMetadata)
	if !e.Actions.Empty() {
		m.Put("actions", e.Actions.form())
	}
}

func (r *answerForm) Form(m *wire.Encoder) {
	(*Response)(r).answer(m)
	m.Object("customMetadata", r.CustomMetadata)
}

// answer writes the members that stand together in an event.
func (r *Response) answer(m *wire.Encoder) {
	if r.Content != nil {
		m.Put("content", r.Content.form())
	}
	m.Flag("partial", r.Partial)
	m.Flag("turnComplete", r.TurnComplete)
	m.Flag("interrupted", r.Interrupted)
	m.Text("finishReason", r.FinishReason)
	m.Text("errorCode", r.ErrorCode)
	m.Text("errorMessage", r.ErrorMessage)
	if r.Usage != nil {
		m.Put("usage", (*usageForm)(r.Usage))
	}
}

func (c *contentForm) Form(m *wire.Encoder) {
	m.Text("role", c.Role)
	m.List("parts", len(c.Parts), func(i int) wire.Former { return (*partForm)(&c.Parts[i]) })
}

func (p *partForm) Form(m *wire.Encoder) {
	if p.Text != "" || (*Part)(p).isText() { // a text beside another member is refused, not lost
		m.String("text", p.Text)
	}
	m.Flag("thought", p.Thought)
	if b := p.InlineData; b != nil {
		m.Put("inlineData", wire.Map{{Key: "mimeType", Value: b.MIMEType}, {Key: "data", Value: slices.Concat([]byte{}, b.Data)}})
	}
	if f := p.FileData; f != nil {
		file := members{}
		file.put("fileUri", f.URI)
		file.text("mimeType", f.MIMEType)
		m.Put("fileData", file.value())
	}
	if p.FunctionCall != nil {
		m.Put("functionCall", (*callForm)(p.FunctionCall))
	}
	if p.FunctionResponse != nil {
		m.Put("functionResponse", (*responseForm)(p.FunctionResponse))
	}
	if p.ExecutableCode != nil {
		m.Put("executableCode", p.ExecutableCode)
	}
	if p.CodeExecutionResult != nil {
		m.Put("codeExecutionResult", p.CodeExecutionResult)
	}
	if p.ThoughtSignature != nil {
		m.Put("thoughtSignature", p.ThoughtSignature)
	}
	m.More(p.More)
}

func (c *callForm) Form(m *wire.Encoder) { function(m, c.ID, c.Name, "args", c.Args) }

func (r *responseForm) Form(m *wire.Encoder) { function(m, r.ID, r.Name, "response", r.Response) }

func function(m *wire.Encoder, id, name, member string, v map[string]any) {
	m.Text("id", id)
	m.String("name", name)
	if v == nil {
		v = map[string]any{}
	}
	m.Put(member, v)
}

func (u *usageForm) Form(m *wire.Encoder) {
	m.Number("promptTokens", u.PromptTokens)
	m.Number("completionTokens", u.CompletionTokens)
	m.Number("totalTokens", u.TotalTokens)
	m.Number("cachedTokens", u.CachedTokens)
	m.Number("reasoningTokens", u.ReasoningTokens)
	m.More(u.More)
}

func (a *actionsForm) Form(m *wire.Encoder) {
	m.Object("stateDelta", a.StateDelta)
	if len(a.ArtifactDelta) > 0 {
		m.Put("artifactDelta", a.ArtifactDelta)
	}
	m.Flag("skipSummarization", a.SkipSummarization)
	m.Text("transferToAgent", a.TransferToAgent)
	m.Flag("escalate", a.Escalate)
	if len(a.RequestedConfirmations) > 0 {
		m.Put("requestedConfirmations", confirmations(a.RequestedConfirmations))
	}
	m.Object("compaction", a.Compaction)
	m.Text("rewindBeforeInvocationId", a.RewindBeforeInvocationID)
	m.More(a.More)
}

func (c confirmations) Form(m *wire.Encoder) {
	for _, id := range slices.Sorted(maps.Keys(c)) {
		asked := c[id]
		m.Put(id, (*confirmationForm)(&asked))
	}
}

func (c *confirmationForm) Form(m *wire.Encoder) {
	m.Text("name", c.Name)
	if c.Args != nil {
		m.Put("args", c.Args)
	}
	m.Text("hint", c.Hint)
	if c.Payload != nil {
		m.Put("payload", c.Payload)
	}
}

// timeOf is the time of so many ms since the Unix epoch.
func timeOf(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
