package value_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tinylib/msgp/msgp"

	"github.com/turncore/turncore/abi/value"
)

// tinylib/msgp reads every vector with the same result as this package, element by element, and writes the same bytes,
// except for three rules that make the encoding unique:
//
//   - integers are in their shortest form, from 0 on in the unsigned family (msgp writes an int64 in the signed one);
//   - no number is a float32, and in a value no integral number is a float64 (msgp writes what its type says, and a
//     float64 as float32 where nothing is lost);
//   - the keys of a map are in their order, each once (msgp leaves the order to Go's maps).
func TestVectorsAreMsgp(t *testing.T) {
	counts := map[string]int{}
	for _, v := range vectorsOf(t) {
		r := &msgpReader{t: t, name: v.name}
		written, rest := r.rewrite(nil, v.bytes)
		if len(rest) != 0 {
			t.Errorf("%s: msgp leaves %d bytes", v.name, len(rest))
		}
		switch {
		case v.file == "frames.json" || v.file == "host-errors.json":
			// Fields of tuples have a type: a float64 stays one even if it is integral.
			r.integral = false
		case v.only == "read":
			// Not in the unique encoding: only the meaning counts.
			counts["read"]++
			continue
		}
		if r.unordered || r.integral || !bytes.Equal(written, v.bytes) {
			t.Errorf("%s: %.80x, msgp writes %.80x", v.name, v.bytes, written)
		}
		counts[v.file]++
	}
	for file, least := range map[string]int{"frames.json": 180, "host-errors.json": 12, "values.json": 150, "checksums.json": 10, "read": 20} {
		if counts[file] < least {
			t.Errorf("%d vectors of %s, want %d", counts[file], file, least)
		}
	}
	t.Log(counts)
}

// The three rules by example: msgp's encoding of the same data.
func TestWhatMsgpWritesOtherwise(t *testing.T) {
	for name, tt := range map[string]struct{ own, other []byte }{
		"int64 200": {value.AppendInt(nil, 200), msgp.AppendInt64(nil, 200)},
		"float64 1": {value.AppendNumber(nil, 1), msgp.AppendFloat64(nil, 1)},
		"float 0.5": {value.AppendNumber(nil, 0.5), msgp.AppendFloat(nil, 0.5)},
		"b, 10, 9": {
			enc(t, `{"b":0,"10":0,"9":0}`),
			append(msgp.AppendMapHeader(nil, 3), "\xa1b\x00\xa210\x00\xa19\x00"...),
		},
	} {
		if bytes.Equal(tt.own, tt.other) {
			t.Errorf("%s: both write %x", name, tt.own)
		}
		own, _, err := msgp.ReadIntfBytes(tt.own)
		other, _, err2 := msgp.ReadIntfBytes(tt.other)
		if a, b := plainText(t, own), plainText(t, other); err != nil || err2 != nil || a != b {
			t.Errorf("%s: msgp reads %s and %s, %v, %v", name, a, b, err, err2)
		}
	}
}

func plainText(t *testing.T, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

type vector struct {
	file, name, only string
	bytes            []byte
}

// vectorsOf returns all vectors of the ABI that hold an encoding; rejected ones hold none.
func vectorsOf(t *testing.T) []vector {
	var all []vector
	for _, file := range []string{"frames.json", "host-errors.json", "values.json", "checksums.json"} {
		text, err := os.ReadFile(filepath.Join("..", "testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		var list []struct{ Name, Hex, Only, Refused, Args string }
		if err := json.Unmarshal(text, &list); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, v := range list {
			if v.Refused != "" {
				continue
			}
			b := expand(t, v.Hex)
			if file == "checksums.json" {
				b = enc(t, v.Args)
			}
			all = append(all, vector{file, v.Name, v.Only, b})
		}
	}
	return all
}

// expand resolves the notation of the vectors: "c0*3" is three times c0.
func expand(t *testing.T, s string) []byte {
	var out []byte
	for part := range strings.FieldsSeq(s) {
		digits, times, many := strings.Cut(part, "*")
		raw, err := hex.DecodeString(digits)
		n := 1
		if many && err == nil {
			n, err = strconv.Atoi(times)
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, bytes.Repeat(raw, n)...)
	}
	return out
}

// msgpReader reads values with msgp and compares every element with this package's result.
type msgpReader struct {
	t                   *testing.T
	name                string
	unordered, integral bool // deviations from the unique encoding
}

// rewrite reads the value at the start of b and appends it with msgp.
func (r *msgpReader) rewrite(dst, b []byte) (out, rest []byte) {
	kind, size, n := value.Head(b, 0)
	check := func(same bool, rest []byte, err error) []byte {
		r.t.Helper()
		if err != nil || !same {
			r.t.Fatalf("%s: at %.40x msgp and value differ (%v)", r.name, b, err)
		}
		return rest
	}
	switch kind {
	case value.KindNil:
		rest, err := msgp.ReadNilBytes(b)
		return msgp.AppendNil(dst), check(true, rest, err)
	case value.KindBool:
		v, rest, err := msgp.ReadBoolBytes(b)
		return msgp.AppendBool(dst, v), check(v == (n == 1), rest, err)
	case value.KindInt:
		v, rest, err := msgp.ReadInt64Bytes(b)
		rest = check(v == int64(n), rest, err)
		if v >= 0 {
			return msgp.AppendUint64(dst, uint64(v)), rest
		}
		return msgp.AppendInt64(dst, v), rest
	case value.KindFloat:
		v, rest, err := msgp.ReadFloat64Bytes(b)
		r.integral = r.integral || math.Abs(v) <= value.MaxInt && v == math.Trunc(v)
		return msgp.AppendFloat64(dst, v), check(math.Float64bits(v) == n, rest, err)
	case value.KindString:
		v, rest, err := msgp.ReadStringZC(b)
		return msgp.AppendStringFromBytes(dst, v), check(uint64(len(v)) == n, rest, err)
	case value.KindBytes:
		v, rest, err := msgp.ReadBytesZC(b)
		return msgp.AppendBytes(dst, v), check(uint64(len(v)) == n, rest, err)
	case value.KindList:
		count, rest, err := msgp.ReadArrayHeaderBytes(b)
		rest = check(uint64(count) == n && len(b)-len(rest) == size, rest, err)
		dst = msgp.AppendArrayHeader(dst, count)
		for range count {
			dst, rest = r.rewrite(dst, rest)
		}
		return dst, rest
	case value.KindMap:
		count, rest, err := msgp.ReadMapHeaderBytes(b)
		rest = check(uint64(count) == n && len(b)-len(rest) == size, rest, err)
		dst = msgp.AppendMapHeader(dst, count)
		for range count {
			dst, rest = r.rewrite(dst, rest)
			dst, rest = r.rewrite(dst, rest)
		}
		whole := b[:len(b)-len(rest)]
		r.unordered = r.unordered || !bytes.Equal(value.OrderMap(bytes.Clone(whole), 0), whole)
		return dst, rest
	}
	r.t.Fatalf("%s: no value at %.40x", r.name, b)
	return nil, nil
}
