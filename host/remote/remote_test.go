package remote_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/remote"
	"github.com/turncore/turncore/host/turns"
)

// TestMain fails when goroutines are left over.
func TestMain(m *testing.M) {
	before := runtime.NumGoroutine()
	code := m.Run()
	http.DefaultClient.CloseIdleConnections()
	for deadline := time.Now().Add(5 * time.Second); code == 0 && runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			fmt.Fprintf(os.Stderr, "goroutines are left over\n%s\n", stacks[:runtime.Stack(stacks, true)])
			code = 1
		}
	}
	os.Exit(code)
}

// serve serves the turns of an executor.
func serve(t *testing.T, executor turns.Executor, options remote.ServerOptions) (url string, runner *turns.Runner) {
	t.Helper()
	runner, err := turns.New(t.Context(), turns.Config{Executor: executor, Engine: native.New()})
	if err != nil {
		t.Fatal(err)
	}
	server, err := remote.NewServer(runner, options)
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(server)
	t.Cleanup(func() {
		listener.Close()
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
	return listener.URL + "/turns", runner
}

// connect connects to a server, without delays.
func connect(t *testing.T, url string, options remote.ClientOptions) *remote.Client {
	t.Helper()
	options.RetryDelay = func(int) time.Duration { return 0 }
	client, err := remote.Connect(url, options)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// request sends a request, and returns status and body.
func request(t *testing.T, method, url, body string, header ...string) (status int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(all)
}

func saying(words ...string) turns.Executor {
	return func(d *turns.DispatchContext, h *turns.Helpers) error {
		for _, word := range words {
			if err := h.ReportMessage("m", word, false); err != nil {
				return err
			}
		}
		if err := h.ReportMessage("m", "", true); err != nil {
			return err
		}
		return d.Ack()
	}
}

func untilAborted(d *turns.DispatchContext, h *turns.Helpers) error {
	if err := h.ReportMessage("m", "word", false); err != nil {
		return err
	}
	<-d.Done()
	return nil
}

// TestRunsLikeHere compares a turn on a server with one here.
func TestRunsLikeHere(t *testing.T) {
	url, runner := serve(t, saying("One ", "two"), remote.ServerOptions{})
	client := connect(t, url, remote.ClientOptions{})
	var heard []string
	defer client.On(event.KindMessage, func(ev event.Event) { heard = append(heard, ev.(*event.Message).Delta) })()
	defer client.Observe(event.KindTurnEnd, func(ev event.Event) { heard = append(heard, ev.Kind().String()) })()
	there, err := client.Run(t.Context(), remote.Input{Message: "hi", TurnID: "a/b", Session: "s"})
	if err != nil {
		t.Fatal(err)
	}
	here, err := runner.Run(t.Context(), turns.Input{Message: "hi", TurnID: "a/b"})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(here)
	b, _ := json.Marshal(there)
	if !bytes.Equal(a, b) || strings.Join(heard, "|") != "One |two||turnEnd" {
		t.Errorf("%s\n%s\n%q", a, b, heard)
	}
}

// TestListenersMayPanic reports the panic of a listener as an event.
func TestListenersMayPanic(t *testing.T) {
	url, _ := serve(t, saying("x"), remote.ServerOptions{})
	client := connect(t, url, remote.ClientOptions{})
	client.Observe(event.KindTurnEnd, func(event.Event) { panic("oops") })
	var failed error
	client.OnAny(func(ev event.Event) {
		if e, ok := ev.(*event.Error); ok {
			failed = e.Err
			panic("again")
		}
	})
	if _, err := client.Run(t.Context(), remote.Input{Message: "hi"}); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(failed, host.CodeListenerError) || !strings.Contains(failed.Error(), "oops") {
		t.Errorf("the listener's error is %v", failed)
	}
}

// TestGates settles gates in every way.
func TestGates(t *testing.T) {
	asking := func(d *turns.DispatchContext, h *turns.Helpers) error {
		for _, id := range []string{"may/I", "b", "c"} {
			answer, err := d.WaitFor(d, turns.Gate{ID: id, Reason: "May I?", Payload: 1, CreatedAt: time.Now(), Schema: `{"type":"string"}`})
			said, _ := answer.(string)
			if err != nil {
				said = err.Error()
			}
			if err := h.ReportMessage("m", said+";", false); err != nil {
				return err
			}
		}
		return d.Ack()
	}
	url, _ := serve(t, asking, remote.ServerOptions{})
	client := connect(t, url, remote.ClientOptions{})
	stream := client.Stream(t.Context(), remote.Input{Message: "hi", TurnID: "a/b"})
	for ev, err := range stream.Events() {
		if err != nil {
			t.Fatal(err)
		}
		open, ok := ev.(*event.TurnGateOpen)
		if !ok {
			continue
		}
		id := open.Gate.ID()
		gate, found := client.Gate(id)
		if same, ok := client.GateOf("a/b", id); !found || !ok || gate != open.Gate || same != gate || len(client.Gates()) != 1 || gate.IsSettled() {
			t.Fatalf("the gate %s is not found", id)
		}
		switch id {
		case "b":
			err = gate.Reject(errors.New("no"))
		case "c":
			err = gate.Abort()
		default:
			for _, bad := range []error{gate.Resolve(1), gate.ResolveShown("x", "other"), gate.ResolveShown("x", ""), gate.Resolve(func() {})} {
				if !errors.Is(bad, host.CodeInvalidTurnGateResolution) {
					t.Errorf("a bad value: %v", bad)
				}
			}
			for body, want := range map[string]int{
				`{}`: 400, `{"value":1,"abort":true}`: 400, `{"value":1,"digest":2}`: 400, `{"error":"no"}`: 400,
				`{"abort":1}`: 400, `{"value":"x","Digest":"other"}`: 400, `{"abort":true,"digest":"x"}`: 400, `{"value":"x","digest":"other"}`: 422,
			} {
				if status, text := request(t, http.MethodPost, url+"/a%2Fb/gates/may%2FI", body); status != want {
					t.Errorf("%s: %d, %s", body, status, text)
				}
			}
			if status, text := request(t, http.MethodPost, url+"/a%2Fb/gates/x", `{"value":1}`); status != 404 || !strings.Contains(text, "E_TURN_GATE_UNKNOWN") {
				t.Errorf("an unknown gate: %d, %s", status, text)
			}
			if status, text := request(t, http.MethodPost, url+"/a%2Fb/gates/may%2FI", `{"value":"yes","digest":"`+gate.Digest()+`"}`); status != 204 {
				t.Errorf("the answer: %d, %s", status, text)
			}
			if status, text := request(t, http.MethodPost, url+"/a%2Fb/gates/may%2FI", `{"value":"no"}`); status != 409 || !strings.Contains(text, "E_TURN_GATE_SETTLED") {
				t.Errorf("a second answer: %d, %s", status, text)
			}
			if err := gate.Abort(); !errors.Is(err, turns.ErrGateSettled) {
				t.Errorf("a late abort: %v", err)
			}
		}
		if err != nil {
			t.Error(err)
		}
	}
	result, err := stream.Result()
	if err != nil || !strings.HasPrefix(result.Text, "yes;") || !strings.Contains(result.Text, "no;E_TURN_GATE_ABORTED") {
		t.Errorf("%+v, %v", result, err)
	}
	if len(client.Gates()) != 0 {
		t.Error("gates are left")
	}
}

// TestAborts aborts turns by leaving the loop, by Abort, by a context, and before they begin.
func TestAborts(t *testing.T) {
	url, runner := serve(t, untilAborted, remote.ServerOptions{Continue: true})
	ended := make(chan event.Status, 10)
	turns.Listen(runner.TurnRunner, func(ev *event.TurnEnd) { ended <- ev.Status })
	client := connect(t, url, remote.ClientOptions{})
	why := errors.New("enough")
	for _, how := range []string{"loop", "abort", "context"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		stream := client.Stream(ctx, remote.Input{Message: "hi"})
		for ev, err := range stream.Events() {
			if err != nil {
				t.Fatal(err)
			}
			if ev.Kind() != event.KindMessage {
				continue
			}
			switch how {
			case "loop":
			case "abort":
				stream.Abort()
				continue
			case "context":
				cancel(why)
				continue
			}
			break
		}
		result, err := stream.Result()
		if result == nil || result.Status != event.Aborted || result.Text != "word" || !result.Interrupted {
			t.Fatalf("%s: %+v, %v", how, result, err)
		}
		want := context.Canceled
		if how == "context" {
			want = why
		}
		if !errors.Is(err, want) || !errors.Is(result.Err, want) {
			t.Errorf("%s: %v", how, err)
		}
		if status := <-ended; status != event.Aborted {
			t.Errorf("%s: the turn on the server is %s", how, status)
		}
		cancel(nil)
	}
}

// TestAbortedBefore sends nothing for a turn whose context has ended.
func TestAbortedBefore(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusTeapot)
	}))
	defer server.Close()
	client := connect(t, server.URL, remote.ClientOptions{})
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	for how, run := range map[string]func() (*turns.Result, error){
		"Run":    func() (*turns.Result, error) { return client.Run(ctx, remote.Input{Message: "hi"}) },
		"Stream": func() (*turns.Result, error) { return client.Stream(ctx, remote.Input{Message: "hi"}).Result() },
	} {
		result, err := run()
		if result == nil || result.Status != event.Aborted || result.Iterations != 0 || !errors.Is(err, why) {
			t.Errorf("%s: %+v, %v", how, result, err)
		}
	}
	if asked != 0 {
		t.Errorf("%d requests were sent", asked)
	}
}

// TestPanicInTheLoop aborts the turn whose loop ends by a panic.
func TestPanicInTheLoop(t *testing.T) {
	url, _ := serve(t, untilAborted, remote.ServerOptions{Continue: true})
	stream := connect(t, url, remote.ClientOptions{}).Stream(t.Context(), remote.Input{Message: "hi"})
	func() {
		defer func() { _ = recover() }()
		for ev := range stream.Events() {
			if ev.Kind() == event.KindMessage {
				panic("the loop")
			}
		}
	}()
	done := make(chan *turns.Result, 1)
	go func() {
		result, _ := stream.Result() //nolint:errcheck // its status says it
		done <- result
	}()
	select {
	case result := <-done:
		if result.Status != event.Aborted {
			t.Errorf("%+v", result)
		}
	case <-time.After(10 * time.Second):
		stream.Abort()
		t.Error("the turn runs on")
	}
}

// TestAbortOfASilentServer cuts the connection when the server does not answer.
func TestAbortOfASilentServer(t *testing.T) {
	asked := make(chan struct{}, 1)
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the end of the connection is seen after the body
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer silent.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	result, err := connect(t, silent.URL, remote.ClientOptions{}).Run(ctx, remote.Input{Message: "hi"})
	if result == nil || result.Status != event.Aborted || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", result, err)
	}
}

// TestRunsOnce attaches every request with the id of a turn to the one that runs, or has run.
func TestRunsOnce(t *testing.T) {
	goOn, runs := make(chan struct{}), 0
	url, _ := serve(t, func(d *turns.DispatchContext, h *turns.Helpers) error {
		runs++
		<-goOn
		return saying("once")(d, h)
	}, remote.ServerOptions{})
	texts := make(chan string, 5)
	for range 5 {
		go func() {
			_, text := request(t, http.MethodPost, url, `{"message":"hi","turnId":"t"}`)
			texts <- text
		}()
	}
	time.Sleep(20 * time.Millisecond)
	close(goOn)
	first := <-texts
	for range 4 {
		if text := <-texts; text != first {
			t.Errorf("%s\nand\n%s", first, text)
		}
	}
	if _, text := request(t, http.MethodPost, url, `{"message":"hi","turnId":"t"}`); text != first || !strings.Contains(text, "event:end") || runs != 1 {
		t.Errorf("%d runs, and later\n%s", runs, text)
	}
	if status, _ := request(t, http.MethodGet, url+"/t/events", "", "Last-Event-ID", "99"); status != http.StatusNoContent {
		t.Errorf("after the end: %d", status)
	}
}

// TestDisconnect lets the turn of clients that go away end, or run on. A retry is answered in either case.
func TestDisconnect(t *testing.T) {
	for _, goOn := range []bool{false, true} {
		free := make(chan struct{})
		url, runner := serve(t, func(d *turns.DispatchContext, h *turns.Helpers) error {
			if err := h.ReportMessage("m", "word", false); err != nil {
				return err
			}
			select {
			case <-d.Done():
				return nil
			case <-free:
				return d.Ack()
			}
		}, remote.ServerOptions{Continue: goOn})
		ended := make(chan event.Status, 1)
		turns.Listen(runner.TurnRunner, func(ev *event.TurnEnd) { ended <- ev.Status })
		var leave []context.CancelFunc
		for _, path := range []string{"", "/t/events"} {
			ctx, cancel := context.WithCancel(t.Context())
			leave = append(leave, cancel)
			method := http.MethodPost
			if path != "" {
				method = http.MethodGet
			}
			r, _ := http.NewRequestWithContext(ctx, method, url+path, strings.NewReader(`{"message":"hi","turnId":"t"}`))
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if _, err := response.Body.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		leave[0]()
		select {
		case status := <-ended:
			t.Fatalf("the turn ended as %s while a client was there", status)
		case <-time.After(50 * time.Millisecond):
		}
		leave[1]()
		want := event.Aborted
		if goOn {
			time.Sleep(50 * time.Millisecond)
			close(free)
			want = event.Ack
		}
		if status := <-ended; status != want {
			t.Errorf("the turn ended as %s", status)
		}
		if _, text := request(t, http.MethodPost, url, `{"message":"hi","turnId":"t"}`); !strings.Contains(text, `"status":"`+want.String()+`"`) {
			t.Errorf("a retry gets %s", text)
		}
	}
}

// TestReplayIsBounded drops events of turns that are too long, and of the turns that ended first.
func TestReplayIsBounded(t *testing.T) {
	full, goOn := make(chan struct{}, 2), make(chan struct{})
	url, _ := serve(t, func(d *turns.DispatchContext, h *turns.Helpers) error {
		for range 200 {
			if err := h.ReportMessage("m", strings.Repeat("x", 100), false); err != nil {
				return err
			}
		}
		full <- struct{}{}
		<-goOn
		return d.Ack()
	}, remote.ServerOptions{MaxReplayBytes: 10_000, Continue: true})
	started := make(chan string, 1)
	go func() {
		_, text := request(t, http.MethodPost, url, `{"message":"hi","turnId":"a"}`)
		started <- text
	}()
	<-full
	if _, text := request(t, http.MethodGet, url+"/a/events", ""); !strings.Contains(text, `event:fault`) || !strings.Contains(text, "E_TURN_EVENTS_LOST") {
		t.Errorf("who comes late gets %s", text)
	}
	client := connect(t, url, remote.ClientOptions{})
	if _, err := client.Run(t.Context(), remote.Input{Message: "hi", TurnID: "a"}); !errors.Is(err, host.CodeTurnEventsLost) {
		t.Errorf("the client gets %v", err)
	}
	close(goOn)
	<-started
	request(t, http.MethodPost, url, `{"message":"hi","turnId":"b"}`)
	request(t, http.MethodPost, url, `{"message":"hi","turnId":"c"}`)
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		status, text := request(t, http.MethodPost, url, `{"message":"hi","turnId":"a"}`)
		if status == http.StatusGone && strings.Contains(text, "E_TURN_EVENTS_LOST") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("a forgotten turn: %d, %s", status, text)
		}
	}
}

// TestRefusedTurn answers what the runner refuses, and lets the id be used again.
func TestRefusedTurn(t *testing.T) {
	ask := turns.Input{}
	url, _ := serve(t, saying("x"), remote.ServerOptions{Input: func(r *http.Request, body map[string]json.RawMessage) (turns.Input, error) {
		if r.Header.Get("Authorization") != "Bearer ada" {
			return ask, &host.Error{Code: host.CodeTurnRequestInvalid, Message: "who are you?", Status: http.StatusUnauthorized}
		}
		ask.Message = string(body["language"])
		ask.StandingInstructions = nil
		if ask.Message == "" {
			ask.StandingInstructions = []string{""}
		}
		return ask, nil
	}, Header: http.Header{"access-control-allow-origin": {"*"}}})
	anonymous := connect(t, url, remote.ClientOptions{})
	if result, err := anonymous.Run(t.Context(), remote.Input{TurnID: "t"}); result != nil || !errors.Is(err, host.CodeTurnRequestInvalid) {
		t.Errorf("without a token: %v", err)
	}
	client := connect(t, url, remote.ClientOptions{Header: http.Header{"Authorization": {"Bearer ada"}}})
	if result, err := client.Run(t.Context(), remote.Input{TurnID: "t"}); result != nil || !errors.Is(err, host.CodeInvalidTurnContext) {
		t.Errorf("refused: %v", err)
	}
	if _, err := client.Run(t.Context(), remote.Input{TurnID: "t", Members: map[string]any{"language": "no"}}); err != nil {
		t.Error(err)
	}
}

// TestBadRequests refuses requests that break the rules, as in JavaScript.
func TestBadRequests(t *testing.T) {
	url, _ := serve(t, saying("x"), remote.ServerOptions{MaxBodyBytes: 1000})
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"POST", "/../x", "{}", 404, "nothing"},
		{"POST", "/t/events/x", "{}", 404, "nothing"},
		{"POST", "/t/gates", "{}", 404, "nothing"},
		{"GET", "/%ff/events", "", 400, "escape"},
		{"GET", "", "", 405, "POST"},
		{"POST", "/t/events", "{}", 405, "GET"},
		{"POST", "", "", 400, "JSON"},
		{"POST", "", "message=hi", 400, "JSON"},
		{"POST", "", "[]", 400, "object"},
		{"POST", "", "null", 400, "object"},
		{"POST", "", `{"message":"` + strings.Repeat("x", 1000) + `"}`, 413, "1000 bytes"},
		{"POST", "", "{}", 400, "`message`"},
		{"POST", "", `{"message":""}`, 400, "`message`"},
		{"POST", "", `{"message":"hi","sessionId":1}`, 400, "`sessionId`"},
		{"POST", "", `{"message":"hi","turnId":1}`, 400, "`turnId`"},
		{"POST", "", `{"message":"hi","turnId":"` + strings.Repeat("x", 257) + `"}`, 400, "256"},
		{"POST", "", `{"message":"hi","systemPrompt":"x"}`, 400, "`systemPrompt`"},
		{"GET", "/t/events", "", 404, "E_TURN_UNKNOWN"},
		{"POST", "/t/gates/g", `{"value":1}`, 404, "E_TURN_UNKNOWN"},
		{"POST", "/t/abort", "{}", 404, "E_TURN_UNKNOWN"},
	} {
		if status, text := request(t, c.method, url+c.path, c.body); status != c.status || !strings.Contains(text, c.says) || !strings.HasPrefix(text, `{"error":{"code":"E_TURN_`) {
			t.Errorf("%s %s %s: %d, %s", c.method, c.path, c.body, status, text)
		}
	}
	if status, text := request(t, http.MethodPost, url, `{"message":"hi"}`, "Last-Event-ID", "-1"); status != 400 || !strings.Contains(text, "Last-Event-ID") {
		t.Errorf("a bad number: %d, %s", status, text)
	}
}

// TestBadOptions refuses options and inputs that are none.
func TestBadOptions(t *testing.T) {
	for _, url := range []string{"", "/turns", "ftp://server.test/turns", "http://server.test/turns?x=1", "http:///turns", "http://a b/"} {
		if _, err := remote.Connect(url, remote.ClientOptions{}); !errors.Is(err, host.CodeInvalidValue) {
			t.Errorf("%q: %v", url, err)
		}
	}
	for _, o := range []remote.ClientOptions{{Retries: -2}, {MaxEventBytes: -1}, {Header: http.Header{"bad name": {"x"}}}} {
		if _, err := remote.Connect("http://server.test/turns", o); !errors.Is(err, host.CodeInvalidValue) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := remote.NewServer(nil, remote.ServerOptions{}); !errors.Is(err, host.CodeInvalidValue) {
		t.Error(err)
	}
	for _, o := range []remote.ServerOptions{{MaxReplayBytes: -1}, {MaxBodyBytes: -1}, {Header: http.Header{"bad name": {"x"}}}, {Header: http.Header{"X": {"v\nw"}}}} {
		if _, err := remote.NewServer(&turns.Runner{}, o); !errors.Is(err, host.CodeInvalidValue) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	client := connect(t, "http://server.test/turns", remote.ClientOptions{})
	for _, members := range []map[string]any{{"message": "x"}, {"f": func() {}}} {
		if _, err := client.Run(t.Context(), remote.Input{Members: members}); !errors.Is(err, host.CodeInvalidValue) {
			t.Errorf("%v: %v", members, err)
		}
		if _, err := client.Stream(t.Context(), remote.Input{Members: members}).Result(); !errors.Is(err, host.CodeInvalidValue) {
			t.Errorf("%v: %v", members, err)
		}
	}
}
