package chat_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/record"
)

var similar = [][2]string{
	{text("a"), text("b")},
	{text("a"), text(`b\"\n\u00e9`)},
	{text("a"), text("b\x01")},
	{text("a"), text("\xff")},
	{text("a"), text("")},
	{text(`a\n`), text("b")},
	{`{"model":"m","choices":[{"delta":{"content":"a"},"finish_reason":null}],"usage":null,"obfuscation":"xyz"}`, `{"model":"m","choices":[{"delta":{"content":"bc"},"finish_reason":null}],"usage":null,"obfuscation":"x"}`},
	{`{"choices":[{"delta":{"content":"a"}}],"obfuscation":"xyz"}`, `{"choices":[{"delta":{"content":"a"}}],"obfuscation":"x","error":"y"}`},
	{`{"choices":[{"delta":{"content":"a"}}],"obfuscation":"xyz"}`, `{"choices":[{"delta":{"content":"a"}}],"obfuscation":"\q"}`},
	{`{"choices":[{"delta":{"content":"a"}}],"x":"1","y":"2"}`, `{"choices":[{"delta":{"content":"a"}}],"x":"1","y":"3"}`},
	{`{"choices":[{"delta":{"reasoning":"a","content":""}}]}`, `{"choices":[{"delta":{"reasoning":"b","content":""}}]}`},
	{`{"choices":[{"delta":{"reasoning":"a","reasoning_content":"a"}}]}`, `{"choices":[{"delta":{"reasoning":"b","reasoning_content":"a"}}]}`},
	{`{"choices":[{"delta":{"content":"a","refusal":"b"}}]}`, `{"choices":[{"delta":{"content":"c","refusal":"b"}}]}`},
	{`{"choices":[{"delta":{"content":"a","tool_calls":[{"function":{"name":"x"}}]}}]}`, `{"choices":[{"delta":{"content":"b","tool_calls":[{"function":{"name":"x"}}]}}]}`},
	{`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`, `{"choices":[{"delta":{"content":"a"},"finish_reason":"length"}]}`},
	{`{"choices":[{"delta":{"content":"a"}}]}`, `{"choices":[{"delta":{"content":"a"}}]`},
	{`{"choices":[{"message":{"content":"a"}}]}`, `{"choices":[{"message":{"content":"b"}}]}`},
	{`{"x":"a","choices":[{"delta":{"content":"a"}}]}`, `{"x":"b","choices":[{"delta":{"content":"b"}}]}`},
}

// hear returns the executor's result for a stream.
func hear(t *testing.T, chunks ...string) []string {
	t.Helper()
	d := newDispatch(t)
	d.answer = func(*runtime.HTTPRequest) (runtime.Stream, error) {
		return &response{parts: split(sse(chunks...), 0)}, nil
	}
	if err := newExecutor(t, `{"model":"m"}`).Execute(d); err != nil {
		t.Fatal(err)
	}
	said := d.events
	if d.nacked != nil {
		said = append(said, d.nacked.Error())
	}
	if d.stats != nil {
		said = append(said, d.json(d.stats))
	}
	for kind := range record.Kind(record.Kinds) {
		for _, it := range d.records[kind] {
			said = append(said, string(it.body))
		}
	}
	return said
}

// otherwise rewrites a chunk with the same meaning, so that it resembles no other.
func otherwise(chunk string, n int) string {
	if !strings.HasPrefix(chunk, "{") {
		return chunk
	}
	return "{" + strings.Repeat(" ", n) + chunk[1:]
}

// Similar chunks are read as they would be alone.
func FuzzSimilarChunks(f *testing.F) {
	for _, pair := range similar {
		f.Add([]byte(pair[0]), []byte(pair[1]))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if bytes.ContainsAny(a, "\r\n") || bytes.ContainsAny(b, "\r\n") {
			return
		}
		first, second := string(bytes.TrimSpace(a)), string(bytes.TrimSpace(b))
		got := hear(t, first, second, second, first)
		want := hear(t, first, otherwise(second, 1), otherwise(second, 2), otherwise(first, 3))
		if !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
}
