package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/turncore/turncore/host/recording"
	"github.com/turncore/turncore/host/turns"
)

// player plays a recorded conversation: it is the provider, and it answers the tool calls.
type player struct {
	recording    *recording.Recording
	conversation *recording.Conversation
	server       *recording.Server

	mu      sync.Mutex
	answers *recording.Answers
	over    bool // a tool was called that the recording has no answer for
}

func newPlayer(file string, seed uint32) (*player, error) {
	r, err := recording.Load(file)
	if err != nil {
		return nil, err
	}
	c, err := r.Conversation()
	if err != nil {
		return nil, fmt.Errorf("recording %s: %w", file, err)
	}
	return &player{recording: r, conversation: c, server: recording.NewServer(r, seed), answers: r.Answers()}, nil
}

// model is the recorded one.
func (p *player) model() turns.Model {
	c := p.conversation
	extras := map[string]any{}
	for _, t := range c.Tools {
		if len(t.Extra) > 0 {
			extras[t.Name] = t.Extra
		}
	}
	return turns.Model{Name: c.Model, BaseURL: c.BaseURL, Options: map[string]any{
		"includeUsage": false, // whether the recorded client asked for it is in the body
		"body":         c.Body,
		"toolExtras":   extras,
		"trust":        "off", // the recorded client sent texts bare
	}}
}

// tools are those that the recorded request offers. They answer as recorded.
func (p *player) tools() []*turns.Tool {
	var list []*turns.Tool
	for _, t := range p.conversation.Tools {
		tool := &turns.Tool{Name: t.Name, Description: t.Description, InputSchema: t.Parameters}
		if len(t.Parameters) == 0 {
			tool.InputSchema = `{"type":"object"}`
		}
		if t.Description == "" {
			tool.Description = t.Name // a tool must have one
		}
		tool.Handler = func(_ *turns.DispatchContext, args turns.Args) (any, error) {
			return p.answer(t.Name, args.JSON()), nil
		}
		list = append(list, tool)
	}
	return list
}

// answer is the recorded result of a call. When there is none, the recording ends with that call.
func (p *player) answer(tool string, args json.RawMessage) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	result, ok := p.answers.Take(tool, args)
	p.over = p.over || !ok
	return result
}

// ackWhenOver ends the turn after the iteration in which the recording ended.
func (p *player) ackWhenOver(ctx *turns.DispatchContext, next func()) error {
	p.mu.Lock()
	over := p.over
	p.mu.Unlock()
	if over && !ctx.IsSignalled() {
		if err := ctx.Ack(); err != nil {
			return err
		}
	}
	next()
	return nil
}

// report tells how the turn's requests differ from the recorded ones. It returns an error when there is a difference that
// is not allowed, or when the turn came to no end of its own.
func (p *player) report(s *screen, result *turns.Result, verbose bool) error {
	sent, recorded := p.server.Requests(), len(p.recording.Interactions)
	refused := 0
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
	if refused > 0 || result.Status != turns.Ack && result.Status != turns.Nack {
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
	fmt.Fprintf(&b, "; the turn ended with %s after %d iterations", result.Status, result.Iterations)
	if result.Err != nil {
		code, _ := describe(result.Err)
		b.WriteString(" (" + code + ")")
	}
	return b.String()
}
