package wire

import (
	"strings"
	"unicode/utf8"

	"github.com/turncore/turncore/abi/value"
)

// Texts makes strings of the texts of a value. Short ones share room, as each would take an allocation of its own. The
// zero value has no room.
type Texts struct {
	room  strings.Builder
	bytes int // of room, which is made for the first short text
}

// A string keeps all of the room that it shares.
const (
	longText = 64
	mostText = 1 << 10 // bytes of room
)

// TextsOf has room for the texts of a value: keys of Go's structs and the heads of what it has are no texts.
func TextsOf(v []byte) Texts { return Texts{bytes: min(len(v)*2/3, mostText)} }

// String is a text as a string of its own: it shares no memory with the value. Invalid UTF-8 becomes U+FFFD.
func (t *Texts) String(text []byte) string {
	if len(text) > longText || len(text) > t.bytes || !utf8.Valid(text) {
		return value.UTF8(string(text))
	}
	if t.room.Cap() == 0 {
		t.room.Grow(t.bytes)
	}
	at := t.room.Len()
	t.room.Write(text)
	t.bytes -= len(text)
	return t.room.String()[at:]
}
