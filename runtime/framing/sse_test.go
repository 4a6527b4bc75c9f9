package framing_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/runtime/framing"
)

var eventStreams = []struct {
	name   string
	stream string
	want   []string
}{
	{"one event", "data: a\n\n", []string{"message||a"}},
	{"CR LF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"message||a", "message||b"}},
	{"CR", "data: a\r\rdata: b\r\r", []string{"message||a", "message||b"}},
	{"line ends of all kinds", "data: a\r\ndata: b\rdata: c\n\r\ndata: d\r\n\n", []string{"message||a\nb\nc", "message||d"}},
	{"CR CR LF is two line ends", "data: a\r\r\ndata: b\n\n", []string{"message||a", "message||b"}},
	{"LF CR is two line ends", "data: a\n\rdata: b\n\n", []string{"message||a", "message||b"}},
	{"two data lines", "data: a\ndata: b\n\n", []string{"message||a\nb"}},
	{"no space after the colon", "data:a\ndata:  b\n\n", []string{"message||a\n b"}},
	{"colon in the value", "data: a: b\n\n", []string{"message||a: b"}},
	{"comment", ": keep alive\n\ndata: a\n:\ndata: b\n\n", []string{"message||a\nb"}},
	{"type, id", "event: ping\nid: 7\ndata: a\n\ndata: b\n\nid\ndata: c\n\n", []string{"ping|7|a", "message|7|b", "message||c"}},
	{"id with NUL is ignored", "id: 7\ndata: a\n\nid: 8\x00\ndata: b\n\n", []string{"message|7|a", "message|7|b"}},
	{"data lines without a value", "data\n\ndata\ndata\n\ndata:\n\n", []string{"message||", "message||\n", "message||"}},
	{"type without data is dropped", "event: x\n\ndata: a\n\n", []string{"message||a"}},
	{"empty type is message", "event: x\nevent:\ndata: a\n\n", []string{"message||a"}},
	{"unknown fields", "foo: bar\nfoo\n data: x\nDATA: y\ndata: a\n\n", []string{"message||a"}},
	{"byte order mark", "\xef\xbb\xbfdata: a\n\n", []string{"message||a"}},
	{"byte order mark, later too", "\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n", []string{"message||a"}},
	{"two byte order marks", "\xef\xbb\xbf\xef\xbb\xbfdata: a\ndata: b\n\n", []string{"message||b"}},
	{"part of a byte order mark", "\xef\xbbdata: a\ndata: b\n\n", []string{"message||b"}},
	{"nothing but part of a byte order mark", "\xef\xbb", nil},
	{"end without a blank line", "data: a\n\ndata: b\n", []string{"message||a", "message||b"}},
	{"end without a line end", "data: a\n\ndata: b", []string{"message||a", "message||b"}},
	{"end after CR", "data: a\r", []string{"message||a"}},
	{"JSON behind an event", "data: a\n\n{\n  \"error\": {\"code\": 1}\n}\n", []string{"message||a", "message||{\n  \"error\": {\"code\": 1}\n}"}},
	{"a list behind an event", "data: a\r\n\r\n[{\r\n}\r\n]\r\n\r\ndata: b", []string{"message||a", "message||[{\n}\n]", "message||b"}},
	{"JSON inside an event", "data: a\n{\n}\n\n", []string{"message||a"}},
	{"JSON and an event together", "data: a\n\n{}\ndata: b\n\n", []string{"message||a", "message||b", "message||{}"}},
	{"JSON in the first place", "{}\n\ndata: a\n\n", []string{"message||a"}},
	{"nothing", "", nil},
	{"blank lines", "\n\r\n\r", nil},
	{"bytes that are not UTF-8", "data: \xff\xfe\n\n", []string{"message||\xff\xfe"}},
}

func TestParser(t *testing.T) {
	for _, tt := range eventStreams {
		t.Run(tt.name, func(t *testing.T) {
			for size := range len(tt.stream) + 1 {
				if got := parse(t, &framing.SSE{}, tt.stream, size); !slices.Equal(got, tt.want) {
					t.Errorf("in parts of %d: got %q, want %q", size, got, tt.want)
				}
			}
		})
	}
}

func TestLimit(t *testing.T) {
	ignore := func(framing.Event) error { return nil }
	for _, tt := range []struct {
		name, stream string
		ok           bool
	}{
		{"event at the limit", "data: " + strings.Repeat("a", 58) + "\n\n", true},
		{"long line", "data: " + strings.Repeat("a", 64), false},
		{"long comment", ":" + strings.Repeat("a", 64), false},
		{"many data lines", strings.Repeat("data: aaaaaaaa\n", 9), false},
		{"many events", strings.Repeat("data: aaaaaaaa\n\n", 9), true},
		{"many comments", strings.Repeat(": aaaaaaaa\n", 90), true},
		{"long type", "event: " + strings.Repeat("a", 65) + "\n", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 7, len(tt.stream)} {
				p := framing.SSE{Limit: 64}
				var err error
				for part := range slices.Chunk([]byte(tt.stream), size) {
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

func TestEmitError(t *testing.T) {
	stop := errors.New("stop")
	n := 0
	var p framing.SSE
	err := p.Write([]byte("data: a\n\ndata: b\n\ndata: c\n\n"), func(framing.Event) error {
		if n++; n == 2 {
			return stop
		}
		return nil
	})
	if err != stop || n != 2 {
		t.Errorf("%v after %d events", err, n)
	}
}

// Chunks of one byte cost linear time, and a missing kind of line end is not searched again and again. Quadratic time
// would be minutes.
func TestLinear(t *testing.T) {
	ignore := func(framing.Event) error { return nil }
	var tiny framing.SSE
	one := []byte("a")
	if err := tiny.Write([]byte("data: "), ignore); err != nil {
		t.Fatal(err)
	}
	for range 2 << 20 {
		if err := tiny.Write(one, ignore); err != nil {
			t.Fatal(err)
		}
	}
	var big framing.SSE
	if err := big.Write(bytes.Repeat([]byte(":\r"), 2<<20), ignore); err != nil {
		t.Fatal(err)
	}
}

func TestAllocations(t *testing.T) {
	var p framing.SSE
	chunk := []byte("event: message\nid: 1\ndata: {\"a\":1}\ndata: more\n\ndata: cut of")
	rest := []byte("f here\r\n\r\n")
	emit := func(framing.Event) error { return nil }
	if n := testing.AllocsPerRun(100, func() {
		_ = p.Write(chunk, emit)
		_ = p.Write(rest, emit)
	}); n != 0 {
		t.Errorf("%v allocations for two events", n)
	}
}

func FuzzSSE(f *testing.F) {
	for _, tt := range eventStreams {
		f.Add([]byte(tt.stream), uint64(1))
		f.Add([]byte(tt.stream), uint64(0x9e3779b97f4a7c15))
	}
	f.Fuzz(func(t *testing.T, stream []byte, cuts uint64) {
		cutAnywhere(t, func() framing.Parser { return &framing.SSE{} }, stream, cuts)
	})
}

func BenchmarkEvents(b *testing.B) {
	event := []byte(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1754688929,"model":"m","choices":[{"index":0,"delta":{"content":" capital"},"logprobs":null,"finish_reason":null}],"usage":null}` + "\n\n")
	chunk := bytes.Repeat(event, 100)
	var p framing.SSE
	emit := func(framing.Event) error { return nil }
	b.ReportAllocs()
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		if err := p.Write(chunk, emit); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/event")
}
