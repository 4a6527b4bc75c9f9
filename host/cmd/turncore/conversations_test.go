package main

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/turncore/turncore/host/internal/shard"
)

// madeRecording is a recording that was made for tests, and what playing it must end with.
type madeRecording struct {
	Name         string
	Why          string // what is special in it
	Interactions json.RawMessage
	Want         struct {
		Exit                     int
		Status                   string
		Iterations               int
		Texts, Thoughts, Results []string
		Error                    string
		Differences              []string // paths of those that are not allowed
	}
}

func madeRecordings(t *testing.T) (list []madeRecording) {
	t.Helper()
	text, err := os.ReadFile("../../internal/recording/testdata/conversations.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	if len(list) < 80 {
		t.Fatalf("only %d recordings", len(list))
	}
	return list
}

// differsAt finds the paths of differences that are not allowed.
var differsAt = regexp.MustCompile(`(?m)^request \d+, (/[^:]*): sent`)

// TestMadeRecordings plays recordings of all shapes that traffic has, on the native engine, and those of the part that
// the environment variable MADE_SHARD names on every engine.
func TestMadeRecordings(t *testing.T) {
	mine := shard.FromEnv(t, "MADE_SHARD")
	for i, made := range madeRecordings(t) {
		t.Run(made.Name, func(t *testing.T) {
			text, err := json.Marshal(map[string]any{"name": made.Name, "interactions": made.Interactions})
			if err != nil {
				t.Fatal(err)
			}
			path := file(t, "made.json", string(text))
			engines := shown(t)
			if !mine.Has(i) {
				engines = engines[:1]
			}
			first := ""
			for _, e := range engines {
				got := turncore(t, "run", "--engine", e.Name(), "--recording", path, "--json", "--fixed-clock", "--seed", "1")
				if got.status != made.Want.Exit {
					t.Errorf("%s on %s: exit status %d, %s", made.Why, e.Name(), got.status, got.stderr)
				}
				if first == "" {
					first = got.stdout
					checkMade(t, &made, got.stderr, checkLog(t, got.stdout))
				}
				if got.stdout != first {
					t.Errorf("%s: another log on %s", made.Why, e.Name())
				}
			}
		})
	}
}

func checkMade(t *testing.T, made *madeRecording, stderr string, end endLine) {
	t.Helper()
	want := &made.Want
	var texts, results, paths []string
	for _, m := range end.Messages {
		if m.Role == "assistant" {
			texts = append(texts, m.Content)
		}
	}
	for _, c := range end.ToolCalls {
		results = append(results, c.Results)
	}
	for _, found := range differsAt.FindAllStringSubmatch(stderr, -1) {
		paths = append(paths, found[1])
	}
	code := ""
	if end.Error != nil {
		code = end.Error.Code
	}
	if end.Status != want.Status || end.Iterations != want.Iterations || code != want.Error ||
		!slices.Equal(texts, want.Texts) || !slices.Equal(end.Thoughts, want.Thoughts) || !slices.Equal(results, want.Results) {
		t.Errorf("%s: end %+v, want %+v", made.Why, end, want)
	}
	slices.Sort(paths)
	if !slices.Equal(paths, want.Differences) {
		t.Errorf("%s: differences at %q, want %q", made.Why, paths, want.Differences)
	}
}
