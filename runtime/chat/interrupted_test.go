package chat_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
)

// seals lists the ends of streams in order: | for a complete one, ! for an interrupted one.
func (d *dispatch) seals() (list []string) {
	for _, e := range d.events {
		if end := e[len(e)-1:]; end == "|" || end == "!" {
			kind, _, _ := strings.Cut(e, " ")
			list = append(list, kind+" "+end)
		}
	}
	return list
}

// Streams of an interrupted answer are completed with a mark, whatever interrupts it. Those of a complete answer are
// not marked, whatever happens to it later.
func TestInterrupted(t *testing.T) {
	const failed = `{"error":{"message":"gone","code":502}}`
	reset := errors.New("connection reset")
	body := func(chunks ...string) string { return "data: " + strings.Join(chunks, "\n\ndata: ") + "\n\n" }
	hm := delta(`{"reasoning":"hm"}`)
	message, both, thought := []string{"message !"}, []string{"thought !", "message !"}, []string{"thought !"}
	for _, tt := range []struct {
		name    string
		options string
		body    string
		err     error  // instead of the end of the body
		before  string // what ends the turn before the end of the body: abort or time
		code    fault.Code
		seals   []string
	}{
		{name: "error first", body: sse(failed), code: fault.ChatProviderError},
		{name: "error mid", body: sse(text("Hel"), failed, text("lo"), stop), code: fault.ChatProviderError, seals: message},
		{name: "error last", body: sse(text("Hello"), stop, failed), code: fault.ChatProviderError, seals: message},
		{name: "error in the thought", body: sse(hm, failed), code: fault.ChatProviderError, seals: thought},
		{name: "error behind the thought", body: sse(hm, text("Hel"), failed), code: fault.ChatProviderError, seals: both},
		{name: "stall", body: body(text("Hel")), err: runtime.ErrIdle, code: fault.ChatStreamStalled, seals: message},
		{name: "stall in the thought", body: body(hm), err: runtime.ErrIdle, code: fault.ChatStreamStalled, seals: thought},
		{name: "cut", body: body(hm, text("Hel")), err: reset, code: fault.ChatStreamError, seals: both},
		{name: "no end", body: body(text("Hel")), code: fault.ChatStreamError, seals: message},
		{name: "half a chunk", body: body(text("Hel"), `{"choices":[{"delta":{"content":"l`, text("o")), code: fault.ChatStreamError, seals: message},
		{name: "too long", body: body(text("Hel"), text(strings.Repeat("x", 8<<20))), code: fault.ChatStreamError, seals: message},
		{name: "abort", body: body(hm, text("Hel")), err: reset, before: "abort", seals: both},
		{name: "total timeout", options: `"totalTimeoutMs":1000`, body: body(text("Hel")), err: runtime.ErrIdle, before: "time", code: fault.ChatTotalTimeout, seals: message},

		{name: "whole", body: sse(hm, text("Hello"), stop), seals: []string{"thought |", "message |"}},
		{name: "cut behind the finish reason", body: body(text("Hello"), stop), err: reset, seals: []string{"message |"}},
		{name: "a limit of tokens", body: sse(text("Hel"), `{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`), seals: []string{"message |"}},
		{name: "abort behind the end", body: sse(text("Hello"), stop), before: "abort", seals: []string{"message |"}},
		{name: "thoughts only", body: sse(hm, stop), code: fault.ChatEmptyResponse, seals: []string{"thought |"}},
		{name: "another form than asked for", options: `"schema":{"type":"object"}`, body: sse(text("Hello"), stop), code: fault.ChatInvalidOutput, seals: []string{"message |", "message |"}},
		{name: "declined", options: `"schema":{"type":"object"}`, body: sse(delta(`{"refusal":"No."}`), stop), code: fault.ChatRefused, seals: []string{"message |"}},
	} {
		for seed := range uint64(3) {
			d := newDispatch(t)
			d.answer = func(*runtime.HTTPRequest) (runtime.Stream, error) {
				r := &response{parts: split(tt.body, seed), err: tt.err}
				r.onNext = func(n int) {
					switch {
					case n <= len(r.parts):
					case tt.before == "abort":
						d.aborted = true
					case tt.before == "time":
						d.elapsed = 1000
					}
				}
				return r, nil
			}
			options := `{"model":"m","retry":{"maxAttempts":1}`
			if tt.options != "" {
				options += "," + tt.options
			}
			d.iterate(newExecutor(t, options+"}"), 1)
			if tt.code == "" && d.nacked != nil || tt.code != "" && !fault.Is(d.nacked, tt.code) {
				t.Errorf("%s: nacked with %v", tt.name, d.nacked)
			}
			if got := d.seals(); !slices.Equal(got, tt.seals) || d.open() != nil {
				t.Errorf("%s: %q, want %q; open %q", tt.name, got, tt.seals, d.open())
			}
			stored := slices.ContainsFunc(d.events, func(e string) bool { return strings.HasPrefix(e, "store ") })
			if whole := d.acked; stored != whole {
				t.Errorf("%s: acked %v, stored %v", tt.name, d.acked, stored)
			}
		}
	}
}

// A failing report interrupts the answer.
func TestInterruptedByReport(t *testing.T) {
	d := newDispatch(t)
	d.replies(sse(text("Hel"), text("lo"), stop))
	refused := errors.New("no more")
	d.onReport = func() {
		if d.failReport == nil && len(d.events) == 0 {
			d.failReport = refused
		} else {
			d.failReport = nil
		}
	}
	if err := newExecutor(t, `{"model":"m"}`).Execute(d); err != refused {
		t.Errorf("got %v", err)
	}
	if got := d.seals(); !slices.Equal(got, []string{"message !"}) {
		t.Errorf("%q in %q", got, d.events)
	}
}

// If an answer that repairs another one is interrupted, only its streams are marked.
func TestInterruptedRepair(t *testing.T) {
	d := newDispatch(t)
	d.replies(sse(text("Hello"), stop), "data: "+text("{")+"\n\n")
	d.iterate(newExecutor(t, `{"model":"m","schema":{"type":"object"}}`), 1)
	if got := d.seals(); !slices.Equal(got, []string{"message |", "message !"}) || !fault.Is(d.nacked, fault.ChatStreamError) {
		t.Errorf("%q, nacked with %v", got, d.nacked)
	}
}
