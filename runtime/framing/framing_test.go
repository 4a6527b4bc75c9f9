package framing_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/turncore/turncore/runtime/framing"
)

// parse passes the stream in parts of the given size (0 for one part) and lists its events as "type|id|data".
func parse(t *testing.T, p framing.Parser, stream string, size int) []string {
	t.Helper()
	var events []string
	emit := func(e framing.Event) error {
		events = append(events, string(e.Type)+"|"+string(e.ID)+"|"+string(e.Data))
		return nil
	}
	if size == 0 {
		size = len(stream) + 1
	}
	for part := range slices.Chunk([]byte(stream), size) {
		own := bytes.Clone(part)
		if err := p.Write(own, emit); err != nil {
			t.Fatal(err)
		}
		for i := range own { // the parser must not keep parts of a chunk
			own[i] = '#'
		}
	}
	if err := p.Flush(emit); err != nil {
		t.Fatal(err)
	}
	return events
}

// cutAnywhere fails if a body cut into bytes, or at random, has other events than in one piece.
func cutAnywhere(t *testing.T, open func() framing.Parser, body []byte, cuts uint64) {
	t.Helper()
	want := parse(t, open(), string(body), 0)
	if got := parse(t, open(), string(body), 1); !slices.Equal(got, want) {
		t.Errorf("byte by byte: got %q, want %q", got, want)
	}
	var got []string
	emit := func(e framing.Event) error {
		got = append(got, string(e.Type)+"|"+string(e.ID)+"|"+string(e.Data))
		return nil
	}
	p := open()
	for rest := body; len(rest) > 0; {
		cuts ^= cuts << 13
		cuts ^= cuts >> 7
		cuts ^= cuts << 17
		n := min(int(cuts%17), len(rest))
		if err := p.Write(rest[:n], emit); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
		if cuts == 0 {
			cuts = 1
		}
	}
	if err := p.Flush(emit); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("cut at random: got %q, want %q", got, want)
	}
}

// sniff distinguishes JSON lines, which begin with a brace, a list, and an event stream.
func sniff(first byte) framing.Format {
	switch first {
	case '{':
		return framing.JSONLines
	case '[':
		return framing.Single
	}
	return framing.EventStream
}

func TestWhole(t *testing.T) {
	for body, want := range map[string][]string{
		"":                     nil,
		"{\n}":                 {"||{\n}"},
		"\xef\xbb\xbf{\r\n}\n": {"||{\r\n}\n"},
		"\xef\xbb\xbf":         nil,
		"\xef\xbb":             {"||\xef\xbb"},
		"\xef\xbba":            {"||\xef\xbba"},
		"a\xef\xbb\xbf":        {"||a\xef\xbb\xbf"},
	} {
		for size := range len(body) + 1 {
			if got := parse(t, &framing.Whole{}, body, size); !slices.Equal(got, want) {
				t.Errorf("%q in parts of %d: got %q, want %q", body, size, got, want)
			}
		}
	}
}

func TestSniffer(t *testing.T) {
	for body, want := range map[string][]string{
		"":                             nil,
		" \n\t":                        nil,
		"data: a\n\n":                  {"message||a"},
		"\r\n \n{\"a\":1}\n{}":         {`message||{"a":1}`, "message||{}"},
		"\n [\n1]\n":                   {"||[\n1]\n"},
		"\xef\xbb\xbf [\n1]":           {"||[\n1]"},
		"\xef\xbb\xbf\xef\xbb\xbf{}":   nil,
		"\xef\xbb":                     nil,
		"\xef\xbbdata: a\ndata: b\n\n": {"message||b"},
	} {
		for size := range len(body) + 1 {
			p := &framing.Sniffer{Choose: sniff}
			if got := parse(t, p, body, size); !slices.Equal(got, want) {
				t.Errorf("%q in parts of %d: got %q, want %q", body, size, got, want)
			}
		}
	}
	p := &framing.Sniffer{Choose: sniff}
	if _, ok := p.Format(); ok {
		t.Error("a format before the first byte")
	}
	parse(t, p, " {}", 0)
	if f, ok := p.Format(); !ok || f != framing.JSONLines {
		t.Errorf("format %v, %v", f, ok)
	}
}
