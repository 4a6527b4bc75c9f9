package turns_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/journal"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/turns"
)

func TestGatesAreFoundById(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			if _, err := ctx.WaitFor(context.Background(), approval("same")); err != nil {
				return err
			}
			return ctx.Ack()
		}})
		opened, ended := make(chan struct{}, 2), make(chan *turns.Result, 2)
		turns.Listen(r, func(*event.TurnGateOpen) { opened <- struct{}{} })
		for _, id := range []string{"A", "B"} {
			go func() {
				result, err := r.Run(context.Background(), turns.TurnInput{SystemPrompt: "test", TurnID: id})
				if err != nil {
					t.Error(err)
				}
				ended <- result
			}()
			<-opened
		}
		if list := r.Gates(); len(list) != 2 || list[0].TurnID() != "A" || list[1].TurnID() != "B" {
			t.Fatalf("gates %v", list)
		}
		if _, ok := r.Gate("same"); ok {
			t.Error("one of two gates with the same id was guessed")
		}
		if _, ok := r.GateOf("C", "same"); ok {
			t.Error("turn C has a gate")
		}
		g, ok := r.GateOf("B", "same")
		if !ok || g.TurnID() != "B" {
			t.Fatal("the gate of turn B is not found")
		}
		if err := g.Resolve(true); err != nil {
			t.Error(err)
		}
		<-ended
		if g, ok = r.Gate("same"); !ok || g.TurnID() != "A" { // the only one that is left
			t.Fatal("the gate of turn A is not found")
		}
		if err := g.Resolve(true); err != nil {
			t.Error(err)
		}
		<-ended
	})
}

// An approve button: an HTTP handler answers the gate of a tool that is about to delete something.
func TestApproveOverHTTP(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		config := places[3].config(func(ctx turns.Context) error {
			ok, err := ctx.WaitFor(ctx, approval("delete-1"))
			if err == nil && ok != true {
				err = errRefused
			}
			return err
		})
		config.Host = h
		r := newRunner(t, config)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			gate, ok := r.Gate(strings.TrimPrefix(req.URL.Path, "/approve/"))
			if !ok {
				http.Error(w, "there is no such gate", http.StatusNotFound)
				return
			}
			body, _ := io.ReadAll(req.Body)
			if err := gate.ResolveShown(json.RawMessage(body), req.URL.Query().Get("digest")); err != nil {
				http.Error(w, err.Error(), http.StatusConflict)
			}
		}))
		defer server.Close()
		post := func(path, body string) int {
			resp, err := http.Post(server.URL+path, "application/json", strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return 0
			}
			defer resp.Body.Close()
			return resp.StatusCode
		}
		turns.Listen(r, func(ev *event.TurnGateOpen) {
			go func() {
				path := "/approve/" + ev.Gate.ID() + "?digest="
				for _, c := range []struct {
					path, body string
					status     int
				}{
					{"/approve/other", "true", 404},
					{path + ev.Gate.Digest(), `"yes"`, 409},
					{path + strings.Repeat("0", 64), "true", 409},
					{path + ev.Gate.Digest(), "true", 200},
				} {
					if status := post(c.path, c.body); status != c.status {
						t.Errorf("%s %s: %d, want %d", c.path, c.body, status, c.status)
					}
				}
			}()
		})
		result, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"})
		if err != nil || result.Status != event.Ack {
			t.Fatalf("%+v, %v", result, err)
		}
	})
}

func TestGatesOfAStandaloneDispatch(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var got any
		var told error
		log := &recorder{}
		in := raw(h, log, func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			got, told = ctx.WaitFor(ctx, approval("g"))
			return ctx.Ack()
		})
		if _, err := turns.Dispatch(t.Context(), in); err != nil || !errors.Is(told, host.Code(abi.CodeLLMExecutionGateNotSupported)) {
			t.Errorf("told %v, %v", told, err)
		}
		in.Raw.WaitFor = func(_ context.Context, g turns.Gate) (any, error) { return "asked " + g.ID, nil }
		if _, err := turns.Dispatch(t.Context(), in); err != nil || told != nil || got != "asked g" {
			t.Errorf("told %v, %v, %v", got, told, err)
		}
		if strings.Contains(log.words(), "gO") {
			t.Errorf("events %s", log.words())
		}
	})
}

func TestGatesOfAnInstanceThatDies(t *testing.T) {
	h := turns.NewHost(turns.HostOptions{Engine: native.New()})
	r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
		_, err := ctx.WaitFor(context.Background(), approval("g"))
		return err
	}})
	log := &recorder{}
	r.OnAny(log.add)
	var gate event.OpenGate
	turns.Listen(r, func(ev *event.TurnGateOpen) {
		gate = ev.Gate
		go h.Close(context.Background()) //nolint:errcheck // the turn tells
	})
	result, err := finished(r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}))
	if err != nil || !errors.Is(result.Err, turns.ErrClosed) {
		t.Fatalf("%+v, %v", result, err)
	}
	if want := "gO gC(aborted) iE(0,nack)"; !strings.Contains(log.words(), want) {
		t.Errorf("events %s, want %s in them", log.words(), want)
	}
	if !gate.IsSettled() || len(r.Gates()) != 0 || !errors.Is(gate.Resolve(true), turns.ErrGateSettled) {
		t.Error("the gate is open")
	}
}

func TestGateEventsAsJSON(t *testing.T) {
	h := turns.NewHost(turns.HostOptions{Engine: native.New(), Clock: func() int64 { return 5000 }})
	r := newRunner(t, turns.TurnRunnerConfig{Host: h, TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
		_, err := ctx.WaitFor(ctx, approval("g"))
		next()
		return err
	}}, Executor: say("Hi.")})
	var lines []string
	line := func(ev event.Event) {
		text, err := ev.MarshalJSON()
		if err != nil {
			t.Error(err)
		}
		lines = append(lines, string(text))
	}
	turns.Listen(r, func(ev *event.TurnGateOpen) {
		line(ev)
		if err := ev.Gate.Resolve(true); err != nil {
			t.Error(err)
		}
	})
	turns.Listen(r, func(ev *event.TurnGateClosed) { line(ev) })
	if _, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test", TurnID: "T"}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"event":"turnGateOpen","seq":2,"at":5000,"turnId":"T","gateId":"g","reason":"Delete the file?","payload":{"path":"/a"},"createdAt":1000,"digest":"067437b21ea46bf08811fd88eee24183ca002d43211ee3d7ec6e144a684bfdc9"}`,
		`{"event":"turnGateClosed","seq":3,"at":5000,"turnId":"T","gateId":"g","result":"resolved","settledAt":5000}`,
	}
	for i := range want {
		if i >= len(lines) || lines[i] != want[i] {
			t.Errorf("line %d\n got %s\nwant %s", i, lines[min(i, len(lines)-1)], want[i])
		}
	}
}

// A turn that waits at a gate when its host stops waits at it again, under the same id, once its journal was played.
func TestAJournalOpensTheGateAgain(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var log bytes.Buffer
		var suspended []byte
		r := newRunner(t, turns.TurnRunnerConfig{Host: h, TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
			_, err := ctx.WaitFor(ctx, approval("durable"))
			next()
			return err
		}}, Executor: say("Hi.")})
		turns.Listen(r, func(ev *event.TurnGateOpen) {
			suspended = bytes.Clone(log.Bytes())
			if err := ev.Gate.Resolve(true); err != nil {
				t.Error(err)
			}
		})
		if _, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test", Journal: &log}); err != nil {
			t.Fatal(err)
		}
		engine := native.New()
		if reader, err := journal.NewReader(&log); err != nil {
			t.Fatal(err)
		} else if _, err := journal.Replay(t.Context(), engine, reader); err != nil {
			t.Fatal(err)
		}
		inst, err := engine.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer inst.Close(context.Background())
		reader, err := journal.NewReader(bytes.NewReader(suspended))
		if err != nil {
			t.Fatal(err)
		}
		var turn uint32
		var open []abi.GateOpenEvent
		var closed []abi.GateClosedEvent
		replies := 0
		step := func(in []byte) {
			out, err := inst.Step(nil, in)
			if err != nil {
				t.Fatal(err)
			}
			for len(out) > 0 {
				op, frame, rest, err := abi.Next(out, abi.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				out = rest
				if op == abi.OpReply {
					replies++
				}
				if op != abi.OpEvent {
					continue
				}
				ev, err := abi.Decode[abi.Event](frame)
				if err != nil {
					t.Fatal(err)
				}
				turn = ev.Turn
				switch ev.Kind {
				case abi.EventTurnGateOpen:
					g, _ := abi.Decode[abi.GateOpenEvent](ev.Payload)
					open = append(open, g)
				case abi.EventTurnGateClosed:
					g, _ := abi.Decode[abi.GateClosedEvent](ev.Payload)
					closed = append(closed, g)
				}
			}
		}
		for {
			entry, err := reader.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			step(entry.In)
		}
		if len(open) != 1 || open[0].ID != "durable" || len(closed) != 0 {
			t.Fatalf("after the replay: open %+v, closed %+v", open, closed)
		}
		replies = 0
		args := (&abi.SettleGateArgs{Gate: open[0].Gate, Value: abi.Raw{0xc3}}).Append(nil)
		step(abi.Append(nil, &abi.Call{Turn: turn, Call: 1000, Method: abi.MethodSettleGate, Args: args}))
		if len(closed) != 1 || closed[0].ID != "durable" || replies != 2 {
			t.Errorf("settled: closed %+v, %d replies, want those of who waits and of who settles", closed, replies)
		}
	})
}
