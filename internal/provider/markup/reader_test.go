package markup

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// read reads a text in parts that end where cut says, and returns what came of it in one string.
func read(o Options, parts ...string) string {
	r := New(o)
	var out Output
	for _, part := range parts {
		r.Write([]byte(part), out.Add)
	}
	return show(&out, r.End(out.Add))
}

func show(out *Output, result Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", out.Prose)
	if len(out.Reasoning) > 0 {
		fmt.Fprintf(&b, " ~ %s", out.Reasoning)
	}
	for _, c := range result.Calls {
		if c.Defect != None {
			fmt.Fprintf(&b, " | %s %s: %v: %s", c.Format, c.Name, c.Defect, c.Raw)
		} else {
			fmt.Fprintf(&b, " | %s %s%s", c.Format, c.Name, c.Arguments)
		}
	}
	if result.Excess > 0 {
		fmt.Fprintf(&b, " | and %d more", result.Excess)
	}
	return b.String()
}

// chars cuts a text into parts of n bytes.
func chars(text string, n int) []string {
	var parts []string
	for ; len(text) > n; text = text[n:] {
		parts = append(parts, text[:n])
	}
	return append(parts, text)
}

// A shape is a text of a model and what it says.
type shape struct {
	text string
	want string
}

var tools = []string{"get_weather", "get_time", "f", "search.web"}

// A table is shapes that are read with the same options, except that some tools are tools.
type table struct {
	name    string
	options Options
	shapes  []shape
}

func TestShapes(t *testing.T) {
	for _, table := range slices.Concat(formatTables, otherTables) {
		t.Run(table.name, func(t *testing.T) { check(t, table.options, table.shapes) })
	}
}

// check reads each text whole, cut once at every place, and byte by byte.
func check(t *testing.T, o Options, shapes []shape) {
	t.Helper()
	if o.Tools == nil {
		o.Tools = tools
	}
	for _, s := range shapes {
		got := read(o, s.text)
		if got != s.want {
			t.Errorf("%q:\n got %q\nwant %q", s.text, got, s.want)
			continue
		}
		for i := range s.text {
			if cut := read(o, s.text[:i], s.text[i:]); cut != got {
				t.Errorf("%q cut at %d:\n got %q\nwant %q", s.text, i, cut, got)
				break
			}
		}
		for n := 1; n <= 3; n++ {
			if cut := read(o, chars(s.text, n)...); cut != got {
				t.Errorf("%q in parts of %d:\n got %q\nwant %q", s.text, n, cut, got)
			}
		}
	}
}

// The work for a text grows as the text does, however it is cut and whatever begins in it and does not end.
func TestLinear(t *testing.T) {
	units := []string{
		"a", " ", "\n", "\xe6", "\x00", "a b ", "get_weathe ", "f", "f ", "f\n", "f\na: ", "f\na: 1\n", "f(", "f(a", "f(a=", "f(a=1", "f(a='", "f(a=1)\n", "f(a=[\n", "f(a=1); ", "[f(a=1), ",
		"<", "<<<<<<<|", "<tool_call>", "<tool_call> ", "<tool_call>{", "<tool_call>{\"", "<tool_call>{}", "<tool_call>{}</tool_call>", "</tool_call>",
		"call:", "call:f{", "call:f{a:", "call:f{}", "f{", "f{a:", "f{a:\"", "f{}", "<|tool_call>", "<|tool_call>call:f{a:<|\"|>",
		"<|channel|>", "<|channel|>analysis", "<|start|>", "<|channel|>final<|message|>", "<|channel|>analysis<|message|>", "<|channel|>a to=functions.f<|message|>", "<|end|>", "<|call|>",
		"functools", "functools[", "functools[]", "functools[{", "[", "[f", "[f(a=", "<|python_start|>[", "<|python_start|>[f(a=1)]",
		"`", "```", "```\n", "```\nf(a=1)\n", "{", "{\"name\":\"", "{\"name\":\"f\",", "{\"name\":\"f\",\"parameters\":{}}\n", "{\"name\":\"f\",\"parameters\":{\"",
		"[TOOL_CALLS]", "[TOOL_CALLS][", "[TOOL_CALLS]f[ARGS]{", "<function=", "<function=f>", "<function=f><parameter=a>", "<function=f></function>",
		"<think>", "<think>a", "</think>", "a</think>", "<think>a</think>", "[THINK]", "[/THINK]", "<|channel>thought", "<channel|>",
		"<|im_start|>", "<|im_start|>assistant", "<|im_end|>", "<s>", "</s>", "</s> ",
	}
	n := 20_000
	for _, unit := range units {
		for _, o := range []Options{{Formats: Auto}, {Formats: Auto, Opened: true, Limit: n / 4}, {Formats: Auto, NoOrphans: true}} {
			o.Tools = tools
			text := []byte(strings.Repeat(unit, n/len(unit)+1))
			for _, size := range []int{1, len(text)} {
				if per := work(o, text, size) / n; per > 60 {
					t.Errorf("%q in parts of %d: %d bytes are looked at for each byte", unit, size, per)
				}
			}
		}
	}
	text := []byte("Prose, then a call. <tool_call>" + strings.Repeat(`{"name":"f","arguments":{"a":"`+strings.Repeat("x", 2_000_000)+`"}}`, 5) + "</tool_call>")
	if per := work(Options{Formats: Auto, Limit: 100 << 20}, text, 1) / len(text); per > 3 {
		t.Errorf("a call of 10 MB in parts of one byte: %d bytes are looked at for each byte", per)
	}
}

// work reads a text in parts of size bytes and returns how many bytes the reader looked at.
func work(o Options, text []byte, size int) int {
	r := New(o)
	emit := func(Piece) {}
	for ; len(text) > size; text = text[size:] {
		r.Write(text[:size], emit)
	}
	r.Write(text, emit)
	r.End(emit)
	return r.work
}
