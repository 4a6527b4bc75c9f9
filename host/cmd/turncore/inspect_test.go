package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recordTurn runs a turn and returns its journal.
func recordTurn(t *testing.T, args ...string) string {
	t.Helper()
	log := filepath.Join(t.TempDir(), "turn.journal")
	turncore(t, append([]string{"run", "--engine", "native", "--log", log, "--fixed-clock", "--seed", "1"}, args...)...)
	return log
}

func TestInspect(t *testing.T) {
	got := turncore(t, "inspect", recordTurn(t, "Please calculate (2 + 3) * 4"))
	want := `turn    1f0e6a4d-0c3c-6000-8bb1-6fe8a5a7dc2b
began   2026-01-01T00:00:00.000Z
engine  native, ABI VERSION
model   simulated at http://simulated/v1
tools   current_time, calculate
system  You are a helpful assistant.

   0.000  user        Please calculate (2 + 3) * 4
   0.000  write       store messages, 0 ms
   0.000  middleware  turnInput 0, 0 ms
   0.000  middleware  turnInput 1, 0 ms
   0.000  dispatch    1 → ack after 2 iterations, 0 ms
   0.000    iteration   0 → continue, 0 ms
   0.000      http        POST http://simulated/v1/chat/completions, N bytes → 200 after 0 ms, N bytes, 0 ms
   0.000      thought     The text mentions calculate, so I call it.
   0.000      tokens      14 in, 18 out, tool_calls, simulated
   0.000      tool        calculate {"expression":"(2 + 3) * 4"}, 0 ms
                          ← 20
   0.000      commit      store thoughts, store toolCalls, 0 ms
   0.000    iteration   1 → ack, 0 ms
   0.000      http        POST http://simulated/v1/chat/completions, N bytes → 200 after 0 ms, N bytes, 0 ms
   0.000      message     The tool answered: 20
   0.000      tokens      45 in, 6 out, stop, simulated
   0.000      commit      store messages, 0 ms
   0.000  ended       ack after 2 iterations, 0 ms
                      2 requests, 1 tool call, 59 tokens in, 24 out
`
	if plain := withoutNumbers(got.stdout); got.status != 0 || got.stderr != "" || plain != want {
		t.Errorf("%d, %s\n%s\nwant\n%s", got.status, got.stderr, plain, want)
	}
}

// withoutNumbers replaces what changes with the ABI, the simulated model and its ids.
func withoutNumbers(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		words := strings.Split(line, " ")
		for j, word := range words {
			if j > 0 && strings.TrimRight(word, ",") == "bytes" {
				words[j-1] = "N"
			}
			if j > 0 && words[j-1] == "ABI" {
				words[j] = "VERSION"
			}
		}
		if lines[i] = strings.Join(words, " "); strings.HasPrefix(line, "turn    ") {
			lines[i] = "turn    1f0e6a4d-0c3c-6000-8bb1-6fe8a5a7dc2b"
		}
	}
	return strings.Join(lines, "\n")
}

func TestInspectShowsWhatWentWrong(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{
			[]string{"--tool", "weather=echo no rain today >&2; exit 3", "weather please"},
			[]string{"tool        weather {}, 0 ms\n", "✗ ", "no rain today\n"},
		},
		{
			[]string{"--max-iterations", "1", "calculate 2 + 2"},
			[]string{"dispatch    1 → nack after ", "✗ E_MAX_ITERATIONS: ", "error       E_MAX_ITERATIONS: ", "ended       nack after "},
		},
		{
			[]string{"--base-url", "http://127.0.0.1:9/v1", "hello"},
			[]string{"http        POST http://127.0.0.1:9/v1/chat/completions, ", " ✗ E_HTTP_TRANSPORT: "},
		},
	} {
		got := turncore(t, "inspect", recordTurn(t, c.args...))
		for _, want := range c.want {
			if got.status != 0 || !strings.Contains(got.stdout, want) {
				t.Errorf("%q: no %q in %+v", c.args, want, got)
			}
		}
	}
}

func TestInspectVerbose(t *testing.T) {
	log := recordTurn(t, "Please calculate (2 + 3) * 4")
	got := turncore(t, "inspect", log, "--verbose")
	for _, want := range []string{
		`{"model":"simulated","stream":true,`, "data: [DONE]\n", "call        next, 0 ms\n", `"promptTokens":14`,
	} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("no %q in %s", want, got.stdout)
		}
	}
}

// Bytes that are not UTF-8 are shown as the command in JavaScript shows them, each with a mark of its own.
func TestInspectBytes(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("data: \xff\xfe\xe2\x82\n\n"))
	}))
	defer server.Close()
	log := recordTurn(t, "--base-url", server.URL+"/v1", "hello")
	if got := turncore(t, "inspect", log, "--verbose"); !strings.Contains(got.stdout, "data: \uFFFD\uFFFD\uFFFD\n") {
		t.Errorf("%+v", got)
	}
}

func TestInspectJSON(t *testing.T) {
	log := recordTurn(t, "hello")
	got := turncore(t, "inspect", "--json", log)
	lines := strings.Split(strings.TrimSuffix(got.stdout, "\n"), "\n")
	if got.status != 0 || !strings.HasPrefix(lines[0], `{"turncore":"journal","version":1,"abi":"`) {
		t.Fatalf("%+v", got)
	}
	var kinds []string
	for i, line := range lines[1:] {
		var entry struct {
			Entry   int
			In, Out []struct{ Frame, Kind string }
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Entry != i {
			t.Fatalf("%v in %s", err, line)
		}
		for _, f := range append(entry.In, entry.Out...) {
			if f.Frame == "" {
				t.Errorf("no frame in %s", line)
			}
			if f.Frame == "Event" {
				kinds = append(kinds, f.Kind)
			}
		}
	}
	if all := strings.Join(kinds, " "); !strings.HasPrefix(all, "turnStart dispatchStart iterationStart message") || !strings.HasSuffix(all, "dispatchEnd turnEnd") {
		t.Errorf("%s", all)
	}
}

func TestInspectDamaged(t *testing.T) {
	good, err := os.ReadFile(recordTurn(t, "hello"))
	if err != nil {
		t.Fatal(err)
	}
	header := bytes.IndexByte(good, 0x92)
	for _, c := range []struct{ name, content, says, shows string }{
		{"text", "hello\n", "E_INVALID_JOURNAL: The journal cannot be read: the header: malformed", ""},
		{"empty", "", "E_INVALID_JOURNAL: The journal cannot be read: the header: it breaks off", ""},
		{"half a header", string(good[:header/2]), "the header: it breaks off", ""},
		{"no entries", string(good[:header]), "the journal has no entries", "no turn begins"},
		{"breaks off", string(good[:len(good)-3]), ": it breaks off", "ended       not: the journal stops while the turn runs"},
		{"garbage behind", string(good) + "\xc0", ": malformed", "ended       ack after 1 iteration"},
	} {
		got := turncore(t, "inspect", file(t, "damaged", c.content))
		if got.status != 1 || !strings.Contains(got.stderr, "damaged: ") || !strings.Contains(got.stderr, c.says) || !strings.Contains(got.stdout, c.shows) || c.shows == "" && got.stdout != "" {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	if got := turncore(t, "inspect", t.TempDir()+"/none"); got.status != 1 || !strings.Contains(got.stderr, "no such file") {
		t.Errorf("%+v", got)
	}
}

// TestInspectFolder writes beside each journal of a folder what the command shows of it, to be compared with the
// command in JavaScript. Some of the journals are damaged.
func TestInspectFolder(t *testing.T) {
	folder := os.Getenv("TURNCORE_INSPECT_FROM")
	if folder == "" {
		folder = t.TempDir()
		text, err := os.ReadFile(recordTurn(t, "hello"))
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, "a.journal"), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.journal"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no journal in %s: %v", folder, err)
	}
	for _, name := range files {
		var shown bytes.Buffer
		for _, flags := range [][2]bool{{false, false}, {false, true}, {true, false}} {
			out := &output{w: bufio.NewWriter(&shown), screen: newScreen(&shown, &shown, os.Getenv)}
			if err := inspectFile(name, out, flags[0], flags[1]); err != nil {
				out.raw([]byte(strings.TrimPrefix(err.Error(), folder)))
			}
			if err := out.w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(strings.TrimSuffix(name, ".journal")+".shown", shown.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d journals", len(files))
}
