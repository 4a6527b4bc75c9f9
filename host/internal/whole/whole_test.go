package whole

import (
	"strings"
	"testing"
)

// However a text is cut, its deltas are the text, and each of them is UTF-8 if the text is.
func TestNext(t *testing.T) {
	for _, text := range []string{"", "a", "é", "日本", "a😀b", "\xff", "a\xf0\x9f", "\x80\x80\x80\x80\x80", "\xed\xa0\x80", "é\xe2\x82"} {
		for size := 1; size <= 5; size++ {
			var whole Text
			var all strings.Builder
			for at := 0; at < len(text); at += size {
				end := min(at+size, len(text))
				delta := whole.Next(text[at:end], end == len(text))
				if valid := strings.ToValidUTF8(text, "?") == text; valid && strings.ToValidUTF8(delta, "?") != delta {
					t.Errorf("%q in pieces of %d: a delta is %q", text, size, delta)
				}
				all.WriteString(delta)
			}
			if all.String() != text || whole != "" {
				t.Errorf("%q in pieces of %d is %q, and %q waits", text, size, all.String(), whole)
			}
		}
	}
}

// What waits and is never continued is not lost in a text that goes on otherwise.
func TestNextOtherwise(t *testing.T) {
	var whole Text
	got := whole.Next("a\xf0\x9f", false) + "|" + whole.Next("b", false) + "|" + whole.Next("\xe2", false) + "|" + whole.Next("", true)
	if got != "a|\xf0\x9fb||\xe2" {
		t.Errorf("%q", got)
	}
}
