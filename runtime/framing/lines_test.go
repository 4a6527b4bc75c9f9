package framing_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/runtime/framing"
)

var lineBodies = []struct {
	name string
	body string
	want []string
}{
	{"one line", "{}\n", []string{"message||{}"}},
	{"line ends of all kinds", "1\n2\r\n3\r4\n\r5\r\r\n6\n", []string{"message||1", "message||2", "message||3", "message||4", "message||5", "message||6"}},
	{"no last line end", "{}\n[1]", []string{"message||{}", "message||[1]"}},
	{"cut off", "{}\n{\"a", []string{"message||{}", "message||{\"a"}},
	{"blank lines", "\n\r\n \t\n{}\n\n", []string{"message||{}"}},
	{"white space around", " {} \t\n", []string{"message||{}"}},
	{"byte order mark", "\xef\xbb\xbf{}\n", []string{"message||{}"}},
	{"byte order mark, later too", "1\n\xef\xbb\xbf2\n", []string{"message||1", "message||\xef\xbb\xbf2"}},
	{"part of a byte order mark", "\xef\xbb{}\n", []string{"message||\xef\xbb{}"}},
	{"nothing but part of a byte order mark", "\xef", []string{"message||\xef"}},
	{"nothing", "", nil},
	{"what looks like an event stream", "data: a\n\n", []string{"message||data: a"}},
	{"NUL and what is not UTF-8", "\x00\xff\n", []string{"message||\x00\xff"}},
}

func TestLines(t *testing.T) {
	for _, tt := range lineBodies {
		t.Run(tt.name, func(t *testing.T) {
			for size := range len(tt.body) + 1 {
				if got := parse(t, &framing.Lines{}, tt.body, size); !slices.Equal(got, tt.want) {
					t.Errorf("in parts of %d: got %q, want %q", size, got, tt.want)
				}
			}
		})
	}
}

func TestLineLimit(t *testing.T) {
	ignore := func(framing.Event) error { return nil }
	for _, tt := range []struct {
		name, body string
		format     framing.Format
		ok         bool
	}{
		{"line at the limit", strings.Repeat("a", 64) + "\n", framing.JSONLines, true},
		{"long line", strings.Repeat("a", 65), framing.JSONLines, false},
		{"many lines", strings.Repeat("aaaaaaaa\n", 90), framing.JSONLines, true},
		{"whole body at the limit", strings.Repeat("a\n", 32), framing.Single, true},
		{"long whole body", strings.Repeat("a\n", 32) + "a", framing.Single, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 7, len(tt.body)} {
				p := tt.format.Parser(64)
				var err error
				for part := range slices.Chunk([]byte(tt.body), size) {
					if err = p.Write(part, ignore); err != nil {
						break
					}
				}
				var limit *framing.LimitError
				if tt.ok && err != nil || !tt.ok && (!errors.As(err, &limit) || limit.Limit != 64) {
					t.Errorf("in parts of %d: %v", size, err)
				}
			}
		})
	}
}

func TestLineEmitError(t *testing.T) {
	stop := errors.New("stop")
	n := 0
	var p framing.Lines
	err := p.Write([]byte("1\n2\n3\n"), func(framing.Event) error {
		if n++; n == 2 {
			return stop
		}
		return nil
	})
	if err != stop || n != 2 {
		t.Errorf("%v after %d lines", err, n)
	}
}

func TestLinesDoNotAllocate(t *testing.T) {
	var p framing.Lines
	emit := func(framing.Event) error { return nil }
	chunk, rest := []byte("{\"a\":1}\n{\"b\":"), []byte("2}\r\n")
	if n := testing.AllocsPerRun(100, func() {
		_ = p.Write(chunk, emit)
		_ = p.Write(rest, emit)
	}); n != 0 {
		t.Errorf("%v allocations for two lines", n)
	}
}

// Single bytes, and line ends of one kind only, cost linear time: quadratic time would be minutes.
func TestLinesAreLinear(t *testing.T) {
	ignore := func(framing.Event) error { return nil }
	var tiny, big framing.Lines
	one := []byte("a")
	for range 2 << 20 {
		if err := tiny.Write(one, ignore); err != nil {
			t.Fatal(err)
		}
	}
	if err := big.Write(bytes.Repeat([]byte("1\r"), 2<<20), ignore); err != nil {
		t.Fatal(err)
	}
}

// A body has the same events in every format, however it is cut.
func FuzzLines(f *testing.F) {
	for _, tt := range lineBodies {
		f.Add([]byte(tt.body), uint64(1))
	}
	f.Add([]byte("\xef\xbb\xbf [1]"), uint64(7))
	f.Fuzz(func(t *testing.T, body []byte, cuts uint64) {
		cutAnywhere(t, func() framing.Parser { return &framing.Lines{} }, body, cuts)
		cutAnywhere(t, func() framing.Parser { return &framing.Whole{} }, body, cuts)
		cutAnywhere(t, func() framing.Parser { return &framing.Sniffer{Choose: sniff} }, body, cuts)
	})
}
