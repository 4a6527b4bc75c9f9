package turns_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/sse"
	"github.com/turncore/turncore/host/turns"
)

// deltasOf are the deltas of an answer.
func deltasOf(n int) []string {
	text := strings.Repeat("A turn that is streamed costs little more than its text.\n", n*4/57+1)
	deltas := make([]string, n)
	for i := range deltas {
		deltas[i] = text[4*i : 4*i+4]
	}
	return deltas
}

// answering reports deltas; each is told before the next.
func answering(deltas []string, each func()) turns.Executor {
	return func(d *turns.DispatchContext, h *turns.Helpers) error {
		for _, delta := range deltas {
			if err := h.ReportMessage("m", delta, false); err != nil {
				return err
			}
			each()
		}
		if err := h.ReportMessage("m", "", true); err != nil {
			return err
		}
		return d.Ack()
	}
}

// serving is a server whose every request runs a turn.
func serving(t *testing.T, executor turns.Executor, options ...turns.SSEOptions) (url string, streams chan *turns.Stream, cut chan error) {
	t.Helper()
	r := newRunner(t, turns.TurnRunnerConfig{Executor: executor})
	streams, cut = make(chan *turns.Stream, 1), make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		s := r.Stream(context.WithoutCancel(req.Context()), turns.TurnInput{SystemPrompt: "test"})
		streams <- s
		cut <- turns.ServeSSE(w, req, s, options...)
	}))
	t.Cleanup(server.Close)
	return server.URL, streams, cut
}

// TestServeSSE reads a turn from a response: each delta comes at once, and the bytes are little more than the text's.
func TestServeSSE(t *testing.T) {
	deltas := deltasOf(5000)
	heard := make(chan struct{})
	url, streams, cut := serving(t, answering(deltas, func() { <-heard }))
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if got := response.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("content type %s", got)
	}
	var text strings.Builder
	var kinds []event.Kind
	told := 0
	d := sse.Decoder{Listener: sse.Listener{Event: func(ev event.Event) {
		if m, ok := ev.(*event.Message); ok && !m.IsComplete {
			text.WriteString(m.Delta)
			told++
			return
		}
		kinds = append(kinds, ev.Kind())
	}}}
	sent, piece := 0, make([]byte, 4096)
	for d.End() == nil {
		n, err := response.Body.Read(piece)
		sent += n
		before := told
		if err := d.Write(piece[:n]); err != nil {
			t.Fatal(err)
		}
		if told > before {
			heard <- struct{}{}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	}
	whole := strings.Join(deltas, "")
	if text.String() != whole || told != len(deltas) {
		t.Errorf("heard %d deltas, %d bytes", told, text.Len())
	}
	if end := d.End(); end.Status != event.Ack || end.Iterations != 1 || end.Err != nil {
		t.Errorf("end %+v", end)
	}
	if len(kinds) != 7 || kinds[0] != event.KindTurnStart || kinds[6] != event.KindTurnEnd {
		t.Errorf("events %v", kinds)
	}
	if float64(sent) > 1.3*float64(len(whole)) {
		t.Errorf("%d bytes for %d", sent, len(whole))
	}
	if err := <-cut; err != nil {
		t.Error(err)
	}
	<-streams
}

// TestServeSSEAfter begins after the event that the client has.
func TestServeSSEAfter(t *testing.T) {
	r := newRunner(t, turns.TurnRunnerConfig{Executor: answering(deltasOf(100), func() {})})
	s := r.Stream(t.Context(), turns.TurnInput{SystemPrompt: "test"})
	if _, err := s.Result(); err != nil {
		t.Fatal(err)
	}
	last := uint32(0)
	for ev, err := range s.Events() {
		if err != nil {
			t.Fatal(err)
		}
		last = ev.Meta().Seq
	}
	for after := range last + 1 {
		w := httptest.NewRecorder()
		if err := turns.ServeSSE(w, httptest.NewRequest(http.MethodGet, "/", nil), s, turns.SSEOptions{After: after}); err != nil {
			t.Fatal(err)
		}
		seq := after
		for _, line := range strings.Split(w.Body.String(), "\n") {
			if id, found := strings.CutPrefix(line, "id:"); found {
				if n := seqOf(t, id); n <= seq {
					t.Fatalf("after %d: %d follows %d", after, n, seq)
				} else {
					seq = n
				}
			}
		}
		if seq != last+1 {
			t.Fatalf("after %d the last is %d", after, seq)
		}
	}
}

// TestServeSSERefused serves turns that do not run.
func TestServeSSERefused(t *testing.T) {
	r := newRunner(t, turns.TurnRunnerConfig{Executor: answering(nil, func() {})})
	w := httptest.NewRecorder()
	s := r.Stream(t.Context(), turns.TurnInput{})
	if err := turns.ServeSSE(w, httptest.NewRequest(http.MethodGet, "/", nil), s); err != nil {
		t.Fatal(err)
	}
	d := sse.Decoder{}
	if err := d.Write(w.Body.Bytes()); err != nil {
		t.Fatal(err)
	}
	if end := d.End(); end.Status != event.Failed || !errors.Is(end.Err, host.CodeInvalidTurnContext) {
		t.Errorf("end %+v", end)
	}
}

// TestServeSSEGone aborts the turn of a client that goes away, unless it is to continue.
func TestServeSSEGone(t *testing.T) {
	for _, goOn := range []bool{false, true} {
		gone := make(chan struct{})
		waiting := func(d *turns.DispatchContext, h *turns.Helpers) error {
			if err := h.ReportMessage("m", "word", false); err != nil {
				return err
			}
			if goOn {
				<-gone
				return d.Ack()
			}
			<-d.Done()
			return nil
		}
		url, streams, cut := serving(t, waiting, turns.SSEOptions{Continue: goOn})
		ctx, leave := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := response.Body.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		leave()
		response.Body.Close()
		if err := <-cut; !errors.Is(err, context.Canceled) {
			t.Errorf("cut by %v", err)
		}
		close(gone)
		result, _ := (<-streams).Result()
		want := event.Aborted
		if goOn {
			want = event.Ack
		}
		if result.Status != want {
			t.Errorf("the turn's status is %s", result.Status)
		}
	}
}

func seqOf(t *testing.T, id string) uint32 {
	t.Helper()
	n, err := strconv.ParseUint(id, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(n)
}
