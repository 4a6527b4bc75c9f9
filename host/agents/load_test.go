package agents_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/agents"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/testmodule/wat"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/tools"
	"github.com/turncore/turncore/host/turns"
)

func TestManifestOfFile(t *testing.T) {
	want := manifest(agents.Asks{HTTP: []agents.AskOrigin{{Origin: "https://api.example.com", Why: "to read"}}, Log: 4096})
	want.Tools = []agents.Tool{{Name: "read", Description: "Reads.", InputSchema: json.RawMessage(`{"type":"object"}`), Confirm: true}}
	with := file(t, want)
	got, err := agents.ReadManifest(with)
	if err != nil {
		t.Fatal(err)
	}
	want.Format, want.Middleware = agents.Format, []agents.Middleware{}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v\nwant %+v", got, want)
	}
	if len(got.Imports) == 0 || !strings.HasPrefix(got.Imports[0], "wasi_snapshot_preview1.") {
		t.Errorf("the imports are %q", got.Imports)
	}
	again, err := agents.WithManifest(with, got)
	if err != nil || !bytes.Equal(again, with) {
		t.Errorf("with its own manifest the file has changed: %v", err)
	}
}

func TestLoadRuns(t *testing.T) {
	ctx := t.Context()
	module, err := agents.Open(ctx, file(t, manifest(agents.Asks{})), agents.ModuleOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer module.Close(ctx)
	for range 2 { // tenants
		agent, err := module.Load(agents.Options{})
		if err != nil {
			t.Fatal(err)
		}
		config := agent.Config()
		config.Executor = func(ctx *turns.DispatchContext, h *turns.Helpers) error { return ctx.Ack() }
		runner, err := turns.New(ctx, config)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := runner.Run(ctx, turns.Input{Message: "Hi"}); err != nil {
			t.Error(err)
		}
		if err := errors.Join(runner.Close(), agent.Close(ctx)); err != nil {
			t.Error(err)
		}
	}
}

// Who closes the module first closes its agents: a turn that waits for a person ends, too.
func TestCloseModuleFirst(t *testing.T) {
	ctx := t.Context()
	module, err := agents.Open(ctx, file(t, manifest(agents.Asks{})), agents.ModuleOptions{})
	if err != nil {
		t.Fatal(err)
	}
	agent, err := module.Load(agents.Options{})
	if err != nil {
		t.Fatal(err)
	}
	config := agent.Config()
	config.Executor = func(ctx *turns.DispatchContext, h *turns.Helpers) error {
		_, err := ctx.WaitFor(ctx, turns.Gate{ID: "g", Reason: "Shall it go on?", Payload: 1, CreatedAt: time.Now()})
		return err
	}
	runner, err := turns.New(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	asked, ended := make(chan struct{}), make(chan error, 1)
	turns.Listen(runner.TurnRunner, func(*event.TurnGateOpen) { close(asked) })
	go func() {
		_, err := runner.Run(ctx, turns.Input{Message: "Hi"})
		ended <- err
	}()
	<-asked
	if err := module.Close(ctx); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, turns.ErrClosed) {
			t.Errorf("the turn ends with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the turn goes on")
	}
	if _, err := module.Load(agents.Options{}); !errors.Is(err, turns.ErrClosed) {
		t.Errorf("a load ends with %v", err)
	}
	if err := errors.Join(runner.Close(), agent.Close(ctx), module.Close(ctx)); err != nil {
		t.Errorf("closed again: %v", err)
	}
}

// An agent that is closed leaves no connection open.
func TestCloseLeavesNoConnection(t *testing.T) {
	ctx := t.Context()
	closed := make(chan struct{}, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("here")) }))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	server.Start()
	defer server.Close()
	fetch := tools.Fetch(tools.FetchOptions{Allow: []string{server.URL}})
	agent, err := agents.Load(ctx, file(t, manifest(agents.Asks{})), agents.Options{
		Grant: &agents.Grant{
			Agent: "research", Tools: []string{"fetch"}, HTTP: &agents.GrantHTTP{Origins: []string{server.URL}, PrivateAddresses: true},
		},
		Tools: []*turns.Tool{fetch},
	})
	if err != nil {
		t.Fatal(err)
	}
	config := agent.Config()
	config.Executor = func(ctx *turns.DispatchContext, h *turns.Helpers) error {
		if _, err := fetch.Executor(ctx)(map[string]any{"url": server.URL}); err != nil {
			return err
		}
		return ctx.Ack()
	}
	runner, err := turns.New(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runner.Run(ctx, turns.Input{Message: "Hi"}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(runner.Close(), agent.Close(ctx)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-closed:
	case <-time.After(10 * time.Second):
		t.Error("the connection stays open")
	}
}

func TestLoadRefuses(t *testing.T) {
	asks := agents.Asks{
		HTTP:        []agents.AskOrigin{{Origin: "https://a.example", Why: "to read"}, {Origin: "https://b.example", Why: "to write"}},
		Credentials: []agents.AskCredential{{Name: "key", Origin: "https://a.example", Why: "to sign in"}},
		Tools:       []agents.Ask{{Name: "mail", Why: "to send"}}, Models: []agents.Ask{{Name: "small", Why: "to sum up"}},
		Stores: []agents.Ask{{Name: "notes", Why: "to remember"}}, Log: 100, Quota: &agents.Quota{Steps: 1 << 40},
	}
	other, err := wat.Assemble(`(module (memory (export "memory") 1) (func (export "_initialize")))`, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if other, err = agents.WithManifest(other, manifest(agents.Asks{})); err != nil {
		t.Fatal(err)
	}
	core := file(t, manifest(agents.Asks{}))
	twoStores := &agents.Grant{Agent: "research", Stores: []string{"notes", "history"}}
	stores := map[string]store.Store{"notes": store.NewInMemory(), "history": store.NewInMemory(), "other": store.NewInMemory()}
	cases := []struct {
		name    string
		file    []byte
		options agents.Options
		code    host.Code
		says    []string
	}{
		{"no Wasm", []byte("hello"), agents.Options{}, host.CodeInvalidModule, []string{"no WebAssembly"}},
		{"no file", nil, agents.Options{}, host.CodeInvalidModule, []string{"no WebAssembly"}},
		{"cut", core[:len(core)/2], agents.Options{}, host.CodeInvalidModule, []string{"malformed"}},
		{"no Turncore module", other, agents.Options{}, host.CodeInvalidModule, []string{"turncore_step"}},
		{"too large", core, agents.Options{ModuleOptions: agents.ModuleOptions{MaxBytes: 1000}}, host.CodeAgentTooLarge, []string{"1000"}},
		{"no manifest", []byte("\x00asm\x01\x00\x00\x00"), agents.Options{}, host.CodeAgentManifest, []string{"turncore.agent"}},
		{"nothing granted", file(t, manifest(asks)), agents.Options{}, host.CodeAgentNotGranted, []string{
			"requests to https://a.example (to read)", "https://b.example (to write)", "the credential key for https://a.example",
			"the tool mail", "the model small", "the store notes", "100 bytes of log", "1099511627776 steps",
		}},
		{"another agent", core, agents.Options{Grant: &agents.Grant{Agent: "other"}}, host.CodeAgentGrant, []string{"`agent` is other"}},
		{"another version", core, agents.Options{Grant: &agents.Grant{Agent: "research", Version: "2.x"}}, host.CodeAgentGrant, []string{"`version` is 2.x"}},
		{"what the program lacks", core, agents.Options{Grant: &agents.Grant{
			Agent: "research", Version: "1.x", Tools: []string{"mail"}, Stores: []string{"notes"}, Models: map[string]string{"small": "openai/x"},
			HTTP:        &agents.GrantHTTP{Origins: []string{"https://a.example"}},
			Credentials: []agents.GrantCredential{{Name: "k", Origins: []string{"https://a.example"}, From: agents.Secret{Env: "TURNCORE_NO_SUCH"}}},
		}}, host.CodeAgentGrant, []string{"`tools[0]`", "`stores[0]`", "`models.small`", "`credentials[0].from`: the variable TURNCORE_NO_SUCH"}},
		{"engines of one name", core, agents.Options{
			Grant: &agents.Grant{Agent: "research", Models: map[string]string{"a": "x/one", "b": "x/two"}},
			Model: func(string, string) (turns.Model, error) {
				return turns.Model{Engine: &model.Engine{Name: "same"}}, nil
			},
		}, host.CodeAgentGrant, []string{"`models.b`: another of its models has the name same"}},
		{"two stores without a choice", core, agents.Options{
			Grant: twoStores, Stores: stores,
		}, host.CodeAgentGrant, []string{"`stores`: the option store must say which of notes, history keeps the conversations"}},
		{"a store that is not granted", core, agents.Options{
			Grant: twoStores, Stores: stores, Store: "other",
		}, host.CodeAgentGrant, []string{"`stores`: the option store says other, which is not among them"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			agent, err := agents.Load(context.Background(), c.file, c.options)
			if err == nil {
				agent.Close(context.Background())
			}
			if !errors.Is(err, c.code) {
				t.Fatalf("the error is %v, want %s", err, c.code)
			}
			for _, text := range c.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("the error does not say %q: %v", text, err)
				}
			}
		})
	}
}

func TestStoreOfConversations(t *testing.T) {
	for _, c := range []struct {
		granted []string
		chosen  string
		keeps   string // "" for none of them
	}{
		{nil, "", ""},
		{[]string{"notes"}, "", "notes"},
		{[]string{"notes"}, "notes", "notes"},
		{[]string{"notes", "history"}, "history", "history"},
	} {
		stores := map[string]store.Store{"notes": store.NewInMemory(), "history": store.NewInMemory()}
		config := load(t, native.New(), agents.Options{
			Grant: &agents.Grant{Agent: "research", Stores: c.granted}, Stores: stores, Store: c.chosen,
		}).Config()
		config.Executor = func(ctx *turns.DispatchContext, _ *turns.Helpers) error { return ctx.Ack() }
		runner, err := turns.New(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := runner.Run(t.Context(), turns.Input{Message: "Hi", Session: "s"}); err != nil {
			t.Fatal(err)
		}
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
		for _, name := range []string{"notes", "history"} {
			snapshot, err := stores[name].Load(t.Context(), "s", "")
			if err != nil {
				t.Fatal(err)
			}
			if kept := len(snapshot.Messages) > 0; kept != (name == c.keeps) {
				t.Errorf("granted %q, chosen %q: %s keeps the conversation: %t", c.granted, c.chosen, name, kept)
			}
		}
	}
}

func TestManifestThatLies(t *testing.T) {
	m := manifest(agents.Asks{Tools: []agents.Ask{{Name: "mail", Why: "to send"}}})
	text, err := m.Text()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Differs(text); err == nil || !strings.Contains(err.Error(), "`imports` differs") {
		t.Errorf("what a module cannot say is taken: %v", err)
	}
	var members map[string]any
	if err := json.Unmarshal(text, &members); err != nil {
		t.Fatal(err)
	}
	delete(members, "imports")
	delete(members, "turncore")
	same, _ := json.Marshal(members)
	if err := m.Differs(same); err != nil {
		t.Errorf("the same differs: %v", err)
	}
	members["asks"] = map[string]any{}
	delete(members, "tools")
	less, _ := json.Marshal(members)
	if err := m.Differs(less); !errors.Is(err, host.CodeAgentManifest) || !strings.Contains(err.Error(), "`asks` differs") || !strings.Contains(err.Error(), "`tools` differs") {
		t.Errorf("the error is %v", err)
	}
	core := file(t, m)
	lies := bytes.Replace(core, []byte("wasi_snapshot_preview1.fd_write"), []byte("wasi_snapshot_preview1.fd_wrote"), 1)
	if _, err := agents.ReadManifest(lies); !errors.Is(err, host.CodeAgentManifest) || !strings.Contains(err.Error(), "`imports`") {
		t.Errorf("the error is %v", err)
	}
}

// What a program gives under a name has to be one thing, and a secret has to be one that can be sent and hidden.
func TestLoadRefusesWhatTheProgramGives(t *testing.T) {
	tool := func(name string) *turns.Tool {
		return &turns.Tool{
			Name: name, Description: "a tool", InputSchema: `{"type":"object"}`,
			Handler: func(*turns.DispatchContext, turns.Args) (any, error) { return "fine", nil },
		}
	}
	spins := manifest(agents.Asks{})
	spins.Tools = []agents.Tool{{Name: "spin", Description: "Spins.", InputSchema: []byte(`{"type":"object"}`)}}
	const origin = "https://a.example"
	keyed := &agents.Grant{
		Agent: "research", HTTP: &agents.GrantHTTP{Origins: []string{origin}},
		Credentials: []agents.GrantCredential{{Name: "key", Origins: []string{origin}, From: agents.Secret{Env: "KEY"}}},
	}
	secret := func(text string) func(agents.GrantCredential) (string, error) {
		return func(agents.GrantCredential) (string, error) { return text, nil }
	}
	for _, c := range []struct {
		manifest *agents.Manifest
		options  agents.Options
		want     string // "" if it loads
	}{
		{
			spins,
			agents.Options{Grant: &agents.Grant{Agent: "research", Tools: []string{"spin"}}, Tools: []*turns.Tool{tool("spin")}},
			"`tools[0]`: the agent brings a tool spin itself",
		},
		{
			manifest(agents.Asks{}),
			agents.Options{Grant: &agents.Grant{Agent: "research", Tools: []string{"mail"}}, Tools: []*turns.Tool{tool("mail"), tool("mail")}},
			"`tools[0]`: the program has more than one tool mail",
		},
		{manifest(agents.Asks{}), agents.Options{Grant: keyed, Secret: secret(" 1234567 ")}, "`credentials[0].from`: the secret has less than 8 bytes"},
		{
			manifest(agents.Asks{}),
			agents.Options{Grant: keyed, Secret: secret("12345678\n12345678")},
			"`credentials[0].from`: the secret has a character that no header may have",
		},
		{manifest(agents.Asks{}), agents.Options{Grant: keyed, Secret: secret("12345678")}, ""},
	} {
		agent, err := agents.Load(t.Context(), file(t, c.manifest), c.options)
		switch {
		case c.want == "" && err == nil:
			err = agent.Close(t.Context())
			fallthrough
		case c.want == "":
			if err != nil {
				t.Error(err)
			}
		case !errors.Is(err, host.CodeAgentGrant) || !strings.Contains(err.Error(), c.want):
			t.Errorf("the error is %v, want %s", err, c.want)
		}
	}
}
