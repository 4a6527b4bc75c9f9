package exchange

import (
	"bytes"
	"slices"
	"strings"
)

// The replacement of a secret, and the shortest secret to look for, in bytes: a shorter one would be found in
// ordinary text.
const (
	redacted  = "[redacted]"
	minSecret = 8
)

// maxEscapes is how many backslashes in a row may stand before a character of the secret: JSON within JSON within JSON
// doubles them each time.
const maxEscapes = 15

// redactor takes a secret out of what goes to the core: as it is, and as JSON writes it with escapes, however deep. A
// nil one takes nothing out.
type redactor struct {
	secret []byte
	held   []byte    // end of what was written that may be the beginning of the secret
	next   *redactor // of a part of the secret, in what is left; nil for none
}

// schemes are words before a secret that are no part of one, in small letters. JavaScript has the same.
var schemes = []string{"basic", "bearer"}

// newRedactor returns the redactor of a header's value: of what follows the scheme in "Bearer token". The first word of
// another value may be a scheme or a part of the secret: it is looked for with it and without it.
func newRedactor(value string) *redactor {
	value = strings.TrimSpace(value)
	first, rest, spaced := strings.Cut(value, " ")
	rest = strings.TrimSpace(rest)
	var part *redactor
	if spaced && len(rest) >= minSecret {
		part = &redactor{secret: []byte(rest)}
	}
	if spaced && slices.Contains(schemes, strings.ToLower(first)) {
		return part
	}
	if len(value) < minSecret {
		return nil
	}
	return &redactor{secret: []byte(value), next: part}
}

// text returns a text without the secret.
func (r *redactor) text(s string) string {
	if r == nil {
		return s
	}
	whole := redactor{secret: r.secret}
	return r.next.text(string(whole.write([]byte(s))) + string(whole.rest()))
}

// write takes the next part of a body and returns what can be passed on, which is valid until data changes. What may be
// the beginning of the secret waits for the next part.
func (r *redactor) write(data []byte) []byte {
	if r == nil || len(data) == 0 {
		return data
	}
	return r.next.write(r.replace(data))
}

// replace takes this secret out of the next part, and not the next one.
func (r *redactor) replace(data []byte) []byte {
	if len(r.held) > 0 {
		data = slices.Concat(r.held, data)
		r.held = nil
	}
	var done []byte
	from := 0
	for i := 0; i < len(data); i++ {
		if data[i] != r.secret[0] && data[i] != '\\' {
			continue
		}
		n, cut := r.match(data[i:])
		if cut {
			r.held = bytes.Clone(data[i:])
			data = data[:i]
			break
		}
		if n > 0 {
			done = append(append(done, data[from:i]...), redacted...)
			from = i + n
			i = from - 1
		}
	}
	if done == nil {
		return data
	}
	return append(done, data[from:]...)
}

// match returns how many bytes the secret takes that data begins with, 0 if it begins with something else. cut tells
// that data ends before that can be told.
func (r *redactor) match(data []byte) (n int, cut bool) {
	for at := 0; at < len(r.secret); at++ {
		c := r.secret[at]
		escapes := backslashes(data[n:min(n+maxEscapes, len(data))])
		n += escapes
		switch {
		case n == len(data):
			return 0, true
		case escapes > 0 && data[n] == 'u' && c < 0x80:
			size, cut := hasCode(data[n:], c)
			switch {
			case cut:
				return 0, true
			case size > 0:
				n += size
			case c == 'u':
				n++
			case c == '\\':
				at += backslashes(r.secret[at+1:])
			default:
				return 0, false
			}
		case c == '\\' && escapes > 0:
			at += backslashes(r.secret[at+1:])
		case data[n] == c:
			n++
		default:
			return 0, false
		}
	}
	return n, false
}

// backslashes returns how many of them data begins with.
func backslashes(data []byte) int { return len(data) - len(bytes.TrimLeft(data, `\`)) }

// hasCode returns the size of the escape, without its backslash, that data begins with if that stands for c, 0 if it
// does not. cut tells that data ends before that can be told.
func hasCode(data []byte, c byte) (size int, cut bool) {
	const digits = "0123456789abcdef"
	for i, want := range []byte{'u', '0', '0', digits[c>>4], digits[c&15]} {
		switch {
		case i == len(data):
			return 0, true
		case data[i] != want && (i == 0 || data[i]|0x20 != want || data[i] < 'A'):
			return 0, false
		}
	}
	return 5, false
}

// rest returns what waits, at the end of a body.
func (r *redactor) rest() []byte {
	if r == nil {
		return nil
	}
	held := r.held
	if r.next == nil {
		return held
	}
	return append(bytes.Clone(r.next.write(held)), r.next.rest()...)
}
