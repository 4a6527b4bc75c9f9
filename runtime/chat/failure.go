package chat

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
)

const (
	maxMessage = 2 << 10  // bytes of a provider's words that an error of ours repeats
	maxDetails = 16 << 10 // bytes of a provider's error object that are kept
)

// clip shortens text to at most limit bytes, at a rune's edge, and replaces what is not UTF-8.
func clip(text []byte, limit int) string {
	cut := len(text) > limit
	if cut {
		text = text[:limit]
		for i := 0; i < utf8.UTFMax && !utf8.Valid(text[max(0, len(text)-utf8.UTFMax):]) && len(text) > 0; i++ {
			text = text[:len(text)-1]
		}
	}
	s := value.UTF8(string(text))
	if cut {
		s += "…"
	}
	return s
}

// quote puts a short form of text between quotes.
func quote(text []byte) string { return strconv.Quote(clip(text, 100)) }

// providerError is what an endpoint says about a request that failed.
type providerError struct {
	raw        []byte // JSON text; nil for none
	message    []byte
	code       []byte // text or number, as text
	typ        []byte // likewise
	refusal    bool   // the model, or the provider for it, declines to answer
	generation []call // the tool calls that the endpoint could not use; nil if none can be read
	unusable   bool   // the endpoint says that it could not use what the model wrote as a tool call
}

// parseProviderError reads an error object, or the object around one, or an error that is a mere string or no JSON.
func parseProviderError(raw []byte) *providerError {
	e := &providerError{raw: bytes.Clone(raw)}
	s := value.NewScanner(e.raw)
	for key := range s.Members() {
		if string(key) == "error" && (s.Kind() == value.KindMap || s.Kind() == value.KindString) {
			if inner := s.Raw(); inner != nil { // nil for half an error
				e.raw = inner
			}
			break
		}
	}
	s.Reset(e.raw)
	if s.Kind() == value.KindString {
		text, _ := s.Text()
		e.message = bytes.Clone(text)
		return e
	}
	var upstream, generation []byte
	for key := range s.Members() {
		switch string(key) {
		case "message", "detail", "error_description":
			if text, ok := s.Text(); ok && e.message == nil {
				e.message = bytes.Clone(text)
			}
		case "code":
			e.code = scalar(&s)
		case "type":
			e.typ = scalar(&s)
		case "failed_generation":
			e.unusable = true
			if s.Kind() == value.KindString {
				text, _ := s.Text()
				generation = bytes.Clone(text)
			} else {
				generation = s.Raw()
			}
		case "metadata": // OpenRouter: what the provider behind it said
			for key := range s.Members() {
				if string(key) == "raw" {
					upstream = scalar(&s)
				}
			}
		}
	}
	if s.End() != nil || e.message == nil && len(e.code) == 0 && e.typ == nil {
		e.message = bytes.TrimSpace(e.raw)
	}
	if len(e.code) == 0 {
		e.code = e.typ
	}
	if len(upstream) > 0 && !bytes.Contains(e.message, upstream) {
		e.message = append(append(e.message[:len(e.message):len(e.message)], ": "...), upstream...)
	}
	e.unusable = e.unusable || string(e.code) == "tool_use_failed"
	e.generation = readGeneration(generation, e.text())
	return e
}

// statuses are the HTTP statuses that the codes of errors stand for, in lower case.
const statuses = " rate_limit_exceeded=429 rate_limit_error=429 rate_limited=429 too_many_requests=429 resource_exhausted=429 insufficient_quota=429" +
	" server_error=500 internal_server_error=500 internal_error=500 internal=500 api_error=500 bad_gateway=502" +
	" service_unavailable=503 unavailable=503 timeout=504 timeout_error=504 gateway_timeout=504 deadline_exceeded=504" +
	" overloaded_error=529 overloaded=529 "

// status is the HTTP status that the error's code amounts to where the response itself has a good one; 0 for none.
func (e *providerError) status() int {
	for _, code := range [...][]byte{e.code, e.typ} {
		text := string(code)
		word := " " + strings.ToLower(text) + "="
		if i := strings.Index(statuses, word); i >= 0 {
			i += len(word)
			text = statuses[i : i+3]
		}
		if n, err := strconv.Atoi(text); err == nil && n >= 400 && n <= 599 {
			return n
		}
	}
	return 0
}

// final reports whether the error is one that time does not heal, although its status is one of those that come and go.
func (e *providerError) final() bool {
	return string(e.code) == "insufficient_quota" || string(e.typ) == "insufficient_quota"
}

// scalar consumes a string or a number and returns its text, nil for anything else.
func scalar(s *value.Scanner) []byte {
	switch s.Kind() {
	case value.KindString:
		text, _ := s.Text()
		return bytes.Clone(text)
	case value.KindFloat:
		return s.Raw()
	}
	return nil
}

// text is the provider's words and code, at most maxMessage bytes of them.
func (e *providerError) text() string {
	s := clip(e.message, maxMessage)
	if len(e.code) > 0 {
		if s != "" {
			s += " "
		}
		s += "(code " + clip(e.code, 100) + ")"
	}
	return s
}

// details is the provider's error as a value, nil when it is none or a large one.
func (e *providerError) details() []byte {
	if len(e.raw) == 0 || len(e.raw) > maxDetails {
		return nil
	}
	v, err := value.FromJSON(nil, e.raw)
	if err != nil {
		return nil
	}
	if !fits(v) {
		return nil
	}
	return v
}

func (e *providerError) fault(code fault.Code, more ...string) error {
	if text := e.text(); text != "" {
		more = append(more, text)
	}
	f := fault.New(code, more...)
	f.Details = e.details()
	return f
}
