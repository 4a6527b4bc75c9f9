package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/bench/figure"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

const longHistory = 5000

// messages are a conversation of n messages of a sentence each.
func messages(n int) []*record.Message {
	list := make([]*record.Message, n)
	for i := range list {
		role := record.User
		if i%2 == 1 {
			role = record.Assistant
		}
		list[i] = record.NewMessage("h"+strconv.Itoa(i), role, "Message "+strconv.Itoa(i)+" says what a message says, in some words.", instant)
	}
	return list
}

// measureHistories measures a further turn, and a further iteration of a turn, on histories that the core holds.
func measureHistories(p pace, e host.Engine) ([]figure.Row, error) {
	ids := map[int][2]string{
		0: {figure.History0, figure.Iter0}, 50: {figure.History50, figure.Iter50}, longHistory: {figure.History5000, figure.Iter5000},
	}
	var further, iterations []*subject
	for _, n := range []int{0, 50, longHistory} {
		c, err := newConversation(e, 0, withHistory(n))
		if err != nil {
			return nil, err
		}
		defer c.close()
		further = append(further, timed(ids[n][0], c.turn))
		s, done, err := iterating(e, n, ids[n][1])
		if err != nil {
			return nil, err
		}
		defer done()
		iterations = append(iterations, s)
	}
	var stored []*subject
	for i, id := range []string{figure.Store0, figure.Store5000} {
		c, err := newConversation(e, 0, withStore(i*longHistory))
		if err != nil {
			return nil, err
		}
		defer c.close()
		stored = append(stored, timed(id, c.turn))
	}
	for _, list := range [][]*subject{further, iterations, stored} {
		if err := p.measure(list...); err != nil {
			return nil, err
		}
	}
	var rows []figure.Row
	for _, s := range slices.Concat(further, iterations, stored) {
		rows = append(rows, s.row(e.Name()))
	}
	return append(
		rows,
		paired(figure.HistoryRatio, e.Name(), figure.Times, further[2], further[0], ratio),
		paired(figure.IterRatio, e.Name(), figure.Times, iterations[2], iterations[0], ratio),
		paired(figure.StoreRatio, e.Name(), figure.Times, stored[1], stored[0], ratio),
	), nil
}

// rebuilding is a store with one session, whose messages it makes anew whenever it is asked for them.
type rebuilding int

func (n rebuilding) Load(_ context.Context, _, after string) (*store.Conversation, error) {
	const revision = "1"
	if after == revision {
		return &store.Conversation{Revision: revision, After: after}, nil
	}
	return &store.Conversation{Revision: revision, Messages: messages(int(n))}, nil
}

func (rebuilding) Commit(context.Context, string, store.Commit) (string, error) { return "", nil }
func (rebuilding) PutBytes(context.Context, string, string, io.Reader) error    { return nil }
func (rebuilding) OpenBytes(_ context.Context, session, id string) (io.ReaderAt, int64, error) {
	return nil, 0, store.NoBytes(session, id)
}

// withStore has every turn load a session of n messages.
func withStore(n int) func(*turns.TurnRunnerConfig) {
	return func(c *turns.TurnRunnerConfig) {
		c.TurnInputPipeline = []turns.TurnMiddleware{
			turns.LoadConversation(rebuilding(n)),
			func(ctx *turns.TurnContext, next func()) error {
				if ctx.TurnMessages().Len() != n+1 {
					return fmt.Errorf("the turn has %d messages: %w", ctx.TurnMessages().Len(), errUnexpected)
				}
				next()
				return nil
			},
		}
	}
}

// withHistory has every turn begin with a history of n messages.
func withHistory(n int) func(*turns.TurnRunnerConfig) { return withMessages(messages(n)) }

// withMessages is the same for these messages.
func withMessages(list []*record.Message) func(*turns.TurnRunnerConfig) {
	history, err := turns.NewHistory(list...)
	return func(c *turns.TurnRunnerConfig) {
		c.TurnInputPipeline = []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
			if err == nil {
				err = ctx.TurnMessages().AddAll(history)
			}
			if err == nil && ctx.TurnMessages().Len() != len(list)+1 {
				err = fmt.Errorf("the turn has %d messages: %w", ctx.TurnMessages().Len(), errUnexpected)
			}
			next()
			return err
		}}
	}
}

// iterating measures an iteration in which the executor returns without having signalled: 100 of them to a turn, whose
// beginning and end are not counted.
func iterating(e host.Engine, n int, id string) (s *subject, done func(), err error) {
	const iterations = 100
	var begun time.Time
	var took time.Duration
	c, err := newConversation(e, 0, func(config *turns.TurnRunnerConfig) {
		withHistory(n)(config)
		config.Executor = func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			switch ctx.Iteration() {
			case 0:
				begun = time.Now()
			case iterations:
				took = time.Since(begun)
				return ctx.Ack()
			}
			return nil
		}
	})
	if err != nil {
		return nil, nil, err
	}
	return &subject{figure: id, sample: func() (float64, error) {
		err := c.other()
		return float64(took.Nanoseconds()) / iterations, err
	}}, c.close, nil
}

// measureAdding measures messages that a turn has not seen, added one by one to its collection, and the call that takes
// them across.
func measureAdding(p pace, e host.Engine) ([]figure.Row, error) {
	list := messages(longHistory)
	engine := &watched{Engine: e}
	var took time.Duration
	var steps int64
	c, err := newConversation(engine, 0, func(config *turns.TurnRunnerConfig) {
		config.Executor = func(ctx *turns.DispatchContext, h *turns.Helpers) error {
			before, begun := engine.steps.Load(), time.Now()
			if err := ctx.TurnMessages().Add(list...); err != nil {
				return err
			}
			if err := h.ReportMessage("m1", "done", true); err != nil {
				return err
			}
			took, steps = time.Since(begun), engine.steps.Load()-before
			return ctx.Ack()
		}
	})
	if err != nil {
		return nil, err
	}
	defer c.close()
	s := &subject{figure: figure.AddEach, sample: func() (float64, error) {
		err := c.other()
		return float64(took.Nanoseconds()) / longHistory, err
	}}
	if err := p.measure(s); err != nil {
		return nil, err
	}
	return []figure.Row{s.row(e.Name()), single(e, figure.AddCrossings, figure.Count, float64(steps))}, nil
}
