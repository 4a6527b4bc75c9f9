package value_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/turncore/turncore/abi/value"
)

func TestJSONRoundTrip(t *testing.T) {
	for in, want := range map[string]string{
		` { "b" : [ 1 , 2.50 , -0 , -0.0 , 1E2 ] , "a" : null } `: `{"b":[1,2.5,0,0,100],"a":null}`,
		`{"a":1,"b":2,"a":3}`:                     `{"a":3,"b":2}`,
		`{"a":1,"\u0061":{"x":[]},"2":1,"1":2}`:   `{"1":2,"2":1,"a":{"x":[]}}`,
		`{"x":{"b":1,"7":2},"3":{"b":1,"b":[2]}}`: `{"3":{"b":[2]},"x":{"7":2,"b":1}}`,
		`"\ud83d\ude00\ud83d\u0041\ude00\uD800"`:  "\"😀\ufffdA\ufffd\ufffd\"",
		`"\"\\\/\b\f\n\r\t\u001f\u007f<>&"`:       "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u001f\u007f<>&\"",
		"\"\u2028é\"":                             "\"\u2028é\"",
		`[1e21,1e20,123456789012345680000,1e-6,1e-7,1.5e-10,5e-324,1.7976931348623157e308,-1e400,1e400]`:          `[1e+21,100000000000000000000,123456789012345680000,0.000001,1e-7,1.5e-10,5e-324,1.7976931348623157e+308,null,null]`,
		`[9007199254740991,9007199254740992,9007199254740993,-9007199254740991,999999999999999,1000000000000000]`: `[9007199254740991,9007199254740992,9007199254740992,-9007199254740991,999999999999999,1000000000000000]`,
		`[0.1,1.0,1.10,123.456e-2,12345678901234567890]`:                                                          `[0.1,1,1.1,1.23456,12345678901234567000]`,
		`{}`: `{}`, `[]`: `[]`, `true`: `true`, ` false`: `false`, "\tnull\r\n": `null`, `""`: `""`, `{"":{"":""}}`: `{"":{"":""}}`,
	} {
		if got := text(t, enc(t, in)); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for in, offset := range map[string]int{
		``: 0, ` `: 1, `[`: 1, `{`: 1, `[1`: 2, `[1 2]`: 3, `[,]`: 1, `[1,]`: 3, `{"a"}`: 4, `{"a":}`: 5, `{"a":1,}`: 7, `{a:1}`: 1,
		`{"a" 1}`: 5, `tru`: 0, `nul`: 0, `True`: 0, `[truefalse]`: 5, `01`: 1, `-01`: 2, `-`: 1, `+1`: 0, `1.`: 2, `.5`: 0, `1e`: 2, `1e+`: 3,
		`-a`: 1, `1 2`: 2, `"`: 1, `"a`: 2, `"\x"`: 1, `"\u12"`: 1, `"\u12g4"`: 1, `"\`: 1, "\"a\nb\"": 2, "\"\x00\"": 1, `'a'`: 0,
		"\ufeff1": 0, "1\x00": 1, "\x00": 0, `[1]]`: 3, `{}{}`: 2, `nan`: 0, `Infinity`: 0, `[1,2`: 4, `{"a":[}`: 6, "\v1": 0, `0x1`: 1,
	} {
		keep := []byte("keep")
		out, err := value.FromJSON(keep, []byte(in))
		syntax, ok := err.(*value.SyntaxError)
		if !ok || string(out) != "keep" {
			t.Errorf("%q: got %x, %v", in, out, err)
		} else if syntax.Offset != offset {
			t.Errorf("%q: %v, want byte %d", in, err, offset)
		}
		s := value.NewScanner([]byte(in))
		if err := s.End(); err == nil {
			t.Errorf("%q: Scanner.End found nothing wrong", in)
		}
	}
}

// TestCanonicalSuite runs the published RFC 8785 vectors in a folder beside the checkout.
func TestCanonicalSuite(t *testing.T) {
	root := suite(t, "canonical-json")
	files, _ := filepath.Glob(filepath.Join(root, "input", "*.json"))
	passed := 0
	for _, file := range files {
		in, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(root, "output", filepath.Base(file)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := value.AppendCanonical(nil, enc(t, string(in)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v\n got %s\nwant %s", filepath.Base(file), err, got, want)
			continue
		}
		passed++
	}
	t.Logf("canonical-json: %d of %d cases pass", passed, len(files))
	if len(files) == 0 {
		t.Error("the suite is empty")
	}
}

// suite finds a folder of official vectors, which are not part of the project.
func suite(t *testing.T, name string) string {
	root := filepath.Join("..", "..", "..", "shared", "suites", name)
	if _, err := os.Stat(root); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the official vectors are missing: %v", err)
		}
		t.Skipf("the official vectors are not beside the checkout: %v", err)
	}
	return root
}

func TestChecksum(t *testing.T) {
	for _, c := range []struct{ tool, args, want string }{
		{"search", `{"query":"hello"}`, "e0b6feaa14a993179f474568e2c0a63075752fe3a8bc629bc0cd1442a002448e"},
		{"t", `{"b":"2","a":"1"}`, "1128b560b78e25e2fd2da1dbecd02b97519dd3ff3c96c84e62f43bded6b42119"},
		{"t", `{}`, "a9c1b56f2d5711641e3a95a211412b31f9042cd471d093fc67e268e679fd0f45"},
		{"t", `{"n":1.5,"m":-0,"big":1e21,"small":1e-7,"arr":[3,{"z":1,"a":null}],"s":"é<&>\u2028\"\\/\n"}`, "7c9c600ea58935dd1eb50fe3373f6910049a50fa9548365e05becc15b8eb7d6b"},
		{"t", `{"😀":1,"ﬁ":2,"a":3}`, "9482260acefb98eca6c850bcbe619efbf025d5894f02a499ebea701263e43531"},
		{"t", `"plain"`, "4fdaa448f55033a2dc7b436bb6bdc1e37693ff8c18276ff08d924f97db800937"},
	} {
		if got, err := value.Checksum(c.tool, enc(t, c.args)); err != nil || got != c.want {
			t.Errorf("Checksum(%s, %s) = %s, %v, want %s", c.tool, c.args, got, err, c.want)
		}
	}
	if _, err := value.Checksum("t", []byte{0xc1}); err != value.ErrMalformed {
		t.Errorf("malformed arguments: %v", err)
	}
	// Compare every length of the padding with the standard library.
	for n := range 200 {
		s := strings.Repeat("a", n)
		sum := sha256.Sum256([]byte(`{"args":"` + s + `","tool":"n\"o"}`))
		if got, _ := value.Checksum(`n"o`, value.AppendString(nil, s)); got != hex.EncodeToString(sum[:]) {
			t.Errorf("%d bytes: %s", n, got)
		}
	}
}

func TestNumberText(t *testing.T) {
	check := func(f float64) {
		want, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if f == 0 {
			want = []byte("0")
		}
		if got := text(t, value.AppendNumber(nil, f)); got != string(want) {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
	}
	x := uint64(88172645463325252)
	for range 20000 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		if f := math.Float64frombits(x); !math.IsNaN(f) && !math.IsInf(f, 0) {
			check(f)
		}
		check(float64(int64(x) >> (x & 63)))
		check(float64(int64(x)>>11) / 1e6)
	}
	if got := text(t, []byte{0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 1}); got != "null" {
		t.Errorf("an encoded NaN: %s", got)
	}
}

func TestBytesAreBase64(t *testing.T) {
	for n := range 20 {
		b := bytes.Repeat([]byte{0xfb, 0xff, 0x01}, 7)[:n]
		want, _ := json.Marshal(b)
		if got := text(t, value.AppendBytes(nil, b)); got != string(want) {
			t.Errorf("%x: %s, want %s", b, got, want)
		}
	}
}

// std decodes with encoding/json and converts the result to the numbers of values.
func std(text []byte) (any, bool) {
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, false
	}
	return out, true
}

func FuzzFromJSON(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-2.5e3,"x\u00e9\n"],"1":null,"a":true}`, `[[[]],{},"\ud800",1e400]`, `"\ud83d\ude00"`, `-0`, `{"k":{"10":1,"9":2}}`, `[1,]`, "\"\xff\"",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		v, err := value.FromJSON(nil, in)
		s := value.NewScanner(in)
		if scanned := s.End(); (scanned == nil) != (err == nil) {
			t.Fatalf("FromJSON says %v, the scanner %v", err, scanned)
		} else if err != nil && err.Error() != scanned.Error() {
			t.Fatalf("FromJSON says %v, the scanner %v", err, scanned)
		}
		if err != nil {
			if json.Valid(in) && bytes.Count(in, []byte("["))+bytes.Count(in, []byte("{")) <= value.MaxDepth {
				t.Fatalf("refused %q: %v", in, err)
			}
			return
		}
		if !json.Valid(in) {
			t.Fatalf("accepted %q", in)
		}
		if err := value.Check(v); err != nil {
			t.Fatalf("the value of %q is %x: %v", in, v, err)
		}
		out, err := value.AppendJSON(nil, v)
		if err != nil || !utf8.Valid(out) {
			t.Fatalf("%q became %x, then %q: %v", in, v, out, err)
		}
		if again, err := value.FromJSON(nil, out); err != nil || !bytes.Equal(v, again) {
			t.Fatalf("%q is %x, its text %s is %x, %v", in, v, out, again, err)
		}
		canonical, err := value.AppendCanonical(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		if again := enc(t, string(canonical)); !value.Equal(v, again) {
			t.Fatalf("%s is not %s", canonical, out)
		}
		if want, ok := std(in); ok && utf8.Valid(in) {
			if got, _ := std(out); !reflect.DeepEqual(got, want) {
				t.Fatalf("%q became %s", in, out)
			}
		}
	})
}

func FuzzSkip(f *testing.F) {
	for _, seed := range []string{"c0", "92c3a161", "81a161cb3ff8000000000000", "dc0001c403010203", "df00000001a0c0", "cf001fffffffffffff"} {
		b, _ := hex.DecodeString(seed)
		f.Add(b, b)
	}
	f.Fuzz(func(t *testing.T, v, other []byte) {
		rest, err := value.Skip(v, 64)
		whole := value.Check(v)
		out, jsonErr := value.AppendJSON(nil, v)
		if (whole == nil) != (jsonErr == nil) {
			t.Fatalf("Check says %v, AppendJSON %v", whole, jsonErr)
		}
		if whole == nil {
			if err == nil && len(rest) != 0 {
				t.Fatal("a whole value leaves a rest")
			}
			if !json.Valid(out) {
				t.Fatalf("%x is %s", v, out)
			}
		} else if err == nil && len(rest) == 0 {
			t.Fatalf("Skip accepts what Check says is %v", whole)
		}
		if whole != nil && value.Equal(v, v) && err == nil {
			t.Fatal("a malformed value equals itself")
		}
		value.Equal(v, other)
		value.OrderMap(bytes.Clone(v), 0)
		_, _ = value.Get(v, "a")
		_ = value.Each(v, func(_, val []byte) bool { _, _ = value.String(val); return true })
		_ = value.EachItem(v, func(_ int, val []byte) bool { _, _ = value.Number(val); return true })
		_, _ = value.Checksum("t", v)
	})
}

func ExampleAppendCanonical() {
	v, _ := value.FromJSON(nil, []byte(`{"b": 1.0, "a": [1e2, "x"]}`))
	text, _ := value.AppendCanonical(nil, v)
	fmt.Println(string(text))
	// Output: {"a":[100,"x"],"b":1}
}
