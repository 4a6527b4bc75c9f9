package runtime

import (
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/runtime/fault"
)

// H2 and H10.
func TestGrepTool(t *testing.T) {
	reading(t, "alpha\nbeta\ngamma\nbanana\n", Config{}, func(s *seam) {
		for args, want := range map[string]string{
			`"pattern":"^b"`:                       "beta\nbanana",
			`"pattern":"a$"`:                       "alpha\nbeta\ngamma\nbanana",
			`"pattern":"^omega$"`:                  "(empty list)",
			`"pattern":"ALPHA","flags":"i"`:        "alpha",
			`"pattern":"ALPHA"`:                    "(empty list)",
			`"pattern":"^$"`:                       "",
			`"pattern":"B.*N","flags":"imsu"`:      "banana",
			`"pattern":"(?:an){2}|\\x{67}amma"`:    "gamma\nbanana",
			`"pattern":"alpha\\nbeta","flags":"s"`: "(empty list)", // line by line
		} {
			if got, err := s.reads("artifact_grep", `{"callId":"c",`+args+`}`); got != want || err != nil {
				t.Errorf("%s: %q, %v, want %q", args, got, err, want)
			}
		}
		for _, args := range []string{`"pattern":"a("`, `"pattern":"(?=a)"`, `"pattern":"(a)\\1"`, `"pattern":"a{1000}{1000}"`} {
			if got, err := s.reads("artifact_grep", `{"callId":"c",`+args+`}`); !errors.Is(err, fault.ToolDownstreamError) {
				t.Errorf("%s: %q, %v", args, got, err)
			}
		}
		for _, args := range []string{`"flags":"i"`, `"pattern":"a","flags":"g"`, `"pattern":5`} {
			if got, err := s.reads("artifact_grep", `{"callId":"c",`+args+`}`); !errors.Is(err, fault.InvalidToolArgs) {
				t.Errorf("%s: %q, %v", args, got, err)
			}
		}
	})
}

func TestGrepIsBounded(t *testing.T) {
	line := strings.Repeat("x", 99)
	reading(t, strings.Repeat("no\n"+line+"\n", 3000), Config{}, func(s *seam) {
		got, err := s.reads("artifact_grep", `{"callId":"c","pattern":"x"}`)
		s.must(err)
		lines := strings.Split(got, "\n")
		if n := len(lines); n != 1311 || lines[1309] != line || lines[1310] != "[The result is cut: line 2621 of 6001 matches as well, and further lines may. Use a pattern that matches fewer lines.]" {
			t.Errorf("%d lines, the last %q", n, lines[n-1])
		}
	})
	// A first line that is too long is cut; it does not count as missing.
	long := strings.Repeat("a", maxPage+1)
	for text, want := range map[string]string{
		"b\n" + long:     "",
		long + "\nb\nab": "\n[The result is cut: the lines from 1 of 3 on were not searched. Use a pattern that matches fewer lines.]",
	} {
		reading(t, text, Config{}, func(s *seam) {
			got, err := s.reads("artifact_grep", `{"callId":"c","pattern":"a"}`)
			s.must(err)
			if want := long[1:] + "\n[The line is cut: it has 131073 bytes.]" + want; got != want {
				t.Errorf("ends %q", got[len(got)-200:])
			}
		})
	}
	reading(t, strings.Repeat("a", 200_000), Config{}, func(s *seam) {
		_, err := s.reads("artifact_grep", `{"callId":"c","pattern":"(a?){500}b"}`)
		if !errors.Is(err, fault.ToolDownstreamError) || !strings.Contains(fault.MessageOf(err), "too many steps at line 0") {
			t.Errorf("%v", err)
		}
	})
	// The step limit holds per batch of lines, not for the whole artifact.
	reading(t, strings.Repeat(strings.Repeat("a", 999)+"\n", 600), Config{}, func(s *seam) {
		got, err := s.reads("artifact_grep", `{"callId":"c","pattern":"(a?){15}b"}`)
		if got != "(empty list)" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	})
}
