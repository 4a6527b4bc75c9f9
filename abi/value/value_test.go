package value_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tinylib/msgp/msgp"

	"github.com/turncore/turncore/abi/value"
)

// enc is the value of a valid JSON text.
func enc(t testing.TB, text string) []byte {
	t.Helper()
	v, err := value.FromJSON(nil, []byte(text))
	if err != nil {
		t.Fatalf("FromJSON(%s): %v", text, err)
	}
	return v
}

func text(t testing.TB, v []byte) string {
	t.Helper()
	out, err := value.AppendJSON(nil, v)
	if err != nil {
		t.Fatalf("AppendJSON(%x): %v", v, err)
	}
	return string(out)
}

func TestNumbers(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		f    float64
		want string
	}{
		{0, "00"},
		{math.Copysign(0, -1), "00"},
		{127, "7f"},
		{128, "cc80"},
		{255, "ccff"},
		{256, "cd0100"},
		{65535, "cdffff"},
		{65536, "ce00010000"},
		{1<<32 - 1, "ceffffffff"},
		{1 << 32, "cf0000000100000000"},
		{1<<53 - 1, "cf001fffffffffffff"},
		{1 << 53, "cb4340000000000000"},
		{-1, "ff"},
		{-32, "e0"},
		{-33, "d0df"},
		{-128, "d080"},
		{-129, "d1ff7f"},
		{-32768, "d18000"},
		{-32769, "d2ffff7fff"},
		{-1 << 31, "d280000000"},
		{-1<<31 - 1, "d3ffffffff7fffffff"},
		{-(1<<53 - 1), "d3ffe0000000000001"},
		{-(1 << 53), "cbc340000000000000"},
		{0.5, "cb3fe0000000000000"},
		{1e300, "cb7e37e43c8800759c"},
		{inf, "c0"},
		{-inf, "c0"},
		{math.NaN(), "c0"},
	} {
		got := value.AppendNumber(nil, c.f)
		if hex.EncodeToString(got) != c.want {
			t.Errorf("AppendNumber(%v) = %x, want %s", c.f, got, c.want)
		}
		if value.KindOf(got) == value.KindNil {
			continue
		}
		if back, ok := value.Number(got); !ok || back != c.f {
			t.Errorf("Number(%x) = %v, %v, want %v", got, back, ok, c.f)
		}
		n, isInt := value.Int(got)
		if isInt != (math.Abs(c.f) <= value.MaxInt && math.Trunc(c.f) == c.f) || isInt && float64(n) != c.f {
			t.Errorf("Int(%x) = %v, %v for %v", got, n, isInt, c.f)
		}
		if err := value.Check(got); err != nil {
			t.Errorf("Check(%x): %v", got, err)
		}
	}
	if got := value.AppendInt(nil, math.MaxInt64); !bytes.Equal(got, value.AppendNumber(nil, math.MaxInt64)) {
		t.Errorf("AppendInt(MaxInt64) = %x", got)
	}
}

// Compare the encoder with another library's.
func TestHeadersAreMsgp(t *testing.T) {
	for _, n := range []int{0, 1, 15, 16, 31, 32, 255, 256, 65535, 65536, 70000} {
		s := strings.Repeat("a", n)
		for name, pair := range map[string][2][]byte{
			"string": {value.AppendString(nil, s), msgp.AppendString(nil, s)},
			"text":   {value.AppendText(nil, []byte(s)), msgp.AppendString(nil, s)},
			"bytes":  {value.AppendBytes(nil, []byte(s)), msgp.AppendBytes(nil, []byte(s))},
			"list":   {value.AppendListHeader(nil, n), msgp.AppendArrayHeader(nil, uint32(n))},
			"map":    {value.AppendMapHeader(nil, n), msgp.AppendMapHeader(nil, uint32(n))},
			"uint":   {value.AppendInt(nil, int64(n)), msgp.AppendUint64(nil, uint64(n))},
			"json":   {enc(t, `"`+s+`"`), msgp.AppendString(nil, s)},
			"escape": {enc(t, `"\u0061`+s+`"`), msgp.AppendString(nil, "a"+s)},
			"array": {
				enc(t, "["+strings.TrimSuffix(strings.Repeat("1,", n), ",")+"]"),
				append(msgp.AppendArrayHeader(nil, uint32(n)), bytes.Repeat([]byte{1}, n)...),
			},
		} {
			if !bytes.Equal(pair[0], pair[1]) {
				t.Errorf("%s of %d: %x…, msgp %x…", name, n, pair[0][:min(6, len(pair[0]))], pair[1][:min(6, len(pair[1]))])
			}
		}
		if got := value.Len(value.AppendListHeader(nil, n)); got != n {
			t.Errorf("Len of a list of %d: %d", n, got)
		}
	}
}

func TestStringsAreRepaired(t *testing.T) {
	for in, want := range map[string]string{
		"a\xffb":             "a\ufffdb",
		"\xe2\x82":           "\ufffd",             // a start of a sequence is one replacement
		"\xe2\x82\x41":       "\ufffdA",            //
		"\xf0\x9f\x98":       "\ufffd",             //
		"\xf0\x80\x80":       "\ufffd\ufffd\ufffd", // overlong: no byte continues the first
		"\xed\xa0\x80":       "\ufffd\ufffd\ufffd", // a surrogate
		"\xf4\x90\x80\x80":   "\ufffd\ufffd\ufffd\ufffd",
		"\xc0\xaf\xe0\x9f":   "\ufffd\ufffd\ufffd\ufffd",
		"\xc2\xc2\xa9\u20ac": "\ufffd\u00a9\u20ac",
	} {
		for name, v := range map[string][]byte{
			"string": value.AppendString(nil, in), "text": value.AppendText(nil, []byte(in)),
			"json": enc(t, `"`+in+`"`), "escaped": enc(t, `"\u0041`+in+`"`),
		} {
			got, _ := value.String(v)
			if string(bytes.TrimPrefix(got, []byte("A"))) != want {
				t.Errorf("%s %q: %q, want %q", name, in, got, want)
			}
		}
		raw := append(value.AppendListHeader(nil, 1), 0xa0|byte(len(in)))
		if got := text(t, append(raw, in...)); got != `["`+want+`"]` {
			t.Errorf("AppendJSON of the unchecked bytes %q: %s", in, got)
		}
	}
}

func TestSkip(t *testing.T) {
	deep := func(n int) []byte { return append(bytes.Repeat([]byte{0x91}, n), 0xc0) }
	for _, c := range []struct {
		hex   string
		depth int
		err   error
		rest  int
	}{
		{"c0", 0, nil, 0},
		{"c001", 0, nil, 1},
		{"90", 0, value.ErrTooDeep, 0},
		{"90", 1, nil, 0},
		{"80", 1, nil, 0},
		{"", 9, value.ErrTruncated, 0},
		{"c1", 9, value.ErrMalformed, 0},
		{"ca00000000", 9, value.ErrMalformed, 0},
		{"d40000", 9, value.ErrMalformed, 0},
		{"c70000", 9, value.ErrMalformed, 0},
		{"cc", 9, value.ErrTruncated, 0},
		{"cd00", 9, value.ErrTruncated, 0},
		{"ce000000", 9, value.ErrTruncated, 0},
		{"cb00000000000000", 9, value.ErrTruncated, 0},
		{"cf0020000000000000", 9, value.ErrMalformed, 0},
		{"d3ffe0000000000000", 9, value.ErrMalformed, 0},
		{"cfffffffffffffffff", 9, value.ErrMalformed, 0},
		{"d37fffffffffffffff", 9, value.ErrMalformed, 0},
		{"d38000000000000000", 9, value.ErrMalformed, 0},
		{"a2 61", 9, value.ErrTruncated, 0},
		{"d9ff61", 9, value.ErrTruncated, 0},
		{"dbffffffff", 9, value.ErrTruncated, 0},
		{"c6ffffffff00", 9, value.ErrTruncated, 0},
		{"ddffffffff", 9, value.ErrTruncated, 0},
		{"ddffffffffc0", 9, value.ErrTruncated, 0},
		{"dfffffffffa0c0", 9, value.ErrTruncated, 0},
		{"8101c0", 9, value.ErrMalformed, 0},
		{"81a161", 9, value.ErrTruncated, 0},
		{"81c40161c0", 9, value.ErrMalformed, 0},
		{"92c0", 9, value.ErrTruncated, 0},
		{"81a161c0ff", 9, nil, 1},
	} {
		v, err := hex.DecodeString(strings.ReplaceAll(c.hex, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		rest, err := value.Skip(v, c.depth)
		if err != c.err || len(rest) != c.rest {
			t.Errorf("Skip(%s, %d) = %x, %v, want %d bytes, %v", c.hex, c.depth, rest, err, c.rest, c.err)
		}
	}
	if err := value.Check(deep(value.MaxDepth)); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if err := value.Check(deep(value.MaxDepth + 1)); err != value.ErrTooDeep {
		t.Errorf("beyond the limit: %v", err)
	}
	if err := value.Check([]byte{0xc0, 0xc0}); err != value.ErrMalformed {
		t.Errorf("two values: %v", err)
	}
	big := enc(t, `{"a":[1,2.5,{"b":"c"}],"d":"`+strings.Repeat("x", 300)+`"}`)
	if n := testing.AllocsPerRun(100, func() { _ = value.Check(big) }); n != 0 {
		t.Errorf("Check allocates %v times", n)
	}
}

func TestReaders(t *testing.T) {
	m := value.AppendMapHeader(nil, 3)
	m = value.AppendInt(value.AppendString(m, "n"), -5)
	m = value.AppendBytes(value.AppendString(m, "bin"), []byte{1, 2})
	m = value.AppendBool(value.AppendString(m, "yes"), true)
	if got := text(t, m); got != `{"n":-5,"bin":"AQI=","yes":true}` {
		t.Errorf("text: %s", got)
	}
	if v, ok := value.Get(m, "bin"); !ok || value.KindOf(v) != value.KindBytes || value.Len(v) != 2 {
		t.Errorf("bin: %x %v", v, ok)
	} else if b, ok := value.Bytes(v); !ok || !bytes.Equal(b, []byte{1, 2}) {
		t.Errorf("bytes: %x %v", b, ok)
	}
	yes, _ := value.Get(m, "yes")
	if b, ok := value.Bool(yes); !b || !ok {
		t.Errorf("yes: %v %v", b, ok)
	}
	if _, ok := value.Bool(value.AppendInt(nil, 1)); ok {
		t.Error("1 is no bool")
	}
	if _, ok := value.Get(m, "none"); ok {
		t.Error("found a member that is not there")
	}
	if _, ok := value.Get(value.AppendNil(nil), "none"); ok {
		t.Error("found a member of null")
	}
	var keys []string
	if err := value.Each(m, func(key, val []byte) bool {
		keys = append(keys, string(key)+"="+text(t, val))
		return len(keys) < 2
	}); err != nil || strings.Join(keys, " ") != `n=-5 bin="AQI="` {
		t.Errorf("Each: %v %v", keys, err)
	}
	sum := 0.0
	if err := value.EachItem(enc(t, "[10,20.5,30]"), func(i int, val []byte) bool {
		f, _ := value.Number(val)
		sum += f * float64(i+1)
		return true
	}); err != nil || sum != 141 {
		t.Errorf("EachItem: %v %v", sum, err)
	}
	if err := value.EachItem(m, nil); err != value.ErrKind {
		t.Errorf("EachItem of a map: %v", err)
	}
	if err := value.Each(m[:len(m)-1], func(_, _ []byte) bool { return true }); err != value.ErrTruncated {
		t.Errorf("Each of a cut map: %v", err)
	}
	if err := value.Each(nil, nil); err != value.ErrTruncated {
		t.Errorf("Each of nothing: %v", err)
	}
	if n := testing.AllocsPerRun(100, func() {
		count := 0
		_ = value.Each(m, func(_, _ []byte) bool { count++; return true })
		_, _ = value.Get(m, "yes")
	}); n != 0 {
		t.Errorf("reading allocates %v times", n)
	}
}

func TestCursor(t *testing.T) {
	has := func(v []byte) string {
		var b strings.Builder
		var c value.Cursor
		for c.Over(v); c.Next(); {
			n, _ := value.Int(c.Value)
			fmt.Fprintf(&b, "%s%d ", c.Key, n)
		}
		return b.String()
	}
	m := enc(t, `{"a":1,"":2,"b":[3]}`)
	for _, test := range []struct {
		v    []byte
		want string
	}{
		{m, "a1 2 b0 "},
		{m[:len(m)-1], "a1 2 "},
		{m[:2], ""},
		{enc(t, "[10,20]"), "10 20 "},
		{enc(t, "{}"), ""},
		{enc(t, "[]"), ""},
		{enc(t, `"text"`), ""},
		{enc(t, "7"), ""},
		{nil, ""},
		{[]byte{0x81, 0x01, 0x01}, ""},
	} {
		if got := has(test.v); got != test.want {
			t.Errorf("%x has %q, want %q", test.v, got, test.want)
		}
	}
	var c value.Cursor
	again := []byte{0x83}
	for c.Over(m); c.Next(); {
		again = c.Append(again)
	}
	if !bytes.Equal(again, m) {
		t.Errorf("%x became %x", m, again)
	}
	if n := testing.AllocsPerRun(100, func() {
		var c value.Cursor
		for c.Over(m); c.Next(); {
		}
	}); n != 0 {
		t.Errorf("a cursor allocates %v times", n)
	}
}

func TestEqual(t *testing.T) {
	wide := func(reverse bool) string {
		var parts []string
		for i := range 100 {
			if reverse {
				i = 99 - i
			}
			parts = append(parts, `"k`+strings.Repeat("x", i)+`":[`+strings.Repeat("1,", i)+`0]`)
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`1`, `1.0`, true},
		{`0`, `-0`, true},
		{`1`, `"1"`, false},
		{`1`, `true`, false},
		{`0`, `false`, false},
		{`0`, `null`, false},
		{`"a"`, `"\u0061"`, true},
		{`"a"`, `"b"`, false},
		{`"a"`, `"ab"`, false},
		{`[1,2]`, `[2,1]`, false},
		{`[1]`, `[1,1]`, false},
		{`{"a":1,"b":[{}]}`, `{"b":[{}],"a":1}`, true},
		{`{"a":1,"b":2}`, `{"a":2,"b":1}`, false},
		{`{"a":1}`, `{"b":1}`, false},
		{`{"a":1,"b":2,"c":3}`, `{"a":1,"c":3,"d":2}`, false},
		{`{}`, `[]`, false},
		{wide(false), wide(true), true},
		{`1e300`, `1e300`, true},
		{`1e300`, `1e301`, false},
		{`[]`, `[]`, true},
		{`null`, `null`, true},
		{`{"a":{"x":1,"y":2},"b":3}`, `{"b":3,"a":{"y":2,"x":1}}`, true},
	} {
		a, b := enc(t, c.a), enc(t, c.b)
		if value.Equal(a, b) != c.want || value.Equal(b, a) != c.want {
			t.Errorf("Equal(%.40s, %.40s) is not %v", c.a, c.b, c.want)
		}
	}
	one, _ := hex.DecodeString("cb3ff0000000000000")
	wideOne := []byte{0xcd, 0, 1}
	if !value.Equal(one, value.AppendInt(nil, 1)) || !value.Equal(wideOne, value.AppendInt(nil, 1)) || !value.Equal(wideOne, one) {
		t.Error("a number differs by its encoding")
	}
	if value.Equal(value.AppendBytes(nil, []byte("a")), value.AppendString(nil, "a")) {
		t.Error("bytes equal a string")
	}
	if value.Equal(nil, nil) || value.Equal([]byte{0xc1}, []byte{0xc1}) || value.Equal([]byte{0xa2, 'a'}, []byte{0xa2, 'a'}) {
		t.Error("malformed values are equal")
	}
}

func TestOrderMap(t *testing.T) {
	for in, want := range map[string]string{
		`a b`: `{"a":0,"b":1}`, `b 1 a 0`: `{"0":3,"1":1,"b":0,"a":2}`, `a b a`: `{"a":2,"b":1}`,
		`10 9 01 4294967294 4294967295 -1`: `{"9":1,"10":0,"4294967294":3,"01":2,"4294967295":4,"-1":5}`, ``: `{}`,
	} {
		keys := strings.Fields(in)
		v := value.AppendMapHeader([]byte{0xc3}, len(keys))
		for i, k := range keys {
			v = value.AppendInt(value.AppendString(v, k), int64(i))
		}
		if got := text(t, value.OrderMap(v, 1)[1:]); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	// Enough members for every form of the head, with duplicates that cross from one form to the next.
	v := value.AppendMapHeader(nil, 20)
	for i := range 20 {
		v = value.AppendInt(value.AppendString(v, string(rune('a'+i%10))), int64(i))
	}
	if got := text(t, value.OrderMap(v, 0)); got != `{"a":10,"b":11,"c":12,"d":13,"e":14,"f":15,"g":16,"h":17,"i":18,"j":19}` {
		t.Errorf("20 members: %s", got)
	}
	bad := []byte{0x82, 0xa1, 'a', 0xc0}
	if got := value.OrderMap(bytes.Clone(bad), 0); !bytes.Equal(got, bad) {
		t.Errorf("a malformed map was changed to %x", got)
	}
}

func TestErrorsAreTyped(t *testing.T) {
	_, err := value.FromJSON(nil, []byte(strings.Repeat("[", value.MaxDepth+1)+strings.Repeat("]", value.MaxDepth+1)))
	var syntax *value.SyntaxError
	if !errors.Is(err, value.ErrTooDeep) || !errors.As(err, &syntax) || syntax.Offset != value.MaxDepth {
		t.Errorf("too deep: %v", err)
	}
	_, err = value.FromJSON(nil, []byte("[1,]"))
	if errors.Is(err, value.ErrTooDeep) || !errors.As(err, &syntax) || syntax.Offset != 3 ||
		err.Error() != "json: unexpected character at byte 3" {
		t.Errorf("trailing comma: %v", err)
	}
	if _, err := value.AppendJSON(nil, append(bytes.Repeat([]byte{0x91}, value.MaxDepth+1), 0xc0)); err != value.ErrTooDeep {
		t.Errorf("AppendJSON too deep: %v", err)
	}
	for _, v := range [][]byte{{}, {0x91}, {0x81, 0xc0, 0xc0}, {0xa5}, {0xc0, 0xc0}, {0x81, 0xa1, 'a'}} {
		keep := []byte("keep")
		if out, err := value.AppendJSON(keep, v); err == nil || string(out) != "keep" {
			t.Errorf("AppendJSON(%x) = %q, %v", v, out, err)
		}
	}
}
