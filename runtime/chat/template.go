package chat

import (
	"bytes"
	"unsafe"
)

// template is a chunk with holes. The chunks of a stream are long and differ in little: in the piece of text that each
// brings, and with some endpoints in a string of noise at the end. A chunk that is the one before but for these is not
// scanned again; what stays the same in it has done what it does.
type template struct {
	before []byte // up to the text's opening quote
	middle []byte // from the text's closing quote on, up to the noise's opening quote or to the end
	after  []byte // from the noise's closing quote on
	noisy  bool
	source int // of the text: inMessage, or as in thought
	usable bool
}

const inMessage = -2

// pieces is what of a chunk can become holes: the one piece of text in it, and the last string that nobody reads.
type pieces struct {
	text   []byte // part of the chunk
	noise  []byte // part of the chunk, with its quotes
	source int
	count  int // of what cannot simply be done once more
}

// note takes down that text has been read from the chunk.
func (p *pieces) note(source int, text []byte) {
	p.text, p.source = text, source
	p.count++
}

// learn makes a template of a chunk that was scanned without an error.
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

// match returns the text of a chunk that differs from the template in the holes only, as a JSON string.
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

// cutString cuts the string that b begins with from the rest, nil if it begins with none. What is between the quotes is
// not checked.
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

// offset tells where in whole the bytes of part lie; ok is false when they do not lie there.
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
