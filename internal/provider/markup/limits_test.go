package markup

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/turncore/turncore/abi/value"
)

func TestLimits(t *testing.T) {
	deep := strings.Repeat("[", 10_000)
	closed := deep + strings.Repeat("]", 10_000)
	long := strings.Repeat("n", maxName)
	for _, tt := range []struct {
		text   string
		name   string
		defect Defect
	}{
		// 10,000 brackets, in calls of all formats that hold values.
		{`<tool_call>{"name":"f","arguments":{"a":` + closed + `}}</tool_call>`, "f", TooDeep},
		{`<tool_call>{"name":"f","arguments":{"a":` + deep, "", CutOff},
		{`<tool_call>` + deep + `{`, "", CutOff},
		{"call:f{a:" + closed + "}", "f", TooDeep},
		{"call:f{a:" + deep + "<tool_call|>", "f", TooDeep},
		{"call:f{a:" + strings.Repeat("{a:", 10_000) + "1<tool_call|>", "f", TooDeep},
		{"<|python_start|>[f(a=" + closed + ")]<|python_end|>", "f", TooDeep},
		{"<|channel|>commentary to=functions.f<|message|>{\"a\":" + closed + "}<|call|>", "f", TooDeep},
		{`[TOOL_CALLS]f[ARGS]{"a":` + closed + `}`, "f", TooDeep},
		{`functools[{"name":"f","arguments":{"a":` + closed + `}}]`, "f", TooDeep},
		{`<function=f>{"a":` + closed + `}</function>`, "f", TooDeep},
		// Names.
		{`<tool_call>{"name":"` + long + `"}</tool_call>`, long, None},
		{`<tool_call>{"name":"` + long + `n"}</tool_call>`, "", NoName},
		{`<tool_call>{"name":"a\u0000b"}</tool_call>`, "", NoName},
		{`<tool_call>{"name":"a\nb"}</tool_call>`, "", NoName},
		{"<tool_call>{\"name\":\"a\xffb\"}</tool_call>", "a\uFFFDb", None},
		{"<function=a\xff></function>", "", NoName},
		{"<tool_call>{\"name\":1}</tool_call>", "", NoName},
	} {
		for _, size := range []int{1, len(tt.text)} {
			r := New(Options{Formats: Auto})
			var out Output
			for _, part := range chars(tt.text, size) {
				r.Write([]byte(part), out.Add)
			}
			calls := r.End(out.Add).Calls
			if len(calls) != 1 || calls[0].Name != tt.name || calls[0].Defect != tt.defect || len(out.Prose) > 0 {
				t.Errorf("%.60q: %d calls, prose %.20q", tt.text, len(calls), out.Prose)
				for _, c := range calls {
					t.Errorf("%.20q: %v", c.Name, c.Defect)
				}
			}
		}
	}
	for _, prefix := range []string{"", "{\"name\":\"f\",\"parameters\":{\"a\":", "[rm(a=", "f(a=", "f\na: "} {
		for _, text := range []string{prefix + deep, prefix + closed} {
			if got := read(Options{Formats: Auto, Tools: tools}, text); prefix != "f\na: " && got != text {
				t.Errorf("%.40q: got %.40q", text, got)
			}
		}
	}
	text := strings.Repeat(strings.Repeat("n", 1000)+"{}(a=1)\n<function="+strings.Repeat("n", 1000)+"></function>", 5)
	if got := read(Options{Formats: Auto, Tools: []string{strings.Repeat("n", 1000)}}, text); got != text {
		t.Errorf("names that are too long: got %.80q", got)
	}
}

func TestManyCalls(t *testing.T) {
	for _, unit := range []string{`<tool_call>{"name":"f"}</tool_call>`, "f(a=1)\n", "call:f{}"} {
		r := New(Options{Formats: Auto, Tools: tools})
		var out Output
		r.Write([]byte(strings.Repeat(unit, MaxCalls+3)), out.Add)
		if got := r.End(out.Add); len(got.Calls) != MaxCalls || got.Excess != 3 || len(out.Prose) > 0 {
			t.Errorf("%q: %d calls and %d more, prose %q", unit, len(got.Calls), got.Excess, out.Prose)
		}
	}
	list := "<|python_start|>[" + strings.Repeat("f(a=1),", MaxCalls+3) + "g(a=b)]<|python_end|>"
	r := New(Options{Formats: Auto})
	r.Write([]byte(list), func(Piece) {})
	if got := r.End(func(Piece) {}); len(got.Calls) != 1 || got.Excess != 0 || got.Calls[0].Defect != BadArguments {
		t.Errorf("a list with a bad call: %d calls and %d more", len(got.Calls), got.Excess)
	}
}

func TestTooLong(t *testing.T) {
	long := strings.Repeat("x", 3000)
	var shapes []shape
	for _, tt := range []struct{ before, after, format string }{
		{`<tool_call>{"name":"f","arguments":{"a":"}`, `"}}</tool_call>`, "hermes"},
		{`call:f{a:"`, `"}`, "gemma"},
		{`<|channel|>commentary to=functions.f<|message|>{"a":"`, `"}<|call|>`, "gpt_oss"},
		{`functools[{"name":"f","arguments":{"a":"`, `"}}]`, "phi"},
		{`<|python_start|>[f(a="`, `")]<|python_end|>`, "pythonic"},
		{`[TOOL_CALLS]f[ARGS]{"a":"`, `"}`, "mistral"},
		{`<function=f><parameter=a>`, `</parameter></function>`, "qwen3_coder"},
	} {
		text := tt.before + long + tt.after
		want := " | " + tt.format + " : the call is too long: " + text[:maxHead]
		shapes = append(shapes, shape{"a " + text + " b", "a b" + want}, shape{tt.before + long, want})
	}
	// What has no marker is prose.
	for _, text := range []string{`{"name":"f","parameters":{"a":"` + long + `"}}`, `[f(a="` + long + `")]`, `f(a="` + long + `")`, "f\na: " + long + "\n"} {
		shapes = append(shapes, shape{text, text})
	}
	for i := range shapes {
		o := Options{Formats: Auto, Tools: tools, Limit: 2000}
		s := shapes[i]
		for _, size := range []int{len(s.text), 1, 7, 1000, 2000, 2001} {
			if got := read(o, chars(s.text, size)...); got != s.want {
				t.Errorf("%.40q in parts of %d:\n got %q\nwant %q", s.text, size, got, s.want)
			}
		}
	}
	body := `{"name":"f","arguments":{"a":"` + strings.Repeat("x", 1000) + `"}}</tool_call>`
	if got := read(Options{Formats: Auto, Limit: len(body)}, "<tool_call>"+body); !strings.HasPrefix(got, " | hermes f{") {
		t.Errorf("a call as long as the limit: %.60q", got)
	}
	if got := read(Options{Formats: Auto, Limit: len(body) - 1}, "<tool_call>"+body); !strings.Contains(got, "too long") {
		t.Errorf("a call longer than the limit: %.60q", got)
	}
}

// What is streamed is the prose, in whole characters, and no more than a marker's start is held back.
func TestStreams(t *testing.T) {
	text := "Ünder <b>all</b> 日本 [1] {x} `c` f x get_ "
	r := New(Options{Formats: Auto, Tools: tools})
	var out Output
	for i := range len(text) {
		r.Write([]byte{text[i]}, func(p Piece) {
			if !utf8.Valid(p.Text) {
				t.Errorf("a piece ends inside a character: %q", p.Text)
			}
			out.Add(p)
		})
		if held := i + 1 - len(out.Prose); held > len("get_ ") {
			t.Errorf("%q: %d bytes are held back", text[:i+1], held)
		}
	}
	for _, tt := range []struct{ text, prose string }{
		{"Now <tool_call", "Now"},
		{"Now <tool_call>{\"na", "Now"},
		{"Now <tool_call> x", "Now <tool_call> x"},
		{"Look [TOOL", "Look"},
		{"Look [TOOLS", "Look [TOOLS"},
		{"So get_wea", "So"},
		{"So get_weather ", "So get_weather"},
		{"{\"na", ""},
		{"{\"na\"", "{\"na\""},
		{"{\"name\":\"x\"", ""},
		{"{\"name\":\"x\",\"age\"", "{\"name\":\"x\",\"age\""},
		{"[rm", ""},
		{"[rm]", "[rm]"},
		{"[rm(x", ""},
		{"[rm(x)", "[rm(x)"},
		{"[rm(x=1)] and", "[rm(x=1)] and"},
		{"f\na: 1\n", ""},
		{"f\na: 1\nb ", "f\na: 1\nb"},
		{"f(a=1) i", "f(a=1) i"},
		{"```\n", ""},
		{"```\nx", "```\nx"},
	} {
		r := New(Options{Formats: Auto, Tools: tools})
		var out Output
		r.Write([]byte(tt.text), out.Add)
		if string(out.Prose) != tt.prose {
			t.Errorf("%q: %q is streamed, want %q", tt.text, out.Prose, tt.prose)
		}
	}
	out = Output{}
	r = New(Options{Formats: Auto})
	r.Write([]byte("<think>Let me </thi"), out.Add)
	if string(out.Reasoning) != "Let me" {
		t.Errorf("%q is streamed as reasoning", out.Reasoning)
	}
}

func TestNamed(t *testing.T) {
	for f := Formats(1); f <= Auto; f <<= 1 {
		if got, ok := Named(f.String()); !ok || got != f {
			t.Errorf("%q is %v, %v", f, got, ok)
		}
	}
	if got, ok := Named("auto"); !ok || got != Auto || Auto.String() != "auto" {
		t.Error("auto is not all formats")
	}
	for _, name := range []string{"", "hermes gemma", "Hermes", " "} {
		if got, ok := Named(name); ok {
			t.Errorf("%q is %v", name, got)
		}
	}
	if got := (Hermes | ThinkTag).String(); got != "hermes think_tag" {
		t.Errorf("a set is %q", got)
	}
}

func TestAllocations(t *testing.T) {
	r := New(Options{Formats: Auto, Tools: tools})
	emit := func(Piece) {}
	parts := [][]byte{[]byte("Some"), []byte(" prose, <b"), []byte(">"), []byte(" get"), []byte("_wea"), []byte("ther\n"), []byte(" é")}
	if n := testing.AllocsPerRun(100, func() {
		for _, part := range parts {
			r.Write(part, emit)
		}
	}); n != 0 {
		t.Errorf("%v allocations for prose", n)
	}
}

// FuzzMarkup checks what holds for any text and any options.
func FuzzMarkup(f *testing.F) {
	for _, table := range slices.Concat(formatTables, otherTables) {
		for _, s := range table.shapes {
			f.Add([]byte(s.text), uint16(table.options.Formats), uint8(0), uint64(1))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, formats uint16, flags uint8, cuts uint64) {
		o := Options{Formats: Formats(formats) & Auto, Tools: tools, Opened: flags&1 != 0, NoOrphans: flags&2 != 0}
		if flags&4 != 0 {
			o.Limit = 64
		}
		want := read(o, string(text))
		if got := read(o, chars(string(text), 1)...); got != want {
			t.Fatalf("byte by byte: got %q, want %q", got, want)
		}
		r := New(o)
		var out Output
		for rest := text; len(rest) > 0; {
			cuts = cuts*6364136223846793005 + 1442695040888963407
			n := min(int(cuts>>33%17), len(rest))
			part := bytes.Clone(rest[:n])
			r.Write(part, out.Add)
			clear(part) // Write keeps nothing of it
			rest = rest[n:]
		}
		result := r.End(out.Add)
		if got := show(&out, result); got != want {
			t.Fatalf("cut: got %q, want %q", got, want)
		}
		if r.work > 1000*(len(text)+1) {
			t.Fatalf("%d bytes are looked at for %d", r.work, len(text))
		}
		for _, c := range result.Calls {
			s := value.NewScanner(c.Arguments)
			if c.Defect == None && (s.Kind() != value.KindMap || s.End() != nil || !utf8.Valid(c.Arguments) || c.Name == "") {
				t.Errorf("%q: call of %q with %q", text, c.Name, c.Arguments)
			}
			if c.Defect != None && (c.Arguments != nil || c.Raw == nil) {
				t.Errorf("%q: a call with a defect has arguments, or no text", text)
			}
		}
		if len(result.Calls) == 0 && !o.Opened && len(out.Reasoning) == 0 && !bytes.ContainsAny(text, "<[") && string(out.Prose) != string(text) {
			t.Errorf("%q has become %q", text, out.Prose)
		}
	})
}
