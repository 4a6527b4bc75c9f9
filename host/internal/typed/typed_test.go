package typed

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tinylib/msgp/msgp"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/internal/wire"
)

type color string

func (c *color) UnmarshalText(text []byte) error {
	if string(text) == "none" {
		return errors.New("is no color")
	}
	*c = color(strings.ToUpper(string(text)))
	return nil
}

type point struct{ X, Y int }

func (p *point) UnmarshalJSON(text []byte) error {
	var list [2]int
	err := json.Unmarshal(text, &list)
	p.X, p.Y = list[0], list[1]
	return err
}

func (point) JSONSchema() any {
	return map[string]any{"type": "array", "items": map[string]any{"type": "integer"}, "minItems": 2, "maxItems": 2}
}

type unit string

func (unit) JSONSchema() any { return `{"enum": ["celsius", "fahrenheit"]}` }

type base struct {
	Common string `json:"common"`
}

type pair[T any] struct {
	First  T  `json:"first"`
	Second *T `json:"second,omitempty"`
}

type everything struct {
	base
	Text   string            `json:"text"`
	Int8   int8              `json:"int8"`
	Uint   uint              `json:"uint"`
	Float  float64           `json:"float"`
	Small  float32           `json:"small"`
	Bool   bool              `json:"bool"`
	List   []int             `json:"list"`
	Bytes  []byte            `json:"bytes"`
	Map    map[string]*point `json:"map"`
	Keys   map[int]string    `json:"keys"`
	Pair   pair[string]      `json:"pair"`
	Any    any               `json:"any"`
	Raw    json.RawMessage   `json:"raw"`
	Number json.Number       `json:"number"`
	At     time.Time         `json:"at"`
	Color  color             `json:"color"`
	Addr   netip.Addr        `json:"addr"`
	Quoted int               `json:"quoted,string"`
	Array  [2]string         `json:"array"`
	Point  *point            `json:"point"`
	Hidden string            `json:"-"`
	Named  string
}

type flat struct {
	Text  string         `json:"text"`
	Int8  int8           `json:"int8"`
	Uint  uint           `json:"uint"`
	Float float64        `json:"float"`
	Small float32        `json:"small"`
	Bool  bool           `json:"bool"`
	List  []int          `json:"list"`
	Lists [][]string     `json:"lists"`
	Bytes []byte         `json:"bytes"`
	Map   map[color]int  `json:"map"`
	Words map[string]any `json:"words"`
	Pair  pair[flatter]  `json:"pair"`
	Any   any            `json:"any"`
	Color *color         `json:"color"`
	Point *point         `json:"point"`
	Named string
	Ärger string
}

type flatter struct {
	Text  string
	Inner *flatter
	List  []flatter
}

// What Decode stores is what encoding/json stores of the same value, and it fails where that fails.
func TestDecodeAsJSON(t *testing.T) {
	texts := []string{
		`{}`, `null`, `[]`, `"x"`, `1`,
		`{"text":"é","int8":-128,"uint":7,"float":2,"small":0.5,"bool":true,"list":[1,2,3],"bytes":"aGk=","named":"folded","NAMED":"again"}`,
		`{"text":null,"list":null,"map":null,"any":null,"pair":null,"point":null,"at":null,"color":null,"raw":null,"number":null}`,
		`{"int8":128}`, `{"int8":1.5}`, `{"uint":-1}`, `{"float":"1"}`, `{"small":1e300}`, `{"bool":1}`, `{"text":1}`, `{"list":{}}`, `{"list":[1,"x"]}`,
		`{"list":"aGk="}`, `{"bytes":"!"}`, `{"bytes":[104,105]}`, `{"map":{"a":1}}`, `{"map":{"a":[1,2]}}`, `{"map":[]}`, `{"keys":{"1":"a","2":"b"}}`, `{"keys":{"x":"a"}}`,
		`{"pair":{"first":"a","second":"b"},"any":{"b":[1,null,true,2.5]},"raw":{"z":1,"a":2},"number":12.5}`,
		`{"at":"2026-11-22T21:05:01.5Z","color":"red","addr":"::1","quoted":"5","array":["a"],"point":[3,4],"common":"c","Hidden":"x"}`,
		`{"at":"yesterday"}`, `{"color":"none"}`, `{"color":5}`, `{"addr":"x"}`, `{"quoted":5}`, `{"point":"x"}`, `{"unknown":{"deep":[1,2,{"x":null}]},"text":"after"}`,
		`{"lists":[["a"],[],null],"words":{"a":1,"b":[2]},"pair":{"first":{"Text":"x","inner":{"TEXT":"y"},"List":[{},{"Text":"z"}]}}}`,
	}
	for _, text := range texts {
		raw, err := wire.FromJSON(nil, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, into := range []func() any{
			func() any { return new(everything) }, func() any { return new(flat) }, func() any { return new(flatter) }, func() any { return new(any) },
			func() any { return new(map[string]any) }, func() any { return &flat{List: []int{9, 9}, Words: map[string]any{"old": 1}, Any: "old"} },
			func() any { p := new(flatter); return &p }, func() any { return new(int) }, func() any { return new([]byte) }, func() any { return new(string) },
		} {
			want, got := into(), into()
			wantErr, err := json.Unmarshal([]byte(text), want), Decode(raw, got)
			if (err == nil) != (wantErr == nil) {
				t.Errorf("%s into %T: %v, encoding/json says %v", text, got, err, wantErr)
			}
			if err == nil && !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v, encoding/json has %+v", text, got, want)
			}
		}
	}
}

// An error names the field and what is wrong with it.
func TestDecodeErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{"int8":128}`:       "int8: a JSON number 128 does not fit int8",
		`{"uint":-1}`:        "uint: a JSON number -1 does not fit uint",
		`{"list":[1,2,"x"]}`: "list: a JSON string does not fit int",
		`{"pair":{"first":{"inner":{"Text":5}}}}`: "pair.first.Inner.Text: a JSON number does not fit string",
		`{"words":"x"}`:     "words: a JSON string does not fit map[string]interface {}",
		`{"color":"none"}`:  "color: is no color",
		`{"point":[1,"x"]}`: "point: a JSON string does not fit int",
		`5`:                 "a JSON number does not fit typed.flat",
	} {
		raw, err := wire.FromJSON(nil, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		err = Decode(raw, new(flat))
		var e *Error
		if !errors.As(err, &e) || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if err := Decode([]byte{0xc0}, flat{}); err == nil {
		t.Error("decoded into no pointer")
	}
	for _, broken := range []string{"", "\x81", "\x81\xa4text", "\x81\xa4text\xa5", "\x91", "\xdc\xff\xff", "\xdf\xff\xff\xff\xff", "\x80\x80", "\xc1"} {
		if err := Decode([]byte(broken), new(flat)); err == nil {
			t.Errorf("%q was decoded", broken)
		}
	}
}

// The schemas of Go types.
func TestSchemas(t *testing.T) {
	type empty struct{}
	type tags struct {
		Query string   `json:"query" jsonschema:"What to look for, in words"`
		Limit int      `json:"limit" default:"10"`
		Order string   `json:"order,omitempty" enum:"newest,oldest" default:"newest"`
		Kinds []string `json:"kinds,omitzero" enum:"a,b"`
		Level *int     `json:"level,omitempty" enum:"1,2"`
		Big   int64    `json:"big,string"`
		Unit  unit     `json:"unit"`
		Skip  int      `json:"-"`
	}
	for _, c := range []struct {
		of   reflect.Type
		want string
	}{
		{reflect.TypeFor[empty](), `{"type":"object","additionalProperties":false}`},
		{reflect.TypeFor[*flatten](), `{"type":"object","properties":{"common":{"type":"string"},"text":{"type":"string"}},"required":["common","text"],"additionalProperties":false}`},
		{reflect.TypeFor[map[string]bool](), `{"type":"object","additionalProperties":{"type":"boolean"}}`},
		{reflect.TypeFor[tags](), `{"type":"object","properties":{
			"query":{"type":"string","description":"What to look for, in words"},
			"limit":{"type":"integer","default":10},
			"order":{"type":"string","default":"newest","enum":["newest","oldest"]},
			"kinds":{"type":["null","array"],"items":{"type":"string","enum":["a","b"]}},
			"level":{"type":["null","integer"],"enum":[1,2,null]},
			"big":{"type":"string"},
			"unit":{"enum":["celsius","fahrenheit"]}
			},"required":["query","big","unit"],"additionalProperties":false}`},
		{reflect.TypeFor[pair[int8]](), `{"type":"object","properties":{"first":{"type":"integer","minimum":-128,"maximum":127},
			"second":{"type":["null","integer"],"minimum":-128,"maximum":127}},"required":["first"],"additionalProperties":false}`},
		{reflect.TypeFor[struct {
			At    time.Time        `json:"at"`
			Bytes []byte           `json:"bytes"`
			Raw   json.RawMessage  `json:"raw"`
			Any   any              `json:"any"`
			N     json.Number      `json:"n"`
			Color color            `json:"color"`
			Addr  *netip.Addr      `json:"addr"`
			Point point            `json:"point"`
			Map   map[string][]int `json:"map"`
			Big   big.Int          `json:"big"`
		}](), `{"type":"object","properties":{"at":{"type":"string","format":"date-time"},"bytes":{"type":["null","string"],"contentEncoding":"base64"},
			"raw":true,"any":true,"n":{"type":"number"},"color":{"type":"string"},"addr":{"type":["null","string"]},
			"point":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2},
			"map":{"type":"object","additionalProperties":{"type":["null","array"],"items":{"type":"integer"}}},"big":{"type":"integer"}},
			"required":["at","bytes","raw","any","n","color","addr","point","map","big"],"additionalProperties":false}`},
	} {
		got, err := Schema(c.of)
		var a, b any
		if err == nil {
			err = errors.Join(json.Unmarshal(got, &a), json.Unmarshal([]byte(c.want), &b))
		}
		if err != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%v: %s, %v\nwant %s", c.of, got, err, c.want)
		}
	}
}

type flatten struct {
	base
	Text string `json:"text"`
}

type tree struct {
	Name     string `json:"name"`
	Children []tree `json:"children"`
}

type opaque struct{}

func (*opaque) UnmarshalJSON([]byte) error { return nil }

type badSchema struct{}

func (badSchema) JSONSchema() any { return "{" }

// Types that cannot be described are refused by the names of the field and of the type.
func TestRefusedTypes(t *testing.T) {
	for _, c := range []struct {
		of    reflect.Type
		field string
		says  string
	}{
		{reflect.TypeFor[string](), "", "string is neither a struct nor a map"},
		{reflect.TypeFor[any](), "", "is neither a struct nor a map"},
		{reflect.TypeFor[tree](), "children[]", "typed.tree contains itself"},
		{reflect.TypeFor[struct{ F func() }](), "F", "nothing can be decoded into a func()"},
		{reflect.TypeFor[struct{ A struct{ C []chan int } }](), "A.C[]", "nothing can be decoded into a chan int"},
		{reflect.TypeFor[struct{ E error }](), "E", "error has methods"},
		{reflect.TypeFor[struct{ M map[int]string }](), "M", "map[int]string has keys that are no strings"},
		{reflect.TypeFor[struct{ O opaque }](), "O", "typed.opaque has an UnmarshalJSON of its own"},
		{reflect.TypeFor[struct{ B badSchema }](), "B", "typed.badSchema.JSONSchema"},
		{reflect.TypeFor[struct {
			base `json:"inner"`
		}](), "inner", "is the name of an embedded field"},
		{reflect.TypeFor[struct {
			N int `enum:"x"`
		}](), "N", "enum: "},
		{reflect.TypeFor[struct {
			N int `default:"x"`
		}](), "N", "default: "},
		{reflect.TypeFor[struct {
			N int `jsonschema:"minimum=1"`
		}](), "", "must not begin with 'WORD='"},
	} {
		_, err := Schema(c.of)
		var e *Error
		if !errors.As(err, &e) || e.Field != c.field || !strings.Contains(e.Reason, c.says) {
			t.Errorf("%v: %v, want %s: %s", c.of, err, c.field, c.says)
		}
	}
}

// A codec reads what encoding/json would write, and writes what encoding/json would, byte for byte on the wire.
func TestCodec(t *testing.T) {
	c, err := CodecOf(reflect.TypeFor[*order]())
	if err != nil {
		t.Fatal(err)
	}
	half := 0.5
	for _, o := range []order{
		{Photo: []byte{}, Tags: []string{}, Notes: map[string]string{}, Lines: []line{}},
		{
			ID: "1", Price: 4, Weight: 2.5, Count: 1 << 40, Paid: true, At: time.Date(2026, 11, 22, 21, 5, 1, 500e6, time.UTC), Photo: []byte{0, 255},
			Tags: []string{"a", "é"}, Notes: map[string]string{"z": "1", "a": "2", "10": "3", "9": "4", "m": "5", "k": "6"},
			Lines: []line{{"x", 1}, {"y", 1.25}}, Discount: &half, Any: map[string]any{"b": int64(1), "a": []any{true, nil, 2.5}},
		},
	} {
		want, err := wire.Append(nil, jsonText(t, o), "v")
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []any{o, &o} {
			// Bytes are base64 to JSON, and bytes on the wire.
			if got, err := c.Encode(nil, v); err != nil || canonicalText(t, got) != canonicalText(t, want) {
				t.Errorf("%+v is\n%s, %v, want\n%s", o, canonicalText(t, got), err, canonicalText(t, want))
			}
		}
		var back order
		if err := c.Decode(want, &back); err != nil {
			t.Fatal(err)
		}
		if got := jsonText(t, back); o.ID != "" && string(got) != string(jsonText(t, o)) { // empty lists become nil
			t.Errorf("%s became %s", jsonText(t, o), got)
		}
		var pointer *order
		if err := c.Decode(want, &pointer); err != nil || !reflect.DeepEqual(*pointer, back) {
			t.Errorf("%+v, %v", pointer, err)
		}
	}
	var none *order
	if got, err := c.Encode(nil, none); err != nil || string(got) != "\xc0" {
		t.Errorf("a nil pointer is %x, %v", got, err)
	}
	for range 20 {
		notes := map[string]string{"z": "1", "a": "2", "10": "3", "9": "4", "m": "5", "k": "6"}
		got, err := c.Encode(nil, order{Notes: notes, Any: map[string]any{"z": 1, "y": 2, "x": 3}})
		if err != nil || !strings.Contains(canonicalOrder(t, got), `"notes":{"9":"4","10":"3","a":"2","k":"6","m":"5","z":"1"}`) ||
			!strings.HasSuffix(canonicalOrder(t, got), `"any":{"x":3,"y":2,"z":1}}`) {
			t.Fatalf("%s, %v", canonicalOrder(t, got), err)
		}
	}
	nulls, err := wire.FromJSON(nil, []byte(`{"id":null,"price":null,"photo":null,"tags":null,"notes":null,"lines":null,"discount":null,"at":null}`))
	if err != nil {
		t.Fatal(err)
	}
	var zero order
	if err := c.Decode(nulls, &zero); err != nil || !reflect.DeepEqual(zero, order{}) {
		t.Errorf("nulls are %+v, %v", zero, err)
	}
	for _, wrong := range []struct{ text, field string }{
		{`{"count":"x"}`, "Count"}, {`{"price":"x"}`, "price"}, {`{"photo":"!"}`, "photo"}, {`{"at":"yesterday"}`, "at"}, {`{"lines":[{"cost":[]}]}`, "lines[0].cost"},
	} {
		raw, err := wire.FromJSON(nil, []byte(wrong.text))
		if err != nil {
			t.Fatal(err)
		}
		var e *Error
		if err := c.Decode(raw, new(order)); !errors.As(err, &e) || e.Field != wrong.field {
			t.Errorf("%s: %v, want %s", wrong.text, err, wrong.field)
		}
	}
	if _, err := c.Encode(nil, order{Price: math.NaN()}); err == nil || !strings.Contains(err.Error(), "price: NaN has no encoding") {
		t.Errorf("NaN: %v", err)
	}
	if _, err := c.Encode(nil, order{Lines: []line{{}, {Cost: math.Inf(1)}}}); err == nil || !strings.Contains(err.Error(), "lines[1].cost: +Inf has no encoding") {
		t.Errorf("Inf: %v", err)
	}
}

// Bytes that a MarshalMsg may write, in the one encoding of the wire.
func TestCanonical(t *testing.T) {
	wide := []byte{0xd3, 0, 0, 0, 0, 0, 0, 0, 5} // an int64 that is 5
	for name, c := range map[string]struct{ in, want string }{
		"a wide integer":     {string(wide), "\x05"},
		"a wide unsigned":    {"\xcf\x00\x00\x00\x00\x00\x00\x00\xc8", "\xcc\xc8"},
		"an integral float":  {"\xcb\x40\x10\x00\x00\x00\x00\x00\x00", "\x04"},
		"a small float":      {"\xca\x3f\x00\x00\x00", "\xcb\x3f\xe0\x00\x00\x00\x00\x00\x00"},
		"a negative zero":    {"\xcb\x80\x00\x00\x00\x00\x00\x00\x00", "\x00"},
		"a wide text":        {"\xdb\x00\x00\x00\x01x", "\xa1x"},
		"text that is bytes": {"\xa1\xff", "\xa3\xef\xbf\xbd"},
		"a wide list":        {"\xdd\x00\x00\x00\x01\x01", "\x91\x01"},
		"a wide map":         {"\xdf\x00\x00\x00\x01\xa1a\x01", "\x81\xa1a\x01"},
		"keys in any order":  {"\x84\xa1b\x01\xa210\x02\xa19\x03\xa1a\x04", "\x84\xa19\x03\xa210\x02\xa1a\x04\xa1b\x01"},
		"a key twice":        {"\x83\xa1a\x01\xa1b\x02\xa1a\x03", "\x82\xa1a\x03\xa1b\x02"},
		"a time":             {string(msgp.AppendTime(nil, time.Unix(0, 0))), "\xb41970-01-01T00:00:00Z"},
		"wide bytes":         {"\xc6\x00\x00\x00\x01\x07", "\xc4\x01\x07"},
	} {
		got, rest, err := canonical(nil, []byte(c.in), nil)
		if err != nil || len(rest) > 0 || string(got) != c.want {
			t.Errorf("%s: %x, %v, want %x", name, got, err, c.want)
		}
	}
	for name, in := range map[string]string{
		"2^53":         "\xcf\x00\x20\x00\x00\x00\x00\x00\x00",
		"-2^53":        "\xd3\xff\xe0\x00\x00\x00\x00\x00\x00",
		"an extension": "\xd4\x20\x00",
		"a complex":    string(msgp.AppendComplex64(nil, 1i)),
		"nothing":      "",
		"a cut list":   "\x92\x01",
		"a cut map":    "\x81\xa1a",
		"integer keys": "\x81\x01\x01",
	} {
		if got, _, err := canonical(nil, []byte(in), nil); err == nil {
			t.Errorf("%s is %x", name, got)
		}
	}
}

// A codec that does not say what encoding/json says is refused by the names that differ.
func TestUnfitCodecs(t *testing.T) {
	for _, c := range []struct {
		of    reflect.Type
		field string
		says  string
	}{
		{reflect.TypeFor[renamed](), "", `the names differ: JSON has "limit", its MarshalMsg has "lim"`},
		{reflect.TypeFor[deepRenamed](), "list[0]", `the names differ: JSON has "limit", its MarshalMsg has "lim"`},
		{reflect.TypeFor[positional](), "", "encoding/json writes an object, its MarshalMsg something else"},
	} {
		_, err := CodecOf(c.of)
		var e *Error
		if !errors.As(err, &e) || e.Field != c.field || !strings.Contains(e.Reason, c.says) {
			t.Errorf("%v: %v, want %s: %s", c.of, err, c.field, c.says)
		}
	}
	for _, none := range []reflect.Type{reflect.TypeFor[flat](), reflect.TypeFor[any](), reflect.TypeFor[string](), reflect.TypeFor[[]order]()} {
		if c, err := CodecOf(none); c != nil || err != nil {
			t.Errorf("%v has %v, %v", none, c, err)
		}
	}
}

func jsonText(t testing.TB, v any) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func canonicalText(t *testing.T, raw []byte) string {
	t.Helper()
	text, err := value.AppendCanonical(nil, raw)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func canonicalOrder(t *testing.T, raw []byte) string {
	t.Helper()
	text, err := wire.JSON(raw)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Nulls are nothing to a codec, too, whose values are the wire's as they are.
func TestCodecNulls(t *testing.T) {
	c, err := CodecOf(reflect.TypeFor[fast]())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := wire.FromJSON(nil, []byte(`{"city":"Oslo","limit":null,"tags":null,"deep":true}`))
	if err != nil {
		t.Fatal(err)
	}
	var got fast
	if err := c.Decode(raw, &got); err != nil || !reflect.DeepEqual(got, fast{City: "Oslo", Deep: true}) {
		t.Errorf("%+v, %v", got, err)
	}
}

type plainFast fast

// BenchmarkDecode decodes the arguments of a call: by encoding/json, and by a codec.
func BenchmarkDecode(b *testing.B) {
	raw, err := wire.FromJSON(nil, []byte(`{"city":"Oslo, in the country of Norway","limit":10,"deep":true,"tags":["weather","now","celsius"]}`))
	if err != nil {
		b.Fatal(err)
	}
	codec, err := CodecOf(reflect.TypeFor[fast]())
	if err != nil {
		b.Fatal(err)
	}
	for name, decode := range map[string]func() error{
		"json":  func() error { return Decode(raw, new(plainFast)) },
		"codec": func() error { return codec.Decode(raw, new(fast)) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := decode(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
