package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turncore/turncore/host/internal/recording"
	"github.com/turncore/turncore/host/simulated"
)

// A turn of this command is recorded and then played from the recording.
func TestRecordProvider(t *testing.T) {
	const key = "sk-planted-0123456789"
	provider := &simulated.Provider{}
	var keys []string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Authorization"))
		provider.ServeHTTP(w, r)
	}))
	defer api.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "weather.json")
	got := call{
		env: []string{"OPENAI_API_KEY=" + key},
		args: []string{
			"record-provider", file, "--base-url", api.URL + "/v1", "--",
			self, "run", "--engine", "native", "--model", "simulated", "--tool", "weather=cat", "How is the weather in Oslo?",
		},
	}.run(t)
	if got.status != 0 || !strings.Contains(got.stdout, "The tool answered") || !strings.Contains(got.stderr, "has 2 interactions") {
		t.Fatalf("%+v", got)
	}
	if len(keys) != 2 || keys[0] != "Bearer "+key {
		t.Errorf("the provider got the keys %q", keys)
	}
	r, err := recording.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if r.Name != "weather" || len(r.Interactions) != 2 || r.Interactions[0].Request.URL != api.URL+"/v1/chat/completions" {
		t.Errorf("%+v", r)
	}
	text, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(text), key) {
		t.Errorf("the key is in the file, or %v", err)
	}
	on(t, func(t *testing.T, engine string) {
		if got := turncore(t, "run", "--engine", engine, "--recording", file); got.status != 0 || !strings.Contains(got.stdout, "The tool answered") {
			t.Errorf("%+v", got)
		}
	})
}

// A recording that cannot be written fails the command; without its folder nothing is said to the provider at all.
func TestRecordingThatIsLost(t *testing.T) {
	api := httptest.NewServer(&simulated.Provider{})
	defer api.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "recordings")
	record := func(program ...string) outcome {
		args := []string{"record-provider", filepath.Join(folder, "r.json"), "--base-url", api.URL + "/v1", "--"}
		return call{args: append(args, program...)}.run(t)
	}
	run := []string{self, "run", "--engine", "native", "--model", "simulated", "hello"}
	if got := record(run...); got.status != 1 || got.stdout != "" || !strings.Contains(got.stderr, "the folder of the recording") {
		t.Errorf("without a folder: %+v", got)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	run = []string{"sh", "-c", `rmdir "$0" && exec "$1" run --engine native --model simulated hello`, folder, self}
	if got := record(run...); got.status != 1 || !strings.Contains(got.stdout, "You said: hello") ||
		!strings.Contains(got.stderr, "error: the recording cannot be written") {
		t.Errorf("with a folder that goes: %+v", got)
	}
}

// A turn of this command with any provider goes through the recorder, which tells it its address by the environment.
func TestRecordEachProvider(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range conversations(t) {
		api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			last := c.Replies[len(c.Replies)-1]
			w.Header().Set("Content-Type", last.Type)
			_, _ = io.WriteString(w, last.Body)
		}))
		file := filepath.Join(t.TempDir(), "r.json")
		got := call{args: []string{
			"record-provider", file, "--provider", c.Provider, "--base-url", api.URL + c.Base, "--",
			self, "run", "--engine", "native", "--provider", c.Provider, "--model", c.Model, "hello",
		}}.run(t)
		if r, err := recording.Load(file); got.status != 0 || err != nil || r.Interactions[0].Request.URL != api.URL+c.Path {
			t.Errorf("%s: %+v, %+v, %v", c.Provider, got, r, err)
		}
		api.Close()
	}
}

func TestRecordProviderStatus(t *testing.T) {
	folder := t.TempDir()
	there := filepath.Join(folder, "there.json")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fresh := filepath.Join(folder, "fresh.json")
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{}, 2, "give the file"},
		{[]string{there}, 2, "is there already"},
		{[]string{fresh, "--base-url", "ftp://a"}, 2, "one of http or https"},
		{[]string{fresh, "--provider", "nobody"}, 2, "must be one of"},
		{[]string{fresh, "--port", "x"}, 2, "port"},
		{[]string{fresh, "--page", "localhost:5173", "--", "true"}, 2, "it must be an origin: scheme, host and port"},
		{[]string{fresh, "--page", "http://localhost:5173/", "--", "true"}, 2, "it must be an origin"},
		{[]string{fresh, "--page", "*", "--", "true"}, 2, "it must be an origin"},
		{[]string{fresh, "--page", "http://localhost:5173", "--page", "https://app.test", "--", "true"}, 0, "nothing was recorded"},
		{[]string{fresh, "--", "sh", "-c", "exit 7"}, 7, "stands in front of https://api.openai.com/v1"},
		{[]string{fresh, "--", "true"}, 0, "nothing was recorded"},
		{[]string{fresh, "--", "false"}, 1, "nothing was recorded"},
		{[]string{fresh, "--", "no-such-program-anywhere"}, 1, "no-such-program-anywhere"},
		{[]string{"-h"}, 0, ""},
	} {
		got := turncore(t, append([]string{"record-provider"}, c.args...)...)
		if got.status != c.status || !strings.Contains(got.stderr, c.says) {
			t.Errorf("%q: %+v", c.args, got)
		}
	}
	if _, err := os.Stat(fresh); err == nil {
		t.Error("an empty recording was written")
	}
}
