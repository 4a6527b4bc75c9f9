package runtime

import (
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
)

func entries(s *Stash) string {
	var list []string
	for _, e := range s.entries {
		text, _ := value.AppendJSON(nil, e.data)
		list = append(list, e.key+"="+string(text))
	}
	return strings.Join(list, " ")
}

func TestStashLoad(t *testing.T) {
	twice := []byte{0x84, 0xa1, 'a', 1, 0xa1, 'b', 2, 0xa1, 'a', 3, 0xa1, 'c', 4}
	for name, c := range map[string]struct {
		m    []byte
		want string
		err  error
	}{
		"nothing":   {nil, "", nil},
		"null":      {[]byte{0xc0}, "", nil},
		"map":       {valueFrom(`{"x":[1],"y":null}`), "x=[1] y=null", nil},
		"one twice": {twice, "a=3 b=2 c=4", nil},
		"list":      {valueFrom(`[1]`), "", value.ErrKind},
		"cut off":   {twice[:5], "a=1", value.ErrTruncated},
	} {
		var s Stash
		if err := s.Load(c.m); !errors.Is(err, c.err) || entries(&s) != c.want {
			t.Errorf("%s: %s, %v", name, entries(&s), err)
		}
	}
	// Load copies its input.
	m := valueFrom(`{"x":"abc"}`)
	var s Stash
	_ = s.Load(m)
	clear(m)
	if entries(&s) != `x="abc"` {
		t.Error(entries(&s))
	}
}

// Copies share their entries until one of them changes, whichever it is.
func TestStashCopies(t *testing.T) {
	var a Stash
	_ = a.Load(valueFrom(`{"x":1,"y":2}`))
	b := a.snapshot()
	c := b.snapshot()
	a.Set("x", []byte{9})
	b.Unset("y")
	b.Unset("there is none")
	b.Set("z", []byte{3})
	c.Set("y", []byte{8})
	for s, want := range map[*Stash]string{&a: "x=9 y=2", &b: "x=1 z=3", &c: "x=1 y=8"} {
		if entries(s) != want {
			t.Errorf("%s, want %s", entries(s), want)
		}
	}
	if _, ok := b.Get("y"); ok {
		t.Error("what was removed is there")
	}
}
