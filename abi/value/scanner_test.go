package value_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
)

const chunk = `{"id":"chatcmpl-BR0Ua4qvLRrGgTc0r2Vw8OLC3fGAB","object":"chat.completion.chunk","created":1745868548,` +
	`"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_a6889ffe71","choices":[{"index":0,` +
	`"delta":{"content":" Paris is\nthe \"capital\""},"logprobs":null,"finish_reason":null}],"usage":null}`

// The loops read the members they know and skip the others.
func ExampleScanner() {
	s := value.NewScanner([]byte(chunk))
	for key := range s.Members() {
		switch string(key) {
		case "created":
			created, _ := s.Int()
			fmt.Println("created", created)
		case "choices":
			for i := range s.Items() {
				for key := range s.Members() {
					if string(key) != "delta" {
						continue
					}
					for key := range s.Members() {
						if text, ok := s.Text(); ok {
							fmt.Printf("choice %d: %s %q\n", i, key, text)
						}
					}
				}
			}
		}
	}
	fmt.Println("error", s.End())
	// Output:
	// created 1745868548
	// choice 0: content " Paris is\nthe \"capital\""
	// error <nil>
}

// content joins the text of a chunk as the chat executor does.
func content(s *value.Scanner, dst []byte) []byte {
	for key := range s.Members() {
		if string(key) != "choices" {
			continue
		}
		for range s.Items() {
			for key := range s.Members() {
				if string(key) != "delta" {
					continue
				}
				for key := range s.Members() {
					if string(key) == "content" {
						dst, _ = s.AppendText(dst)
					}
				}
			}
		}
	}
	return dst
}

func TestScannerAllocatesNothing(t *testing.T) {
	var s value.Scanner
	text, dst := []byte(chunk), make([]byte, 0, 100)
	if n := testing.AllocsPerRun(100, func() {
		s.Reset(text)
		dst = content(&s, dst[:0])
		if s.End() != nil {
			t.Fatal(s.Err())
		}
	}); n != 0 {
		t.Errorf("reading a chunk allocates %v times", n)
	}
	if n := testing.AllocsPerRun(100, func() {
		fresh := value.NewScanner(text)
		dst = content(&fresh, dst[:0])
	}); n != 0 {
		t.Errorf("reading a chunk with a scanner of its own allocates %v times", n)
	}
	if string(dst) != " Paris is\nthe \"capital\"" {
		t.Errorf("content: %q", dst)
	}
}

func TestScannerKinds(t *testing.T) {
	s := value.NewScanner([]byte(` { "s" : "a\tb" , "n" : -1.5 , "i" : 7 , "b" : true , "z" : null , "l" : [ 1 , [ ] ] , "o" : { "x" : "y" } } `))
	var got []string
	for key := range s.Members() {
		name := string(key)
		switch s.Kind() {
		case value.KindString:
			v, ok := s.Text()
			got = append(got, fmt.Sprintf("%s=%q %v", name, v, ok))
		case value.KindFloat:
			v, ok := s.Number()
			got = append(got, fmt.Sprintf("%s=%v %v", name, v, ok))
		case value.KindBool:
			v, ok := s.Bool()
			got = append(got, fmt.Sprintf("%s=%v %v", name, v, ok))
		case value.KindNil:
			_, ok := s.Text()
			got = append(got, fmt.Sprintf("%s null, a string: %v", name, ok))
		default:
			got = append(got, fmt.Sprintf("%s %d %s", name, s.Kind(), s.Raw()))
		}
		// The value has been read: nothing is left, and nothing is read from the rest.
		if _, ok := s.Text(); ok || s.Kind() != value.KindInvalid || s.Raw() != nil {
			t.Errorf("%s was read twice", name)
		}
	}
	want := `s="a\tb" true|n=-1.5 true|i=7 true|b=true true|z null, a string: false|l 7 [ 1 , [ ] ]|o 8 { "x" : "y" }`
	if g := strings.Join(got, "|"); g != want || s.End() != nil {
		t.Errorf("got %s\nwant %s\n%v", g, want, s.Err())
	}
}

func TestScannerSkipsWhatIsNotAsked(t *testing.T) {
	// Every method with every kind: it consumes one value and nothing more.
	for _, v := range []string{`"a\n"`, `1`, `1.5`, `true`, `null`, `[1,{"a":2}]`, `{"a":[1]}`, `[]`, `{}`} {
		for name, read := range map[string]func(s *value.Scanner) bool{
			"Text":    func(s *value.Scanner) bool { _, ok := s.Text(); return ok == (v[0] == '"') },
			"Append":  func(s *value.Scanner) bool { _, ok := s.AppendText(nil); return ok == (v[0] == '"') },
			"Number":  func(s *value.Scanner) bool { _, ok := s.Number(); return ok == (v[0] == '1') },
			"Int":     func(s *value.Scanner) bool { n, ok := s.Int(); return ok == (v == "1") && (n == 1) == ok },
			"Bool":    func(s *value.Scanner) bool { b, ok := s.Bool(); return ok == (v == "true") && b == ok },
			"Skip":    func(s *value.Scanner) bool { s.Skip(); return true },
			"Raw":     func(s *value.Scanner) bool { return string(s.Raw()) == v },
			"Members": func(s *value.Scanner) bool { s.Members()(func([]byte) bool { return true }); return true },
			"Items":   func(s *value.Scanner) bool { s.Items()(func(int) bool { return true }); return true },
			"break": func(s *value.Scanner) bool {
				for range s.Members() {
					break
				}
				for range s.Items() {
					break
				}
				return true
			},
			"value": func(s *value.Scanner) bool {
				out, ok := s.AppendValue(nil)
				return ok && string(out) == string(enc(t, v))
			},
			"nothing": func(*value.Scanner) bool { return true },
		} {
			s := value.NewScanner([]byte(`[` + v + ` , "after"]`))
			seen := ""
			for i := range s.Items() {
				if i == 0 && !read(&s) {
					t.Errorf("%s of %s: wrong answer", name, v)
				}
				if i == 1 {
					text, _ := s.Text()
					seen = string(text)
				}
			}
			if err := s.End(); err != nil || seen != "after" {
				t.Errorf("%s of %s: then %q, %v", name, v, seen, err)
			}
		}
	}
}

func TestScannerStopsAtAnError(t *testing.T) {
	s := value.NewScanner([]byte(`{"a":1,"b":[1,2 3],"c":4}`))
	var keys []string
	for key := range s.Members() {
		keys = append(keys, string(key))
		for range s.Items() {
			s.Skip()
		}
	}
	if strings.Join(keys, "") != "ab" || s.Err() == nil || s.Err().(*value.SyntaxError).Offset != 16 {
		t.Errorf("keys %v, error %v", keys, s.Err())
	}
	if _, ok := s.AppendValue(nil); ok || s.End() == nil {
		t.Error("reads on after an error")
	}
	deep := strings.Repeat("[", 100000)
	s.Reset([]byte(deep))
	if err := s.End(); err == nil || !err.(*value.SyntaxError).Is(value.ErrTooDeep) {
		t.Errorf("100000 brackets: %v", err)
	}
	s.Reset([]byte(strings.Repeat("[", value.MaxDepth) + strings.Repeat("]", value.MaxDepth)))
	if err := s.End(); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	var zero value.Scanner
	if zero.Kind() != value.KindInvalid || zero.Raw() != nil || zero.Err() != nil {
		t.Error("the zero Scanner has a value")
	}
}

func BenchmarkScanner(b *testing.B) {
	var s value.Scanner
	text, dst := []byte(chunk), make([]byte, 0, 100)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		s.Reset(text)
		dst = content(&s, dst[:0])
	}
}

func BenchmarkFromJSON(b *testing.B) {
	text := []byte(chunk)
	var dst []byte
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		dst, _ = value.FromJSON(dst[:0], text)
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	v, dst := enc(b, chunk), []byte(nil)
	b.ReportAllocs()
	for b.Loop() {
		dst, _ = value.AppendJSON(dst[:0], v)
	}
}

func BenchmarkAppendCanonical(b *testing.B) {
	v, dst := enc(b, chunk), []byte(nil)
	b.ReportAllocs()
	for b.Loop() {
		dst, _ = value.AppendCanonical(dst[:0], v)
	}
}

func BenchmarkCheck(b *testing.B) {
	v := enc(b, chunk)
	b.SetBytes(int64(len(v)))
	b.ReportAllocs()
	for b.Loop() {
		_ = value.Check(v)
	}
}

func BenchmarkChecksum(b *testing.B) {
	v := enc(b, `{"query":"hello","limit":10}`)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = value.Checksum("search", v)
	}
}
