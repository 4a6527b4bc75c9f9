package chat

import (
	"bytes"
	"unsafe"
)

// template is a chunk with holes. The chunks of a stream are long and differ little: in a piece of text, and with some
// endpoints in a string of noise at the end. A chunk that differs from the previous one only there is not scanned
// again; the unchanged rest has had its effect.
type template struct {
	before []byte // up to the text's opening quote
	middle []byte // from the text's closing quote on, up to the noise's opening quote or to the end
	after  []byte // from the noise's closing quote on
	noisy  bool
	source int // source of the text: inMessage, or as in thought
	usable bool
}

const inMessage = -2

// pieces are the parts of a chunk that can become holes: its only piece of text, and its last unread string.
type pieces struct {
	text   []byte // part of the chunk
	noise  []byte // part of the chunk, with its quotes
	source int
	count  int // number of effects that cannot simply be repeated
}

// note records that text was read from the chunk.
func (p *pieces) note(source int, text []byte) {
	p.text, p.source = text, source
	p.count++
}

// learn makes a template from a chunk that was scanned without an error.
func (t *template) learn(chunk []byte, p *pieces) {
	t.usable = false
	at, ok := offset(chunk, p.text)
	if p.count != 1 || !ok || at == 0 {
		return
	}
	end := at + len(p.text)
	if chunk[at-1] != '"' || end >= len(chunk) || chunk[end] != '"' {
		return
	}
	t.before = append(t.before[:0], chunk[:at-1]...)
	t.middle, t.after = t.middle[:0], t.after[:0]
	noise, ok := offset(chunk, p.noise)
	if t.noisy = ok && noise > end; t.noisy {
		t.middle = append(t.middle, chunk[end+1:noise]...)
		t.after = append(t.after, chunk[noise+len(p.noise):]...)
	} else {
		t.middle = append(t.middle, chunk[end+1:]...)
	}
	t.source, t.usable = p.source, true
}

// match returns the text, as a JSON string, of a chunk that differs from the template only in the holes.
func (t *template) match(chunk []byte) (text []byte, ok bool) {
	if !t.usable || !bytes.HasPrefix(chunk, t.before) {
		return nil, false
	}
	text, rest := cutString(chunk[len(t.before):])
	if text == nil || !bytes.HasPrefix(rest, t.middle) {
		return nil, false
	}
	rest = rest[len(t.middle):]
	if !t.noisy {
		return text, len(rest) == 0
	}
	noise, rest := cutString(rest)
	for _, c := range noise {
		if c < ' ' || c > '~' || c == '\\' {
			return nil, false // it may be malformed
		}
	}
	return text, noise != nil && bytes.Equal(rest, t.after)
}

// cutString splits the string at the start of b from the rest, nil if there is none. It does not check the string's
// contents.
func cutString(b []byte) (s, rest []byte) {
	if len(b) == 0 || b[0] != '"' {
		return nil, nil
	}
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return b[: i+1 : i+1], b[i+1:]
		}
	}
	return nil, nil
}

// offset returns the position of part within whole; ok is false if it is not inside.
func offset(whole, part []byte) (int, bool) {
	if len(part) == 0 || len(whole) == 0 {
		return 0, false
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(part))) - uintptr(unsafe.Pointer(unsafe.SliceData(whole)))
	if at > uintptr(len(whole)-len(part)) || len(part) > len(whole) {
		return 0, false
	}
	return int(at), true
}
