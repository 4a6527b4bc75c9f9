package value

import (
	"iter"
	"unicode/utf8"
)

// SyntaxError tells where a text is no JSON text.
type SyntaxError struct {
	Offset int    // bytes before the place
	Reason string // what is wrong there
	deep   bool
}

// Error names the reason and the byte offset.
func (e *SyntaxError) Error() string {
	return "json: " + e.Reason + " at byte " + string(appendDecimal(nil, int64(e.Offset)))
}

// Is makes a text that nests deeper than [MaxDepth] an [ErrTooDeep].
func (e *SyntaxError) Is(target error) bool { return e.deep && target == ErrTooDeep }

// Scanner reads a JSON text from front to back, without building anything: who needs three fields of a text pays for
// three fields.
//
// A Scanner stands before one value: the text's at first, then the member or element that the loop over [Scanner.Members]
// or [Scanner.Items] has reached. Every reading method consumes that value. One that meets another kind of value skips
// it and says so, and a value that the loop's body left alone is skipped. So a body reads the members it knows, and the
// order, absence or type of any other is no concern of its. A break skips the rest of the container.
//
// The first syntax error ends all loops; from then on every method answers as if there was no value, and [Scanner.Err]
// tells. The whole text is checked as far as it is read, skipped parts included.
//
// The zero Scanner reads an empty text. One Scanner used again with [Scanner.Reset] allocates nothing, except to
// grow its buffer for strings that hold escapes.
type Scanner struct {
	text  []byte
	pos   int
	depth int
	ready bool // stands before a value
	err   *SyntaxError
	buf   []byte
}

// NewScanner returns a Scanner before the value of a JSON text. It keeps text, and does not change it.
func NewScanner(text []byte) Scanner { return Scanner{text: text, ready: true} }

// Reset makes s a Scanner before the value of another text and keeps its buffer.
func (s *Scanner) Reset(text []byte) { *s = Scanner{text: text, ready: true, buf: s.buf} }

// Err returns the [*SyntaxError] that reading came upon so far, or nil.
func (s *Scanner) Err() error {
	if s.err == nil {
		return nil
	}
	return s.err
}

// End skips what is left of the text's value and returns an error when that value is malformed or followed by
// anything but white space. It is meant for after the loops.
func (s *Scanner) End() error {
	s.Skip()
	if s.peek() != 0 || s.pos < len(s.text) {
		s.fail("text after the value")
	}
	return s.Err()
}

func (s *Scanner) fail(reason string) {
	if s.err == nil {
		s.err = &SyntaxError{Offset: s.pos, Reason: reason}
	}
	s.ready = false
}

// failValue fails at a place where a value, or more of one, is needed.
func (s *Scanner) failValue() {
	if s.pos >= len(s.text) {
		s.fail("text ends early")
	} else {
		s.fail("unexpected character")
	}
}

// peek skips white space and returns the byte after it, 0 at the end.
func (s *Scanner) peek() byte {
	for ; s.pos < len(s.text); s.pos++ {
		switch c := s.text[s.pos]; c {
		case ' ', '\n', '\r', '\t':
		default:
			return c
		}
	}
	return 0
}

// next tells which byte the value starts with, and 0 when there is none to read.
func (s *Scanner) next() byte {
	if !s.ready {
		return 0
	}
	return s.peek()
}

// Kind returns the kind of the value that s stands before, by its first byte, and consumes nothing. It is [KindFloat]
// for every number and [KindInvalid] when there is no value.
func (s *Scanner) Kind() Kind {
	switch c := s.next(); {
	case c == '{':
		return KindMap
	case c == '[':
		return KindList
	case c == '"':
		return KindString
	case c == '-' || c >= '0' && c <= '9':
		return KindFloat
	case c == 't' || c == 'f':
		return KindBool
	case c == 'n':
		return KindNil
	}
	return KindInvalid
}

// Members loops over the members of an object, in order and with duplicates, and stands before the value of each. It
// yields the key, which is valid until the next string is read. A value that is no object is skipped.
func (s *Scanner) Members() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) { s.members(yield) }
}

func (s *Scanner) members(yield func([]byte) bool) {
	if s.next() != '{' {
		s.Skip()
		return
	}
	more := true
	for ok := s.enter('}'); ok; ok = s.more('}') {
		raw, plain, ok := s.key()
		if !ok {
			return
		}
		if more {
			more = yield(s.unescaped(raw, plain))
		}
		s.Skip()
	}
}

// Items loops over the elements of an array, in order, and stands before each. It yields their index. A value that is
// no array is skipped.
func (s *Scanner) Items() iter.Seq[int] {
	return func(yield func(int) bool) { s.items(yield) }
}

func (s *Scanner) items(yield func(int) bool) {
	if s.next() != '[' {
		s.Skip()
		return
	}
	more, i := true, 0
	for ok := s.enter(']'); ok; ok = s.more(']') {
		s.ready = true
		if more {
			more = yield(i)
		}
		i++
		s.Skip()
	}
}

// enter consumes the opening bracket that s stands before and tells whether the container has a first entry.
func (s *Scanner) enter(closing byte) bool {
	s.ready = false
	if s.depth++; s.depth > MaxDepth {
		s.fail("nested too deeply")
		s.err.deep = true
		return false
	}
	s.pos++
	if s.peek() == closing {
		s.pos++
		s.depth--
		return false
	}
	return true
}

// key consumes a key and its colon.
func (s *Scanner) key() (raw []byte, plain, ok bool) {
	if s.peek() != '"' {
		s.failValue()
		return nil, false, false
	}
	if raw, plain, ok = s.scanString(); !ok {
		return nil, false, false
	}
	if s.peek() != ':' {
		s.failValue()
		return nil, false, false
	}
	s.pos++
	s.ready = true
	return raw, plain, true
}

// more consumes what follows an entry and tells whether there is another one.
func (s *Scanner) more(closing byte) bool {
	s.ready = false
	if s.err != nil {
		return false
	}
	switch s.peek() {
	case ',':
		s.pos++
		return true
	case closing:
		s.pos++
		s.depth--
		return false
	}
	s.failValue()
	return false
}

// Skip consumes the value, whatever it is. It does nothing when the value has been read already.
func (s *Scanner) Skip() {
	switch c := s.next(); c {
	case '{':
		for ok := s.enter('}'); ok; ok = s.more('}') {
			s.key()
			s.Skip()
		}
	case '[':
		for ok := s.enter(']'); ok; ok = s.more(']') {
			s.ready = true
			s.Skip()
		}
	case '"':
		s.scanString()
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		if c == '-' || c >= '0' && c <= '9' {
			s.scanNumber()
		} else if s.ready {
			s.failValue()
		}
	}
	s.ready = false
}

func (s *Scanner) literal(word string) {
	s.ready = false
	if rest := s.text[s.pos:]; len(rest) < len(word) || string(rest[:len(word)]) != word {
		s.fail("misspelt literal")
		return
	}
	s.pos += len(word)
}

// Raw consumes the value and returns the part of the text that it is, nil when there is none.
func (s *Scanner) Raw() []byte {
	s.next()
	start, ready := s.pos, s.ready
	s.Skip()
	if !ready || s.err != nil {
		return nil
	}
	return s.text[start:s.pos:s.pos]
}

// Bool consumes the value and returns it when it is true or false.
func (s *Scanner) Bool() (b, ok bool) {
	c := s.next()
	s.Skip()
	return c == 't' && s.err == nil, (c == 't' || c == 'f') && s.err == nil
}

// Text consumes the value and returns a string's text: a part of the JSON text when the string holds no escape, and
// otherwise of a buffer that the next string or key overwrites. What is not UTF-8, a lone surrogate included, is
// U+FFFD.
func (s *Scanner) Text() ([]byte, bool) {
	if s.next() != '"' {
		s.Skip()
		return nil, false
	}
	raw, plain, ok := s.scanString()
	if !ok {
		return nil, false
	}
	return s.unescaped(raw, plain), true
}

// AppendText consumes the value and appends a string's text to dst, as [Scanner.Text] would return it.
func (s *Scanner) AppendText(dst []byte) ([]byte, bool) {
	if s.next() != '"' {
		s.Skip()
		return dst, false
	}
	raw, plain, ok := s.scanString()
	if plain {
		return append(dst, raw...), ok
	}
	return appendUnescaped(dst, raw), ok
}

func (s *Scanner) unescaped(raw []byte, plain bool) []byte {
	if plain {
		return raw
	}
	s.buf = appendUnescaped(s.buf[:0], raw)
	return s.buf
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// scanString consumes the string that s stands before and returns what is between its quotes. plain says that this
// is already the text: it holds no escape and is UTF-8.
func (s *Scanner) scanString() (raw []byte, plain, ok bool) {
	s.ready = false
	t, i, plain := s.text, s.pos+1, true
	start, seen := i, uint64(0)
	for {
		// Eight bytes at a time for as long as none of them is a quote, a backslash or a control character.
		for i+8 <= len(t) {
			b := t[i : i+8 : i+8]
			x := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
				uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
			quote, slash := x^ones*'"', x^ones*'\\'
			if ((x-ones*' ')&^x|(quote-ones)&^quote|(slash-ones)&^slash)&highs != 0 {
				break
			}
			seen |= x
			i += 8
		}
		c := byte(0)
		for ; i < len(t); i++ {
			if c = t[i]; c == '"' || c == '\\' || c < ' ' {
				break
			}
			seen |= uint64(c)
		}
		s.pos = i
		switch {
		case i >= len(t):
			s.fail("text ends early")
			return nil, false, false
		case c == '"':
			s.pos++
			raw = t[start:i:i]
			return raw, plain && (seen&highs == 0 || utf8.Valid(raw)), true
		case c != '\\':
			s.fail("control character in a string")
			return nil, false, false
		}
		plain = false
		size := escapeSize(t[i+1:])
		if size == 0 {
			s.fail("invalid escape")
			return nil, false, false
		}
		i += 1 + size
	}
}

// escapeSize returns how many bytes after a backslash belong to the escape, and 0 when they are none.
func escapeSize(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 1
	case 'u':
		if len(b) >= 5 && hex4(b[1:5]) >= 0 {
			return 5
		}
	}
	return 0
}

// hex4 returns the number that four hexadecimal digits are, and -1 when one is none.
func hex4(b []byte) rune {
	r := rune(0)
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// appendUnescaped appends the text of a string whose escapes are valid.
func appendUnescaped(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		run := i
		for i < len(raw) && raw[i] != '\\' {
			i++
		}
		if part := raw[run:i]; utf8.Valid(part) {
			dst = append(dst, part...)
		} else {
			dst = appendUTF8(dst, part)
		}
		if i+1 >= len(raw) {
			break
		}
		c := raw[i+1]
		i += 2
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r := hex4(raw[i:])
			i += 4
			if r>>10 == 0xd800>>10 && i+6 <= len(raw) && raw[i] == '\\' && raw[i+1] == 'u' {
				if low := hex4(raw[i+2:]); low>>10 == 0xdc00>>10 {
					r = (r-0xd800)<<10 + (low - 0xdc00) + 0x10000
					i += 6
				}
			}
			dst = utf8.AppendRune(dst, r)
			continue
		}
		dst = append(dst, c)
	}
	return dst
}
