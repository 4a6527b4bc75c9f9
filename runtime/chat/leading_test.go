package chat

import (
	"strings"
	"testing"

	"github.com/turncore/turncore/internal/provider/markup"
)

// told is a dispatch that records the reports about an answer's text.
type told struct {
	Dispatch
	prose, reasoning []byte
}

func (d *told) Aborted() bool              { return false }
func (d *told) NewID(prefix string) string { return prefix }
func (d *told) Stamp() int64               { return 0 }

func (d *told) ReportMessage(_ string, delta []byte, _ bool) error {
	d.prose = append(d.prose, delta...)
	return nil
}

func (d *told) ReportThought(_ string, delta []byte, _ bool) error {
	d.reasoning = append(d.reasoning, delta...)
	return nil
}

func (d *told) String() string {
	if len(d.reasoning) == 0 {
		return string(d.prose)
	}
	return string(d.prose) + " ~ " + string(d.reasoning)
}

// listening returns an answer that looks for reasoning, and its recorder.
func listening() (*Answer, *told) {
	a, d := &Answer{}, &told{}
	a.to = d
	a.reset(d, &options{leading: true})
	a.readMarkup(nil)
	return a, d
}

// feed passes parts of a text to an answer, in a reused buffer.
func feed(a *Answer, parts ...string) {
	for _, part := range parts {
		delta := []byte(part)
		a.Text(delta)
		clear(delta)
	}
}

// lead reads a text in parts and returns the result.
func lead(parts ...string) string {
	a, d := listening()
	feed(a, parts...)
	a.endMarkup(nil)
	return d.String()
}

// bytesOf splits a text into its bytes.
func bytesOf(text string) (list []string) {
	for i := range len(text) {
		list = append(list, text[i:i+1])
	}
	return list
}

type leadingShape struct{ text, want string }

var leadingShapes = []leadingShape{
	{"<think>Hm.</think>Hello.", "Hello. ~ Hm."},
	{"<think>\nHm.\n\nSo.\n</think>\n\nHello.\n", "Hello.\n ~ Hm.\n\nSo."},
	{" \r\n\t<think>Hm.</think> Hello. ", "Hello.  ~ Hm."},
	{"<think></think>Hello.", "Hello."},
	{"<think>\n\n</think>\n\nHello.", "Hello."},
	{"<think></think>", ""},
	{"<think>Hm.</think>\n", " ~ Hm."},
	// After the beginning everything is prose.
	{"Hello. <think>Hm.</think>", "Hello. <think>Hm.</think>"},
	{".<think>Hm.</think>", ".<think>Hm.</think>"},
	{"<think>a</think><think>b</think>c</think>", "<think>b</think>c</think> ~ a"},
	{"<think>a</think>b\n\n<think>c", "b\n\n<think>c ~ a"},
	{"</think>Hello.", "</think>Hello."},
	{"Hm.</think>Hello.", "Hm.</think>Hello."},
	{"\n</think>", "\n</think>"},
	// Within reasoning, other tags mean nothing.
	{"<think>a <think> b [1] <x> </thin </ think> < </think>c", "c ~ a <think> b [1] <x> </thin </ think> <"},
	{"<think><</think></think>c", "</think>c ~ <"},
	{"<think></thin></think>c", "c ~ </thin>"},
	{"<think><think>a</think>b", "b ~ <think>a"},
	{"<think></</think>b", "b ~ </"},
	{"<think>a<b\n\n</think>c", "c ~ a<b"},
	{"<think>é</think>日本", "日本 ~ é"},
	// No closing tag.
	{"<think>Hm.", " ~ Hm."},
	{"<think>Hm. </th", " ~ Hm. </th"},
	{"<think>Hm.\n\n", " ~ Hm."},
	{"<think>", ""},
	{"<think><thi", " ~ <thi"},
	{"<think> </thi", " ~ </thi"},
	// No tag at all.
	{"", ""},
	{" \n ", " \n "},
	{"<think", "<think"},
	{"\n <thi", "\n <thi"},
	{" <thin>", " <thin>"},
	{"<thinking>Hm.</thinking>", "<thinking>Hm.</thinking>"},
	{"<Think>Hm.</Think>", "<Think>Hm.</Think>"},
	{"< think>Hm.", "< think>Hm."},
	{"<<think>Hm.", "<<think>Hm."},
	{"  Hello.", "  Hello."},
	{"\xff\x00", "\xff\x00"},
}

// A text means the same however it is cut: once, twice or at every byte.
func TestLeading(t *testing.T) {
	for _, s := range leadingShapes {
		if got := lead(s.text); got != s.want {
			t.Errorf("%q:\n got %q\nwant %q", s.text, got, s.want)
		}
		for i := range len(s.text) + 1 {
			for j := i; j <= len(s.text); j++ {
				if got := lead(s.text[:i], s.text[i:j], s.text[j:]); got != s.want {
					t.Fatalf("%q cut at %d and %d:\n got %q\nwant %q", s.text, i, j, got, s.want)
				}
			}
		}
		if got := lead(bytesOf(s.text)...); got != s.want {
			t.Errorf("%q byte by byte:\n got %q\nwant %q", s.text, got, s.want)
		}
	}
}

// Text that cannot be part of a tag is not held back.
func TestLeadingStreams(t *testing.T) {
	for _, c := range []struct {
		text, come string
		done       bool
	}{
		{"H", "H", true},
		{" ", "", false},
		{" <", "", false},
		{" <th", "", false},
		{" <th.", " <th.", true},
		{"</", "</", true},
		{"<think>", "", false},
		{"<think><", "", false},
		{"<think>H", " ~ H", false},
		{"<think>H<", " ~ H", false},
		{"<think>H</think", " ~ H", false},
		{"<think>H</x", " ~ H</x", false},
		{"<think>H</</x", " ~ H</</x", false},
		{"<think>H</think>", " ~ H", false},
		{"<think>H</think>\n", " ~ H", false},
		{"<think>H</think>\n<", "< ~ H", true},
		{"<think>H</think>a \n", "a \n ~ H", true},
	} {
		for _, parts := range [][]string{{c.text}, bytesOf(c.text)} {
			a, d := listening()
			feed(a, parts...)
			if done := a.leading.place == inProse; d.String() != c.come || done != c.done {
				t.Errorf("%q in %d parts: %q has come, done %v; want %q, %v", c.text, len(parts), d, done, c.come, c.done)
			}
		}
	}
}

// The cost of a text is linear in its length, however it is cut.
func TestLeadingIsLinear(t *testing.T) {
	for _, unit := range []string{" ", "<", "a ", "</", "</think", "<think>", "</think>", " <think>\n"} {
		for _, start := range []string{"", "<think>", "<think>a"} {
			text := []byte(start + strings.Repeat(unit, 1<<20/len(unit)))
			a, d := listening()
			for i := range text {
				a.Text(text[i : i+1])
			}
			a.endMarkup(nil)
			if n := len(d.prose) + len(d.reasoning); n > len(text) {
				t.Errorf("%q: %d bytes of %d", unit, n, len(text))
			}
		}
	}
}

func TestLeadingDoesNotAllocate(t *testing.T) {
	parts := [][]byte{[]byte("Some"), []byte(" words <"), []byte("/th"), []byte(" more "), []byte("\n")}
	for _, start := range []string{"<think>", "<think></think>."} {
		a, d := listening()
		write := func() {
			d.prose, d.reasoning, a.message.text, a.size = d.prose[:0], d.reasoning[:0], a.message.text[:0], 0
			for i := range a.thoughts {
				a.thoughts[i].text = a.thoughts[i].text[:0]
			}
			for _, part := range parts {
				a.Text(part)
			}
		}
		feed(a, start)
		write() // the buffer has its size
		if n := testing.AllocsPerRun(100, write); n != 0 {
			t.Errorf("behind %s: %v allocations", start, n)
		}
	}
}

// taken is the result for a whole text.
func taken(text string) (prose, reasoning string) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \t\r\n"), "<think>")
	if !ok {
		return text, ""
	}
	reasoning, prose, _ = strings.Cut(rest, "</think>")
	return strings.TrimLeft(prose, " \t\r\n"), strings.Trim(reasoning, " \t\r\n")
}

// FuzzLeading cuts texts anywhere and compares the results with those of whole texts, and with the reader of all
// formats where the two agree.
func FuzzLeading(f *testing.F) {
	for i, s := range leadingShapes {
		f.Add([]byte(s.text), uint64(i))
	}
	f.Fuzz(func(t *testing.T, text []byte, cuts uint64) {
		prose, reasoning := taken(string(text))
		a, d := listening()
		for rest := string(text); rest != ""; {
			cuts = cuts*6364136223846793005 + 1442695040888963407
			n := min(int(cuts>>33%9), len(rest))
			feed(a, rest[:n])
			rest = rest[n:]
		}
		a.endMarkup(nil)
		if string(d.prose) != prose || string(d.reasoning) != reasoning {
			t.Fatalf("%q: %q and %q, want %q and %q", text, d.prose, d.reasoning, prose, reasoning)
		}
		if string(a.message.text) != prose || len(a.thoughts) > 1 || len(a.thoughts) == 1 && string(a.thoughts[0].text) != reasoning || (reasoning == "") != (len(a.thoughts) == 0) {
			t.Fatalf("%q: the records have %q and %v", text, a.message.text, a.thoughts)
		}
		if prose == string(text) || strings.ContainsAny(prose+reasoning, "<[|") {
			return
		}
		var all markup.Output
		whole := markup.New(markup.Options{Formats: markup.ThinkTag})
		whole.Write(text, all.Add)
		whole.End(all.Add)
		if string(all.Prose) != prose || string(all.Reasoning) != reasoning {
			t.Fatalf("%q: %q and %q, think_tag says %q and %q", text, prose, reasoning, all.Prose, all.Reasoning)
		}
	})
}
