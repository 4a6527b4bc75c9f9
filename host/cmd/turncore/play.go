package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/recording"
	"github.com/turncore/turncore/host/turns"
)

// player plays a recorded conversation: it is the provider, and it answers the tool calls.
type player struct {
	recording    *recording.Recording // its first conversation's turn
	others       int                  // requests of the recording that are not of it
	conversation *recording.Conversation
	server       *recording.Server
	hidden       []string // tools that may be called, but were not offered
	now          func() int64

	mu      sync.Mutex
	answers *recording.Answers
	over    bool // a tool was called that the recording has no answer for
}

func newPlayer(file string, seed uint32, now func() int64) (*player, error) {
	r, err := recording.Load(file)
	if err != nil {
		return nil, err
	}
	thread, err := r.Thread()
	if err != nil {
		return nil, fmt.Errorf("recording %s: %w", file, err)
	}
	c, err := thread.Conversation()
	if err != nil {
		return nil, fmt.Errorf("recording %s: %w", file, err)
	}
	p := &player{
		recording: thread, others: len(r.Interactions) - len(thread.Interactions), conversation: c,
		server: recording.NewServer(thread, seed), answers: thread.Answers(), now: now,
	}
	for _, name := range thread.Called() {
		if !slices.ContainsFunc(c.Tools, func(t recording.Tool) bool { return t.Name == name }) {
			p.hidden = append(p.hidden, name)
		}
	}
	return p, nil
}

// model is the recorded one. A request is sent again when, and as often as, the recorded client did so.
func (p *player) model() turns.Model {
	c := p.conversation
	extras := map[string]any{}
	for _, t := range c.Tools {
		if len(t.Extra) > 0 {
			extras[t.Name] = t.Extra
		}
	}
	attempts, statuses := p.recording.Retries()
	retry := map[string]any{"maxAttempts": attempts, "baseDelayMs": 0}
	if len(statuses) > 0 {
		retry["statuses"] = statuses
	}
	thoughts := "off"
	if p.recording.SendsThoughts() {
		thoughts = "reasoning_content"
	}
	return turns.Model{Name: c.Model, BaseURL: c.BaseURL, Options: map[string]any{
		"stream":           c.Stream,
		"includeUsage":     false, // whether the recorded client asked for it is in the body
		"body":             c.Body,
		"toolExtras":       extras,
		"trust":            "off", // the recorded client sent texts bare
		"thoughts":         thoughts,
		"spoolResultsOver": 0, // and whole
		"retry":            retry,
	}}
}

// tools are those that the recorded request offers, and those that were called all the same. They answer as recorded,
// whatever the arguments: the recorded client has judged those.
func (p *player) tools() []*turns.Tool {
	var list []*turns.Tool
	offered := p.conversation.Tools
	for _, name := range p.hidden {
		offered = append(offered[:len(offered):len(offered)], recording.Tool{Name: name})
	}
	for _, t := range offered {
		tool := &turns.Tool{Name: t.Name, Description: t.Description, InputSchema: objectSchema(t.Parameters)}
		if t.Description == "" {
			tool.Description = t.Name // a tool must have one
		}
		tool.Validator = func(turns.Args) (any, error) { return nil, nil } // as they are
		tool.Handler = func(_ *turns.DispatchContext, args turns.Args) (any, error) {
			return p.answer(t.Name, args.JSON()), nil
		}
		list = append(list, tool)
	}
	return list
}

// objectSchema is a schema of objects: a recorded one may leave the type out, or be none at all.
func objectSchema(parameters json.RawMessage) any {
	var schema map[string]json.RawMessage
	if json.Unmarshal(parameters, &schema) != nil || len(schema) == 0 {
		return map[string]any{"type": "object"}
	}
	schema["type"] = json.RawMessage(`"object"`)
	return schema
}

// answer is the recorded result of a call, which the next request holds. When there is none, the recording ends with
// that call.
func (p *player) answer(tool string, args json.RawMessage) string {
	n := p.server.Requests()
	p.mu.Lock()
	defer p.mu.Unlock()
	result, ok := p.answers.Take(n, tool, args)
	p.over = p.over || !ok
	return result
}

// next tells whether the recording has ended with the iteration that ran last. Otherwise it gives what the user says
// before the next request.
func (p *player) next() (over bool, said []recording.Entry) {
	n := p.server.Requests()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over || n >= len(p.recording.Interactions), p.answers.Said(n)
}

// afterIteration ends the turn after the iteration in which the recording ended. Otherwise the user says what the
// recorded client goes on with.
func (p *player) afterIteration(ctx *turns.DispatchContext, next func()) error {
	over, said := p.next()
	var err error
	switch {
	case ctx.IsSignalled():
	case over:
		err = ctx.Ack()
	default:
		err = p.goOn(ctx, said)
	}
	if err != nil {
		return err
	}
	next()
	return nil
}

// verdict tells how the turn's requests differ from the recorded ones, and sums up. It returns an error when there is a
// difference that is not allowed, or when the turn came to no end of its own.
func (p *player) verdict(s *screen, result *turns.Result, o *runFlags) error {
	err := p.report(s, result, o.verbose)
	if !o.json {
		s.note(s.dim, "%s", p.summary(result))
	}
	return err
}

// report tells how the requests differ.
func (p *player) report(s *screen, result *turns.Result, verbose bool) error {
	sent, recorded := p.server.Requests(), len(p.recording.Interactions)
	refused := 0
	if verbose {
		for n, body := range p.server.Bodies() {
			s.note(s.dim, "request %d: %d bytes, SHA-256 %x", n+1, len(body), sha256.Sum256(body))
		}
	}
	for _, d := range p.server.Differences() {
		switch {
		case d.Why == "":
			refused++
			s.note(s.red, "%s", d)
		case verbose:
			s.note(s.dim, "%s", d)
		}
	}
	if sent < recorded {
		refused++
		s.note(s.red, "%d requests were sent, %d are recorded", sent, recorded)
	}
	// A nack is how a conversation ends whose recording ends with the provider's error.
	if refused > 0 || result.Status != event.Ack && result.Status != event.Nack {
		return errTold
	}
	return nil
}

// summary is a line about what was played.
func (p *player) summary(result *turns.Result) string {
	var b strings.Builder
	allowed := 0
	for _, d := range p.server.Differences() {
		if d.Why != "" {
			allowed++
		}
	}
	fmt.Fprintf(&b, "%s: %d of %d requests sent", p.recording.Name, p.server.Requests(), len(p.recording.Interactions))
	if allowed > 0 {
		fmt.Fprintf(&b, ", %d differences are allowed", allowed)
	}
	if p.others > 0 {
		fmt.Fprintf(&b, ", %d outside of this turn", p.others)
	}
	fmt.Fprintf(&b, "; the turn ended with %s after %d iterations", result.Status, result.Iterations)
	if result.Err != nil {
		code, _ := describe(result.Err)
		b.WriteString(" (" + code + ")")
	}
	return b.String()
}
