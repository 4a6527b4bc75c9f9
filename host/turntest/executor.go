package turntest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// Executor returns the script as an executor of the program's own, for pipelines and policy around one: it streams an
// answer, runs the tools that it calls one after the other, stores what is complete, and acks when an answer calls no
// tool. A tool that fails is a result for the model, with IsError. A call of a tool that the registry does not have
// fails the test.
//
// Its records have ids of the turn and of the answer's number, and times behind those of the turn's other records.
func (s *Script) Executor() turns.Executor {
	return func(ctx *turns.DispatchContext, h *turns.Helpers) error {
		request, at, err := requestOf(ctx)
		if err != nil {
			return err
		}
		a, n, err := s.next(request)
		if err != nil {
			return err
		}
		p := performance{script: s, ctx: ctx, helpers: h, answer: n, at: at}
		for _, step := range a.steps {
			if err := step.wait(ctx); err != nil {
				return err
			}
			if err := p.take(&step.part); err != nil {
				return err
			}
		}
		return p.end()
	}
}

// performance is an answer that an executor gives.
type performance struct {
	script  *Script
	ctx     *turns.DispatchContext
	helpers *turns.Helpers
	answer  int
	at      time.Time // of the turn's last record

	thought, text strings.Builder
	calls         []*model.ToolCall
	usage         *model.Usage
}

func (p *performance) id(kind string) string {
	return fmt.Sprintf("%s.%s-%d", p.ctx.ID(), kind, p.answer)
}

// next is a time for the next record.
func (p *performance) next() time.Time {
	p.at = p.at.Add(time.Millisecond)
	return p.at
}

// take takes a part.
func (p *performance) take(part *model.Part) error {
	if part.Reasoning != "" {
		p.thought.WriteString(part.Reasoning)
		if err := p.helpers.ReportThought(p.id("thought"), part.Reasoning, false); err != nil {
			return err
		}
	}
	if part.Text != "" {
		p.text.WriteString(part.Text)
		if err := p.helpers.ReportMessage(p.id("message"), part.Text, false); err != nil {
			return err
		}
	}
	if part.ToolCall != nil {
		p.call(part.ToolCall)
	}
	if part.Usage != nil {
		p.usage = part.Usage
	}
	if e := part.Error; e != nil {
		return host.NewError(host.CodeChatProviderError, strings.TrimPrefix(e.Code+": "+e.Message, ": "), nil)
	}
	return nil
}

// call takes a piece of a call: one with a name, or with an id that is not there, begins a call.
func (p *performance) call(piece *model.ToolCall) {
	i := len(p.calls) - 1
	switch {
	case piece.Index != nil:
		i = slices.IndexFunc(p.calls, func(c *model.ToolCall) bool { return c.Index != nil && *c.Index == *piece.Index })
	case piece.ID != "":
		i = slices.IndexFunc(p.calls, func(c *model.ToolCall) bool { return c.ID == piece.ID })
	case piece.Name != "":
		i = -1
	}
	if i < 0 {
		begun := *piece
		p.calls = append(p.calls, &begun)
		return
	}
	c := p.calls[i]
	c.Name += piece.Name
	c.Arguments += piece.Arguments
}

// end completes the answer.
func (p *performance) end() error {
	if p.usage != nil {
		err := p.helpers.ReportGenerationStats(model.Stats{
			PromptTokens: p.usage.PromptTokens, CompletionTokens: p.usage.CompletionTokens, TotalTokens: p.usage.TotalTokens,
			CachedTokens: p.usage.CachedTokens,
		})
		if err != nil {
			return err
		}
	}
	if id := p.id("thought"); p.thought.Len() > 0 {
		if err := p.helpers.ReportThought(id, "", true); err != nil {
			return err
		}
		if err := p.ctx.StoreThought(record.NewThought(id, p.thought.String(), p.next())); err != nil {
			return err
		}
	}
	if id := p.id("message"); p.text.Len() > 0 {
		if err := p.helpers.ReportMessage(id, "", true); err != nil {
			return err
		}
		if err := p.ctx.StoreMessage(record.NewMessage(id, record.Assistant, p.text.String(), p.next())); err != nil {
			return err
		}
	}
	for _, c := range p.calls {
		if err := p.run(c); err != nil {
			return err
		}
	}
	if len(p.calls) > 0 {
		return nil // the next iteration sees the results
	}
	return p.ctx.Ack()
}

// run runs a call.
func (p *performance) run(c *model.ToolCall) error {
	tool := p.ctx.Tools().Get(c.Name)
	args := json.RawMessage(c.Arguments)
	switch {
	case tool == nil:
		return p.wrong("it calls the tool %q, the registry has %s", c.Name, toolNames(p.ctx.Tools().All()))
	case !json.Valid(args):
		return p.wrong("the arguments of %s are no JSON: %s", c.Name, shorten(c.Arguments))
	}
	id := p.ctx.ID() + "." + c.ID
	if err := p.helpers.ReportToolCall(id, event.ToolCallReport{Tool: c.Name, Args: args, ProviderCallID: c.ID}); err != nil {
		return err
	}
	result, failure := tool.Executor(p.ctx)(args, c.ID)
	if failure == nil {
		result, failure = tool.Keep(result)
	}
	if p.ctx.Aborted() {
		return failure
	}
	failed := failure != nil
	if failed {
		result = failure.Error()
	}
	err := p.helpers.ReportToolCall(id, event.ToolCallReport{Results: result, IsError: &failed, IsComplete: true})
	if err != nil {
		return err
	}
	checksum, err := record.ToolCallChecksum(c.Name, args)
	if err != nil {
		return err
	}
	at := p.next()
	return p.ctx.StoreToolCall(&record.ToolCall{
		ID: id, Tool: c.Name, Args: args, Checksum: checksum, ProviderCallID: c.ID, IsComplete: true, IsError: failed,
		Results: stored(result), CreatedAt: at, UpdatedAt: at, CompletedAt: at,
	})
}

// wrong fails the test, and the model call.
func (p *performance) wrong(format string, args ...any) error {
	err := &ScriptError{p.answer, fmt.Sprintf(format, args...)}
	p.script.report(err)
	return err
}

// report fails the test, unless it has ended.
func (s *Script) report(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.t.Errorf("%v", err)
	}
}

// stored is a result as a record holds it: anything that a record does not take is JSON text.
func stored(result any) any {
	switch r := result.(type) {
	case string, *record.Tokenizable, *record.SpooledArtifact, *record.Media:
		return r
	case []*record.SpooledArtifact:
		if len(r) > 0 {
			return r
		}
	case []*record.Media:
		if len(r) > 0 {
			return r
		}
	}
	text, err := json.Marshal(result)
	if err != nil {
		return fmt.Sprint(result)
	}
	return string(text)
}

func toolNames(tools []*turns.Tool) string {
	if len(tools) == 0 {
		return "none"
	}
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}

// requestOf is what an executor is asked, and the time of the last record in it.
func requestOf(ctx *turns.DispatchContext) (*model.Request, time.Time, error) {
	r := &model.Request{}
	if ctx.SystemPrompt() != "" {
		r.Messages = append(r.Messages, model.Message{Role: "system", Content: ctx.SystemPrompt()})
	}
	for i := range ctx.StandingInstructions().All() {
		r.Messages = append(r.Messages, model.Message{Role: "system", Content: i.Text})
	}
	type timed struct {
		at       time.Time
		messages []model.Message
	}
	var list []timed
	for m := range ctx.TurnMessages().All() {
		text := m.Content
		if m.Tokenizable != nil {
			var err error
			if text, err = m.Tokenizable.Render(ctx); err != nil {
				return nil, time.Time{}, err
			}
		}
		list = append(list, timed{m.CreatedAt, []model.Message{{Role: string(m.Role), Content: text}}})
	}
	for c := range ctx.TurnToolCalls().All() {
		id := c.ProviderCallID
		if id == "" {
			id = c.ID
		}
		result, _ := stored(c.Results).(string)
		list = append(list, timed{c.CreatedAt, []model.Message{
			{Role: "assistant", ToolCalls: []model.Call{{ID: id, Type: "function", Function: model.Function{
				Name: c.Tool, Arguments: string(c.Args),
			}}}},
			{Role: "tool", ToolCallID: id, Content: result},
		}})
	}
	slices.SortStableFunc(list, func(a, b timed) int { return a.at.Compare(b.at) })
	var last time.Time
	for _, t := range list {
		r.Messages, last = append(r.Messages, t.messages...), t.at
	}
	if last.IsZero() {
		last = time.UnixMilli(host.FixedTime)
	}
	for _, t := range ctx.Tools().Visible() {
		schema, err := schemaText(t.InputSchema)
		if err != nil {
			return nil, time.Time{}, fmt.Errorf("the schema of %s: %w", t.Name, err)
		}
		r.Tools = append(r.Tools, model.Tool{Type: "function", Function: model.ToolFunction{
			Name: t.Name, Description: t.Description, Parameters: schema,
		}})
	}
	return r, last, nil
}

// schemaText is a tool's schema as JSON text.
func schemaText(schema any) (json.RawMessage, error) {
	switch s := schema.(type) {
	case string:
		return json.RawMessage(s), nil
	case []byte:
		return json.RawMessage(s), nil
	}
	return json.Marshal(schema)
}
