// Package partial reads a JSON text that is still coming: what a model writes as structured output. At any time it
// gives the value so far, as JSON with everything closed that is open.
//
// Nothing is shown that the rest of the text could make something else: a key comes with the start of its value, a
// number, true, false and null when what follows them has come, and a string grows by whole characters and whole
// escapes. So what is shown only grows: members and elements are added at the end, and a string at the end becomes
// longer.
package partial

import (
	"strconv"
	"unicode/utf8"

	"github.com/turncore/turncore/abi"
)

// Error tells why a text is no JSON.
type Error struct {
	Offset int    // bytes before the place
	Reason string // what is wrong there
}

// Error names the reason and the byte offset.
func (e *Error) Error() string {
	return "partial: " + e.Reason + " at byte " + strconv.Itoa(e.Offset)
}

// Reader reads one JSON text. The zero Reader is ready for use. With an error it stays what it was before the byte that
// is wrong, and reads no more.
type Reader struct {
	text    []byte // what is certain, without white space between values
	pending []byte // what is not certain yet: a comma, a key, a number, a word
	tail    []byte // the part of an escape or of a character that a string or a key ends with
	closing []byte // what closes what is open, the outermost first, and a quote behind it for a string
	out     []byte // the same the other way round
	offset  int
	state   state
	literal string // the word whose rest is to come
	err     *Error
}

type state uint8

const (
	atValue   state = iota // before a value
	atFirst                // before the first element of an array, or its end
	atMember               // before the first key of an object, or its end
	atKey                  // before a key
	inKey                  // in a key
	inString               // in a string
	atColon                // behind a key
	inWord                 // in true, false or null
	behind                 // behind a value
	minus                  // behind the minus of a number
	zero                   // behind a leading zero
	digits                 // in the digits before the point
	point                  // behind the point
	fraction               // in the digits behind it
	exponent               // behind the e
	sign                   // behind the sign of the exponent
	exponents              // in its digits
)

// Write takes the next part of the text. The error is an [*Error]; it is the same in all further calls.
func (r *Reader) Write(chunk []byte) error {
	for i := 0; i < len(chunk) && r.err == nil; {
		if r.state == inString && len(r.tail) == 0 {
			// Most of most texts: a run of characters that stand for themselves.
			end := i
			for end < len(chunk) && chunk[end] >= ' ' && chunk[end] < utf8.RuneSelf && chunk[end] != '"' && chunk[end] != '\\' {
				end++
			}
			r.text = append(r.text, chunk[i:end]...)
			r.offset += end - i
			if i = end; i == len(chunk) {
				break
			}
		}
		if r.next(chunk[i]) {
			r.offset++
			i++
		}
	}
	return r.Err()
}

// End says that the text has ended: a number that it ends with is complete. A text that ends early is an error; what
// came of its value can still be had.
func (r *Reader) End() error {
	if r.err == nil && r.ended() {
		r.done()
	}
	if r.err == nil && !r.Complete() {
		r.fail("text ends early")
	}
	return r.Err()
}

// Err returns the error that reading came upon so far, or nil.
func (r *Reader) Err() error {
	if r.err == nil {
		return nil
	}
	return r.err
}

// Complete tells whether the value is complete. A number on its own is complete at the end of the text.
func (r *Reader) Complete() bool { return r.state == behind && len(r.closing) == 0 }

// Value returns the value so far in two parts, which together are JSON: the part that remains as it is and grows, and
// what closes what is open. Both are empty as long as nothing of the value is certain. They are valid until the next
// Write.
func (r *Reader) Value() (text, closing []byte) {
	r.out = r.out[:0]
	for i := len(r.closing) - 1; i >= 0; i-- {
		r.out = append(r.out, r.closing[i])
	}
	return r.text, r.out
}

// AppendValue appends the value so far. It costs as much as the value is long: who follows a long text takes what is
// new in the first part of [Reader.Value].
func (r *Reader) AppendValue(dst []byte) []byte {
	text, closing := r.Value()
	return append(append(dst, text...), closing...)
}

//go:noinline
func (r *Reader) fail(reason string) {
	if r.err == nil {
		r.err = &Error{Offset: r.offset, Reason: reason}
	}
}

// next takes a byte. It returns false if the byte is still to be taken, or is an error.
func (r *Reader) next(c byte) bool {
	switch r.state {
	case inKey, inString:
		return r.inText(c)
	case inWord:
		if c != r.literal[0] {
			r.fail("misspelt literal")
			return false
		}
		r.pending = append(r.pending, c)
		if r.literal = r.literal[1:]; r.literal == "" {
			r.done()
		}
		return true
	case minus, zero, digits, point, fraction, exponent, sign, exponents:
		return r.inNumber(c)
	}
	if c == ' ' || c == '\n' || c == '\r' || c == '\t' {
		return true
	}
	switch r.state {
	case atValue, atFirst:
		if c == ']' && r.state == atFirst {
			return r.leave(c)
		}
		return r.value(c)
	case atMember, atKey:
		if c == '}' && r.state == atMember {
			return r.leave(c)
		}
		if c == '"' {
			r.pending = append(r.pending, c)
			r.state = inKey
			return true
		}
	case atColon:
		if c == ':' {
			r.pending = append(r.pending, c)
			r.state = atValue
			return true
		}
	case behind:
		if len(r.closing) == 0 {
			r.fail("text after the value")
			return false
		}
		closing := r.closing[len(r.closing)-1]
		if c == closing {
			return r.leave(c)
		}
		if c == ',' {
			r.pending = append(r.pending, c)
			if r.state = atValue; closing == '}' {
				r.state = atKey
			}
			return true
		}
	}
	r.fail("unexpected character")
	return false
}

// value takes the first byte of a value.
func (r *Reader) value(c byte) bool {
	switch {
	case c == '{' || c == '[':
		if len(r.closing) == abi.MaxValueDepth {
			r.fail("nested too deeply")
			return false
		}
		r.pending = append(r.pending, c)
		r.certain()
		r.closing = append(r.closing, c+2) // as ASCII has it
		if r.state = atFirst; c == '{' {
			r.state = atMember
		}
		return true
	case c == '"':
		r.pending = append(r.pending, c)
		r.certain()
		r.closing = append(r.closing, c)
		r.state = inString
		return true
	case c == '-':
		r.state = minus
	case c == '0':
		r.state = zero
	case c >= '1' && c <= '9':
		r.state = digits
	case c == 't':
		r.state, r.literal = inWord, "rue"
	case c == 'f':
		r.state, r.literal = inWord, "alse"
	case c == 'n':
		r.state, r.literal = inWord, "ull"
	default:
		r.fail("unexpected character")
		return false
	}
	r.pending = append(r.pending, c)
	return true
}

// certain makes what is pending a part of the value.
func (r *Reader) certain() {
	r.text = append(r.text, r.pending...)
	r.pending = r.pending[:0]
}

// done ends a number or a word.
func (r *Reader) done() {
	r.certain()
	r.state = behind
}

// leave ends a container, or a string.
func (r *Reader) leave(c byte) bool {
	r.text = append(r.text, c)
	r.closing = r.closing[:len(r.closing)-1]
	r.state = behind
	return true
}

// ended tells whether what is pending is a number that can end here.
func (r *Reader) ended() bool {
	return r.state == zero || r.state == digits || r.state == fraction || r.state == exponents
}

// inNumber takes a byte of a number, or finds that the number has ended before it.
func (r *Reader) inNumber(c byte) bool {
	next := behind
	digit := c >= '0' && c <= '9'
	switch {
	case r.state == minus && c == '0':
		next = zero
	case digit && (r.state == minus || r.state == digits):
		next = digits
	case digit && (r.state == point || r.state == fraction):
		next = fraction
	case digit && r.state != zero:
		next = exponents
	case c == '.' && (r.state == zero || r.state == digits):
		next = point
	case c|0x20 == 'e' && (r.state == zero || r.state == digits || r.state == fraction):
		next = exponent
	case (c == '+' || c == '-') && r.state == exponent:
		next = sign
	}
	switch {
	case next != behind:
		r.pending = append(r.pending, c)
		r.state = next
		return true
	case r.ended() && !digit:
		r.done()
	default:
		r.fail("malformed number")
	}
	return false
}

// inText takes a byte of a string or a key. What is not a whole character yet waits in the tail.
func (r *Reader) inText(c byte) bool {
	n := len(r.tail)
	switch {
	case n == 0 && c == '"':
		if r.state == inString {
			return r.leave(c)
		}
		r.pending = append(r.pending, c)
		r.state = atColon
		return true
	case n == 0 && c < ' ':
		r.fail("control character in a string")
		return false
	case n == 0 && c < utf8.RuneSelf && c != '\\':
		r.tail = append(r.tail, c)
		r.flush(1)
		return true
	case n > 0 && r.tail[0] == '\\':
		return r.inEscape(c, n)
	case n > 0 && utf8.RuneStart(c): // what waits is no character, and never will be
		r.flush(n)
		return false
	}
	r.tail = append(r.tail, c)
	if c != '\\' && utf8.FullRune(r.tail) {
		r.flush(n + 1)
	}
	return true
}

const unit = len(`\u0000`)

// inEscape takes a byte behind n bytes of an escape. The first half of a pair waits for the second one.
func (r *Reader) inEscape(c byte, n int) bool {
	hex := c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
	switch {
	case n == 1 && (c == '"' || c == '\\' || c == '/' || c == 'b' || c == 'f' || c == 'n' || c == 'r' || c == 't'):
		r.tail = append(r.tail, c)
		r.flush(n + 1)
		return true
	case n == unit && c != '\\', n == unit+1 && c != 'u':
		r.flush(unit)
		return false
	case n%unit == 0, n%unit == 1 && c == 'u', n%unit > 1 && hex:
		r.tail = append(r.tail, c)
	default:
		r.fail("invalid escape")
		return false
	}
	if n++; n%unit == 0 {
		if last := r.tail[n-unit:]; last[2]|0x20 != 'd' || last[3] != '8' && last[3] != '9' && last[3]|0x20 != 'a' && last[3]|0x20 != 'b' {
			r.flush(n)
		} else {
			r.flush(n - unit)
		}
	}
	return true
}

// flush takes n bytes of the tail up.
func (r *Reader) flush(n int) {
	if r.state == inString {
		r.text = append(r.text, r.tail[:n]...)
	} else {
		r.pending = append(r.pending, r.tail[:n]...)
	}
	r.tail = append(r.tail[:0], r.tail[n:]...)
}
