package sessions_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/sessions"
)

func TestSessionsOfUsers(t *testing.T) {
	p := stage(t, sessions.Config{Agent: gives("a", said("x"))})
	all := p.r.Sessions()
	if _, err := all.Create(t.Context(), "u", "s", nil); !errors.Is(err, host.CodeSessionExists) {
		t.Errorf("a second session of the id: %v", err)
	}
	p.create("a/b", "s", map[string]any{"k": 1})
	p.create("a", "b/s%", nil)
	p.is("the state", state(p.of("a/b", "s")), `{"k":1}`)
	list, err := all.List(t.Context(), "a")
	if err != nil || len(list) != 1 || list[0].ID != "b/s%" || list[0].User != "a" {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err = all.List(t.Context(), ""); err != nil || len(list) != 3 {
		t.Errorf("%+v, %v", list, err)
	}
	if err := all.Delete(t.Context(), "u", "s"); err != nil {
		t.Fatal(err)
	}
	if _, err := all.Get(t.Context(), "u", "s"); !errors.Is(err, host.CodeSessionNotFound) {
		t.Errorf("a deleted session: %v", err)
	}
	p.create("u", "s", nil)
	p.is("a session made anew", shown(p.say("hello")...)+" "+p.log(), "a:x user:hello a:x")
	if _, err := all.Get(t.Context(), "", "s"); !errors.Is(err, host.CodeInvalidInvocation) {
		t.Errorf("no user: %v", err)
	}
	if _, err := all.Create(t.Context(), "u", "t", map[string]any{"temp_x": 1}); !errors.Is(err, host.CodeInvalidState) {
		t.Errorf("a misspelled scope: %v", err)
	}
}

// The scope "temp:" is that of an invocation: a session does not begin with values of it.
func TestCreateDropsTemporaryState(t *testing.T) {
	p := stage(t, sessions.Config{Agent: gives("a", said("x"))})
	p.create("u", "t", map[string]any{"temp:x": 1, "k": 2, "user:y": 3})
	p.is("the state", state(p.of("u", "t")), `{"k":2,"user:y":3}`)
	p.create("u", "v", map[string]any{"temp:x": 1})
	p.is("the state", state(p.of("u", "v")), `{"user:y":3}`)
	for name, v := range map[string]any{"temp:": 1, "temp:f": func() {}} {
		if _, err := p.r.Sessions().Create(t.Context(), "u", "w", map[string]any{name: v}); !errors.Is(err, host.CodeInvalidState) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is nil is refused by name.
func TestNothing(t *testing.T) {
	p := stage(t, sessions.Config{Agent: gives("a", said("x"))})
	if err := p.r.Sessions().Retry(t.Context(), "u", "s", nil); !errors.Is(err, host.CodeInvalidValue) {
		t.Errorf("Retry: %v", err)
	}
	if _, err := p.r.Sessions().Append(t.Context(), p.of("u", "s"), nil); !errors.Is(err, host.CodeInvalidEvent) {
		t.Errorf("Append: %v", err)
	}
}

// Ids that are no UTF-8 would be others once they are stored.
func TestIDsAreUTF8(t *testing.T) {
	p := stage(t, sessions.Config{Agent: gives("a", said("x"))})
	const bad = "a\xed\xa0\x80"
	all := p.r.Sessions()
	_, err := all.Append(t.Context(), p.of("u", "s"), &sessions.Event{ID: bad, Author: "host"})
	if !errors.Is(err, host.CodeInvalidEvent) || !strings.Contains(err.Error(), "id: must be valid UTF-8") {
		t.Errorf("an event: %v", err)
	}
	for field, ids := range map[string][2]string{"user": {bad, "s"}, "session": {"u", bad}} {
		_, err := all.Create(t.Context(), ids[0], ids[1], nil)
		if !errors.Is(err, host.CodeInvalidSessionID) || !strings.Contains(err.Error(), field+": must be valid UTF-8") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// TestForeignHandle writes with no handle but one that the service, or another one of its application, has loaded.
func TestForeignHandle(t *testing.T) {
	p := stage(t, sessions.Config{Agent: gives("a", said("x"))})
	p.say("hello")
	theirs := stage(t, sessions.Config{App: "other", Agent: gives("a"), Store: p.store}).stored()
	all := p.r.Sessions()
	for i, s := range []*sessions.Session{nil, {}, {App: "app", User: "u", ID: "s"}, {App: "app", User: "u", ID: "new"}, theirs} {
		if _, err := all.Append(t.Context(), s, &sessions.Event{Author: "host"}); !errors.Is(err, host.CodeInvalidInvocation) {
			t.Errorf("append %d: %v", i, err)
		}
		if _, err := all.SaveArtifact(t.Context(), s, "f", "", nil); !errors.Is(err, host.CodeInvalidInvocation) {
			t.Errorf("artifact %d: %v", i, err)
		}
	}
	p.is("the session", p.log(), "user:hello a:x")
}

// TestNoEvent takes no nil for an event, and loses no text that stands beside another member.
func TestNoEvent(t *testing.T) {
	p := stage(t, sessions.Config{Agent: gives("a")})
	call := &sessions.FunctionCall{Name: "t"}
	for _, c := range []struct {
		event *sessions.Event
		field string
	}{
		{nil, ""},
		{&sessions.Event{Author: "user", Content: &sessions.Content{Parts: []sessions.Part{{Text: "x", FunctionCall: call}}}}, "content.parts[0].functionCall"},
	} {
		_, err := p.r.Sessions().Append(t.Context(), p.stored(), c.event)
		var e *host.Error
		if !errors.As(err, &e) || e.Code != host.CodeInvalidEvent || e.Details.(map[string]any)["field"] != c.field {
			t.Errorf("%+v: %v", c.event, err)
		}
	}
	if p.log() != "" {
		t.Errorf("it has %s", p.log())
	}
}

func TestAppendOfAPartialEvent(t *testing.T) {
	p := stage(t, sessions.Config{Agent: gives("a")})
	s := p.stored()
	before := s.Revision()
	e := delta(map[string]any{"k": 1, "app:k": 1, "user:k": 1})
	e.Partial = true
	if _, err := p.r.Sessions().Append(t.Context(), s, e); err != nil {
		t.Fatal(err)
	}
	p.is("the session", state(p.stored())+p.log()+p.stored().Revision(), "{}"+before)
	s2 := p.create("u", "s2", nil)
	p.is("another session", state(s2), "{}")
}

func TestAppendTwice(t *testing.T) {
	p := stage(t, sessions.Config{Agent: gives("a")})
	s := p.stored()
	e, err := p.r.Sessions().Append(t.Context(), s, by("x", said("x")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.r.Sessions().Append(t.Context(), s, e); !errors.Is(err, host.CodeSessionConflict) {
		t.Errorf("the same event again: %v", err)
	}
}

func TestRetry(t *testing.T) {
	p := stage(t, sessions.Config{Agent: gives("a")})
	all, tries := p.r.Sessions(), 0
	err := all.Retry(t.Context(), "u", "s", func(s *sessions.Session) error {
		if tries++; tries == 1 { // somebody else is faster
			if _, err := all.Append(t.Context(), p.stored(), by("x", delta(map[string]any{"n": 1}))); err != nil {
				return err
			}
		}
		n, _ := s.Get("n").(int64)
		_, err := all.Append(t.Context(), s, by("x", delta(map[string]any{"n": n + 1})))
		return err
	})
	if err != nil || tries != 2 {
		t.Errorf("%d tries, %v", tries, err)
	}
	p.is("the state", state(p.stored()), `{"n":2}`)
}

func TestFork(t *testing.T) {
	p := bare(t, sessions.Config{Agent: gives("a", delta(map[string]any{"k": 1}), delta(map[string]any{"k": 2}))})
	p.create("u", "s", map[string]any{"init": 1, "k": 0})
	list := p.say("hello")
	whole, err := p.r.Sessions().Fork(t.Context(), "u", "s", "all", "")
	if err != nil {
		t.Fatal(err)
	}
	p.is("a fork of all", state(whole), `{"init":1,"k":2}`)
	part, err := p.r.Sessions().Fork(t.Context(), "u", "s", "part", list[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	events, err := part.Events()
	p.is("a fork of a part", state(part)+" "+shown(events...), `{"init":1,"k":1} user:hello a:{"k":1}`)
	if err != nil {
		t.Error(err)
	}
	for _, after := range []string{"", list[0].ID} {
		if _, err := p.r.Sessions().Fork(t.Context(), "u", "s", "part", after); !errors.Is(err, host.CodeSessionExists) {
			t.Errorf("a fork that is there: %v", err)
		}
	}
	if _, err := p.r.Sessions().Fork(t.Context(), "u", "s", "new", "nothing"); !errors.Is(err, host.CodeInvalidEvent) {
		t.Errorf("an unknown event: %v", err)
	}
	for range p.r.Run(t.Context(), sessions.Input{User: "u", Session: "part", Message: sessions.Text("more")}) {
	}
	p.is("the first one", p.log(), `user:hello a:{"k":1} a:{"k":2}`)
}

func TestArtifacts(t *testing.T) {
	save := tool("save", func(ctx *sessions.ToolContext) (any, error) {
		for _, name := range []string{"f", "f", "user:g"} {
			if _, err := ctx.SaveArtifact(name, "text/plain", []byte(name)); err != nil {
				return nil, err
			}
		}
		all, err := ctx.Artifacts()
		if err != nil || text(all) != `{"f":1,"user:g":0}` {
			t.Errorf("before an event names them: %v, %v", all, err)
		}
		a, err := ctx.LoadArtifact("f", -1)
		return a.Version, err
	})
	p := stage(t, sessions.Config{Agent: script(calls("save"), says("x")).agent("a", save)})
	list := p.say("hello")
	p.is("the delta", text(list[1].Actions.ArtifactDelta), `{"f":1,"user:g":0}`)
	all, err := p.r.Sessions().Artifacts(t.Context(), "u", "s")
	p.is("the artifacts", text(all), `{"f":1,"user:g":0}`)
	if err != nil {
		t.Error(err)
	}
	a, err := p.r.Sessions().Artifact(t.Context(), "u", "s", "f", 0)
	if err != nil || a.MIMEType != "text/plain" || string(a.Data) != "f" {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := p.r.Sessions().Fork(t.Context(), "u", "s", "part", list[1].ID); err != nil {
		t.Error(err)
	}
	if a, err = p.r.Sessions().Artifact(t.Context(), "u", "part", "f", -1); err != nil || a.Version != 1 {
		t.Errorf("the fork has %+v, %v", a, err)
	}
	if _, err := p.r.Sessions().Artifact(t.Context(), "u", "s", "f", 2); !errors.Is(err, host.CodeBytesNotFound) {
		t.Errorf("a version that is not there: %v", err)
	}
}

func TestRunAgent(t *testing.T) {
	model := script(streams("Hello", "He")).agent("m")
	var stopped error
	endless := &sessions.CustomAgent{Name: "endless", Run: func(_ *sessions.Context, yield func(*sessions.Event) error) error {
		for stopped == nil {
			stopped = yield(said("again"))
		}
		return stopped
	}}
	agent := &sessions.CustomAgent{Name: "c", Agents: []sessions.Agent{model, endless}}
	agent.Run = func(ctx *sessions.Context, yield func(*sessions.Event) error) error {
		for e, err := range ctx.RunAgent(model) {
			if err != nil {
				return err
			}
			if err := yield(e); err != nil {
				return err
			}
		}
		for e, err := range ctx.RunAgent(endless) {
			if err != nil {
				return err
			}
			if err := yield(e); err != nil {
				return err
			}
			break
		}
		return yield(said("end"))
	}
	p := stage(t, sessions.Config{Agent: agent})
	p.is("delivered", shown(p.say("hello")...), "~m:He m:Hello endless:again c:end")
	p.is("stored", p.log(), "user:hello m:Hello endless:again c:end")
	if !errors.Is(stopped, host.CodeInvocationStopped) {
		t.Errorf("the agent that was left got %v", stopped)
	}
}

// A list in a frame has at most 8,192 elements, and an invocation tells the core what it appends itself no more.
func TestLongSession(t *testing.T) {
	const turns = 4200
	var asked []int
	a := &sessions.LLMAgent{Name: "a", Executor: func(ctx *sessions.ModelContext, yield func(*sessions.Response) error) error {
		r, err := ctx.Request()
		if err != nil {
			return err
		}
		asked = append(asked, len(r.Contents))
		if text := r.Contents[0].Parts[0].Text; text != "hello" {
			t.Errorf("the first content is %q", text)
		}
		return yield(&sessions.Response{Content: sessions.ModelText("yes")})
	}}
	p := stage(t, sessions.Config{Agent: a})
	for range turns {
		p.say("hello")
	}
	// Another process knows only what the store has.
	other := bare(t, sessions.Config{Agent: a, Store: p.store})
	other.say("hello")
	p.say("hello")
	want := []int{2*turns - 1, 2*turns + 1, 2*turns + 3}
	if got := asked[turns-1:]; !slices.Equal(got, want) {
		t.Errorf("models were shown %v contents, want %v", got, want)
	}
	r, err := p.r.Rewind(t.Context(), "u", "s", p.events()[2].InvocationID)
	if err != nil || r.Actions.RewindBeforeInvocationID == "" {
		t.Fatal(r, err)
	}
	p.say("hello")
	if got := asked[len(asked)-1]; got != 3 {
		t.Errorf("after the rewind the model is shown %d contents, want 3", got)
	}
}
