package agents_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/agents"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/turntest"
)

// engines are what the quota is tested on.
func engines(t *testing.T) []host.Engine { return hosttest.Engines(t) }

// kept is an engine that other tests use, too.
type kept struct{ host.Engine }

func (kept) Close(context.Context) error { return nil }

// load loads an agent whose module is another engine's.
func load(t *testing.T, e host.Engine, o agents.Options) *agents.Agent {
	t.Helper()
	o.Engine = func(context.Context, []byte) (host.Engine, error) { return kept{e}, nil }
	o.Host.Clock, o.Host.Entropy = host.FixedClock(host.FixedTime), host.SeededEntropy(1)
	empty, err := agents.WithManifest([]byte("\x00asm\x01\x00\x00\x00"), manifest(agents.Asks{}))
	if err != nil {
		t.Fatal(err)
	}
	agent, err := agents.Load(t.Context(), empty, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := agent.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return agent
}

// busy runs a turn that goes on until it is ended, and returns its events' names and why it ended.
func busy(t *testing.T, e host.Engine, q agents.Quota) (log string, result *turns.Result, err error) {
	t.Helper()
	config := load(t, e, agents.Options{Grant: &agents.Grant{Agent: "research", Quota: q}}).Config()
	config.MaxIterations = 200
	config.Executor = func(ctx *turns.DispatchContext, h *turns.Helpers) error {
		id := strconv.Itoa(ctx.Iteration())
		if err := ctx.StoreMessage(record.NewMessage("m"+id, record.Assistant, "hello", time.UnixMilli(host.FixedTime))); err != nil {
			return err
		}
		return h.ReportGenerationStats(model.Stats{PromptTokens: 900, CompletionTokens: 100})
	}
	runner, err := turns.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	var names []string
	result, err = runner.Run(t.Context(), turns.Input{Message: "Hi", OnEvent: func(ev event.Event) {
		names = append(names, ev.Kind().String())
	}})
	return strings.Join(names, " "), result, err
}

func TestQuota(t *testing.T) {
	for _, c := range []struct {
		limit string
		quota agents.Quota
	}{
		{"steps", agents.Quota{Steps: 50}},
		{"frames", agents.Quota{Frames: 100}},
		{"effects", agents.Quota{Effects: 20}},
		{"bytes", agents.Quota{Bytes: 2_000}},
		{"tokens", agents.Quota{Tokens: 5_500}},
	} {
		t.Run(c.limit, func(t *testing.T) {
			first := ""
			for _, e := range engines(t) {
				log, result, err := busy(t, e, c.quota)
				var coded *host.Error
				if !errors.As(err, &coded) || coded.Code != host.CodeAgentLimit || result == nil || result.Status != event.Aborted {
					t.Fatalf("%s: %v: the result is %+v", e.Name(), err, result)
				}
				if details := coded.Details.(map[string]any); details["limit"] != c.limit {
					t.Errorf("%s: the limit is %v, want %s", e.Name(), details["limit"], c.limit)
				}
				if n := strings.Count(log, "iterationStart"); n < 2 || n > 30 {
					t.Errorf("%s: the turn had %d iterations", e.Name(), n)
				}
				if first == "" {
					first = log
				}
				if log != first {
					t.Errorf("%s: the events are\n%s\nwant\n%s", e.Name(), log, first)
				}
			}
		})
	}
	if _, result, err := busy(t, native.New(), agents.Quota{}); errors.Is(err, host.CodeAgentLimit) || result == nil {
		t.Errorf("with the quota of a grant that sets none: %v", err)
	}
}

// An answer calls two tools at once, in one step, behind three other effects. Where the quota has room for one of them,
// none of them starts. js/test/agents/load.test.ts has the same turns with the same events.
func TestQuotaStartsNothingOfTheStep(t *testing.T) {
	const events = "turnStart dispatchStart iterationStart generationStats toolCall toolExecutionStart toolCall toolExecutionStart " +
		"toolExecutionEnd toolCall toolExecutionEnd toolCall iterationEnd dispatchEnd turnEnd"
	for _, c := range []struct {
		effects int64
		started int
	}{{5, 2}, {4, 0}} {
		for _, e := range engines(t) {
			script := turntest.NewScript(t, turntest.Call("a", nil).And(turntest.Call("b", nil)))
			var started atomic.Int32
			tool := func(name string) *turns.Tool {
				return &turns.Tool{
					Name: name, Description: "a tool", InputSchema: `{"type":"object"}`,
					Handler: func(*turns.DispatchContext, turns.Args) (any, error) {
						started.Add(1)
						return "fine", nil
					},
				}
			}
			grant := &agents.Grant{Agent: "research", Quota: agents.Quota{Effects: c.effects}}
			config := load(t, e, agents.Options{Grant: grant}).Config()
			config.Model, config.Tools = script.Model(), []*turns.Tool{tool("a"), tool("b")}
			config.Model.Options = map[string]any{"parallel": 2}
			runner, err := turns.New(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			result, err := runner.Run(t.Context(), turns.Input{Message: "Hi", OnEvent: func(ev event.Event) {
				names = append(names, ev.Kind().String())
			}})
			if result == nil || result.Status != event.Aborted || !errors.Is(err, host.CodeAgentLimit) {
				t.Errorf("%s: %d effects: %+v, %v", e.Name(), c.effects, result, err)
			}
			if n := int(started.Load()); n != c.started {
				t.Errorf("%s: %d effects: %d calls started, want %d", e.Name(), c.effects, n, c.started)
			}
			if log := strings.Join(names, " "); log != events {
				t.Errorf("%s: %d effects: the events are\n%s\nwant\n%s", e.Name(), c.effects, log, events)
			}
			if err := runner.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// flood is an engine whose instances send more frames than they were asked for.
type flood struct{ host.Engine }

func (e flood) Open(ctx context.Context) (host.Instance, error) {
	i, err := e.Engine.Open(ctx)
	return &flooding{i}, err
}

type flooding struct{ host.Instance }

func (i *flooding) Step(dst, in []byte) ([]byte, error) {
	out, err := i.Instance.Step(dst, in)
	op, frame, _, bad := abi.Next(in, abi.Limits{}.Effective())
	if err != nil || bad != nil || op != abi.OpStartTurn && op != abi.OpAbort {
		return out, err
	}
	number := uint32(0)
	if op == abi.OpAbort {
		f, _ := abi.Decode[abi.Abort](frame)
		number, out = f.Turn, out[:0] // it does not end the turn, either
	} else {
		f, _ := abi.Decode[abi.StartTurn](frame)
		number = f.Turn
	}
	for range 5000 {
		out = abi.Append(out, &abi.Timer{Turn: number})
	}
	return out, nil
}

func TestQuotaIgnored(t *testing.T) {
	log, _, err := busy(t, flood{native.New()}, agents.Quota{Frames: 3000})
	if !errors.Is(err, host.CodeInstanceFailed) || !strings.Contains(err.Error(), "quota of frames") {
		t.Errorf("the error is %v", err)
	}
	if strings.Contains(log, "iterationStart") {
		t.Errorf("the turn went on: %s", log)
	}
}

func TestLogIsCut(t *testing.T) {
	for _, granted := range []int64{0, 1000} {
		first := ""
		for _, e := range engines(t) {
			grant := &agents.Grant{Agent: "research"}
			if granted > 0 {
				grant.Log = &agents.GrantLog{BytesPerTurn: granted}
			}
			config := load(t, e, agents.Options{Grant: grant}).Config()
			config.Executor = func(ctx *turns.DispatchContext, h *turns.Helpers) error {
				for i := range 50 {
					h.Log(event.LevelInfo, "test", strings.Repeat("x", 80)+strconv.Itoa(i), nil)
				}
				return ctx.Ack()
			}
			runner, err := turns.New(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			_, err = runner.Run(t.Context(), turns.Input{Message: "Hi", OnEvent: func(ev event.Event) {
				if line, ok := ev.(*event.Log); ok {
					lines = append(lines, line.Type+" "+line.Message)
				}
			}})
			if err := errors.Join(err, runner.Close()); err != nil {
				t.Fatal(err)
			}
			log := strings.Join(lines, "\n")
			if len(lines) == 0 || !strings.HasPrefix(lines[len(lines)-1], "cut the log of this turn is cut") {
				t.Errorf("%s: nothing tells that the log was cut:\n%s", e.Name(), log)
			}
			if int64(len(log)) > granted+100 || granted > 0 && len(lines) < 5 {
				t.Errorf("%s: %d bytes of log, %d are granted", e.Name(), len(log), granted)
			}
			if first == "" {
				first = log
			}
			if log != first {
				t.Errorf("%s: the log is\n%s\nwant\n%s", e.Name(), log, first)
			}
		}
	}
}

// stuffed is an engine whose instances put reports into the step that ends a turn.
type stuffed struct {
	host.Engine
	reports, size int
}

func (e stuffed) Open(ctx context.Context) (host.Instance, error) {
	i, err := e.Engine.Open(ctx)
	return &stuffing{i, e}, err
}

type stuffing struct {
	host.Instance
	stuffed
}

func (i *stuffing) Step(dst, in []byte) ([]byte, error) {
	out, err := i.Instance.Step(dst, in)
	var before []byte
	for rest := out; err == nil && len(rest) > 0; {
		op, frame, next, bad := abi.Next(rest, abi.Limits{}.Effective())
		if bad != nil {
			return out, bad
		}
		rest = next
		if f, _ := abi.Decode[abi.Event](frame); op != abi.OpEvent || f.Kind != abi.EventIterationEnd {
			continue
		}
		f, _ := abi.Decode[abi.Event](frame)
		f.Kind = abi.EventMessage
		for n := range i.reports {
			delta := strings.Repeat("x", i.size)
			f.Payload = (&abi.StreamEvent{ID: "m", Delta: delta, Length: uint64((n + 1) * i.size), Complete: n == i.reports-1}).Append(nil)
			before = abi.Append(before, &f)
		}
		return append(before, out...), nil
	}
	return out, err
}

// A quota holds in a turn's last step as well: what the step brings beside its ends is dropped, and the turn is
// aborted.
func TestQuotaOfTheLastStep(t *testing.T) {
	const all = "turnStart dispatchStart iterationStart message iterationEnd ack dispatchEnd ack turnEnd ack"
	const cut = "turnStart dispatchStart iterationStart iterationEnd aborted dispatchEnd aborted turnEnd aborted"
	for _, c := range []struct {
		limit         string
		quota         agents.Quota
		reports, size int
		events        string
	}{
		{"bytes", agents.Quota{Bytes: 20_000}, 1, 100_000, cut},
		{"frames", agents.Quota{Frames: 20}, 1_000, 1, cut},
		{"", agents.Quota{}, 1, 100_000, all},
	} {
		for _, e := range engines(t) {
			config := load(t, stuffed{e, c.reports, c.size}, agents.Options{Grant: &agents.Grant{Agent: "research", Quota: c.quota}}).Config()
			config.Executor = func(ctx *turns.DispatchContext, _ *turns.Helpers) error { return ctx.Ack() }
			runner, err := turns.New(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			var log []string
			result, err := runner.Run(t.Context(), turns.Input{Message: "Hi", OnEvent: func(ev event.Event) {
				log = append(log, ev.Kind().String())
				switch ev := ev.(type) {
				case *event.IterationEnd:
					log = append(log, ev.Status.String())
				case *event.DispatchEnd:
					log = append(log, ev.Status.String())
				case *event.TurnEnd:
					log = append(log, ev.Status.String())
				}
			}})
			if c.limit != "" {
				var coded *host.Error
				if !errors.As(err, &coded) || coded.Code != host.CodeAgentLimit || coded.Details.(map[string]any)["limit"] != c.limit {
					t.Errorf("%s: %s: the error is %v", e.Name(), c.limit, err)
				}
				if result == nil || result.Status != event.Aborted || result.Text != "" {
					t.Errorf("%s: %s: the result is %+v", e.Name(), c.limit, result)
				}
			}
			if got := strings.Join(log, " "); got != c.events {
				t.Errorf("%s: %s: the events are\n%s\nwant\n%s", e.Name(), c.limit, got, c.events)
			}
			if err := runner.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// The last of all steps may be the one too many. js/test/agents/load.test.ts has the same turns.
func TestQuotaWithoutTheLastStep(t *testing.T) {
	for _, e := range engines(t) {
		ended := false
		for most := int64(1); most < 20 && !ended; most++ {
			config := load(t, e, agents.Options{Grant: &agents.Grant{Agent: "research", Quota: agents.Quota{Steps: most}}}).Config()
			config.Executor = func(ctx *turns.DispatchContext, _ *turns.Helpers) error { return ctx.Ack() }
			runner, err := turns.New(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			result, err := runner.Run(t.Context(), turns.Input{Message: "Hi", OnEvent: func(ev event.Event) { n++ }})
			if ended = err == nil; !ended && (!errors.Is(err, host.CodeAgentLimit) || result == nil || result.Status != event.Aborted) {
				t.Errorf("%s: %d steps: %+v, %v", e.Name(), most, result, err)
			}
			if ended && (most != 6 || n != 6) {
				t.Errorf("%s: it ends with %d steps and %d events", e.Name(), most, n)
			}
			if err := runner.Close(); err != nil {
				t.Error(err)
			}
		}
		if !ended {
			t.Errorf("%s: the turn does not end", e.Name())
		}
	}
}
