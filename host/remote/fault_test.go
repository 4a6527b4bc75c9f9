package remote_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/remote"
)

const start = "data:{\"event\":\"turnStart\",\"at\":1,\"turnId\":\"t\",\"startedAt\":1}\nid:1\n\n"

// answering is a server that answers every request alike, and counts them.
func answering(t *testing.T, status int, contentType, body string) (url string, requests *int) {
	t.Helper()
	requests = new(int)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		*requests++
		w.Header()["Content-Type"] = nil
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

// TestFaults names what is wrong between client and server.
func TestFaults(t *testing.T) {
	const events = "text/event-stream"
	for _, c := range []struct {
		name        string
		status      int
		contentType string
		body        string
		code        host.Code
		says        string
		requests    int
	}{
		{"a proxy's page", 200, "text/html", "<h1>Log in</h1>", host.CodeTurnStreamMalformed, `"text/html"`, 1},
		{"no content type", 200, "", "x", host.CodeTurnStreamMalformed, "content type is missing", 1},
		{"no content", 204, events, "", host.CodeTurnStreamCut, "after event 0", 3},
		{"a failing server", 500, "text/plain", "out of\n order", host.CodeTurnRequestRefused, "500 Internal Server Error: out of order", 1},
		{"a refusal", 404, "application/json", `{"error":{"code":"E_TURN_UNKNOWN","message":"The turn is unknown: t"}}`, host.CodeTurnUnknown, "unknown: t", 1},
		{"a refusal that is final", 503, "application/json", `{"error":{"code":"E_CLOSED","message":"closed"}}`, host.CodeClosed, "closed", 1},
		{"a busy proxy", 503, "text/html", "busy", host.CodeTurnStreamCut, "503 Service Unavailable: busy", 3},
		{"an abandoned turn", 410, "application/json", `{"error":{"code":"E_TURN_ABANDONED","message":"gone"}}`, host.CodeTurnAbandoned, "gone", 1},
		{"a redirect to nowhere", 302, "", "", host.CodeTurnRequestRefused, "302 Found", 1},
		{"a cut in an event", 200, events, start[:20], host.CodeTurnStreamCut, "after event 0", 3},
		{"numbers that do not grow", 200, events, start + start, host.CodeTurnStreamMalformed, "event 1 follows event 1", 1},
		{"a long line", 200, events, "data:{\"event\":\"" + strings.Repeat("x", 2000), host.CodeTurnStreamMalformed, "limit of 1000 bytes", 1},
		{"no JSON", 200, events, "data:{nonsense\nid:1\n\n", host.CodeTurnStreamMalformed, "not JSON", 1},
		{"a failure without its error", 200, events, "event:end\ndata:{\"status\":\"failed\",\"iterations\":1}\nid:1\n\n", host.CodeTurnStreamMalformed, "`error`", 1},
		{"an end whose error is none", 200, events, "event:end\ndata:{\"status\":\"ack\",\"iterations\":1,\"error\":5}\nid:1\n\n", host.CodeTurnStreamMalformed, "`error`", 1},
		{"a fault", 200, events, start + "event:fault\ndata:{\"code\":\"E_TURN_EVENTS_LOST\",\"message\":\"lost\"}\n\n", host.CodeTurnEventsLost, "lost", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, requests := answering(t, c.status, c.contentType, c.body)
			client := connect(t, url, remote.ClientOptions{Retries: 2, MaxEventBytes: 1000})
			result, err := client.Run(t.Context(), remote.Input{Message: "hi"})
			if !errors.Is(err, c.code) || !strings.Contains(err.Error(), c.says) || *requests != c.requests {
				t.Errorf("%v after %d requests", err, *requests)
			}
			began := strings.HasPrefix(c.body, start)
			if (result != nil) != began || began && (result.Status != event.Failed || !errors.Is(result.Err, c.code)) {
				t.Errorf("the result is %+v", result)
			}
		})
	}
}

// TestNobodyThere gives up when nobody answers.
func TestNobodyThere(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	client := connect(t, server.URL, remote.ClientOptions{Retries: remote.NoRetries})
	if _, err := client.Run(t.Context(), remote.Input{Message: "hi"}); !errors.Is(err, host.CodeTurnStreamCut) || !strings.Contains(err.Error(), "refused") {
		t.Error(err)
	}
}

// vectors are the responses of abi/testdata/sse.json.
type vectors struct {
	Streams []struct {
		Name  string
		After uint32
		Fault json.RawMessage
		Wire  string
		Read  []json.RawMessage
		End   json.RawMessage
	}
	Accepted []struct {
		Name, Wire string
		Events     []json.RawMessage
	}
	Malformed []struct{ Name, Wire string }
}

// TestVectors follows every response of the vectors, cut in two requests at several places.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("../../abi/testdata/sse.json")
	if err != nil {
		t.Fatal(err)
	}
	var all vectors
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	played := 0
	// follow gives the lines of the events; text that came in pieces is joined.
	follow := func(wire string) (lines []string, err error) {
		url, _ := answering(t, http.StatusOK, "text/event-stream", wire)
		client := connect(t, url, remote.ClientOptions{Retries: remote.NoRetries})
		var events []event.Event
		client.OnAny(func(ev event.Event) {
			if n := len(events); n > 0 && events[n-1].Meta().Seq == ev.Meta().Seq {
				a, b := delta(events[n-1]), delta(ev)
				b.Delta = a.Delta + b.Delta
				events = events[:n-1]
			}
			events = append(events, ev)
		})
		_, err = client.Run(t.Context(), remote.Input{TurnID: "t"})
		for _, ev := range events {
			line, lineErr := json.Marshal(ev)
			err = errors.Join(err, lineErr)
			lines = append(lines, string(line))
		}
		played++
		return lines, err
	}
	same := func(name string, lines []string, want []json.RawMessage) {
		t.Helper()
		if fmt.Sprintf("%s", lines) != fmt.Sprintf("%s", want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, lines, want)
		}
	}
	for _, s := range all.Streams {
		lines, err := follow(s.Wire)
		switch {
		case s.After > 0:
			if !errors.Is(err, host.CodeTurnStreamMalformed) {
				t.Errorf("%s, without the beginning: %v", s.Name, err)
			}
		case s.Fault != nil:
			if !errors.Is(err, host.CodeClosed) {
				t.Errorf("%s: %v", s.Name, err)
			}
		default:
			same(s.Name, lines, s.Read)
		}
	}
	for _, s := range all.Accepted {
		lines, _ := follow(s.Wire)
		same(s.Name, lines, s.Events)
	}
	for _, s := range all.Malformed {
		if _, err := follow(s.Wire); !errors.Is(err, host.CodeTurnStreamMalformed) {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
	if played < 50 {
		t.Errorf("%d responses were followed", played)
	}
}

func delta(ev event.Event) *event.StreamDelta {
	if m, ok := ev.(*event.Message); ok {
		return &m.StreamDelta
	}
	return &ev.(*event.Thought).StreamDelta
}
