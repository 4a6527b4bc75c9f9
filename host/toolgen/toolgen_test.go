package toolgen_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/toolgen"
	"github.com/turncore/turncore/host/toolgen/internal/sample"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/wasm/agent/codec"
)

// The file in package sample is what is generated from its types.
func TestUpToDate(t *testing.T) {
	got, err := toolgen.Generate("sample", reflect.TypeFor[sample.Everything](), reflect.TypeFor[sample.Small]())
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("internal/sample/tool_types_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("internal/sample is not up to date: run go generate there")
	}
}

// A tool has the schema that the host's tools have.
func TestSchema(t *testing.T) {
	tool := turns.NewTool("t", "", func(*turns.DispatchContext, sample.Everything) (any, error) { return nil, nil })
	if got := new(sample.Everything).Schema(); got != fmt.Sprintf("%s", tool.InputSchema) {
		t.Errorf("the schema is\n%s\nthat of turns.NewTool\n%s", got, tool.InputSchema)
	}
}

// encoded is the value of a JSON text.
func encoded(t *testing.T, text string) []byte {
	t.Helper()
	v, err := value.FromJSON(nil, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// texts are arguments.
var texts = []string{
	`{}`,
	`{"id":7,"mode":"deep","on":true,"off":false,"tiny":-128,"long":9007199254740991,"ratio":0.5,"exact":1e3,"photo":"AAEC",
	  "at":"2026-01-02T03:04:05.678Z","until":"2026-01-02T03:04:05Z","raw":{"a":[1,null]},"any":[1.5,{"b":"c"},true,null],
	  "small":{"name":"é😀","count":2,"tags":["x",""]},"maybe":{"name":"n","count":0},"list":[{"name":"a","count":1},{"name":"","count":2}],
	  "deep":[[1,null],null,[]],"byName":{"10":{"name":"i","count":1},"b":{"name":"j","count":1},"2":{"name":"k","count":1}},
	  "numbers":{"fast":[1,2.5]},"modes":["fast"],"10":"ten"}`,
	`{"photo":null,"list":null,"maybe":null,"until":null,"byName":null,"deep":null,"raw":null,"any":null,"id":null,"mode":null,
	  "on":null,"ratio":null,"at":null,"small":null}`,
	`{"tiny":1.0,"long":1e3,"unknown":[1,2]}`,
}

// Arguments become what encoding/json makes of them, and results what it writes.
func TestAsJSON(t *testing.T) {
	for _, text := range texts {
		var got, want sample.Everything
		if err := got.DecodeValue(encoded(t, text)); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if err := json.Unmarshal([]byte(strings.NewReplacer("1.0", "1", "1e3", "1000").Replace(text)), &want); err != nil {
			t.Fatal(err)
		}
		if string(got.Raw) == "null" && want.Raw == nil {
			want.Raw = got.Raw
		}
		got.Raw, want.Raw = nil, nil // the texts differ by spaces
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", text, got, want)
		}
		v, err := got.AppendValue(nil)
		if err != nil {
			t.Fatal(err)
		}
		written, err := json.Marshal(&want)
		if err != nil {
			t.Fatal(err)
		}
		if whole := encoded(t, string(written)); string(v) != string(whole) {
			shown, _ := value.AppendJSON(nil, v)
			t.Errorf("%s: wrote\n%s, encoding/json\n%s", text, shown, written)
		}
	}
}

func TestResultWithJSON(t *testing.T) {
	z := sample.Everything{Raw: json.RawMessage(`{"b": 1, "a": [2]}`), At: time.Unix(0, 0).UTC()}
	v, err := z.AppendValue(nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := value.Get(v, "raw")
	if text, _ := value.AppendJSON(nil, raw); string(text) != `{"b":1,"a":[2]}` {
		t.Errorf("raw is %s", text)
	}
	for _, bad := range []sample.Everything{{Raw: json.RawMessage(`{`)}, {Any: struct{}{}}, {Any: []any{map[string]any{"k": 'x'}}}} {
		var e *codec.Error
		if _, err := bad.AppendValue(nil); !errors.As(err, &e) || e.Field == "" {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// Arguments that do not fit name the field.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:                          `is not an object`,
		`{"id":-1}`:                   `id: is not within the range of its type: -1`,
		`{"id":4294967296}`:           `id: is not within the range of its type: 4294967296`,
		`{"tiny":128}`:                `tiny: is not within the range of its type: 128`,
		`{"tiny":1.5}`:                `tiny: is not an integer`,
		`{"long":1e300}`:              `long: is not an integer`,
		`{"mode":1}`:                  `mode: is not a text`,
		`{"on":"yes"}`:                `on: is not true or false`,
		`{"ratio":"1"}`:               `ratio: is not a number`,
		`{"photo":"*"}`:               `photo: is not a text in base64: illegal base64 data at input byte 0`,
		`{"photo":1}`:                 `photo: is not a text in base64`,
		`{"small":[]}`:                `small: is not an object`,
		`{"small":{"tags":["",2]}}`:   `small.tags[1]: is not a text`,
		`{"list":{}}`:                 `list: is not a list`,
		`{"list":[{},{"count":""}]}`:  `list[1].count: is not an integer`,
		`{"deep":[[1],[true]]}`:       `deep[1][0]: is not an integer`,
		`{"byName":{"x":{"name":1}}}`: `byName.x.name: is not a text`,
		`{"numbers":{"fast":[1,""]}}`: `numbers.fast[1]: is not a number`,
		`{"maybe":1}`:                 `maybe: is not an object`,
	} {
		var z sample.Everything
		err := z.DecodeValue(encoded(t, text))
		var e *codec.Error
		if !errors.As(err, &e) || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	var z sample.Everything
	if err := z.DecodeValue(encoded(t, `{"at":"noon"}`)); err == nil || !strings.HasPrefix(err.Error(), "at: ") {
		t.Error(err)
	}
	for _, cut := range [][]byte{nil, {0x81}, {0x81, 0xa2, 'i'}, {0x81, 0xa2, 'i', 'd'}} {
		if err := z.DecodeValue(cut); err == nil {
			t.Errorf("% x was decoded", cut)
		}
	}
}

type (
	pair[T any] struct{ A, B T }
	inner       struct{ X int }
)

// What nothing can be generated for is refused by the name of its field.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		of   reflect.Type
		want string
	}{
		{reflect.TypeFor[int](), "int is no struct of the package"},
		{reflect.TypeFor[map[string]int](), "map[string]int is no struct of the package"},
		{reflect.TypeFor[function](), "function: F: nothing can be decoded into a func()"},
		{reflect.TypeFor[anonymous](), "anonymous.A: nothing can be generated for struct { B int }: give the type a name"},
		{reflect.TypeFor[options](), `options.A: nothing can be generated for the option "string" of its json tag`},
		{reflect.TypeFor[embeds](), "embeds.inner: nothing can be generated for an embedded pointer"},
		{reflect.TypeFor[array](), "array.A: nothing can be generated for [2]int"},
		{reflect.TypeFor[generic](), "a type with parameters"},
		{reflect.TypeFor[zero](), "zero.A: omitzero of a struct needs a method IsZero() bool"},
		{reflect.TypeFor[keys](), "keys: A: map[int]int has keys that are no strings"},
		{reflect.TypeFor[recursive](), "recursive: A[]: toolgen_test.recursive contains itself"},
	} {
		if _, err := toolgen.Generate("toolgen_test", c.of); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.of, err, c.want)
		}
	}
	if _, err := toolgen.Generate("toolgen_test"); err == nil {
		t.Error("a file without types is generated")
	}
	if _, err := toolgen.Generate("toolgen_test", reflect.TypeFor[inner](), reflect.TypeFor[time.Time]()); err == nil || !strings.Contains(err.Error(), "time.Time is no struct of the package") {
		t.Error(err)
	}
}

type (
	function  struct{ F func() }
	anonymous struct{ A struct{ B int } }
	options   struct {
		A int `json:"a,string"`
	}
	embeds  struct{ *inner }
	array   struct{ A [2]int }
	generic struct{ A pair[int] }
	zero    struct {
		A inner `json:",omitzero"`
	}
	keys      struct{ A map[int]int }
	recursive struct{ A []recursive }
)
