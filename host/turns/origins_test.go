package turns_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/turns"
)

// A core that asks for an address of its own choice gets nothing: without AllowOrigin its requests go where the program
// has said, to the model.
func TestRequestsOfTheCoreStayWhereTheProgramSaid(t *testing.T) {
	reached := 0
	server := func() *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
		t.Cleanup(s.Close)
		return s
	}
	named, other := server(), server()
	for _, c := range []struct {
		name  string
		url   string
		allow func(string) bool
		want  int
	}{
		{"the model", named.URL, nil, 1},
		{"elsewhere", other.URL, nil, 0},
		{"elsewhere, as AllowOrigin says", other.URL, func(origin string) bool { return origin == other.URL }, 1},
		{"the model, which AllowOrigin refuses", named.URL, func(origin string) bool { return origin == other.URL }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			reached = 0
			engine := &forger{native.New(), func(op abi.Op, turn uint32) ([]abi.Frame, bool) {
				switch op {
				case abi.OpStartTurn:
					args := (&abi.HTTPArgs{Method: "GET", URL: c.url + "/secret"}).Append(nil)
					return []abi.Frame{&abi.Effect{Turn: turn, Effect: 1, Kind: abi.EffectHTTP, Args: args}}, true
				case abi.OpResult:
					return []abi.Frame{&abi.End{Turn: turn, Status: abi.StatusAck}}, true
				case abi.OpChunk:
					return nil, true
				}
				return nil, false
			}}
			h := turns.NewHost(turns.HostOptions{Engine: engine, AllowOrigin: c.allow})
			defer h.Close(context.Background())
			r := newRunner(t, turns.TurnRunnerConfig{Host: h, Chat: &model.ChatOptions{Model: "m", BaseURL: named.URL + "/v1"}})
			if result, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}); err != nil || result.Status != event.Ack {
				t.Fatalf("%+v, %v", result, err)
			}
			if reached != c.want {
				t.Errorf("%d requests arrived, want %d", reached, c.want)
			}
		})
	}
}
