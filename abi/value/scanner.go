package value

import "iter"

// SyntaxError says where a text is not JSON.
type SyntaxError struct {
	Offset int    // byte offset of the fault
	Reason string // description of the fault
	deep   bool
}

// Error names the reason and the byte offset.
func (e *SyntaxError) Error() string {
	return "json: " + e.Reason + " at byte " + string(appendDecimal(nil, int64(e.Offset)))
}

// Is makes the error of a text that nests deeper than [MaxDepth] an [ErrTooDeep].
func (e *SyntaxError) Is(target error) bool { return e.deep && target == ErrTooDeep }

// Scanner reads a JSON text from front to back without building anything: reading three fields costs only those three.
//
// A Scanner is positioned before one value: first the text's, then the current member or element of a loop over
// [Scanner.Members] or [Scanner.Items]. Every reading method consumes that value. A method that finds another kind of
// value skips it and says so; a value that the loop's body does not read is skipped, too. So a body reads the members
// it knows, whatever the order, absence or type of the others. A break skips the rest of the container.
//
// The first syntax error ends all loops; from then on every method behaves as if there were no value, and [Scanner.Err]
// returns the error. The whole text is checked as far as it is read, including skipped parts.
//
// The zero Scanner reads an empty text. A Scanner reused with [Scanner.Reset] allocates nothing, except to grow its
// buffer for strings with escapes.
type Scanner struct {
	text  []byte
	pos   int
	depth int
	ready bool // positioned before a value
	err   *SyntaxError
	buf   []byte
}

// NewScanner returns a Scanner for a JSON text. It keeps text, and does not change it.
func NewScanner(text []byte) Scanner { return Scanner{text: text, ready: true} }

// Reset positions s before the value of another text and keeps its buffer.
func (s *Scanner) Reset(text []byte) { *s = Scanner{text: text, ready: true, buf: s.buf} }

// Err returns the first [*SyntaxError] so far, or nil.
func (s *Scanner) Err() error {
	if s.err == nil {
		return nil
	}
	return s.err
}

// End skips the rest of the text's value and returns an error if that value is malformed, or followed by anything but
// white space. Call it after the loops.
func (s *Scanner) End() error {
	s.Skip()
	if s.peek() != 0 || s.pos < len(s.text) {
		s.fail("text after the value")
	}
	return s.Err()
}

//go:noinline
func (s *Scanner) fail(reason string) {
	if s.err == nil {
		s.err = &SyntaxError{Offset: s.pos, Reason: reason}
	}
	s.ready = false
}

// failValue fails where a value is missing or incomplete.
func (s *Scanner) failValue() {
	if s.pos >= len(s.text) {
		s.fail("text ends early")
	} else {
		s.fail("unexpected character")
	}
}

func (s *Scanner) failDeep() {
	s.fail("nested too deeply")
	s.err.deep = true
}

// peek skips white space and returns the next byte, 0 at the end.
func (s *Scanner) peek() byte {
	s.pos = spaceEnd(s.text, s.pos)
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

// meets skips white space and reports whether c comes next.
func (s *Scanner) meets(c byte) bool {
	return s.pos < len(s.text) && s.text[s.pos] == c || s.peek() == c
}

// spaceEnd returns the end of the white space at t[i:].
func spaceEnd(t []byte, i int) int {
	for i < len(t) && (t[i] == ' ' || t[i] == '\n' || t[i] == '\r' || t[i] == '\t') {
		i++
	}
	return i
}

// next returns the first byte of the value, 0 if there is none.
func (s *Scanner) next() byte {
	if !s.ready {
		return 0
	}
	return s.peek()
}

// Kind returns the kind of the current value, by its first byte, and consumes nothing. It is [KindFloat] for every
// number and [KindInvalid] if there is no value.
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

// Members loops over the members of an object, in order and with duplicates, positioned before the value of each. It
// yields the key, which is valid until the next string is read. A value that is not an object is skipped.
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

// Items loops over the elements of an array, in order, positioned before each. It yields their index. A value that is
// not an array is skipped.
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

// enter consumes the opening bracket and reports whether the container has a first entry.
func (s *Scanner) enter(closing byte) bool {
	s.ready = false
	if s.depth++; s.depth > MaxDepth {
		s.failDeep()
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
	if !s.meets('"') {
		s.failValue()
		return nil, false, false
	}
	if raw, plain, ok = s.scanString(); !ok {
		return nil, false, false
	}
	if !s.meets(':') {
		s.failValue()
		return nil, false, false
	}
	s.pos++
	s.ready = true
	return raw, plain, true
}

// more consumes the separator after an entry and reports whether there is another entry.
func (s *Scanner) more(closing byte) bool {
	s.ready = false
	if s.err != nil {
		return false
	}
	if s.meets(',') {
		s.pos++
		return true
	}
	if s.meets(closing) {
		s.pos++
		s.depth--
		return false
	}
	s.failValue()
	return false
}

// Skip consumes the value, whatever it is. It does nothing if the value has been consumed.
func (s *Scanner) Skip() {
	if !s.ready {
		return
	}
	switch c := s.peek(); c {
	case '{', '[':
		s.skipContainer()
	case '"':
		s.scanString()
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		if c == '-' || c-'0' <= 9 {
			s.scanNumber(false)
		} else {
			s.failValue()
		}
	}
	s.ready = false
}

// skipContainer consumes an object or an array without recursion: most of a text is skipped, and calls are expensive in
// WebAssembly.
func (s *Scanner) skipContainer() {
	var objects [MaxDepth/64 + 1]uint64 // which of the open containers are objects
	t, i, depth := s.text, s.pos, s.depth
	for {
		// Before a value.
		i = spaceEnd(t, i)
		s.pos = i
		more := false // another entry follows
		switch {
		case i < len(t) && (t[i] == '{' || t[i] == '['):
			if depth++; depth > MaxDepth {
				s.failDeep()
				return
			}
			closing := t[i] + 2 // as ASCII has it
			if bit := uint64(1) << (depth & 63); closing == '}' {
				objects[depth>>6] |= bit
			} else {
				objects[depth>>6] &^= bit
			}
			i = spaceEnd(t, i+1)
			if more = i >= len(t) || t[i] != closing; !more {
				depth--
				i++
			}
		case i < len(t) && t[i] == '"':
			s.scanString()
			i = s.pos
		default:
			s.ready = true
			s.Skip()
			i = s.pos
		}
		if s.err != nil {
			return
		}
		// After a value, unless a container has just been opened.
		for !more {
			if depth == s.depth {
				s.pos = i
				return
			}
			i = spaceEnd(t, i)
			closing := byte(']')
			if objects[depth>>6]>>(depth&63)&1 != 0 {
				closing = '}'
			}
			switch {
			case i < len(t) && t[i] == ',':
				more = true
			case i < len(t) && t[i] == closing:
				depth--
			default:
				s.pos = i
				s.failValue()
				return
			}
			i++
		}
		if objects[depth>>6]>>(depth&63)&1 != 0 {
			s.pos = i
			if _, _, ok := s.key(); !ok {
				return
			}
			i = s.pos
		}
	}
}

func (s *Scanner) literal(word string) {
	s.ready = false
	if rest := s.text[s.pos:]; len(rest) < len(word) || string(rest[:len(word)]) != word {
		s.fail("misspelt literal")
		return
	}
	s.pos += len(word)
}

// Raw consumes the value and returns its text, nil if there is none.
func (s *Scanner) Raw() []byte {
	s.next()
	start, ready := s.pos, s.ready
	s.Skip()
	if !ready || s.err != nil {
		return nil
	}
	return s.text[start:s.pos:s.pos]
}

// Bool consumes the value and returns it if it is true or false.
func (s *Scanner) Bool() (b, ok bool) {
	c := s.next()
	s.Skip()
	return c == 't' && s.err == nil, (c == 't' || c == 'f') && s.err == nil
}

// Text consumes the value and returns the text of a string: a part of the JSON text if the string has no escapes, and
// otherwise of a buffer that the next string or key overwrites. Invalid UTF-8 and lone surrogates become U+FFFD.
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

// AppendText consumes the value and appends the text of a string to dst, as [Scanner.Text] would return it.
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
