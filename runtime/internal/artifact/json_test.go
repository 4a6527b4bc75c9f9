package artifact_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/internal/artifact"
	"github.com/turncore/turncore/runtime/internal/jsonpath"
)

func parse(t testing.TB, text string, hint artifact.Format) *artifact.JSON {
	t.Helper()
	j, err := artifact.ParseJSON([]byte(text), hint)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return j
}

func render(t testing.TB, answer []byte) string {
	t.Helper()
	text, cut, err := artifact.Render(nil, answer, 1<<20)
	if err != nil || cut {
		t.Fatalf("Render(%x): %v, %v", answer, cut, err)
	}
	return string(text)
}

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		text   string
		hint   artifact.Format
		format string // empty when rejected
		length string
	}{
		{`{"a":1}`, "", "json", "1"},
		{" [1,\n2]\n", "", "json", "1"},
		{`[{"a":1},{"a":2}]`, "", "json", "1"},
		{"{\"a\":1}\n{\"b\":2}\n", "", "jsonl", "2"},
		{"\n1\r\n \n2\n\n", "", "jsonl", "2"},
		{"{a:1} // x", "", "json5", "1"},
		{"{\n'a': 1,\n}", "", "json5", "1"},
		{"\ufeff{}", "", "json", "1"},
		{"\ufeff1\n2", "", "jsonl", "2"},
		{`1`, "json5", "json5", "1"},
		{"1\n2", "ndjson", "ndjson", "2"},
		{"1", "jsonl", "jsonl", "1"},
		{"", "jsonl", "jsonl", "0"},
		{"1\n2", "json", "", ""},
		{"1\n{a:1}", "jsonl", "", ""},
		{"{a:1", "json5", "", ""},
		{"", "", "", ""},
		{" \n\n", "", "", ""},
		{"some text", "", "", ""},
		{"1\nx", "", "", ""},
		{strings.Repeat("[", 600), "", "", ""},
	} {
		j, err := artifact.ParseJSON([]byte(c.text), c.hint)
		if c.format == "" {
			var typed *artifact.FormatError
			var syntax *value.SyntaxError
			if !errors.As(err, &typed) || !errors.As(err, &syntax) || typed.Format != c.hint {
				t.Errorf("%.20q: %v", c.text, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if format, length := render(t, j.Type()), render(t, j.Length()); format != c.format || length != c.length {
			t.Errorf("%q: %s of %s records, want %s of %s", c.text, format, length, c.format, c.length)
		}
	}
	_, err := artifact.ParseJSON([]byte("1\n\n{a:1}"), "jsonl")
	if err == nil || err.Error() != "the artifact is no jsonl, line 3: json: unexpected character at byte 1" {
		t.Error(err)
	}
}

func TestKeys(t *testing.T) {
	for text, want := range map[string]string{
		`{"b":1,"a":{"c":2}}`: "b\na",
		`{}`:                  "(empty list)",
		`[{"a":1}]`:           "(undefined)",
		`1`:                   "(undefined)",
		"{\"a\":1}\n[2]\n{\"b\":1,\"a\":2}\nnull\n": "a\nb",
		"1\n2":   "(undefined)",
		"{}\n{}": "(undefined)",
	} {
		if got := render(t, parse(t, text, "").Keys()); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

const people = `{"name":"Ann","age":31,"tags":["x"]}
{"name":"Bob","age":17}
{"name":"Cid","age":50,"tags":[]}
`

func TestQueries(t *testing.T) {
	for _, c := range []struct{ text, path, get, filter string }{
		{people, `$.name`, "Ann\nBob\nCid", `["Ann","Bob","Cid"]`},
		{people, `$[?@ == 17]`, "[\n  17\n]", `["Bob"]`},
		{people, `$.tags[0]`, "x", `["Ann"]`},
		{people, `$.none`, "(empty list)", `[]`},
		{`[{"n":1},{"n":2}]`, `$[?@.n>1].n`, "[\n  2\n]", `[[{"n":1},{"n":2}]]`},
		{`{a:{b:'c'}}`, `$.a`, "[\n  {\n    \"b\": \"c\"\n  }\n]", `[{"a":{"b":"c"}}]`},
	} {
		j := parse(t, c.text, "")
		got, err := j.Get(c.path)
		if err != nil || render(t, got) != c.get {
			t.Errorf("get %s: %q, %v, want %q", c.path, render(t, got), err, c.get)
		}
		chosen, err := j.Filter(c.path)
		if err != nil {
			t.Error(err)
			continue
		}
		names, err := jsonpath.Parse(`$[*].name`)
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := value.AppendJSON(nil, chosen); c.text == people {
			var all []string
			nodes, _ := names.Select(chosen)
			for _, node := range nodes {
				name, _ := value.AppendJSON(nil, node)
				all = append(all, string(name))
			}
			if got := "[" + strings.Join(all, ",") + "]"; got != c.filter {
				t.Errorf("filter %s: %s, want %s", c.path, got, c.filter)
			}
		} else if string(text) != c.filter {
			t.Errorf("filter %s: %s, want %s", c.path, text, c.filter)
		}
	}
	var typed *jsonpath.Error
	if _, err := parse(t, people, "").Get("name"); !errors.As(err, &typed) {
		t.Errorf("a bad query: %v", err)
	}
}

func TestSlice(t *testing.T) {
	lines, one := parse(t, "0\n1\n2\n3", ""), parse(t, "[0,1]", "")
	for _, c := range []struct {
		start, end int
		want       string
	}{
		{0, math.MaxInt, "[0,1,2,3]"},
		{1, 3, "[1,2]"},
		{-2, math.MaxInt, "[2,3]"},
		{0, -1, "[0,1,2]"},
		{3, 1, "[]"},
		{-9, 1, "[0]"},
		{9, 12, "[]"},
	} {
		if got, _ := value.AppendJSON(nil, lines.Slice(c.start, c.end)); string(got) != c.want {
			t.Errorf("%d to %d: %s, want %s", c.start, c.end, got, c.want)
		}
		if got, _ := value.AppendJSON(nil, one.Slice(c.start, c.end)); string(got) != "[[0,1]]" {
			t.Errorf("%d to %d of one record: %s", c.start, c.end, got)
		}
	}
}

// A query over many records has one budget, and an answer has a bound.
func TestLimits(t *testing.T) {
	lines := parse(t, strings.Repeat(`{"a":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}`+"\n", 20000), "")
	if _, err := lines.Get(`$[?search(@,'((a?){40}){40}b')]`); !errors.Is(err, jsonpath.ErrTooManySteps) {
		t.Errorf("steps: %v", err)
	}
	if _, err := lines.Get(`$[` + strings.TrimSuffix(strings.Repeat("'a',", 20), ",") + `]`); !errors.Is(err, jsonpath.ErrTooManyNodes) {
		t.Errorf("nodes: %v", err)
	}
	large := parse(t, `{"a":"`+strings.Repeat("a", 1<<20)+`"}`, "")
	if _, err := large.Get(`$[` + strings.TrimSuffix(strings.Repeat("'a',", 100), ",") + `]`); !errors.Is(err, jsonpath.ErrTooManyNodes) {
		t.Errorf("size: %v", err)
	}
}

func TestRender(t *testing.T) {
	for text, want := range map[string]string{
		`null`:                  "null",
		`true`:                  "true",
		`"a\nb"`:                "a\nb",
		`""`:                    "",
		`12`:                    "12",
		`1e21`:                  "1e+21",
		`0.1`:                   "0.1",
		`1e-7`:                  "1e-7",
		`["a","b c",""]`:        "a\nb c\n",
		`[]`:                    "(empty list)",
		`{}`:                    "{}",
		`["a",1]`:               "[\n  \"a\",\n  1\n]",
		`[1,"a"]`:               "[\n  1,\n  \"a\"\n]",
		`[[],{}]`:               "[\n  [],\n  {}\n]",
		`{"a":[1,{"b":null}]}`:  "{\n  \"a\": [\n    1,\n    {\n      \"b\": null\n    }\n  ]\n}",
		`{"2":1,"1":"\u0007é"}`: "{\n  \"1\": \"\\u0007é\",\n  \"2\": 1\n}",
	} {
		v, err := value.FromJSON(nil, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := render(t, v); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if got := render(t, nil); got != "(undefined)" {
		t.Errorf("nothing is %q", got)
	}
	if _, _, err := artifact.Render(nil, []byte{0x92, 1}, 10); !errors.Is(err, value.ErrTruncated) {
		t.Errorf("a malformed answer: %v", err)
	}
}

// An answer that is too long for the reader is not rendered completely.
func TestRenderStops(t *testing.T) {
	deep := strings.Repeat("[", 400) + strings.Repeat("1,", 100000) + "1" + strings.Repeat("]", 400)
	for _, text := range []string{deep, `[` + strings.Repeat(`"abc",`, 10000) + `"d"]`, `{"a":` + deep + `}`} {
		v, err := value.FromJSON(nil, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		out, cut, err := artifact.Render([]byte("x"), v, 5000)
		if err != nil || !cut || len(out) < 5000 || len(out) > 7000 {
			t.Errorf("%d bytes, %v, %v", len(out), cut, err)
		}
	}
}

func ExampleJSON_Get() {
	j, err := artifact.ParseJSON([]byte("{\"id\":1,\"ok\":true}\n{\"id\":2,\"ok\":false}\n"), "")
	if err != nil {
		panic(err)
	}
	failed, err := j.Filter(`$[?@ == false]`)
	if err != nil {
		panic(err)
	}
	text, _, _ := artifact.Render(nil, failed, 1000)
	fmt.Println(string(text))
	// Output:
	// [
	//   {
	//     "id": 2,
	//     "ok": false
	//   }
	// ]
}

func FuzzParseJSON(f *testing.F) {
	for _, text := range []string{"{\"a\":1}\n{\"b\":[2]}", "{a:1,}", `{"a":{"b":[1,"x",null]}}`, "\n\n1\n"} {
		f.Add([]byte(text), "", `$..*`, 0, 2)
	}
	f.Fuzz(func(t *testing.T, text []byte, hint, path string, start, end int) {
		j, err := artifact.ParseJSON(text, artifact.Format(hint))
		if err != nil {
			return
		}
		answers := [][]byte{j.Type(), j.Length(), j.Keys(), j.Slice(start, end)}
		if got, err := j.Get(path); err == nil {
			answers = append(answers, got)
		}
		if got, err := j.Filter(path); err == nil {
			answers = append(answers, got)
		}
		for i, answer := range answers {
			if answer != nil && value.Check(answer) != nil && i < 4 {
				t.Fatalf("%q: answer %d is %x", text, i, answer)
			}
			if _, _, err := artifact.Render(nil, answer, 1000); err != nil && !errors.Is(err, value.ErrTooDeep) {
				t.Fatalf("%q: answer %d: %v", text, i, err)
			}
		}
	})
}
