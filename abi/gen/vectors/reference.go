package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// The reference encoder follows SPEC.md alone. It is written for clarity, not for speed, and shares no code with any
// codec of the project. It returns bytes as strings.

// unhex reads the notation of the vectors.
func unhex(s string) (string, error) {
	var b strings.Builder
	for part := range strings.FieldsSeq(s) {
		digits, times, repeated := strings.Cut(part, "*")
		n := 1
		if repeated {
			var err error
			if n, err = strconv.Atoi(times); err != nil {
				return "", err
			}
		}
		raw, err := hex.DecodeString(digits)
		if err != nil {
			return "", fmt.Errorf("%q: %w", part, err)
		}
		b.WriteString(strings.Repeat(string(raw), n))
	}
	return b.String(), nil
}

// bigEndian is n in width bytes.
func bigEndian(n uint64, width int) string {
	b := make([]byte, width)
	for i := range b {
		b[width-1-i] = byte(n >> (8 * i))
	}
	return string(b)
}

// unsigned is a non-negative integer in the unsigned family.
func unsigned(n uint64) string {
	switch {
	case n <= 0x7f:
		return bigEndian(n, 1)
	case n <= 0xff:
		return "\xcc" + bigEndian(n, 1)
	case n <= 0xffff:
		return "\xcd" + bigEndian(n, 2)
	case n <= 0xffffffff:
		return "\xce" + bigEndian(n, 4)
	}
	return "\xcf" + bigEndian(n, 8)
}

// integer is any integer: a negative one is in the signed family.
func integer(n int64) string {
	switch {
	case n >= 0:
		return unsigned(uint64(n))
	case n >= -32:
		return bigEndian(uint64(n), 1)
	case n >= math.MinInt8:
		return "\xd0" + bigEndian(uint64(n), 1)
	case n >= math.MinInt16:
		return "\xd1" + bigEndian(uint64(n), 2)
	case n >= math.MinInt32:
		return "\xd2" + bigEndian(uint64(n), 4)
	}
	return "\xd3" + bigEndian(uint64(n), 8)
}

func float(f float64) string { return "\xcb" + bigEndian(math.Float64bits(f), 8) }

func text(s string) string {
	n := uint64(len(s))
	switch {
	case n < 32:
		return bigEndian(0xa0+n, 1) + s
	case n < 1<<8:
		return "\xd9" + bigEndian(n, 1) + s
	case n < 1<<16:
		return "\xda" + bigEndian(n, 2) + s
	}
	return "\xdb" + bigEndian(n, 4) + s
}

func binary(s string) string {
	n := uint64(len(s))
	switch {
	case n < 1<<8:
		return "\xc4" + bigEndian(n, 1) + s
	case n < 1<<16:
		return "\xc5" + bigEndian(n, 2) + s
	}
	return "\xc6" + bigEndian(n, 4) + s
}

func listHead(n int) string {
	if n < 16 {
		return bigEndian(0x90+uint64(n), 1)
	}
	return "\xdc" + bigEndian(uint64(n), 2)
}

func mapHead(n int) string {
	if n < 16 {
		return bigEndian(0x80+uint64(n), 1)
	}
	return "\xde" + bigEndian(uint64(n), 2)
}

// pair is a member of a map before it is encoded.
type pair struct {
	key   string
	value any
}

// refusal is the path of the part that has no encoding.
type refusal string

func (r refusal) Error() string { return "refused: " + string(r) }

// absent stands for undefined.
type absent struct{}

// reference encodes a source. levels is how many containers may still be opened.
func reference(source any, path string, levels int) (string, error) {
	switch v := source.(type) {
	case nil, absent:
		return "\xc0", nil
	case bool:
		if v {
			return "\xc3", nil
		}
		return "\xc2", nil
	case json.Number:
		return referenceNumber(v.String(), path)
	case string:
		return text(v), nil
	case []any:
		if levels == 0 {
			return "", refusal("v")
		}
		if len(v) > 8192 {
			return "", refusal(path)
		}
		out := listHead(len(v))
		for i, e := range v {
			part, err := reference(e, path+"["+strconv.Itoa(i)+"]", levels-1)
			if err != nil {
				return "", err
			}
			out += part
		}
		return out, nil
	case []pair:
		if tag, ok := tagged(v); ok {
			return referenceTagged(tag, v, path, levels)
		}
		return referenceMap(v, path, levels)
	}
	return "", fmt.Errorf("a source cannot hold a %T", source)
}

func referenceNumber(s, path string) (string, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return "", err
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "", refusal(path)
	}
	if f != math.Floor(f) || math.Abs(f) > 9007199254740991 {
		return float(f), nil
	}
	return integer(int64(f)), nil
}

// isIndex reports whether a string is an array index in ECMAScript: the decimal form of an integer below 2^32-1.
func isIndex(key string) (uint64, bool) {
	n, err := strconv.ParseUint(key, 10, 64)
	return n, err == nil && n < 1<<32-1 && strconv.FormatUint(n, 10) == key
}

func referenceMap(v []pair, path string, levels int) (string, error) {
	if levels == 0 {
		return "", refusal("v")
	}
	var indexes, names []pair
	for _, p := range v {
		if _, gone := resolve(p.value).(absent); gone {
			continue
		}
		if _, ok := isIndex(p.key); ok {
			indexes = append(indexes, p)
		} else {
			names = append(names, p)
		}
	}
	slices.SortFunc(indexes, func(a, b pair) int {
		m, _ := isIndex(a.key)
		n, _ := isIndex(b.key)
		return int(m) - int(n)
	})
	all := append(indexes, names...)
	if len(all) > 8192 {
		return "", refusal(path)
	}
	out := mapHead(len(all))
	for _, p := range all {
		part, err := reference(p.value, path+step(p.key), levels-1)
		if err != nil {
			return "", err
		}
		out += text(p.key) + part
	}
	return out, nil
}

func step(key string) string {
	plain := key != ""
	for i, c := range key {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$'
		plain = plain && (letter || i > 0 && c >= '0' && c <= '9')
	}
	if plain {
		return "." + key
	}
	quoted, _ := json.Marshal(key)
	return "[" + string(quoted) + "]"
}

// tagged returns the tag of an object that represents a value JSON cannot express.
func tagged(v []pair) (string, bool) {
	if len(v) == 0 || v[0].key != "$" {
		return "", false
	}
	tag, ok := v[0].value.(string)
	return tag, ok
}

// resolve turns the tag undefined into its Go form, for maps that must omit it.
func resolve(v any) any {
	if p, ok := v.([]pair); ok {
		if tag, ok := tagged(p); ok && tag == "undefined" {
			return absent{}
		}
	}
	return v
}

func referenceTagged(tag string, v []pair, path string, levels int) (string, error) {
	get := func(key string) any {
		for _, p := range v {
			if p.key == key {
				return p.value
			}
		}
		return nil
	}
	number := func(key string) int64 {
		n, _ := get(key).(json.Number).Int64()
		return n
	}
	switch tag {
	case "undefined":
		return "\xc0", nil
	case "number":
		return referenceNumber(get("text").(string), path)
	case "bigint":
		n, _ := new(big.Int).SetString(get("text").(string), 10)
		if new(big.Int).Abs(n).Cmp(big.NewInt(1<<53-1)) > 0 {
			return "", refusal(path)
		}
		return referenceNumber(n.String(), path)
	case "time":
		return referenceNumber(get("ms").(json.Number).String(), path)
	case "bytes":
		raw, err := unhex(get("hex").(string))
		return binary(raw), err
	case "units":
		var units []uint16
		for _, u := range get("hex").([]any) {
			n, err := strconv.ParseUint(u.(string), 16, 16)
			if err != nil {
				return "", err
			}
			units = append(units, uint16(n))
		}
		return text(string(utf16.Decode(units))), nil
	case "repeat":
		return text(strings.Repeat(get("text").(string), int(number("times")))), nil
	case "list":
		return reference(slices.Repeat([]any{get("of")}, int(number("times"))), path, levels)
	case "numbered":
		var pairs []pair
		for i := range number("times") {
			s := strconv.FormatInt(i, 10)
			pairs = append(pairs, pair{get("prefix").(string) + s, json.Number(s)})
		}
		return referenceMap(pairs, path, levels)
	case "map":
		var pairs []pair
		for _, e := range get("entries").([]any) {
			e := e.([]any)
			pairs = append(pairs, pair{e[0].(string), e[1]})
		}
		return referenceMap(pairs, path, levels)
	case "nest":
		if int(number("levels")) > levels {
			return "", refusal("v")
		}
		open := "\x91"
		if get("kind") == "map" {
			open = "\x81\xa1a"
		}
		return strings.Repeat(open, int(number("levels"))) + "\xc0", nil
	case "function":
		return "", refusal(path)
	}
	return "", fmt.Errorf("unknown tag %q", tag)
}

// parseSource reads JSON; objects become []pair.
func parseSource(text string) (any, error) {
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	return parse(dec)
}

func parse(dec *json.Decoder) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	list, pairs := []any{}, []pair{}
	for dec.More() {
		var key any
		if delim == '{' {
			if key, err = dec.Token(); err != nil {
				return nil, err
			}
		}
		v, err := parse(dec)
		if err != nil {
			return nil, err
		}
		if delim == '{' {
			pairs = append(pairs, pair{key.(string), v})
		} else {
			list = append(list, v)
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if delim == '{' {
		return pairs, nil
	}
	return list, nil
}
