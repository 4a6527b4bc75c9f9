package turntest_test

import (
	"cmp"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/simulated"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/turntest"
)

// With -update the simulated provider stands in for OpenAI's: no test of this package needs a key.
func init() {
	others := http.DefaultTransport
	http.DefaultTransport = roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.URL.Host == "api.openai.com" {
			return served{&simulated.Provider{}}.RoundTrip(r)
		}
		return others.RoundTrip(r)
	})
}

func TestWithAProvider(t *testing.T) {
	key := cmp.Or(os.Getenv("OPENAI_API_KEY"), "none") // needed to record only
	h := turntest.Host(t, turns.HostOptions{
		HTTP:        turntest.Replay(t, "testdata/weather.json"),
		Credentials: map[string]model.Credential{"model": model.OpenAI.Key(key, "https://api.openai.com")},
	})
	agent, err := turns.New(t.Context(), turns.Config{
		Host: h, Model: turns.Model{Name: "gpt-4o-mini", APIKey: key}, Tools: []*turns.Tool{weather},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	result, err := agent.Run(t.Context(), turns.Input{Message: "How is the weather in Oslo?"})
	if err != nil || !strings.Contains(result.Text, "4 degrees") {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestRemembers(t *testing.T) {
	script := turntest.NewScript(t,
		turntest.Call("remember", map[string]any{"city": "Oslo"}),
		turntest.Text("I shall remember ", "that."),
	)
	remember := sessions.NewTool("remember", "Remembers where the user lives.",
		func(ctx *sessions.ToolContext, in struct {
			City string `json:"city"`
		},
		) (string, error) {
			return "remembered", ctx.State().Set("user:city", in.City)
		})
	runner, err := sessions.New(t.Context(), sessions.Config{
		App: "journeys",
		Agent: &sessions.LLMAgent{
			Name: "guide", Model: script.Model(), Tools: []*turns.Tool{remember}, Confirm: []string{"remember"},
		},
		Host: turntest.Host(t, turns.HostOptions{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	if _, err := runner.Sessions().Create(t.Context(), "ada", "trip", nil); err != nil {
		t.Fatal(err)
	}
	var events []*sessions.Event
	say := func(message *sessions.Content) {
		for e, err := range runner.Run(t.Context(), sessions.Input{User: "ada", Session: "trip", Message: message}) {
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
		}
	}
	say(sessions.Text("I live in Oslo."))
	call := sessions.PendingCalls(events)[0]
	say(sessions.Confirm(call.ID, call.Name, true))
	turntest.Golden(t, events, "testdata/remembers.golden")
}

// block returns the block of docs/testing.md that begins with a text.
func block(t *testing.T, begin string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, begins := strings.Cut(string(page), begin)
	code, _, ends := strings.Cut(rest, "\n```\n")
	if !begins || !ends {
		t.Fatalf("docs/testing.md has no block that begins with %q", begin)
	}
	return code
}

// The page's tests with a provider and with a session are those above.
func TestSamplesOfThePage(t *testing.T) {
	source, err := os.ReadFile("page_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, begin := range []string{"func TestWithAProvider(", "func TestRemembers("} {
		_, rest, _ := strings.Cut(string(source), begin)
		code, _, _ := strings.Cut(rest, "\n}\n")
		if got := block(t, begin); got != code+"\n}" {
			t.Errorf("the page has another one:\n%s", got)
		}
	}
}

// The page's workflow has some 20 lines, and its cache is the folder where the compiled module is.
func TestWorkflowOfThePage(t *testing.T) {
	workflow := block(t, "```yaml\n")
	if n := strings.Count(workflow, "\n") + 1; n > 22 {
		t.Errorf("it has %d lines", n)
	}
	for _, want := range []string{"uses: actions/checkout@", "uses: actions/setup-go@", "uses: actions/cache@", "hashFiles('go.sum')", "run: go test ./..."} {
		if !strings.Contains(workflow, want) {
			t.Errorf("it has no %q", want)
		}
	}
	path := regexp.MustCompile(`path: ~/(\S+)`).FindStringSubmatch(workflow)
	if path == nil {
		t.Fatal("its cache has no path in the home folder")
	}
	if runtime.GOOS != "linux" || turntest.Engine(t).Name() != "wazero" {
		t.Log("where the cache is shows on Linux only, with the module")
		return
	}
	home := t.TempDir()
	test := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestEngine$")
	test.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME=")
	if said, err := test.CombinedOutput(); err != nil {
		t.Fatalf("%s, %v", said, err)
	}
	compiled, err := filepath.Glob(filepath.Join(home, path[1], "wazero-*", "*"))
	if err != nil || len(compiled) == 0 {
		t.Errorf("nothing was compiled to ~/%s: %v", path[1], err)
	}
}

// A request that fails is repeated after a pause, which takes no time in a bubble.
func TestBubbleOfReplay(t *testing.T) {
	updating(t, "false")
	turntest.Engine(t)
	synctest.Test(t, func(t *testing.T) {
		fault := turntest.FailAt(t, 1, errDisk)
		h := turntest.Host(t, turns.HostOptions{HTTP: fault.HTTP(turntest.Replay(t, "testdata/example.json"))})
		_, result := play(t, turns.Config{Host: h, Model: turns.Model{Name: "simulated", BaseURL: "https://api.example/v1"}}, "The weather in Oslo, please.")
		if result.Err != nil || fault.Calls() != 3 {
			t.Errorf("%v after %d requests", result.Err, fault.Calls())
		}
	})
}
