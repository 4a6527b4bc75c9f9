package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
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

	"github.com/turncore/turncore/host/simulated"
)

// streamed is an event of a turn as the service of examples/service streams it.
type streamed struct {
	name string
	data map[string]any
}

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

// events reads a stream up to an event of that name, which it returns with the names of all that came.
func events(t *testing.T, stream *bufio.Scanner, until string) (last streamed, names []string) {
	t.Helper()
	for stream.Scan() {
		kind, text, _ := strings.Cut(stream.Text(), ": ")
		switch kind {
		case "event":
			last = streamed{name: text}
			names = append(names, text)
		case "data":
			_ = json.Unmarshal([]byte(text), &last.data) // the data of "failed" is a string
			if last.name == until {
				return last, names
			}
		}
	}
	t.Fatalf("the stream ended after %v without %s: %v", names, until, stream.Err())
	return last, names
}

// playService plays the service of examples/service over HTTP: turns, a gate that a second request answers, a conversation
// that is remembered, and an end that waits for a turn.
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

	turn := func(message string) *bufio.Scanner {
		t.Helper()
		body, _ := json.Marshal(map[string]string{"session": "ada", "message": message})
		response := post(t, url+"/turns", string(body))
		if kind := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || kind != "text/event-stream" {
			t.Fatalf("%s, %s", response.Status, kind)
		}
		return bufio.NewScanner(response.Body)
	}
	answer := func(gate streamed, body string, status int) {
		t.Helper()
		response := post(t, fmt.Sprintf("%s/turns/%s/gates/%s", url, gate.data["turnId"], gate.data["gateId"]), body)
		if text, _ := io.ReadAll(response.Body); response.StatusCode != status {
			t.Errorf("%s is answered by %s, %s", body, response.Status, text)
		}
	}

	end, names := events(t, turn("hello"), "result")
	if end.data["status"] != "ack" || !strings.Contains(fmt.Sprint(end.data["text"]), "hello") || !strings.Contains(strings.Join(names, " "), "message") {
		t.Errorf("hello ends with %v after %v", end.data, names)
	}

	stream := turn("Please transfer 20 euros to Grace.")
	gate, _ := events(t, stream, "turnGateOpen")
	if payload, _ := gate.data["payload"].(map[string]any); payload["amount"] != 20.0 || payload["to"] == "" {
		t.Errorf("the gate is %v", gate.data)
	}
	if request, _ := asked.Load().(string); !strings.Contains(request, "hello") {
		t.Errorf("the conversation is not remembered in %s", request)
	}
	answer(gate, `{"approve":true}`, http.StatusBadRequest)
	answer(gate, `{"digest":"x"}`, http.StatusBadRequest)
	answer(gate, `{"approve":true,"digest":"x"}`, http.StatusBadRequest)
	if !stillRuns(ended) {
		t.Fatal("the service has ended")
	}

	// The end waits for the turn, and the turn for its answer.
	if err := service.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		body, _ := io.ReadAll(post(t, url+"/turns", `{"message":"too late"}`).Body)
		if strings.HasPrefix(string(body), "event: failed\n") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("a turn after SIGTERM: %s", body)
		}
	}
	approval, _ := json.Marshal(map[string]any{"approve": true, "digest": gate.data["digest"]})
	answer(gate, string(approval), http.StatusNoContent)
	end, names = events(t, stream, "result")
	if end.data["status"] != "ack" || !strings.Contains(fmt.Sprint(end.data["text"]), "20 euros are with") {
		t.Errorf("the transfer ends with %v after %v", end.data, names)
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
