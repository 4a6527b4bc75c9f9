package storetest

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestDifferences(t *testing.T) {
	for _, c := range []struct{ got, want, says string }{
		{"a b c", "a b c", ""},
		{"b c", "a b c", "a is missing"},
		{"a b", "a b c", "c is missing"},
		{"a c", "a b c", "b is missing"},
		{"a b c", "a c", "b is too much"},
		{"a b c", "a b", "c is too much"},
		{"a x c", "a b c", "\n got x\nwant b"},
		{"x y c d", "a c", "\n got x\nwant a|y is too much|d is too much"},
		{"", "a b", "a is missing|b is missing"},
		{"a b", "", "a is too much|b is too much"},
		{"b a", "a b", "a is missing|a is too much"},
	} {
		if got := strings.Join(differences(strings.Fields(c.got), strings.Fields(c.want)), "|"); got != c.says {
			t.Errorf("%q for %q: %q, want %q", c.got, c.want, got, c.says)
		}
	}
	var long, other []string
	for i := range 1000 {
		long, other = append(long, strconv.Itoa(i)), append(other, "other "+strconv.Itoa(i))
	}
	if got := differences(other, long); len(got) != 1000 || got[999] != "\n got other 999\nwant 999" {
		t.Errorf("lists of others have %d differences", len(got))
	}
	if got := differences(slices.Delete(slices.Clone(long), 500, 501), long); !slices.Equal(got, []string{"500 is missing"}) {
		t.Errorf("one of many is missing: %q", got)
	}
}
