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
