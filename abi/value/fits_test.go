package value

import (
	"bytes"
	"testing"
)

func TestFits(t *testing.T) {
	list := func(n int) []byte { return append(AppendListHeader(nil, n), bytes.Repeat([]byte{1}, n)...) }
	nest := func(levels int) []byte { return append(bytes.Repeat([]byte{0x81, 0xa1, 'k'}, levels), 0xc0) }
	for name, c := range map[string]struct {
		v    []byte
		want bool
	}{
		"scalar":             {[]byte{5}, true},
		"text":               {AppendString(nil, "longer than a short one, by far"), true},
		"as many":            {list(20), true},
		"too many":           {list(21), false},
		"too many within":    {append([]byte{0x92, 1}, list(21)...), false},
		"as deep":            {nest(4), true},
		"too deep":           {nest(5), false},
		"behind":             {append(list(20), nest(5)...), false},
		"empty":              {nil, false},
		"truncated":          {list(20)[:20], false},
		"more than a value":  {[]byte{1, 2}, false},
		"no value":           {[]byte{0xc1}, false},
		"key that is none":   {[]byte{0x81, 1, 1}, false},
		"promised and empty": {[]byte{0xdd, 0xff, 0xff, 0xff, 0xff}, false},
	} {
		if got := Fits(c.v, 4, 20); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
