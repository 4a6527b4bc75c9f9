package session_test

import (
	"strings"
	"testing"

	"github.com/turncore/turncore/runtime/session"
)

func TestCheckName(t *testing.T) {
	for _, name := range []string{
		"a", "app:a", "user:a", "temp:a", "a b", "note:this", "app:x:y", "x:app:y", "temporary", "temp", "user", "ünïcode", "0", "team:x",
		"application:x", "__proto__", "user:temp_x", "1:2", strings.Repeat("x", session.MaxName),
	} {
		if err := session.CheckName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for name, meant := range map[string]string{
		"App:a": "app:a", "APP:a": "app:a", "ap:a": "app:a", "apps:a": "app:a", "aap:a": "app:a",
		"User:a": "user:a", "users:a": "user:a", "usr:a": "user:a", "usre:a": "user:a", "uer:a:b": "user:a:b",
		"tmp:a": "temp:a", "Temp:a": "temp:a", "temps:a": "temp:a", "tem:a": "temp:a", "temp_a": "temp:a", "temp_": "temp:",
	} {
		err := session.CheckName(name)
		wantError(t, err, session.InvalidState, name)
		if err != nil && !strings.Contains(err.Error(), `did you mean "`+meant+`"?`) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", "app:", "user:", "temp:"} {
		wantError(t, session.CheckName(name), session.InvalidState, name)
	}
	long := strings.Repeat("x", session.MaxName)
	wantError(t, session.CheckName(long+"x"), session.InvalidState, long[:64]+"…")
	wantError(t, session.CheckName("user:"+long), session.InvalidState, "user:"+long[:59]+"…")
	wantError(t, session.CheckName(long[:63]+"é"+long), session.InvalidState, long[:63]+"…")
}

func TestScope(t *testing.T) {
	for name, want := range map[string]struct {
		scope session.ScopeKind
		rest  string
	}{
		"app:a": {session.ScopeApp, "a"}, "user:a:b": {session.ScopeUser, "a:b"}, "temp:a": {session.ScopeTemp, "a"},
		"a": {session.ScopeSession, "a"}, "other:a": {session.ScopeSession, "other:a"}, "app": {session.ScopeSession, "app"},
	} {
		if scope, rest := session.Scope(name); scope != want.scope || rest != want.rest {
			t.Errorf("%q is %q of the scope %d", name, rest, scope)
		}
	}
}

// Names of applications and users cannot reach into each other's scopes.
func TestStoreScopes(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range [][2]string{{"a", "b"}, {"a/b", ""}, {"a%2Fb", ""}, {"a", "b/"}, {"", "a/b"}, {"a%", "b"}, {"a", "%b"}} {
		scope := session.UserScope(c[0], c[1])
		if seen[scope] || strings.Count(scope, "/") != 2 {
			t.Errorf("%q has the scope %q", c, scope)
		}
		seen[scope] = true
	}
	if got := session.UserScope("a/b%", "50%/x"); got != "user/a%2Fb%25/50%25%2Fx" {
		t.Errorf("scope %q", got)
	}
	if got := session.AppScope("a/b%"); got != "app/a%2Fb%25" {
		t.Errorf("scope %q", got)
	}
}

func delta(t *testing.T, text string) []session.Member {
	t.Helper()
	return parse(t, `{actions: {stateDelta: `+text+`}}`).Actions.StateDelta
}

// Scenarios 17 to 19: where each change goes, that nothing of the invocation's own reaches a store, and that nil
// deletes.
func TestChanges(t *testing.T) {
	d := delta(t, `{"app:a": 1, "user:b": null, c: "x", "temp:d": 2, e: null, "other:f": 3}`)
	var got []string
	for _, c := range session.Changes("my/app", "ann", d) {
		text := "deleted"
		if c.Value != nil {
			text = show(t, c.Value)
		}
		got = append(got, c.Scope+"|"+c.Name+"|"+text)
	}
	want := `app/my%2Fapp|a|1 user/my%2Fapp/ann|b|deleted |c|"x" |e|deleted |other:f|3`
	if strings.Join(got, " ") != want {
		t.Errorf("changes %s", got)
	}
	var names []string
	for _, m := range session.Persistent(d) {
		names = append(names, m.Name)
	}
	if strings.Join(names, " ") != "app:a user:b c e other:f" {
		t.Errorf("kept %s", names)
	}
	if len(d) != 6 || d[3].Name != "temp:d" {
		t.Errorf("the delta became %v", d)
	}
	if c := session.Changes("a", "u", []session.Member{{Name: "x"}}); len(c) != 1 || c[0].Value != nil {
		t.Errorf("a member without bytes became %v", c)
	}
}

func TestArtifacts(t *testing.T) {
	got := session.Artifacts("a", "u", []session.ArtifactVersion{{Name: "user:f.txt", Version: 3}, {Name: "g/h.png"}})
	want := []session.ArtifactChange{{Scope: "user/a/u", Name: "f.txt", Version: 3}, {Name: "g/h.png"}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("artifacts %v", got)
	}
}
