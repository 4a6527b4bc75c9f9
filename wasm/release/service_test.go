package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/remote"
	"github.com/turncore/turncore/host/simulated"
	"github.com/turncore/turncore/host/turns"
)

// post sends JSON and returns the response, whose body the test closes.
func post(t *testing.T, url, body string) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// playService plays the service of examples/service over HTTP: turns, a gate that a second request answers, a
// conversation that is remembered, and an end that waits for a turn.
func playService(t *testing.T, binary string) {
	var asked atomic.Value // the last request of the model
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a broken one fails below
		asked.Store(string(body))
		r.Body = io.NopCloser(bytes.NewReader(body))
		new(simulated.Provider).ServeHTTP(w, r)
	}))
	defer provider.Close()
	service := exec.CommandContext(t.Context(), binary)
	service.Env = append(os.Environ(), "ADDRESS=127.0.0.1:0", "MODEL=simulated", "MODEL_BASE_URL="+provider.URL+"/v1")
	service.Stderr = os.Stderr
	printed, err := service.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	defer func() { _ = service.Process.Kill() }()
	address, err := bufio.NewReader(printed).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go func() { ended <- service.Wait() }()
	url := strings.TrimSpace(address)

	client, err := remote.Connect(url+"/turns", remote.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	input := func(message string) remote.Input { return remote.Input{Session: "ada", Message: message} }
	answer := func(gate event.OpenGate, body string, status int) {
		t.Helper()
		response := post(t, fmt.Sprintf("%s/turns/%s/gates/%s", url, gate.TurnID(), gate.ID()), body)
		if text, _ := io.ReadAll(response.Body); response.StatusCode != status {
			t.Errorf("%s is answered by %s, %s", body, response.Status, text)
		}
	}

	if hello, err := client.Run(t.Context(), input("hello")); err != nil || !strings.Contains(hello.Text, "hello") {
		t.Fatalf("hello ends with %+v, %v", hello, err)
	}

	gates := make(chan event.OpenGate, 1)
	client.Observe(event.KindTurnGateOpen, func(ev event.Event) { gates <- ev.(*event.TurnGateOpen).Gate })
	transfer := client.Stream(t.Context(), input("Please transfer 20 euros to Grace."))
	var gate event.OpenGate
	select {
	case gate = <-gates:
	case <-time.After(time.Minute):
		t.Fatal("no gate is opened")
	}
	var payload struct {
		To     string
		Amount int
	}
	if err := json.Unmarshal(gate.Payload(), &payload); err != nil || payload.Amount != 20 || payload.To == "" {
		t.Errorf("the gate asks about %s", gate.Payload())
	}
	if request, _ := asked.Load().(string); !strings.Contains(request, "hello") {
		t.Errorf("the conversation is not remembered in %s", request)
	}
	answer(gate, `{"approve":true}`, http.StatusBadRequest)
	answer(gate, `{"digest":"x"}`, http.StatusBadRequest)
	answer(gate, `{"value":true,"digest":"x"}`, http.StatusUnprocessableEntity)
	if !stillRuns(ended) {
		t.Fatal("the service has ended")
	}

	// The end waits for the turn, and the turn for its answer.
	if err := service.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		_, err := client.Run(t.Context(), input("too late"))
		if errors.Is(err, turns.ErrClosed) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("a turn after SIGTERM: %v", err)
		}
	}
	if err := gate.Resolve(true); err != nil {
		t.Error(err)
	}
	if result, err := transfer.Result(); err != nil || !strings.Contains(result.Text, "20 euros are with") {
		t.Errorf("the transfer ends with %+v, %v", result, err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the service ended with %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("the service did not end")
	}
}

// stillRuns tells whether the program has not ended.
func stillRuns(ended chan error) bool {
	select {
	case <-ended:
		return false
	default:
		return true
	}
}
