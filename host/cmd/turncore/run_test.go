package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/simulated"
)

// endLine is the last line of an event log.
type endLine struct {
	Event      string
	Status     string
	Iterations int
	Messages   []struct{ Role, Content string }
	Thoughts   []string
	ToolCalls  []struct {
		Tool    string
		Args    json.RawMessage
		IsError bool
		Results string
	}
	Error *struct{ Code, Message string }
}

// checkLog checks that a log is made of lines of JSON whose numbers grow, and returns the last one.
func checkLog(t *testing.T, log string) (end endLine) {
	t.Helper()
	list := strings.Split(log, "\n")
	if list[len(list)-1] != "" || len(list) < 2 {
		t.Fatalf("the log does not end with a line: %q", log)
	}
	list = list[:len(list)-1]
	seq := 0
	for i, text := range list[:len(list)-1] {
		var ev struct {
			Event  string
			Seq    int
			TurnID string
		}
		if err := json.Unmarshal([]byte(text), &ev); err != nil {
			t.Fatalf("line %d: %v in %s", i, err, text)
		}
		if ev.Event == "" || ev.Seq <= seq || ev.TurnID == "" {
			t.Fatalf("line %d is %s", i, text)
		}
		seq = ev.Seq
	}
	last := list[len(list)-1]
	if err := json.Unmarshal([]byte(last), &end); err != nil {
		t.Fatalf("%v in %s", err, last)
	}
	if end.Event != "end" {
		t.Fatalf("the last line is %s", last)
	}
	return end
}

// simulatedNote is what a run says that has no real model.
const simulatedNote = "note: the model is simulated; --provider, --base-url or --model choose a real one\n"

func TestSimulatedModel(t *testing.T) {
	on(t, func(t *testing.T, engine string) {
		got := turncore(t, "run", "--engine", engine, "Please calculate (2 + 3) * 4 / 8")
		if got.status != 0 || got.stdout != "The tool answered: 2.5\n" {
			t.Errorf("%+v", got)
		}
		for _, want := range []string{
			simulatedNote, "The text mentions calculate", `→ calculate {"expression":"(2 + 3) * 4 / 8"}` + "\n", "← 2.5\n",
		} {
			if !strings.Contains(got.stderr, want) {
				t.Errorf("no %q in %q", want, got.stderr)
			}
		}
		if strings.Contains(got.stdout+got.stderr, "\x1b") {
			t.Errorf("colours outside of a terminal: %+v", got)
		}
	})
}

func TestSimulatedLogIsTheSameEverywhere(t *testing.T) {
	logs := map[string]string{}
	on(t, func(t *testing.T, engine string) {
		for range 2 {
			got := turncore(t, "run", "--engine", engine, "--json", "--fixed-clock", "--seed", "1", "What is the current_time?")
			if got.status != 0 || got.stderr != simulatedNote {
				t.Fatalf("%+v", got)
			}
			end := checkLog(t, got.stdout)
			if len(end.ToolCalls) != 1 || end.ToolCalls[0].Results != "2026-01-01T00:00:00.000Z" || string(end.ToolCalls[0].Args) != "{}" ||
				end.Status != "ack" || end.Iterations != 2 || len(end.Messages) != 2 || len(end.Thoughts) != 1 || end.Error != nil {
				t.Errorf("end %+v", end)
			}
			logs[got.stdout] = engine
		}
	})
	if len(logs) != 1 {
		t.Errorf("%d different logs", len(logs))
	}
	other := turncore(t, "run", "--engine", "native", "--json", "--fixed-clock", "--seed", "2", "What is the current_time?")
	if _, same := logs[other.stdout]; same {
		t.Error("another seed gives the same ids")
	}
}

func TestPromptFromStandardInput(t *testing.T) {
	for _, args := range [][]string{{"run"}, {"run", "-"}} {
		got := call{stdin: "hello\nworld\r\n", args: append(args, "--engine", "native", "--json")}.run(t)
		if got.status != 0 {
			t.Fatalf("%+v", got)
		}
		if end := checkLog(t, got.stdout); end.Messages[0].Content != "hello\nworld" {
			t.Errorf("end %+v", end)
		}
	}
}

func TestPromptThatLooksLikeAFlag(t *testing.T) {
	got := turncore(t, "run", "--engine", "native", "--json", "--", "--help")
	if end := checkLog(t, got.stdout); end.Messages[0].Content != "--help" {
		t.Errorf("%+v", got)
	}
}

// endpoint is a simulated provider that keeps what it was asked.
type endpoint struct {
	*httptest.Server
	mu     sync.Mutex
	header http.Header
	body   string
}

// asked returns the last request.
func (e *endpoint) asked() (header http.Header, body string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.header, e.body
}

func newEndpoint(t *testing.T) *endpoint {
	t.Helper()
	e := &endpoint{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		e.mu.Lock()
		e.header, e.body = r.Header.Clone(), string(body)
		e.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		(&simulated.Provider{}).ServeHTTP(w, r)
	}))
	t.Cleanup(e.Close)
	return e
}

func TestEndpoint(t *testing.T) {
	const key = "sk-do-not-tell"
	e := newEndpoint(t)
	log := filepath.Join(t.TempDir(), "log")
	got := call{env: []string{"OPENAI_API_KEY=" + key}, args: []string{
		"run", "--engine", "native", "--base-url", e.URL + "/v1", "--verbose", "--log", log, "--system", "be brief", "hello",
	}}.run(t)
	if got.status != 0 || got.stdout != "You said: hello\n" {
		t.Fatalf("%+v", got)
	}
	header, body := e.asked()
	if header.Get("Authorization") != "Bearer "+key {
		t.Errorf("header %v", header)
	}
	for _, want := range []string{`"model":"gpt-4o-mini"`, `"be brief"`, `"hello"`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	if strings.Contains(body, "tools") {
		t.Errorf("tools are offered: %s", body)
	}
	journal, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(got.stdout+got.stderr+string(journal), key) {
		t.Error("the key is told")
	}
	if info, err := os.Stat(log); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the journal's mode is %v, %v", info.Mode(), err)
	}

	// The environment names endpoint and model, the command line wins.
	env := []string{"OPENAI_BASE_URL=" + e.URL + "/v1", "OPENAI_MODEL=from-env"}
	call{env: env, args: []string{"run", "--engine", "native", "hello"}}.run(t)
	header, body = e.asked()
	if !strings.Contains(body, `"model":"from-env"`) || !strings.Contains(body, "You are a helpful assistant.") || header.Get("Authorization") != "" {
		t.Errorf("%s, %v", body, header)
	}
	call{env: env, args: []string{"run", "--engine", "native", "--model", "from-flag", "--system", "", "hello"}}.run(t)
	if _, body = e.asked(); !strings.Contains(body, `"model":"from-flag"`) || strings.Contains(body, "system") {
		t.Errorf("%s", body)
	}
}

// A model and a key are enough to reach OpenAI.
func TestModelAndKeyChooseOpenAI(t *testing.T) {
	for _, flags := range []runFlags{{model: "m"}, {}} {
		env := map[string]string{"OPENAI_API_KEY": "sk", "OPENAI_MODEL": "m"}
		flags.environment(func(name string) string { return env[name] })
		if flags.provider != model.OpenAI || flags.baseURL != "https://api.openai.com/v1" || flags.model != "m" || flags.key != "sk" {
			t.Errorf("%+v", flags)
		}
	}
	simulated := runFlags{}
	simulated.environment(func(name string) string { return map[string]string{"OPENAI_API_KEY": "sk"}[name] })
	if !simulated.isSimulated() {
		t.Errorf("a key alone chose %+v", simulated)
	}
}

// spoken is a conversation with a provider, as far as it is of interest here.
type spoken struct {
	Provider, Model, Base, Path string
	Key                         [2]string
	Replies                     []struct{ Type, Body string }
}

func conversations(t *testing.T) []spoken {
	t.Helper()
	text, err := os.ReadFile("../../../runtime/testdata/providers/conversations.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases []spoken }
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all.Cases
}

// Each provider gets its own requests, with the key of its own variable in the header where it wants it.
func TestProviders(t *testing.T) {
	on(t, func(t *testing.T, engine string) {
		for _, c := range conversations(t) {
			var header http.Header
			var path string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				header, path = r.Header.Clone(), r.RequestURI
				last := c.Replies[len(c.Replies)-1]
				w.Header().Set("Content-Type", last.Type)
				_, _ = io.WriteString(w, last.Body)
			}))
			env := []string{"OPENAI_MODEL=not-this"}
			for _, names := range variablesOf {
				if names.key != "" {
					env = append(env, names.key+"=sk-"+names.key)
				}
			}
			got := call{env: env, args: []string{
				"run", "--engine", engine, "--provider", c.Provider, "--model", c.Model, "--base-url", server.URL + c.Base, "hello",
			}}.run(t)
			server.Close()
			if got.status != 0 || got.stdout != "4 degrees in Oslo.\n" || path != c.Path {
				t.Errorf("%s: %+v, %s", c.Provider, got, path)
			}
			want := ""
			if key := variablesOf[model.Provider(c.Provider)].key; key != "" {
				want = c.Key[1] + "sk-" + key
			}
			if header.Get(c.Key[0]) != want {
				t.Errorf("%s: %s %q, want %q", c.Provider, c.Key[0], header.Get(c.Key[0]), want)
			}
		}
	})
}

func TestProviderInShort(t *testing.T) {
	var path string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path = r.RequestURI
		w.WriteHeader(http.StatusTeapot)
	}))
	defer server.Close()
	got := call{args: []string{"run", "--engine", "native", "--provider", "responses", "--model", "m", "--base-url", server.URL, "hello"}}.run(t)
	if got.status != 1 || path != "/responses" {
		t.Errorf("%+v, %s", got, path)
	}
}

// The command in JavaScript has the same table.
func TestAddressesOfTheEnvironment(t *testing.T) {
	for _, c := range [][4]string{
		{"anthropic", "ANTHROPIC_BASE_URL", "http://a", "http://a/v1"},
		{"anthropic", "ANTHROPIC_BASE_URL", "http://a/v1/", "http://a/v1"},
		{"anthropic", "ANTHROPIC_BASE_URL", "", "https://api.anthropic.com/v1"},
		{"gemini", "GOOGLE_GEMINI_BASE_URL", "http://g/", "http://g/v1beta"},
		{"ollama", "OLLAMA_HOST", "http://o:1/", "http://o:1"},
		{"ollama", "OLLAMA_HOST", "o", "http://o:11434"},
		{"ollama", "OLLAMA_HOST", "0.0.0.0:80", "http://127.0.0.1:80"},
		{"ollama", "OLLAMA_HOST", ":80", "http://127.0.0.1:80"},
	} {
		o := &runFlags{provider: model.Provider(c[0])}
		o.environment(func(name string) string {
			if name == c[1] {
				return c[2]
			}
			return ""
		})
		if o.baseURL != c[3] {
			t.Errorf("%s=%s: %s, want %s", c[1], c[2], o.baseURL, c[3])
		}
	}
}

func TestKeyStaysWithItsOrigin(t *testing.T) {
	other := newEndpoint(t)
	e := httptest.NewServer(http.RedirectHandler(other.URL+"/v1/chat/completions", http.StatusTemporaryRedirect))
	defer e.Close()
	got := call{env: []string{"OPENAI_API_KEY=sk-do-not-tell"}, args: []string{"run", "--engine", "native", "--base-url", e.URL, "hello"}}.run(t)
	if header, _ := other.asked(); header.Get("Authorization") != "" {
		t.Errorf("the key went to another origin: %v, %+v", header, got)
	}
}

func TestFailures(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"message":"Incorrect API key \u001b[31mprovided"}}`)
	}))
	defer refusing.Close()
	for _, c := range []struct {
		url, code, want string
	}{
		{closed.URL, "E_HTTP_TRANSPORT", "connection refused"},
		{refusing.URL, "E_CHAT_HTTP_ERROR", "Incorrect API key"},
	} {
		got := turncore(t, "run", "--engine", "native", "--base-url", c.url, "hello")
		if got.status != 1 || got.stdout != "" || !strings.Contains(got.stderr, "error: "+c.code) || !strings.Contains(got.stderr, c.want) {
			t.Errorf("%+v, want %s", got, c.code)
		}
		if strings.Contains(got.stderr, "\x1b") {
			t.Errorf("the provider may write to the terminal: %q", got.stderr)
		}
		if lines := strings.Count(strings.TrimSpace(got.stderr), "\n"); lines < 1 {
			t.Errorf("no help in %q", got.stderr)
		}
		got = turncore(t, "run", "--engine", "native", "--json", "--base-url", c.url, "hello")
		if end := checkLog(t, got.stdout); got.status != 1 || end.Status != "nack" || end.Error == nil || end.Error.Code != c.code || len(end.Messages) != 1 {
			t.Errorf("%+v, end %+v", got, end)
		}
	}
}

func TestFilesThatCannotBe(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "no", "where")
	for _, args := range [][]string{
		{"run", "--engine", "native", "--log", nowhere, "x"},
		{"run", "--engine", "native", "--recording", nowhere},
		{"run", "--engine", "native", "--recording", file(t, "r.json", `{"interactions": [{}]}`)},
		{"run", "--engine", "native", "--recording", file(t, "r.json", `no JSON`)},
		{"run", "--module", nowhere, "x"},
		{"run", "--module", file(t, "m.wasm", "no module"), "x"},
		{"replay", nowhere},
	} {
		if got := turncore(t, args...); got.status != 1 || !strings.HasPrefix(strings.TrimPrefix(got.stderr, simulatedNote), "error: ") || got.stdout != "" {
			t.Errorf("%q: %+v", args, got)
		}
	}
}

func TestModuleFromAFile(t *testing.T) {
	module := filepath.Join("..", "..", "..", "wasm", "core", "turncore.wasm")
	if _, err := os.Stat(module); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("the module has not been built: make wasm")
	}
	got := turncore(t, "run", "--module", module, "--verbose", "hello")
	if got.status != 0 || !strings.Contains(got.stderr, "engine wazero") {
		t.Errorf("%+v", got)
	}
}

func TestMaxIterations(t *testing.T) {
	for n, want := range map[string]string{"1": "E_MAX_ITERATIONS", "2": "", "0": ""} {
		got := turncore(t, "run", "--engine", "native", "--json", "--max-iterations", n, "calculate 1 + 1")
		end := checkLog(t, got.stdout)
		if want == "" && (got.status != 0 || end.Iterations != 2) || want != "" && (got.status != 1 || end.Error == nil || end.Error.Code != want) {
			t.Errorf("--max-iterations %s: %d, %+v", n, got.status, end)
		}
	}
}

func TestOutputThatCannotBeWritten(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	defer full.Close()
	for _, args := range [][]string{
		{"run", "--engine", "native", "hello"},
		{"run", "--engine", "native", "--json", "hello"},
		{"help"},
		{"help", "run"},
		{"version"},
	} {
		cmd := call{args: args}.cmd(t)
		cmd.Stdout = full
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%q: %v, %q", args, err, stderr.String())
		}
	}
}
