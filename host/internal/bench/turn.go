package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/bench/figure"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

var instant = time.UnixMilli(host.FixedTime)

// noStorage are callbacks that keep nothing and find nothing.
func noStorage() turns.Callbacks {
	remove := func(turns.Context, string) error { return nil }
	return turns.Callbacks{
		FetchMemories:               func(turns.Context) ([]*record.Memory, error) { return nil, nil },
		FetchMessages:               func(turns.Context) ([]*record.Message, error) { return nil, nil },
		FetchThoughts:               func(turns.Context) ([]*record.Thought, error) { return nil, nil },
		FetchToolCalls:              func(turns.Context) ([]*record.ToolCall, error) { return nil, nil },
		FetchTools:                  func(turns.Context) ([]*turns.Tool, error) { return nil, nil },
		FetchRetrievables:           func(turns.Context) ([]*record.Retrievable, error) { return nil, nil },
		RefreshStandingInstructions: func(turns.Context) ([]string, error) { return nil, nil },

		StoreStandingInstruction:  func(turns.Context, string) error { return nil },
		MutateStandingInstruction: func(turns.Context, string, string) error { return nil },
		StoreMemory:               func(turns.Context, *record.Memory) error { return nil },
		MutateMemory:              func(turns.Context, *record.Memory) error { return nil },
		StoreRetrievable:          func(turns.Context, *record.Retrievable) error { return nil },
		MutateRetrievable:         func(turns.Context, *record.Retrievable) error { return nil },
		StoreMessage:              func(turns.Context, *record.Message) error { return nil },
		MutateMessage:             func(turns.Context, *record.Message) error { return nil },
		StoreThought:              func(turns.Context, *record.Thought) error { return nil },
		MutateThought:             func(turns.Context, *record.Thought) error { return nil },
		StoreToolCall:             func(turns.Context, *record.ToolCall) error { return nil },
		MutateToolCall:            func(turns.Context, *record.ToolCall) error { return nil },
		DeleteStandingInstruction: remove,
		DeleteMemory:              remove,
		DeleteRetrievable:         remove,
		DeleteMessage:             remove,
		DeleteThought:             remove,
		DeleteToolCall:            remove,
		StoreMediaBytes:           func(_ turns.Context, _ string, r io.Reader) (record.MediaReader, error) { return blob(r) },
		StoreRetrievableBytes:     func(_ turns.Context, _ string, r io.Reader) (record.SpoolReader, error) { return blob(r) },
	}
}

// blob reads bytes into memory.
func blob(r io.Reader) (*record.Blob, error) {
	data, err := io.ReadAll(r)
	return record.NewBlob(data), err
}

// A conversation is a runner whose turns have a tool call in their first iteration and an answer in their second, with
// a listener of all events.
type conversation struct {
	host   *turns.Host
	runner *turns.TurnRunner
	config turns.TurnRunnerConfig // of the runner
	events int
	deltas int // that an answer is streamed in
	input  turns.TurnInput
}

// events of a turn without deltas: start and end of the turn, the dispatch, two iterations and the tool's execution.
const quietEvents = 10

func newConversation(e host.Engine, deltas int, change func(*turns.TurnRunnerConfig)) (*conversation, error) {
	c := &conversation{
		host: turns.NewHost(turns.HostOptions{Engine: e, Instances: 1}), deltas: deltas,
		input: turns.TurnInput{SystemPrompt: "Answer briefly.", Text: "What is 1 + 2?"},
	}
	add := &turns.Tool{
		Name: "add", Description: "Adds two numbers.",
		InputSchema: `{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}`,
		Handler: func(_ *turns.DispatchContext, args turns.Args) (any, error) {
			return args.Number("a") + args.Number("b"), nil
		},
	}
	config := turns.TurnRunnerConfig{
		Host: c.host, Callbacks: noStorage(), Tools: []*turns.Tool{add},
		Executor: func(ctx *turns.DispatchContext, h *turns.Helpers) error {
			if ctx.Iteration() == 0 {
				return callTool(ctx, add)
			}
			return c.answer(ctx, h)
		},
	}
	if change != nil {
		change(&config)
	}
	c.config = config
	var err error
	if c.runner, err = turns.NewTurnRunner(config); err != nil {
		return nil, err
	}
	c.runner.OnAny(func(event.Event) { c.events++ })
	return c, nil
}

// callTool is what an executor does whose model wants a tool.
func callTool(ctx *turns.DispatchContext, tool *turns.Tool) error {
	sum, err := tool.Executor(ctx)(map[string]any{"a": 1, "b": 2})
	if err != nil {
		return err
	}
	return ctx.StoreToolCall(sumCall("c1", tool.Name, fmt.Sprint(sum)))
}

// sumCall is the record of a call that adds 1 and 2.
func sumCall(id, tool, sum string) *record.ToolCall {
	return &record.ToolCall{
		ID: id, Tool: tool, Args: []byte(`{"a":1,"b":2}`), Checksum: "none", Results: sum, IsComplete: true,
		CreatedAt: instant, UpdatedAt: instant, CompletedAt: instant,
	}
}

// answer is what an executor does whose model answers.
func (c *conversation) answer(ctx *turns.DispatchContext, h *turns.Helpers) error {
	for i := range c.deltas {
		if err := h.ReportMessage("m1", "a word ", i == c.deltas-1); err != nil {
			return err
		}
	}
	if err := ctx.StoreMessage(record.NewMessage("m1", record.Assistant, "1 and 2 make 3", instant)); err != nil {
		return err
	}
	return ctx.Ack()
}

// turn runs a turn and checks that it was one.
func (c *conversation) turn() error {
	return c.run(func(more int) bool { return more == c.deltas })
}

// run runs a turn and checks how many events it has beyond those of a turn without deltas.
func (c *conversation) run(expected func(more int) bool) error {
	c.events = 0
	result, err := c.runner.Run(context.Background(), c.input)
	if err != nil {
		return err
	}
	if result.Status != event.Ack || !expected(c.events-quietEvents) {
		return fmt.Errorf("the turn ended %s after %d events: %w", result.Status, c.events, errors.Join(result.Err, errUnexpected))
	}
	return nil
}

var errUnexpected = errors.New("not what is measured")

func (c *conversation) close() {
	_ = c.runner.Close()
	_ = c.host.Close(context.Background())
}

// stored are the records of a turn that stores the user's message.
var stored = []record.Record{
	record.NewMessage("u1", record.User, "What is 1 + 2?", instant), sumCall("c1", "add", "3"),
	record.NewMessage("m1", record.Assistant, "1 and 2 make 3", instant),
}

// writeDown makes the stored forms of a turn's records.
func writeDown() error {
	for _, r := range stored {
		if _, err := record.Marshal(r); err != nil {
			return err
		}
	}
	return nil
}

// readBack returns what makes the records of a turn of their stored forms.
func readBack() (func() error, error) {
	type form struct {
		kind record.Kind
		body []byte
	}
	var forms []form
	for _, r := range stored {
		body, err := record.Marshal(r)
		if err != nil {
			return nil, err
		}
		forms = append(forms, form{record.KindOf(r), body})
	}
	return func() error {
		for _, f := range forms {
			if _, err := record.Unmarshal(f.kind, f.body, nil); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// measureTurns measures whole turns, and deltas by what 480 of them add.
func measureTurns(p pace, e host.Engine) ([]figure.Row, error) {
	var subjects []*subject
	for _, v := range []struct {
		id     string
		deltas int
	}{{figure.Turn, 0}, {figure.TurnStored, 0}, {figure.Turn20, 20}, {figure.Turn500, 500}} {
		c, err := newConversation(e, v.deltas, nil)
		if err != nil {
			return nil, err
		}
		defer c.close()
		if v.id != figure.TurnStored {
			c.input.Text = ""
		}
		subjects = append(subjects, timed(v.id, c.turn))
	}
	read, err := readBack()
	if err != nil {
		return nil, err
	}
	subjects = append(subjects, timed(figure.Written, writeDown), timed(figure.Read, read))
	if err := p.measure(subjects...); err != nil {
		return nil, err
	}
	var rows []figure.Row
	for _, s := range subjects {
		rows = append(rows, s.row(e.Name()))
	}
	rows = append(rows, paired(figure.WrittenShare, e.Name(), figure.Times, subjects[4], subjects[1], ratio),
		paired(figure.ReadShare, e.Name(), figure.Times, subjects[5], subjects[1], ratio))
	delta := func(many, few float64) float64 { return max(many-few, 0) / 480 / 1000 }
	return append(rows, paired(figure.Delta, e.Name(), figure.Micros, subjects[3], subjects[2], delta)), nil
}
