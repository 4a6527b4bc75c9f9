package turns_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/simulated"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// recordingProvider is a simulated provider that keeps the messages of each request, as words.
func recordingProvider(t *testing.T) (url string, requests *[][]string) {
	requests = new([][]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		var request struct {
			Messages []struct {
				Role      string
				Content   string
				ToolCalls []any `json:"tool_calls"`
			}
		}
		if err := json.Unmarshal(body, &request); err != nil {
			t.Errorf("%v in %s", err, body)
		}
		var words []string
		for _, m := range request.Messages {
			word := m.Role + ":" + strings.SplitN(m.Content, "\n", 2)[0]
			if len(m.ToolCalls) > 0 {
				word += "[call]"
			}
			words = append(words, word)
		}
		*requests = append(*requests, words)
		r.Body = io.NopCloser(bytes.NewReader(body))
		(&simulated.Provider{}).ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1", requests
}

// While the clock stands still, or goes back, a conversation keeps its order: every record is stamped later than those
// before it, in the core and on the host.
func TestConversationKeepsItsOrder(t *testing.T) {
	want := []string{
		"system:You are a helpful assistant.",
		"user:calc with a = 41", "assistant:[call]", "tool:42", "assistant:The tool answered: 42",
		"user:Thanks!", "assistant:You said: Thanks!",
		"user:calc with a = 1, please", "assistant:[call]", "tool:2",
	}
	clocks := map[string]func() int64{
		"constant": host.FixedClock(host.FixedTime),
		"falling":  falling(),
	}
	for _, engine := range hosttest.Engines(t) {
		for name, clock := range clocks {
			t.Run(engine.Name()+"/"+name, func(t *testing.T) {
				url, requests := recordingProvider(t)
				h := turns.NewHost(turns.HostOptions{Engine: engine, Verify: true, Clock: clock})
				defer h.Close(t.Context())
				runner, err := turns.New(t.Context(), turns.Config{
					Model: turns.Model{Name: "simulated", BaseURL: url, Options: map[string]any{"trust": "off"}}, Tools: []*turns.Tool{calc()}, Host: h,
				})
				if err != nil {
					t.Fatal(err)
				}
				defer runner.Close()
				for _, text := range []string{"calc with a = 41", "Thanks!", "calc with a = 1, please"} {
					if result, err := runner.Run(t.Context(), turns.Input{Message: text}); err != nil || result.Status != event.Ack {
						t.Fatalf("%+v, %v", result, err)
					}
				}
				if len(*requests) != 5 {
					t.Fatalf("%d requests", len(*requests))
				}
				if last := (*requests)[4]; !slices.Equal(last, want) {
					t.Errorf("the last request has\n%s\nwant\n%s", strings.Join(last, "\n"), strings.Join(want, "\n"))
				}
			})
		}
	}
}

// falling is a clock that goes back by a second at each reading.
func falling() func() int64 {
	now := int64(host.FixedTime)
	return func() int64 {
		now -= 1000
		return now
	}
}

// storeOnly is a store that does not know the times of its records.
type storeOnly struct{ store.Store }

// The time of a message given as text is the clock's, or later than all that the session's store holds.
func TestMessageTime(t *testing.T) {
	engine := hosttest.Engines(t)[0]
	h := turns.NewHost(turns.HostOptions{Engine: engine, Clock: host.FixedClock(host.FixedTime)})
	defer h.Close(t.Context())
	now := time.UnixMilli(host.FixedTime).UTC()
	last := time.UnixMilli(8_640_000_000_000_000).UTC()
	for name, c := range map[string]struct {
		stored time.Time
		hide   bool
		want   time.Time
	}{
		"an empty session":               {want: now},
		"an earlier record":              {stored: now.Add(-time.Hour), want: now},
		"a record of the same time":      {stored: now, want: now.Add(time.Millisecond)},
		"a later record":                 {stored: now.Add(time.Hour), want: now.Add(time.Hour + time.Millisecond)},
		"a record at the end of time":    {stored: last, want: last},
		"a store that knows of no times": {stored: now.Add(time.Hour), hide: true, want: now},
	} {
		memory := store.NewInMemory()
		if !c.stored.IsZero() {
			m := record.NewMessage("old", record.Assistant, "x", c.stored)
			writes := store.Commit{Deltas: []store.Delta{{Op: store.OpStore, Kind: "message", ID: m.ID, Record: m}}}
			if _, err := memory.Commit(t.Context(), "s", writes); err != nil {
				t.Fatal(err)
			}
		}
		config := turns.Config{Executor: ack, Store: memory, Host: h}
		if c.hide {
			config.Store = storeOnly{memory}
		}
		runner, err := turns.New(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		result, err := runner.Run(t.Context(), turns.Input{Message: "Hi!", Session: "s"})
		if err != nil || result.Status != event.Ack {
			t.Fatalf("%s: %+v, %v", name, result, err)
		}
		records, err := memory.Load(t.Context(), "s", "")
		if err != nil {
			t.Fatal(err)
		}
		list := records.Messages
		if got := list[len(list)-1]; got.Content != "Hi!" || !got.CreatedAt.Equal(c.want) {
			t.Errorf("%s: %q of %v, want %v", name, got.Content, got.CreatedAt, c.want)
		}
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The newest time of a session covers what makes up its conversation, whatever is written, and deletes do not lower it.
func TestNewest(t *testing.T) {
	sessions := store.NewInMemory()
	at := func(s int64) time.Time { return time.Unix(s, 0).UTC() }
	call := toolCall("c", "s")
	call.CreatedAt = at(30)
	later := toolCall("d", "s")
	later.CreatedAt = at(40)
	for i, step := range []struct {
		write store.Delta
		want  time.Time
	}{
		{store.Delta{Op: store.OpStore, Kind: "message", Record: record.NewMessage("m", record.User, "x", at(10)), ID: "m"}, at(10)},
		{store.Delta{Op: store.OpStore, Kind: "thought", Record: record.NewThought("t", "x", at(20)), ID: "t"}, at(20)},
		{store.Delta{Op: store.OpStore, Kind: "toolCall", Record: call, ID: "c"}, at(30)},
		{store.Delta{Op: store.OpMutate, Kind: "message", Record: record.NewMessage("m", record.User, "x", at(5)), ID: "m"}, at(30)},
		{store.Delta{Op: store.OpStore, Kind: "memory", Record: record.NewMemory("y", "x", 0, 0, at(90)), ID: "y"}, at(30)},
		{store.Delta{Op: store.OpReplaceToolCallGroup, Kind: "toolCall", IDs: []string{"c"}, Records: []*record.ToolCall{later}}, at(40)},
		{store.Delta{Op: store.OpDelete, Kind: "toolCall", ID: "d"}, at(40)},
	} {
		if _, err := sessions.Commit(t.Context(), "s", store.Commit{Deltas: []store.Delta{step.write}}); err != nil {
			t.Fatal(err)
		}
		if got, err := sessions.Newest(t.Context(), "s"); err != nil || !got.Equal(step.want) {
			t.Errorf("after write %d: %v, want %v", i, got, step.want)
		}
	}
	if got, err := sessions.Newest(t.Context(), "other"); err != nil || !got.IsZero() {
		t.Errorf("an unknown session: %v", got)
	}
	if err := sessions.Delete(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if got, err := sessions.Newest(t.Context(), "s"); err != nil || !got.IsZero() {
		t.Errorf("a deleted session: %v", got)
	}
}
