package engine

import (
	"bytes"
	"strings"
	"unicode"
)

// Bounds on the output kept of a step. A dying Go program first prints the reason, then its goroutines, which can be
// many: the head has the reason, the tail the last output.
const (
	headSize = 1 << 10
	tailSize = 3 << 10
)

// stderr keeps the beginning and the end of a guest's output during one step.
type stderr struct {
	head []byte
	ring []byte // the last bytes after head, oldest at next when full
	next int
	full bool
}

// Write never fails.
func (s *stderr) Write(p []byte) (int, error) {
	size := len(p)
	if room := headSize - len(s.head); room > 0 {
		n := min(room, len(p))
		s.head = append(s.head, p[:n]...)
		p = p[n:]
	}
	if s.ring == nil && len(p) > 0 {
		s.ring = make([]byte, tailSize)
	}
	if len(p) > tailSize {
		p = p[len(p)-tailSize:]
		s.full = true
	}
	for len(p) > 0 {
		n := copy(s.ring[s.next:], p)
		p = p[n:]
		if s.next += n; s.next == tailSize {
			s.next, s.full = 0, true
		}
	}
	return size, nil
}

func (s *stderr) reset() {
	if len(s.head) > 0 {
		*s = stderr{head: s.head[:0], ring: s.ring}
	}
}

// String returns the text; a line marks a missing middle.
func (s *stderr) String() string {
	tail := s.ring[:s.next]
	if s.full {
		tail = append(append([]byte(nil), s.ring[s.next:]...), s.ring[:s.next]...)
		if i := bytes.IndexByte(tail, '\n'); i >= 0 {
			tail = tail[i+1:]
		}
	}
	text := string(s.head)
	if s.full {
		text += "\n[…]\n"
	}
	return strings.TrimSpace(strings.Map(shown, strings.ToValidUTF8(text+string(tail), "\uFFFD")))
}

// shown replaces characters that would do something to a terminal that shows them.
func shown(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return '?'
	}
	return r
}
