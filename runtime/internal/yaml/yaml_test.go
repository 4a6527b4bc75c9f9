package yaml_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/internal/yaml"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     `null`,
		"# a\n\n":                              `null`,
		"title: A page\ndraft: true\norder: 3": `{"title":"A page","draft":true,"order":3}`,
		"a:\n  b:\n    c: 1\n  d: 2\ne: 3":     `{"a":{"b":{"c":1},"d":2},"e":3}`,
		"a:\n- 1\n- 2\nb:\n  - 3\n  -\n  - - 4\n    - 5":                                                     `{"a":[1,2],"b":[3,null,[4,5]]}`,
		"- a: 1\n  b: 2\n-   c: 3\n    d:\n      - e":                                                        `[{"a":1,"b":2},{"c":3,"d":["e"]}]`,
		"a: # c\n  b # d\nc: d#e # f":                                                                        `{"a":"b","c":"d#e"}`,
		"a: b\n  c\n\n  d\ne: f":                                                                             `{"a":"b c\nd","e":"f"}`,
		"a:\nb: ~\nc: null\nd: ''\ne: \"\"":                                                                  `{"a":null,"b":null,"c":null,"d":"","e":""}`,
		"a: 'it''s: #1'\n\"b c\" : \"x\\ty\\u00e9\\x41\\\"\\ud83d\\ude00\"":                                  `{"a":"it's: #1","b c":"x\tyéA\"😀"}`,
		"a: [1, two, 'three', [4], {b: c, d}, ]\ne: {}\nf: []":                                               `{"a":[1,"two","three",[4],{"b":"c","d":null}],"e":{},"f":[]}`,
		"a: [1, # x\n  2,\n\n  3]\nb: {c: d,\n  \"e\": f:g}":                                                 `{"a":[1,2,3],"b":{"c":"d","e":"f:g"}}`,
		"a: |\n  x\n   y\n\n  z\n\nb: >\n  p\n  q\n\n  r\n   s\n  t\nc: |-\n  u\nd: >+\n  v\n\ne: |2\n    w": `{"a":"x\n y\n\nz\n","b":"p q\nr\n s\nt\n","c":"u","d":"v\n\n","e":"  w\n"}`,
		"- |\n x\n- >-\n  y\n  z":                                                                            `["x\n","y z"]`,
		"a: 0x1F\nb: 0o17\nc: -1.5e3\nd: .5\ne: +7\nf: 1_000\ng: 1.2.3\nh: 0b1\ni: .inf\nj: 2024-01-02\nk: 12e\nl: '5'\nm: 007\nn: e5\no: .": `{"a":31,"b":15,"c":-1500,"d":0.5,"e":7,"f":"1_000","g":"1.2.3","h":"0b1","i":null,"j":"2024-01-02","k":"12e","l":"5","m":7,"n":"e5","o":"."}`,
		"a: True\nb: yes\nc: FALSE\nd: y":      `{"a":true,"b":"yes","c":false,"d":"y"}`,
		"b: 1\n2: x\n1: y":                     `{"1":"y","2":"x","b":1}`,
		"url: http://a.b/c?d:e\ntime: 10:30":   `{"url":"http://a.b/c?d:e","time":"10:30"}`,
		"just text":                            `"just text"`,
		"-a: -b\n--c: -":                       `{"-a":"-b","--c":"-"}`,
		"a: b\r\nc: d\r\n":                     `{"a":"b","c":"d"}`,
		"a:\n    - b\n    - c:  d\n      e: f": `{"a":["b",{"c":"d","e":"f"}]}`,
		"tags: [a b, c-d]\nünï: é":             `{"tags":["a b","c-d"],"ünï":"é"}`,
		"a: \"\xff\"":                          "{\"a\":\"\ufffd\"}",
	} {
		v, err := yaml.Parse([]byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got, err := value.AppendJSON(nil, v); err != nil || string(got) != want {
			t.Errorf("%q:\n got %s, %v\nwant %s", text, got, err, want)
		}
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\nb: &x 2":                     "unsupported scalar that starts with & on line 2",
		"a: *x":                             "unsupported scalar that starts with * on line 1",
		"a: !!str 1":                        "unsupported scalar that starts with ! on line 1",
		"%YAML 1.2":                         "unsupported scalar that starts with % on line 1",
		"? a\n: b":                          "unsupported key that is not a scalar on line 1",
		"---":                               "unsupported second document on line 1",
		"a: 1\na: 2":                        "duplicate key a on line 2",
		"a: 1\n  b: 2":                      "more indentation than expected on line 2",
		"a:\n  b: 1\n c: 2":                 "more indentation than expected on line 3",
		"a: 1\nb":                           "expected a key on line 2",
		"- a\nb: 1":                         "unexpected text on line 2",
		"a: 'b":                             "quoted text that is not closed on its line on line 1",
		"a: \"b\\q\"":                       "quoted text that is not closed on its line on line 1",
		"a: 'b' c":                          "text after the closing quote on line 1",
		"a: [1, 2":                          "unclosed flow collection on line 1",
		"a: [1,\n  2\nb: 3":                 "unclosed flow collection on line 2",
		"a: [1] 2":                          "text after a flow collection on line 1",
		"a: [&x 1]":                         "expected a scalar in a flow collection on line 1",
		"a: [,]":                            "expected a scalar in a flow collection on line 1",
		"a: |x\n  b":                        "unknown header of a block scalar on line 1",
		"\ta: 1":                            "tab used as indentation on line 1",
		"a: " + strings.Repeat("[", 100000): "collections nested too deeply on line 1",
		strings.Repeat("- ", 100000):        "collections nested too deeply on line 1",
		strings.Repeat("- ", 100000) + "a":  "collections nested too deeply on line 1",
	} {
		_, err := yaml.Parse([]byte(text))
		var typed *yaml.Error
		if !errors.As(err, &typed) || err.Error() != "yaml: "+want {
			t.Errorf("%.30q: %v, want %s", text, err, want)
		}
	}
}

func ExampleParse() {
	v, err := yaml.Parse([]byte("title: Notes\ntags:\n  - go\n  - wasm\n"))
	if err != nil {
		panic(err)
	}
	text, _ := value.AppendJSON(nil, v)
	fmt.Println(string(text))
	// Output: {"title":"Notes","tags":["go","wasm"]}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"a:\n  - b: |\n      c\n  - [d, {e: 'f'}] # g\nh: >-\n  i\n  j", "\"a\\u0041\": ~", "- - -\n  - x: 1.5", "a: b\n c\n\n d"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := yaml.Parse(text)
		if err != nil {
			return
		}
		if err := value.Check(v); err != nil {
			t.Fatalf("%q: %x: %v", text, v, err)
		}
	})
}
