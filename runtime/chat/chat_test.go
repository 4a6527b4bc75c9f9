package chat_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/record"
)

// Whatever an endpoint sends, in any parts, nothing panics, the iteration ends in an allowed way, and no stream is left
// open.
func FuzzChatStream(f *testing.F) {
	f.Add([]byte(sse(text("a"), stop)), uint64(1), true)
	f.Add([]byte(sse(delta(`{"reasoning":"hm","content":[{"type":"text","text":"a"}]}`), calls(`{"index":0,"id":"a","function":{"name":"get","arguments":"{}"}},{"id":"b"}`), stop)), uint64(2), true)
	f.Add([]byte(`{"choices":[{"message":{"content":"a","tool_calls":[{}]}}],"usage":{"prompt_tokens":1}}`), uint64(3), false)
	f.Add([]byte(sse(`{"error":{"code":"tool_use_failed","failed_generation":"{\"name\":\"get\"}"}}`)), uint64(4), true)
	f.Add([]byte("event: error\ndata: {\"error\":{\"error\":{}}}\n\n"), uint64(5), true)
	f.Fuzz(func(t *testing.T, body []byte, seed uint64, ok bool) {
		d := newDispatch(t)
		d.tools = []*runtime.Tool{{Number: 1, Name: "get", InputSchema: fromJSON(t, `{"type":"object"}`)}}
		d.run = func(_ *runtime.Tool, args []byte) ([]byte, error) { return args, nil }
		d.answer = func(*runtime.HTTPRequest) (runtime.Stream, error) {
			status := 200
			if !ok {
				status = 400
			}
			return &response{status: status, parts: split(string(body), seed)}, nil
		}
		e := newExecutor(t, `{"model":"m"}`)
		if err := e.Execute(d); err != nil {
			t.Fatal(err)
		}
		if !d.Signalled() && len(d.records[record.ToolCalls]) == 0 {
			t.Error("neither a signal nor a call")
		}
		if d.open() != nil {
			t.Errorf("open: %q", d.open())
		}
		if d.Signalled() {
			return
		}
		if err := e.Execute(d); err != nil { // stored records can be sent
			t.Fatal(err)
		}
		messagesOf(t, d.requests[1])
	})
}

// A delta only costs its parsing: no allocation, whatever came before.
func BenchmarkDeltas(b *testing.B) {
	const chunk = `{"id":"chatcmpl-C2P2HtMJhPkWjQ2adKerkdVilXmRL","object":"chat.completion.chunk","created":1754688929,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_07871e2ad8","choices":[{"index":0,"delta":{"content":" capital"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"G2ubBYwM"}`
	for _, n := range []int{20, 500} {
		parts := [][]byte{}
		for range n {
			parts = append(parts, []byte("data: "+chunk+"\n\n"))
		}
		parts = append(parts, []byte("data: "+stop+"\n\ndata: [DONE]\n\n"))
		name := "20"
		if n == 500 {
			name = "500"
		}
		b.Run(name, func(b *testing.B) {
			e := newExecutor(b, `{"model":"m"}`)
			d := newDispatch(b)
			d.quiet = true
			d.addMessage("user", "What is the capital of Mexico?")
			r := &response{parts: parts}
			d.answer = func(*runtime.HTTPRequest) (runtime.Stream, error) { return r, nil }
			b.ReportAllocs()
			for b.Loop() {
				r.at, d.acked, d.requests, d.records[record.Messages] = 0, false, d.requests[:0], d.records[record.Messages][:1]
				clear(d.streams)
				if err := e.Execute(d); err != nil || !d.acked {
					b.Fatal(err, d.nacked)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/delta")
		})
	}
}

// A further request on a known history costs little more than a check of that history.
func BenchmarkRequest(b *testing.B) {
	for _, n := range []int{0, 50, 5000} {
		b.Run(map[int]string{0: "0", 50: "50", 5000: "5000"}[n], func(b *testing.B) {
			e := newExecutor(b, `{"model":"m"}`)
			d := newDispatch(b)
			d.quiet = true
			for range n / 2 {
				d.addMessage("user", strings.Repeat("question ", 10))
				d.addMessage("assistant", strings.Repeat("answer ", 20))
			}
			d.answer = func(*runtime.HTTPRequest) (runtime.Stream, error) { return failing{errSealed}, nil }
			b.ReportAllocs()
			for b.Loop() {
				d.nacked = nil
				d.requests = d.requests[:0]
				if err := e.Execute(d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// An iteration on a history, apart from passing on its request, costs less than copying the request: the rendering of a
// record is reused.
func BenchmarkIteration(b *testing.B) {
	for _, n := range []int{0, 5000} {
		e := newExecutor(b, `{"model":"m"}`)
		d := newDispatch(b)
		d.quiet = true
		withTools(b, d)
		for range n / 2 {
			d.addMessage("user", strings.Repeat("question ", 10))
			d.addMessage("assistant", strings.Repeat("answer ", 20))
		}
		var body []byte
		r := &response{parts: [][]byte{[]byte(sse(calls(`{"index":0,"id":"a","function":{"name":"get"}}`)))}}
		d.hand = func(sent []byte) { body = append(body[:0], sent...) }
		d.answer = func(*runtime.HTTPRequest) (runtime.Stream, error) { r.at = 0; return r, nil }
		b.Run("iteration/"+strconv.Itoa(n), func(b *testing.B) {
			iterate := func() {
				clear(d.streams)
				if err := e.Execute(d); err != nil || d.Signalled() {
					b.Fatal(err, d.nacked)
				}
			}
			for i := 0; b.Loop(); i++ {
				if i%100 == 0 { // calls do not accumulate
					b.StopTimer()
					d.records[record.ToolCalls] = nil
					d.versions[record.ToolCalls]++
					iterate()
					b.StartTimer()
				}
				iterate()
			}
		})
		b.Run("copy/"+strconv.Itoa(n), func(b *testing.B) {
			whole := bytes.Clone(body)
			b.SetBytes(int64(len(whole)))
			for b.Loop() {
				body = append(body[:0], whole...)
			}
		})
	}
}

func TestDeltasDoNotAllocate(t *testing.T) {
	for _, begin := range []string{"", "<think>", "<think>Hm.</think>"} {
		t.Run(begin, func(t *testing.T) { deltasDoNotAllocate(t, begin) })
	}
}

func deltasDoNotAllocate(t *testing.T, begin string) {
	cost := func(n int) float64 {
		parts := [][]byte{[]byte("data: " + text(begin) + "\n\n")}
		for range n {
			parts = append(parts, []byte("data: "+text("word ")+"\n\n"), []byte("data: "+delta(`{"content":"w\u00f6rd ","x":1}`)+"\n\n"))
		}
		parts = append(parts, []byte("data: "+text("</think>ok")+"\n\ndata: "+stop+"\n\ndata: [DONE]\n\n"))
		e := newExecutor(t, `{"model":"m"}`)
		d := newDispatch(t)
		d.quiet = true
		r := &response{parts: parts}
		d.answer = func(*runtime.HTTPRequest) (runtime.Stream, error) { return r, nil }
		return testing.AllocsPerRun(20, func() {
			r.at, d.acked, d.requests, d.records[record.Messages], d.records[record.Thoughts] = 0, false, d.requests[:0], nil, nil
			clear(d.streams)
			if err := e.Execute(d); err != nil || !d.acked {
				t.Fatal(err, d.nacked)
			}
		})
	}
	few, many := cost(10), cost(1000)
	if many > few+30 { // the buffers grow a handful of times
		t.Errorf("%v allocations for 20 deltas, %v for 2000", few, many)
	}
}
