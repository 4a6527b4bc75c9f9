package main

import (
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"strings"
	"unicode"

	"github.com/turncore/turncore/abi"
)

// frameVector is an entry of frames.json: a frame, payload or record with its encoding. In fields, bin and raw fields
// are hex strings (raw: of an encoded value, empty for nil), and optional ones may be null.
type frameVector struct {
	Name   string  `json:"name"`
	Type   string  `json:"type"`
	Op     int     `json:"op,omitempty"`
	Fields members `json:"fields"`
	Hex    string  `json:"hex"`
}

// members is a JSON object in order.
type members []member

type member struct {
	name string
	text string
}

func (m members) MarshalJSON() ([]byte, error) {
	parts := make([]string, len(m))
	for i, e := range m {
		parts[i] = fmt.Sprintf("%q:%s", e.name, e.text)
	}
	return []byte("{" + strings.Join(parts, ",") + "}"), nil
}

// frameVectors fills every type three times: with zeros, with typical values, and with extreme ones. Examples follow.
func frameVectors() []frameVector {
	var out []frameVector
	for _, zero := range tuples {
		typ := reflect.TypeOf(zero)
		for _, style := range []string{"zero", "typical", "extreme"} {
			p := reflect.New(typ)
			if style != "zero" {
				fill(p.Elem(), style == "extreme", 0)
			}
			out = append(out, vectorOf(style, p))
		}
	}
	for _, e := range examples {
		out = append(out, vectorOf(e.name, reflect.ValueOf(e.frame)))
	}
	return out
}

// examples are frames with fields that depend on each other.
var examples = []struct {
	name  string
	frame abi.Frame
}{
	{"ack", &abi.Sync{Turn: 1, Context: 2, Sync: abi.SyncSignal, Handle: abi.SignalAck}},
	{"nack", &abi.Sync{Turn: 1, Context: 2, Sync: abi.SyncSignal, Handle: abi.SignalNack, Data: nackReason()}},
}

// nackReason is the data of a Sync for a nack: an ErrorValue.
func nackReason() abi.Raw {
	reason, _ := encode(reflect.ValueOf(abi.ErrorValue{
		Handle: -1, Code: "E_MAX_ITERATIONS", Message: "The dispatch reached its bound on iterations: 16", Status: 508,
	}), "")
	return abi.Raw(binary(reason))
}

// vectorOf returns the vector of p's tuple.
func vectorOf(name string, p reflect.Value) frameVector {
	typ := p.Elem().Type()
	v := frameVector{Name: typ.Name() + " " + name, Type: typ.Name()}
	if f, ok := p.Interface().(abi.Frame); ok {
		abi.Append(nil, f) // sets the op
		v.Op = int(p.Elem().Field(0).Uint())
	}
	bytes, fields := encode(p.Elem(), "")
	v.Hex = hex.EncodeToString([]byte(bytes))
	v.Fields = fields.(members)
	return v
}

var (
	rawType     = reflect.TypeFor[abi.Raw]()
	textType    = reflect.TypeFor[abi.Text]()
	typicalRaw  = "\x82\xa1a\x93\x01\xa1x\xc0\xa1b\xcb\x3f\xe0\x00\x00\x00\x00\x00\x00" // {"a":[1,"x",null],"b":0.5}
	extremeRaw  = "\xda\x01\x00" + strings.Repeat("x", 256)
	extremeText = strings.Repeat("é€😀", 30)
)

// isBin reports whether a raw field holds a byte string.
func isBin(field string) bool { return field == "Data" || field == "Block" || field == "Body" }

// fill gives every field of a tuple a value that depends only on its type and position.
func fill(v reflect.Value, extreme bool, depth int) {
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		fillField(f, name, i, extreme, depth)
	}
}

func fillField(f reflect.Value, name string, i int, extreme bool, depth int) {
	switch {
	case f.Type() == rawType && isBin(name) && extreme:
		f.SetBytes([]byte(binary(strings.Repeat("\xaa", 256))))
	case f.Type() == rawType && isBin(name):
		f.SetBytes([]byte(binary("\x01\x02\x03")))
	case f.Type() == rawType && extreme:
		f.SetBytes([]byte(extremeRaw))
	case f.Type() == rawType:
		f.SetBytes([]byte(typicalRaw))
	case f.Type() == textType && extreme:
		f.SetBytes([]byte(extremeText))
	case f.Type() == textType:
		f.SetBytes([]byte(lowerFirst(name)))
	case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Uint8:
		f.SetBytes([]byte("0123456789abcdef"))
	case f.Kind() == reflect.Slice:
		if f.Type().Elem().Kind() == reflect.Struct && depth > 1 {
			f.Set(reflect.MakeSlice(f.Type(), 0, 0))
			return
		}
		n := 2
		if extreme && f.Type().Elem().Kind() != reflect.Struct {
			n = 17
		}
		f.Set(reflect.MakeSlice(f.Type(), n, n))
		for k := range n {
			fillField(f.Index(k), name, i+k, extreme && n == 2, depth+1)
		}
	case f.Kind() == reflect.Pointer:
		if depth > 1 {
			return
		}
		f.Set(reflect.New(f.Type().Elem()))
		fillField(f.Elem(), name, i, extreme, depth+1)
	case f.Kind() == reflect.Struct:
		fill(f, extreme, depth+1)
	case f.Kind() == reflect.Bool:
		f.SetBool(true)
	case f.Kind() == reflect.String && extreme:
		f.SetString(extremeText)
	case f.Kind() == reflect.String:
		f.SetString(lowerFirst(name))
	case f.Kind() == reflect.Float64 && extreme:
		f.SetFloat(math.SmallestNonzeroFloat64)
	case f.Kind() == reflect.Float64:
		f.SetFloat(1)
	case f.CanUint() && extreme:
		f.SetUint(min(uint64(math.MaxUint64)>>(64-f.Type().Bits()), abi.MaxInt))
	case f.CanUint():
		f.SetUint(uint64(i + 1))
	case f.CanInt() && extreme && i%2 == 0:
		f.SetInt(max(int64(math.MinInt64)>>(64-f.Type().Bits()), -abi.MaxInt))
	case f.CanInt() && extreme:
		f.SetInt(40000)
	default:
		f.SetInt(200 + int64(i))
	}
}

// encode returns the bytes of a value under the rules of SPEC.md, and its JSON: members, or text.
func encode(v reflect.Value, field string) (string, any) {
	switch {
	case v.Type() == rawType:
		b := string(v.Bytes())
		switch {
		case b == "" && isBin(field):
			return "\xc0", "null"
		case b == "":
			return "\xc0", `""`
		case isBin(field):
			return b, fmt.Sprintf("%q", hex.EncodeToString([]byte(strip(b))))
		}
		return b, fmt.Sprintf("%q", hex.EncodeToString([]byte(b)))
	case v.Type() == textType:
		return text(string(v.Bytes())), fmt.Sprintf("%q", v.Bytes())
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		return binary(string(v.Bytes())), fmt.Sprintf("%q", hex.EncodeToString(v.Bytes()))
	case v.Kind() == reflect.Slice:
		out, parts := listHead(v.Len()), make([]string, v.Len())
		for i := range v.Len() {
			b, j := encode(v.Index(i), field)
			out += b
			parts[i] = jsonText(j)
		}
		return out, "[" + strings.Join(parts, ",") + "]"
	case v.Kind() == reflect.Pointer:
		if v.IsNil() {
			return "\xc0", "null"
		}
		return encode(v.Elem(), field)
	case v.Kind() == reflect.Struct:
		out, fields := listHead(v.NumField()), members{}
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			b, j := encode(v.Field(i), name)
			out += b
			fields = append(fields, member{lowerFirst(name), jsonText(j)})
		}
		return out, fields
	case v.Kind() == reflect.Bool:
		if v.Bool() {
			return "\xc3", "true"
		}
		return "\xc2", "false"
	case v.Kind() == reflect.String:
		return text(v.String()), fmt.Sprintf("%q", v.String())
	case v.Kind() == reflect.Float64:
		return float(v.Float()), fmt.Sprint(v.Float())
	case v.CanUint():
		return unsigned(v.Uint()), fmt.Sprint(v.Uint())
	}
	return integer(v.Int()), fmt.Sprint(v.Int())
}

func jsonText(j any) string {
	if m, ok := j.(members); ok {
		text, _ := m.MarshalJSON()
		return string(text)
	}
	return j.(string)
}

// strip removes the head of a byte string.
func strip(b string) string {
	switch b[0] {
	case 0xc4:
		return b[2:]
	case 0xc5:
		return b[3:]
	}
	return b[5:]
}

// lowerFirst turns CallID into callId, as the names in TypeScript are.
func lowerFirst(name string) string {
	for _, word := range []string{"URL", "IDs", "ID"} {
		if strings.HasSuffix(name, word) {
			name = strings.TrimSuffix(name, word) + word[:1] + strings.ToLower(word[1:])
		}
	}
	return string(unicode.ToLower(rune(name[0]))) + name[1:]
}
