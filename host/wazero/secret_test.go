package wazero_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/wazero"
	"github.com/turncore/turncore/wasm/full"
)

// watched is an engine that keeps the instances it opens.
type watched struct {
	host.Engine
	instances []host.Instance
}

func (w *watched) Open(ctx context.Context) (host.Instance, error) {
	i, err := w.Engine.Open(ctx)
	if err == nil {
		w.instances = append(w.instances, i)
	}
	return i, err
}

// A credential is nowhere but in the requests it is for: not in the module's memory, whose garbage stays there, not in
// events, journals or errors; also when the provider quotes it. The environment of the process is nowhere at all.
func TestSecretStaysOnTheHost(t *testing.T) {
	module, ok := full.Module()
	if !ok {
		hosttest.Engines(t) // says what is missing, or fails
		return
	}
	e, err := wazero.New(t.Context(), module)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(t.Context())

	const key, marker = "sk-planted-0123456789", "a marker that the module is told"
	const ofProcess = "sk-of-the-process-0123456789"
	t.Setenv("OPENAI_API_KEY", ofProcess)
	var target string
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		failed bool
	}{
		{"error", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Echo", r.Header.Get("Authorization"))
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s."}}`, key)
		}, true},
		{"answer", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			said, _ := json.Marshal("Your key is " + key + ", you said: " + marker)
			for _, part := range strings.SplitAfter(fmt.Sprintf("data: {\"choices\":[{\"delta\":{\"content\":%s},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", said), "0") {
				_, _ = w.Write([]byte(part))
				w.(http.Flusher).Flush()
			}
		}, false},
		{"redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, target+"/?key="+key, http.StatusTemporaryRedirect)
		}, true},
		{"loop", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/again?key="+key, http.StatusTemporaryRedirect)
		}, true},
		{"broken", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("data: " + key))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sent, leaked int
			other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(fmt.Sprint(r.Header), key) {
					leaked++
				}
				w.WriteHeader(http.StatusForbidden)
				_, _ = w.Write([]byte(key))
			}))
			defer other.Close()
			target = other.URL
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") == "Bearer "+key {
					sent++
				}
				c.answer(w, r)
			}))
			defer server.Close()

			w := &watched{Engine: e}
			runner, err := turns.New(t.Context(), turns.Config{
				Model: turns.Model{Name: "m", BaseURL: server.URL + "/v1", APIKey: key}, Engine: w,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer runner.Close()
			var journal bytes.Buffer
			var told strings.Builder
			stream := runner.Stream(t.Context(), turns.Input{Message: marker, Journal: &journal})
			for ev, err := range stream.Events() {
				if err != nil {
					fmt.Fprintln(&told, err)
					break // that of the result
				}
				line, err := json.Marshal(ev)
				if err != nil {
					t.Fatal(err)
				}
				told.Write(line)
			}
			result, _ := stream.Result()
			if result == nil || (result.Err != nil) != c.failed {
				t.Fatalf("%+v", result)
			}
			for err := result.Err; err != nil; err = errors.Unwrap(err) {
				fmt.Fprintf(&told, "%+v\n", err)
			}
			told.WriteString(result.Text)
			if sent == 0 || leaked != 0 {
				t.Errorf("the key was sent %d times, elsewhere %d times", sent, leaked)
			}
			var memory []byte
			w.instances[0].(*engine.Instance).View(func(m []byte) { memory = bytes.Clone(m) })
			for place, text := range map[string][]byte{"memory": memory, "journal": journal.Bytes(), "events": []byte(told.String())} {
				if bytes.Contains(text, []byte(key)) || bytes.Contains(text, []byte(ofProcess)) {
					t.Errorf("a key is in the %s", place)
				}
			}
			if !bytes.Contains(memory, []byte(marker)) || !bytes.Contains(journal.Bytes(), []byte(marker)) {
				t.Error("what the module was told is not found: the search is no good")
			}
		})
	}
}
