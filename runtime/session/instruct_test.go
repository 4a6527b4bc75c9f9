package session_test

import (
	"strings"
	"testing"

	"github.com/turncore/turncore/runtime/session"
)

func TestInstruct(t *testing.T) {
	s := state(t, `{name: "Ann", "app:city": "Rome", "user:n": 3, "temp:x": {a: [1, "ü"]}, empty: "", flag: false, "a:b": "odd", "naïve": "yes"}`)
	for text, want := range map[string]string{
		"":                           "",
		"no braces":                  "no braces",
		"Hi {name}!":                 "Hi Ann!",
		"{name}{name?}":              "AnnAnn",
		"{app:city}, {user:n}":       "Rome, 3",
		"{temp:x}":                   `{"a":[1,"ü"]}`,
		"<{empty}> {flag}":           "<> false",
		"a{missing?}b":               "ab",
		"{a:b} {naïve}":              "odd yes",
		"{{name}} {{missing}}":       "{name} {missing}",
		"{{user:n?}}":                "{user:n?}",
		"{{{name}}}":                 "{{name}}",
		`{"a": {"b": 1}, "c": {}}`:   `{"a": {"b": 1}, "c": {}}`,
		"{ name } {na me} {1} {2,3}": "{ name } {na me} {1} {2,3}",
		"{":                          "{",
		"{{":                         "{{",
		"{name":                      "{name",
		"{name?":                     "{name?",
		"{name?x}":                   "{name?x}",
		"{?} {:a} {a:} {a:b:c} {}":   "{?} {:a} {a:} {a:b:c} {}",
		"{{name}":                    "{Ann",
		"}{name}}":                   "}Ann}",
	} {
		got, err := session.Instruct(nil, text, s)
		if err != nil || string(got) != want {
			t.Errorf("%q became %q, want %q: %v", text, got, want, err)
		}
	}
	for text, field := range map[string]string{"a {missing}": "missing", "{user:missing}": "user:missing", "{usr:n?}": "usr:n", "{temp_x?}": "temp_x"} {
		_, err := session.Instruct(nil, text, s)
		wantError(t, err, session.InvalidState, field)
	}
	_, err := session.Instruct(nil, "{missing}", s)
	if err == nil || !strings.Contains(err.Error(), `write "{missing?}"`) {
		t.Errorf("error %v", err)
	}
}

func FuzzInstruct(f *testing.F) {
	f.Add("Hi {name} {app:x?} {{name}} {\"a\": {}}")
	f.Add("{{{name}}}")
	s := state(f, `{name: "{name}", x: 1}`)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := session.Instruct(nil, text, s)
		if err == nil && !strings.Contains(text, "{") && string(got) != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
