package chat_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/fault"
)

// attempts answers each request with the next stream, and the last one with text.
func (d *dispatch) attempts(list ...runtime.Stream) {
	n := 0
	d.answer = func(*runtime.HTTPRequest) (runtime.Stream, error) {
		if n++; n <= len(list) {
			return list[n-1], nil
		}
		return &response{parts: split(sse(text("fine"), stop), 0)}, nil
	}
}

func status(n int, body string, headers ...[2]string) runtime.Stream {
	return &response{status: n, parts: split(body, 0), headers: headers}
}

func broken(body string, err error) runtime.Stream { return &response{parts: split(body, 0), err: err} }

// Which failures are retried, and the logged reason.
func TestRetries(t *testing.T) {
	reset := errors.New("connection reset")
	transport := fault.New(fault.HTTPTransport, "connection refused")
	for _, tt := range []struct {
		name   string
		first  runtime.Stream
		reason string // in the log; empty if not retried
		code   fault.Code
	}{
		{"429", status(429, ""), "http-status 429", fault.ChatHTTPError},
		{"500", status(500, ""), "http-status 500", fault.ChatHTTPError},
		{"502", status(502, ""), "http-status 502", fault.ChatHTTPError},
		{"503", status(503, ""), "http-status 503", fault.ChatHTTPError},
		{"504", status(504, ""), "http-status 504", fault.ChatHTTPError},
		{"529", status(529, ""), "http-status 529", fault.ChatHTTPError},
		{"400", status(400, ""), "", fault.ChatHTTPError},
		{"401", status(401, ""), "", fault.ChatHTTPError},
		{"404", status(404, ""), "", fault.ChatHTTPError},
		{"408", status(408, ""), "", fault.ChatHTTPError},
		{"302", status(302, ""), "", fault.ChatHTTPError},
		{"a quota", status(429, `{"error":{"type":"insufficient_quota","message":"no more"}}`), "", fault.ChatHTTPError},
		{"a quota in the body", broken(sse(`{"error":{"code":"insufficient_quota","message":"no more"}}`), nil), "", fault.ChatProviderError},
		{"transport", failing{transport}, "transport-error", fault.HTTPTransport},
		{"not allowed", failing{fault.New(fault.HTTPNotAllowed)}, "", fault.HTTPNotAllowed},
		{"no credential", failing{fault.New(fault.CredentialUnknown)}, "", fault.CredentialUnknown},
		{"request timeout", failing{runtime.ErrIdle}, "request-timeout", fault.ChatRequestTimeout},
		{"no response", failing{nil}, "stream-error", fault.ChatStreamError},
		{"stalled before text", broken("", runtime.ErrIdle), "stream-stalled", fault.ChatStreamStalled},
		{"stalled in a call", broken("data: "+delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"get","arguments":"{"}}]}`)+"\n\n", runtime.ErrIdle), "stream-stalled", fault.ChatStreamStalled},
		{"broken before text", broken("data: "+delta(`{"role":"assistant"}`)+"\n\n", reset), "stream-error", fault.ChatStreamError},
		{"broken after the head, by the transport", broken("", transport), "stream-error", fault.ChatStreamError},
		{"cut in a call", broken("data: "+delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"get","arguments":"{"}}]}`)+"\n\n", nil), "stream-error", fault.ChatStreamError},
		{"empty", broken("", nil), "empty-response", fault.ChatEmptyResponse},
		{"empty with an end", broken(sse(stop), nil), "", fault.ChatEmptyResponse},
		{"a page", &response{mime: "text/html", parts: split("<p>", 0)}, "", fault.ChatStreamError},
		{"an answer that is too long", broken(sse(delta(`{"tool_calls":[{"index":0,"function":{"arguments":"`+strings.Repeat("x", 9<<20)+`"}}]}`)), nil), "", fault.ChatStreamError},
		{"hidden number", broken(sse(`{"error":{"message":"slow","code":429}}`), nil), "provider-error 429", fault.ChatProviderError},
		{"hidden digits", broken(sse(`{"error":{"message":"down","code":"503"}}`), nil), "provider-error 503", fault.ChatProviderError},
		{"hidden word", broken(sse(`{"error":{"message":"slow","code":"rate_limit_exceeded"}}`), nil), "provider-error 429", fault.ChatProviderError},
		{"hidden type", broken(`{"type":"error","error":{"type":"overloaded_error","message":"x"}}`, nil), "provider-error 529", fault.ChatProviderError},
		{"hidden in capitals", broken(`{"error":{"status":"UNAVAILABLE","code":"UNAVAILABLE","message":"x"}}`, nil), "provider-error 503", fault.ChatProviderError},
		{"hidden word of the type beside a code", broken(sse(`{"error":{"message":"x","type":"server_error","code":"odd"}}`), nil), "provider-error 500", fault.ChatProviderError},
		{"hidden and final", broken(sse(`{"error":{"message":"who","code":401}}`), nil), "", fault.ChatProviderError},
		{"hidden and unknown", broken(sse(`{"error":{"message":"who","code":"odd"}}`), nil), "", fault.ChatProviderError},
		{"error after text", broken(sse(text("Hel"), `{"error":{"message":"slow","code":429}}`), nil), "", fault.ChatProviderError},
		{"error after reasoning", broken(sse(delta(`{"reasoning":"hm"}`), `{"error":{"message":"slow","code":429}}`), nil), "", fault.ChatProviderError},
		{"broken after text", broken("data: "+text("Hel")+"\n\n", reset), "", fault.ChatStreamError},
		{"stalled after text", broken("data: "+text("Hel")+"\n\n", runtime.ErrIdle), "", fault.ChatStreamStalled},
	} {
		d := newDispatch(t)
		d.attempts(tt.first)
		d.iterate(newExecutor(t, `{"model":"m"}`), 1)
		reason := ""
		if len(d.logs) > 0 && strings.HasPrefix(d.logs[len(d.logs)-1], "retry-attempt: attempt 1 failed, ") {
			var p struct {
				Reason string
				Status int
			}
			if err := json.Unmarshal([]byte(d.payloads[len(d.payloads)-1]), &p); err != nil {
				t.Error(err)
			}
			if reason = p.Reason; p.Status > 0 {
				reason += " " + strconv.Itoa(p.Status)
			}
		}
		if reason != tt.reason || d.acked != (tt.reason != "") || len(d.requests) != 1+min(len(tt.reason), 1) || len(d.slept) != min(len(tt.reason), 1) {
			t.Errorf("%s: reason %q, want %q; acked %v, nacked with %v, %d requests, slept %v", tt.name, reason, tt.reason, d.acked, d.nacked, len(d.requests), d.slept)
		}
		if len(d.requests) == 2 && !slices.Equal(d.requests[0], d.requests[1]) {
			t.Errorf("%s: the second request is another one: %s", tt.name, d.requests[1])
		}
		if d.open() != nil {
			t.Errorf("%s: open %q", tt.name, d.open())
		}
		// A single attempt fails with the plain failure.
		one := newDispatch(t)
		first := tt.first
		if r, ok := first.(*response); ok {
			r.at = 0
		}
		one.attempts(first)
		one.iterate(newExecutor(t, `{"model":"m","retry":{"maxAttempts":1}}`), 1)
		if !fault.Is(one.nacked, tt.code) || len(one.requests) != 1 {
			t.Errorf("%s, once: nacked with %v after %d requests", tt.name, one.nacked, len(one.requests))
		}
	}
}

// A request that the host rejects fails at once.
func TestNoRetryWithoutRequest(t *testing.T) {
	d := newDispatch(t)
	d.answer = func(*runtime.HTTPRequest) (runtime.Stream, error) { return nil, fault.New(fault.ABILimitExceeded) }
	d.iterate(newExecutor(t, `{"model":"m"}`), 1)
	if !fault.Is(d.nacked, fault.ABILimitExceeded) || len(d.requests) != 1 {
		t.Errorf("nacked with %v after %d requests", d.nacked, len(d.requests))
	}
}

// The last failure is returned, after as many requests as the options allow.
func TestAttempts(t *testing.T) {
	for _, n := range []int{1, 2, 5, 100} {
		d := newDispatch(t)
		var list []runtime.Stream
		for i := range n {
			list = append(list, status(503, "try "+strconv.Itoa(i+1)))
		}
		d.attempts(list...)
		d.iterate(newExecutor(t, `{"model":"m","retry":{"maxAttempts":`+strconv.Itoa(n)+`}}`), 1)
		if !fault.Is(d.nacked, fault.ChatHTTPError) || !strings.Contains(d.nacked.Error(), "try "+strconv.Itoa(n)) || len(d.requests) != n || len(d.logs) != n-1 {
			t.Errorf("%d attempts: nacked with %v, %d requests, %d lines", n, d.nacked, len(d.requests), len(d.logs))
		}
	}
}

// The waits double from the base up to the maximum, and are randomly shortened by up to a half.
func TestBackoff(t *testing.T) {
	for _, tt := range []struct {
		options string
		random  uint64
		want    []uint64
	}{
		{`"maxAttempts":9`, 0, []uint64{500, 1000, 2000, 4000, 8000, 16000, 30000, 30000}},
		{`"maxAttempts":4,"baseDelayMs":100,"maxDelayMs":150`, 0, []uint64{100, 150, 150}},
		{`"maxAttempts":3,"baseDelayMs":0`, 5, []uint64{0, 0}},
		{`"maxAttempts":3,"baseDelayMs":9,"maxDelayMs":0`, 5, []uint64{0, 0}},
		{`"maxAttempts":3,"baseDelayMs":400`, 100, []uint64{300, 700}},
		{`"maxAttempts":3,"baseDelayMs":400`, 200, []uint64{200, 600}},
		{`"maxAttempts":3,"baseDelayMs":400`, 1<<64 - 1, []uint64{400 - (1<<64-1)%201, 800 - (1<<64-1)%401}},
	} {
		d := newDispatch(t)
		d.random = tt.random
		var list []runtime.Stream
		for range tt.want {
			list = append(list, status(500, ""))
		}
		d.attempts(list...)
		d.iterate(newExecutor(t, `{"model":"m","retry":{`+tt.options+`}}`), 1)
		if !d.acked || !slices.Equal(d.slept, tt.want) {
			t.Errorf("%s: slept %v, want %v; nacked with %v", tt.options, d.slept, tt.want, d.nacked)
		}
	}
}

// The endpoint may request a delay; the options limit it, or ignore it.
func TestRetryAfter(t *testing.T) {
	after := func(s string) [2]string { return [2]string{"retry-after", s} }
	for _, tt := range []struct {
		headers [][2]string
		options string
		random  uint64
		want    uint64
	}{
		{[][2]string{after("7")}, "", 0, 7000},
		{[][2]string{after("7")}, "", 700, 7700},
		{[][2]string{after("7")}, "", 701, 7000},
		{[][2]string{after("0")}, "", 0, 500},
		{[][2]string{after("-1")}, "", 0, 500},
		{[][2]string{after("NaN")}, "", 0, 500},
		{[][2]string{after("soon")}, "", 0, 500},
		{[][2]string{after("99999999999")}, "", 0, 30_000},
		{[][2]string{after("60")}, "", 999, 30_000},
		{[][2]string{after("Sun, 06 Nov 1994 08:49:44 GMT")}, "", 0, 7000},
		{[][2]string{after("Sunday, 06-Nov-94 08:49:44 GMT"), {"date", "Sun, 06 Nov 1994 08:49:42 GMT"}}, "", 0, 2000},
		{[][2]string{after("60")}, `"maxDelayMs":100000`, 0, 60_000},
		{[][2]string{after("7")}, `"honorRetryAfter":false`, 0, 500},
		{[][2]string{after("7"), {"retry-after-ms", "1234"}}, "", 0, 1234},
	} {
		d := newDispatch(t)
		d.random = tt.random
		d.attempts(status(503, "", tt.headers...))
		d.iterate(newExecutor(t, `{"model":"m","retry":{`+tt.options+`}}`), 1)
		if !d.acked || !slices.Equal(d.slept, []uint64{tt.want}) {
			t.Errorf("%q %s: slept %v, want %d", tt.headers, tt.options, d.slept, tt.want)
		}
	}
	// An error in a successful response counts with that response's headers.
	d := newDispatch(t)
	d.attempts(&response{parts: split(sse(`{"error":{"code":429}}`), 0), headers: [][2]string{after("2")}})
	d.iterate(newExecutor(t, `{"model":"m"}`), 1)
	if !d.acked || !slices.Equal(d.slept, []uint64{2000}) {
		t.Errorf("slept %v", d.slept)
	}
}

// Programs can read the log line about an attempt.
func TestRetryLog(t *testing.T) {
	d := newDispatch(t)
	d.attempts(status(503, `{"error":{"message":"down"}}`), failing{runtime.ErrIdle})
	d.iterate(newExecutor(t, `{"model":"m","requestTimeoutMs":50}`), 1)
	want := []string{
		`{"reason":"http-status","error":"The model provider answered with an HTTP error: status 503; down","status":503,"attempt":1,"delayMs":500}`,
		`{"reason":"request-timeout","error":"The model provider did not answer in time: no response for 50 ms","status":0,"attempt":2,"delayMs":1000}`,
	}
	if !slices.Equal(d.payloads, want) {
		t.Errorf("payloads %q", d.payloads)
	}
}

// An abort during the wait ends the iteration without a signal and without a request.
func TestAbortBetweenAttempts(t *testing.T) {
	d := newDispatch(t)
	d.attempts(status(503, ""))
	d.onSleep = func() { d.aborted = true }
	d.iterate(newExecutor(t, `{"model":"m"}`), 1)
	if d.Signalled() || len(d.requests) != 1 {
		t.Errorf("acked %v, nacked with %v, %d requests", d.acked, d.nacked, len(d.requests))
	}
}

// A listener of the log line may signal: the request is not repeated, and its cost is reported once.
func TestSignalBetweenAttempts(t *testing.T) {
	for stats, first := range []runtime.Stream{
		status(503, ""),
		broken("data: "+`{"choices":[],"usage":{"prompt_tokens":5}}`+"\n\n", nil),
	} {
		d := newDispatch(t)
		d.attempts(first)
		d.onSleep = func() { d.nacked = errors.New("enough") }
		d.iterate(newExecutor(t, `{"model":"m"}`), 1)
		if d.nacked.Error() != "enough" || len(d.requests) != 1 {
			t.Errorf("nacked with %v, %d requests", d.nacked, len(d.requests))
		}
		if n := strings.Count(strings.Join(d.events, " "), "stats"); n != stats {
			t.Errorf("events %q", d.events)
		}
	}
}

// The cost of an answer without content is reported.
func TestStatsOfFailedAttempts(t *testing.T) {
	d := newDispatch(t)
	d.attempts(broken("data: "+`{"choices":[],"usage":{"prompt_tokens":5}}`+"\n\n", nil))
	d.iterate(newExecutor(t, `{"model":"m"}`), 1)
	if n := slices.Index(d.events, "stats"); !d.acked || n != 0 || strings.Count(strings.Join(d.events, " "), "stats") != 2 {
		t.Errorf("events %q", d.events)
	}
}

// slow is a stream whose chunks all take a while.
type slow struct {
	*response
	d  *dispatch
	ms uint64
}

func (s *slow) Next() (runtime.Chunk, bool, error) {
	if s.idle > 0 && s.ms > s.idle {
		s.d.elapsed += s.idle
		return runtime.Chunk{}, false, runtime.ErrIdle
	}
	s.d.elapsed += s.ms
	return s.response.Next()
}

// The total timeout bounds the head, the body, the attempts and the waits between them.
func TestTotalTimeout(t *testing.T) {
	for _, tt := range []struct {
		name     string
		ms       uint64 // per chunk
		body     string
		options  string
		code     fault.Code
		requests int
		elapsed  uint64
	}{
		{"silent head", 5000, "", `"totalTimeoutMs":1000`, fault.ChatTotalTimeout, 1, 1000},
		{"request timeout before", 5000, "", `"totalTimeoutMs":1000,"requestTimeoutMs":300,"retry":{"baseDelayMs":10}`, fault.ChatTotalTimeout, 4, 1000},
		{"slow body", 300, sse(text("a"), text("b"), text("c"), stop), `"totalTimeoutMs":1000`, fault.ChatTotalTimeout, 1, 1000},
		{"in time", 100, sse(text("a"), text("b"), text("c"), stop), `"totalTimeoutMs":1000`, "", 1, 0},
		{"never without an end", 10, strings.Repeat(": ping\n\n", 200), `"totalTimeoutMs":1000`, fault.ChatTotalTimeout, 1, 1000},
	} {
		d := newDispatch(t)
		d.answer = func(*runtime.HTTPRequest) (runtime.Stream, error) {
			r := &response{}
			for _, part := range strings.SplitAfter(tt.body, "\n\n") {
				r.parts = append(r.parts, []byte(part))
			}
			return &slow{response: r, d: d, ms: tt.ms}, nil
		}
		options := strings.Replace(tt.options, `{"base`, `{"maxAttempts":9,"base`, 1)
		d.iterate(newExecutor(t, `{"model":"m",`+options+`}`), 1)
		if d.acked != (tt.code == "") || tt.code != "" && !fault.Is(d.nacked, tt.code) || len(d.requests) != tt.requests || tt.elapsed > 0 && d.elapsed != tt.elapsed || d.open() != nil {
			t.Errorf("%s: acked %v, nacked with %v, %d requests, %d ms, open %q", tt.name, d.acked, d.nacked, len(d.requests), d.elapsed, d.open())
		}
	}
	// A wait beyond the deadline does not begin: the dispatch fails at once.
	d := newDispatch(t)
	d.attempts(status(503, ""))
	d.iterate(newExecutor(t, `{"model":"m","totalTimeoutMs":500}`), 1)
	if !fault.Is(d.nacked, fault.ChatHTTPError) || len(d.slept) != 0 {
		t.Errorf("nacked with %v, slept %v", d.nacked, d.slept)
	}
}

// Comments do not reset the idle timeout, since an endpoint could hold a turn with them for ever. Parts of events do.
func TestCommentsCountAsSilence(t *testing.T) {
	ping, word := strings.Repeat(": ping\n\n", 8), "data: "+text("a")+"\n\n"
	for body, code := range map[string]fault.Code{
		ping + ping:                                  fault.ChatStreamStalled,
		word + ping + ping + word + sse(stop):        fault.ChatStreamStalled,
		ping + word + ping + word + ping + sse(stop): "",
	} {
		d := newDispatch(t)
		d.answer = func(*runtime.HTTPRequest) (runtime.Stream, error) {
			r := &response{}
			for _, part := range strings.SplitAfter(body, "\n\n") {
				r.parts = append(r.parts, []byte(part))
			}
			return &slow{response: r, d: d, ms: 100}, nil
		}
		d.iterate(newExecutor(t, `{"model":"m","idleTimeoutMs":1000,"retry":{"maxAttempts":1}}`), 1)
		if d.acked != (code == "") || code != "" && !fault.Is(d.nacked, code) || d.open() != nil {
			t.Errorf("%q: acked %v, nacked with %v, open %q", body, d.acked, d.nacked, d.open())
		}
	}
}

func TestRetryOptions(t *testing.T) {
	for options, want := range map[string]string{
		`"retry":1`:                         "`retry` must be an object",
		`"retry":{"maxAttempts":0}`:         "`retry.maxAttempts` must be a whole number from 1 to 100",
		`"retry":{"maxAttempts":101}`:       "`retry.maxAttempts` must be",
		`"retry":{"maxAttempts":1.5}`:       "`retry.maxAttempts` must be",
		`"retry":{"baseDelayMs":-1}`:        "`retry.baseDelayMs` must be a number of milliseconds",
		`"retry":{"maxDelayMs":"1"}`:        "`retry.maxDelayMs` must be a number of milliseconds",
		`"retry":{"statuses":429}`:          "`retry.statuses` must be a list",
		`"retry":{"statuses":[200]}`:        "`retry.statuses` must be a whole number from 400 to 599",
		`"retry":{"honorRetryAfter":"yes"}`: "`retry.honorRetryAfter` must be a boolean",
		`"retry":{"attempts":3}`:            "`retry.attempts` is not a known option",
		`"totalTimeoutMs":-1`:               "`totalTimeoutMs` must be a number of milliseconds",
	} {
		_, err := chat.New(fromJSON(t, `{"model":"m",`+options+`}`), provider.OpenAI)
		if !fault.Is(err, fault.ChatInvalidOptions) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", options, err)
		}
	}
	d := newDispatch(t)
	d.attempts(status(418, ""))
	d.iterate(newExecutor(t, `{"model":"m","retry":{"statuses":[418]}}`), 1)
	if !d.acked {
		t.Errorf("nacked with %v", d.nacked)
	}
}

// FuzzRetryAfter tries any header: the delay stays within bounds.
func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"", "7", "1e9", "-1", "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 99 Nov 9999 99:99:99 GMT", "Xxx, 00 Foo 0000 00:00:00 GMT"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, after, date string) {
		d := newDispatch(t)
		d.attempts(status(503, "", [2]string{"retry-after", after}, [2]string{"retry-after-ms", date}, [2]string{"date", date}))
		d.iterate(newExecutor(t, `{"model":"m"}`), 1)
		if !d.acked || len(d.slept) != 1 || d.slept[0] < 250 || d.slept[0] > 30_000 {
			t.Errorf("slept %v", d.slept)
		}
	})
}
