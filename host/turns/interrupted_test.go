package turns_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// The result says whether the last message was broken off.
func TestResultInterrupted(t *testing.T) {
	no := errors.New("no")
	for _, tt := range []struct {
		name     string
		executor turns.Executor
		status   event.Status
		text     string
		want     bool
	}{
		{"a mark", func(d *turns.DispatchContext, h *turns.Helpers) error {
			return errors.Join(h.InterruptMessage("m", "x"), d.Ack())
		}, event.Ack, "x", true},
		{"a mark of an earlier message", func(d *turns.DispatchContext, h *turns.Helpers) error {
			return errors.Join(h.InterruptMessage("m", "x"), h.ReportMessage("n", "y", true), d.Nack(no))
		}, event.Nack, "y", false},
		{"a thought", func(d *turns.DispatchContext, h *turns.Helpers) error {
			return errors.Join(h.InterruptThought("t", "x"), d.Ack())
		}, event.Ack, "", false},
		{"never completed", func(d *turns.DispatchContext, h *turns.Helpers) error {
			return errors.Join(h.ReportMessage("m", "x", false), d.Ack())
		}, event.Ack, "x", false},
		{"never completed, and an error", func(_ *turns.DispatchContext, h *turns.Helpers) error {
			return errors.Join(h.ReportMessage("m", "x", false), no)
		}, event.Nack, "x", true},
		{"complete, and a nack", func(d *turns.DispatchContext, h *turns.Helpers) error {
			return errors.Join(h.ReportMessage("m", "x", true), d.Nack(no))
		}, event.Nack, "x", false},
		{"nothing", func(d *turns.DispatchContext, _ *turns.Helpers) error { return d.Nack(no) }, event.Nack, "", false},
	} {
		r, err := turns.NewTurnRunner(turns.TurnRunnerConfig{Executor: tt.executor, Callbacks: turns.StoreCallbacks(store.NewInMemory())})
		if err != nil {
			t.Fatal(err)
		}
		result, err := finished(r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}))
		if err != nil {
			t.Fatal(err)
		}
		if result.Status != tt.status || result.Text != tt.text || result.Interrupted != tt.want {
			t.Errorf("%s: %s %q %v", tt.name, result.Status, result.Text, result.Interrupted)
		}
	}
}

// A stream that was broken off is sealed, and its event says so, also in JSON.
func TestInterrupt(t *testing.T) {
	var events []string
	r, err := turns.NewTurnRunner(turns.TurnRunnerConfig{
		Callbacks: turns.StoreCallbacks(store.NewInMemory()),
		Executor: func(d *turns.DispatchContext, h *turns.Helpers) error {
			if err := errors.Join(h.ReportMessage("m", "Hel", false), h.InterruptMessage("m", ""), h.InterruptThought("m", "hm")); err != nil {
				return err
			}
			for _, err := range []error{h.ReportMessage("m", "lo", true), h.InterruptMessage("m", ""), h.InterruptThought("m", "")} {
				if !errors.Is(err, turns.ErrStreamSealed) {
					t.Errorf("of a sealed stream: %v", err)
				}
			}
			return errors.Join(d.EmitInterruptedMessage("e", "x"), d.EmitInterruptedThought("e", "x"), d.Ack())
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	result, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test", OnEvent: func(ev event.Event) {
		if ev.Kind() == event.KindMessage || ev.Kind() == event.KindThought {
			line, err := json.Marshal(ev)
			if err != nil {
				t.Error(err)
			}
			_, rest, _ := strings.Cut(string(line), `"id":`)
			rest, _, _ = strings.Cut(rest, `,"createdAt"`)
			events = append(events, ev.Kind().String()+" "+rest)
		}
	}})
	if err != nil || result.Status != event.Ack {
		t.Fatalf("%+v, %v", result, err)
	}
	want := []string{
		`message "m","aDelta":"Hel","length":3,"isComplete":false`,
		`message "m","aDelta":"","length":3,"isComplete":true,"isInterrupted":true`,
		`thought "m","aDelta":"hm","length":2,"isComplete":true,"isInterrupted":true`,
		`message "e","aDelta":"x","length":1,"isComplete":true,"isInterrupted":true`,
		`thought "e","aDelta":"x","length":1,"isComplete":true,"isInterrupted":true`,
	}
	if got := strings.Join(events, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s", got)
	}
}

// An answer that the provider breaks off is marked on every engine, and its turn replays on every one.
func TestReplayOfInterrupted(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			provider, err := hosttest.NewProvider(1, hosttest.Response{
				Body: `data: {"choices":[{"index":0,"delta":{"reasoning":"hm"}}]}` + "\n\n" +
					`data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}` + "\n\n" + `data: {"error":"gone"}` + "\n\n",
			})
			if err != nil {
				t.Fatal(err)
			}
			defer provider.Close()
			h, chat := chatHost(t, engine, provider.URL)
			var log bytes.Buffer
			events, result := runChat(t, h, chat, turns.TurnInput{Text: "Hi!", Journal: &log})
			if result.Status != event.Nack || result.Text != "Hel" || !result.Interrupted {
				t.Errorf("%+v", result)
			}
			messages, thoughts := find[*event.Message](events), find[*event.Thought](events)
			if len(messages) != 2 || messages[0].IsInterrupted || !messages[1].IsInterrupted || len(thoughts) != 2 || !thoughts[1].IsInterrupted {
				t.Errorf("%+v, %+v", messages, thoughts)
			}
			replays(t, &log)
		})
	}
}

// older is an engine whose modules do not know streams that were broken off.
type older struct{ host.Engine }

type olderInstance struct{ host.Instance }

func (e older) Open(ctx context.Context) (host.Instance, error) {
	inst, err := e.Engine.Open(ctx)
	return olderInstance{inst}, err
}

func (i olderInstance) Step(dst, in []byte) ([]byte, error) {
	if op, frame, _, err := abi.Next(in, abi.Limits{}); err == nil && op == abi.OpHello {
		hello, err := abi.Decode[abi.Hello](frame)
		if err != nil {
			return nil, err
		}
		hello.Features &^= abi.FeatureInterrupts
		in = abi.Append(nil, &hello)
	}
	return i.Instance.Step(dst, in)
}

// With a module that does not know streams that were broken off they are sealed, without a mark.
func TestInterruptOlderModule(t *testing.T) {
	h := turns.NewHost(turns.HostOptions{Engine: older{native.New()}})
	defer h.Close(context.Background())
	r, err := turns.NewTurnRunner(turns.TurnRunnerConfig{
		Host: h, Callbacks: turns.StoreCallbacks(store.NewInMemory()),
		Executor: func(d *turns.DispatchContext, h *turns.Helpers) error {
			if err := errors.Join(d.EmitInterruptedMessage("e", "x"), h.InterruptMessage("m", "Hel")); err != nil {
				return err
			}
			if err := h.InterruptMessage("m", ""); !errors.Is(err, turns.ErrStreamSealed) {
				t.Errorf("of a sealed stream: %v", err)
			}
			return d.Ack()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	heard := 0
	result, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test", OnEvent: func(ev event.Event) {
		if ev, ok := ev.(*event.Message); ok {
			heard++
			if !ev.IsComplete || ev.IsInterrupted {
				t.Errorf("%+v", ev)
			}
		}
	}})
	if err != nil || result.Status != event.Ack || result.Text != "Hel" || heard != 2 {
		t.Errorf("%+v, %v; %d events", result, err, heard)
	}
}

// A message that is open when the instance dies is not completed by the host, and the result says that it was broken
// off. A mark on an event that completes nothing is none that a module may send.
func TestInterruptedByDeath(t *testing.T) {
	for _, spoil := range []func([]byte) []byte{
		func([]byte) []byte { return []byte{0xc1} },
		func(out []byte) []byte {
			payload := (&abi.StreamEvent{ID: "m", Delta: "lo", Length: 5}).Append(nil)
			return abi.Append(nil, &abi.Event{Turn: turnOf(t, out), Seq: 9, Kind: abi.EventMessageInterrupted, Dispatch: 1, Scope: 3, Payload: payload})
		},
	} {
		engine := &mortal{Engine: native.New()}
		h := turns.NewHost(turns.HostOptions{Engine: engine})
		r, err := turns.NewTurnRunner(turns.TurnRunnerConfig{
			Host: h, Callbacks: turns.StoreCallbacks(store.NewInMemory()),
			Executor: func(d *turns.DispatchContext, h *turns.Helpers) error {
				if err := h.ReportMessage("m", "Hel", false); err != nil {
					return err
				}
				engine.spoil = func(out []byte, _ error) ([]byte, error) { return spoil(out), nil }
				return h.ReportMessage("m", "lo", false)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		result, err := finished(r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test", OnEvent: func(ev event.Event) {
			if ev, ok := ev.(*event.Message); ok && (ev.IsComplete || ev.IsInterrupted) {
				t.Errorf("%+v", ev)
			}
		}}))
		if err != nil || result.Status != event.Failed || result.Text != "Hel" || !result.Interrupted {
			t.Errorf("%+v, %v", result, err)
		}
		h.Close(context.Background())
	}
}
