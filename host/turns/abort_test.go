package turns_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// abortion is a turn of two iterations that is aborted at one of the points at which its user code could wait.
type abortion struct {
	at     int
	cancel func() // aborts somebody

	mu       sync.Mutex
	points   int
	dispatch *turns.DispatchContext
	turn     *turns.TurnContext
	stored   []string
}

func (a *abortion) point() {
	a.mu.Lock()
	hit := a.points == a.at
	a.points++
	a.mu.Unlock()
	if hit {
		a.cancel()
	}
}

func (a *abortion) aroundTurn(ctx *turns.TurnContext, next func()) error {
	a.turn = ctx
	a.point()
	next()
	a.point()
	return nil
}

func (a *abortion) aroundDispatch(_ *turns.DispatchContext, next func()) error {
	a.point()
	next()
	a.point()
	return nil
}

func (a *abortion) config() turns.TurnRunnerConfig {
	tool := named("tool")
	tool.Handler = func(ctx *turns.DispatchContext, _ turns.Args) (any, error) {
		a.point()
		err := ctx.StoreMessage(message(fmt.Sprint(ctx.Iteration(), ".tool"), "x"))
		a.point()
		return "done", err
	}
	callbacks := noStorage()
	callbacks.StoreMessage = func(_ turns.Context, m *record.Message) error {
		a.point()
		a.stored = append(a.stored, m.ID)
		return nil
	}
	return turns.TurnRunnerConfig{
		Callbacks: callbacks, Tools: []*turns.Tool{tool},
		Executor: func(ctx *turns.DispatchContext, h *turns.Helpers) error {
			a.dispatch = ctx
			a.point()
			if err := h.ReportMessage(fmt.Sprint(ctx.Iteration()), "x", false); err != nil {
				return err
			}
			if _, err := tool.Executor(ctx)(nil); err != nil {
				return err
			}
			a.point()
			gate := turns.Gate{ID: fmt.Sprint("gate ", ctx.Iteration()), Reason: "why", Payload: 1, CreatedAt: instant}
			if _, err := ctx.WaitFor(context.Background(), gate); err != nil {
				return err
			}
			a.point()
			if err := ctx.StoreMessage(message(fmt.Sprint(ctx.Iteration(), ".answer"), "x")); err != nil {
				return err
			}
			a.point()
			if ctx.Iteration() == 0 {
				return nil
			}
			return ctx.Ack()
		},
		TurnInputPipeline:      []turns.TurnMiddleware{a.aroundTurn, a.aroundTurn},
		TurnOutputPipeline:     []turns.TurnMiddleware{a.aroundTurn},
		DispatchInputPipeline:  []turns.DispatchMiddleware{a.aroundDispatch},
		DispatchOutputPipeline: []turns.DispatchMiddleware{a.aroundDispatch, a.aroundDispatch},
	}
}

// checkBrackets checks that what began has ended, in order, and that the turn's end is the last event.
func checkBrackets(t *testing.T, where, words string) {
	t.Helper()
	var open []string
	list := strings.Fields(words)
	for _, w := range list {
		kind, _, _ := strings.Cut(w, "(")
		switch {
		case slices.Contains([]string{"tS", "dS", "iS", "xS"}, kind):
			open = append(open, kind[:1])
		case slices.Contains([]string{"tE", "dE", "iE", "xE"}, kind):
			if n := len(open); n == 0 || open[n-1] != kind[:1] {
				t.Fatalf("%s: %s ends within %v: %s", where, w, open, words)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 || !strings.HasPrefix(list[len(list)-1], "tE") || strings.Count(words, "tE(") != 1 {
		t.Fatalf("%s: events %s", where, words)
	}
}

func TestAbortAtEveryPoint(t *testing.T) {
	// Each of these aborts in its own way. The last cancels the context that Run was given, which reaches the turn from
	// another goroutine, so that only what holds for every abort can be checked of it.
	for _, whose := range []string{"turn", "dispatch", "context"} {
		t.Run(whose, func(t *testing.T) {
			onEngines(t, func(t *testing.T, h *turns.Host) {
				total := 1 << 20
				for at := -1; at <= total; at++ {
					ctx, cancel := context.WithCancel(t.Context())
					a := &abortion{at: at}
					a.cancel = map[string]func(){
						"turn": func() { a.turn.Abort(errX) },
						"dispatch": func() {
							if a.dispatch != nil {
								a.dispatch.Abort(errX)
							}
						},
						"context": cancel,
					}[whose]
					config := a.config()
					config.Host = h
					log := &recorder{}
					r := newRunner(t, config)
					r.OnAny(log.add)
					r.Observe(event.KindTurnGateOpen, func(ev event.Event) {
						a.point()
						if err := ev.(*event.TurnGateOpen).Gate.Resolve(1); err != nil && !errors.Is(err, turns.ErrGateSettled) {
							t.Error(err)
						}
					})
					result, err := finished(r.Run(ctx, turns.TurnInput{SystemPrompt: "test"}))
					cancel()
					if err != nil {
						t.Fatal(err)
					}
					if at < 0 {
						total = a.points
						if total < 30 || result.Status != event.Ack {
							t.Fatalf("%d points, %s", total, result.Status)
						}
						continue
					}
					where := fmt.Sprintf("point %d of %d", at, total)
					words := log.words()
					checkBrackets(t, where, words)
					if opened, closed := strings.Count(words, "gO"), strings.Count(words, "gC"); opened != closed {
						t.Errorf("%s: %d gates were opened, %d closed: %s", where, opened, closed, words)
					}
					if strings.Contains(words, "err(") {
						t.Errorf("%s: events %s", where, words)
					}
					if whose == "turn" && at < total && result.Status != event.Aborted {
						t.Errorf("%s: %s", where, result.Status)
					}
					if at == total && result.Status != event.Ack {
						t.Errorf("%s: %s", where, result.Status)
					}
					for _, iteration := range []string{"0.", "1."} {
						n := 0
						for _, id := range a.stored {
							if strings.HasPrefix(id, iteration) {
								n++
							}
						}
						if n != 0 && n != 2 {
							t.Errorf("%s: stored %v", where, a.stored)
						}
					}
					if err := a.dispatch; err != nil && a.dispatch.Err() == nil {
						t.Errorf("%s: the dispatch's context lives on", where)
					}
				}
			})
		})
	}
}
