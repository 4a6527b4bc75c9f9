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
	maxMessage = 2 << 10  // bytes of a provider's message that our errors quote
	maxDetails = 16 << 10 // bytes of a provider's error object to keep
)

// clip shortens text to at most limit bytes, between runes, and replaces invalid UTF-8.
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

// quote quotes a short form of text.
func quote(text []byte) string { return strconv.Quote(clip(text, 100)) }

// providerError is an endpoint's error message.
type providerError struct {
	raw        []byte // JSON text; nil for none
	message    []byte
	code       []byte // text or number, as text
	typ        []byte // text or number, as text
	refusal    bool   // the model, or the provider on its behalf, declines to answer
	generation []call // the tool calls that the endpoint could not use; nil if none is legible
	unusable   bool   // the endpoint could not use the model's text as a tool call
}

// parseProviderError reads an error object, an object that contains one, or an error that is a plain string or not
// JSON.
func parseProviderError(raw []byte) *providerError {
	e := &providerError{raw: bytes.Clone(raw)}
	s := value.NewScanner(e.raw)
	for key := range s.Members() {
		if string(key) == "error" && (s.Kind() == value.KindMap || s.Kind() == value.KindString) {
			if inner := s.Raw(); inner != nil { // nil if it is incomplete
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
		case "metadata": // OpenRouter: the upstream provider's message
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

// statuses maps error codes, in lower case, to HTTP statuses.
const statuses = " rate_limit_exceeded=429 rate_limit_error=429 rate_limited=429 too_many_requests=429 resource_exhausted=429 insufficient_quota=429" +
	" server_error=500 internal_server_error=500 internal_error=500 internal=500 api_error=500 bad_gateway=502" +
	" service_unavailable=503 unavailable=503 timeout=504 timeout_error=504 gateway_timeout=504 deadline_exceeded=504" +
	" overloaded_error=529 overloaded=529 "

// status is the HTTP status for the error's code when the response itself reports success; 0 for none.
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

// final reports whether the error is permanent although its status is that of a temporary one.
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

// text is the provider's message and code, at most maxMessage bytes.
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

// details is the provider's error as a value; nil if it is not JSON or too large.
func (e *providerError) details() []byte {
	if len(e.raw) == 0 || len(e.raw) > maxDetails {
		return nil
	}
	v, err := value.FromJSON(nil, e.raw)
	if err != nil || !fits(v) {
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
