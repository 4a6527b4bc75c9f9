// Package trust puts what a model reads between marks that say where it comes from, so that text from outside cannot
// pass for text of the application.
//
// A mark is an element whose name ends in a nonce that only the application and the model know. Who writes the text
// between the marks cannot close them, or open others, since he does not know the nonce. As a second line of defence
// whatever looks like one of our marks, or like a nonce, is made harmless in every text. It does not protect from a
// text that merely persuades.
package trust

import (
	"bytes"
	"unicode/utf8"

	"github.com/turncore/turncore/abi/value"
)

// noncePrefix is what nonces begin with, so that one is known when it is seen in a text.
const (
	noncePrefix = "tc"
	nonceDigits = 16
)

// Nonce derives the nonce of a record from a secret: 64 bits of a hash of the two, as text. The same record has the
// same nonce for as long as the secret is the same.
func Nonce(secret []byte, record ...[]byte) string {
	text := append(make([]byte, 0, 128), secret...)
	for _, part := range record {
		text = append(append(text, 0), part...)
	}
	sum := value.Hash(text)
	const digits = "0123456789abcdef"
	nonce := append(make([]byte, 0, len(noncePrefix)+nonceDigits), noncePrefix...)
	for _, b := range sum[:nonceDigits/2] {
		nonce = append(nonce, digits[b>>4], digits[b&15])
	}
	return string(nonce)
}

// IsNonce tells whether a text has the form of a nonce.
func IsNonce(text []byte) bool {
	return len(text) == len(noncePrefix)+nonceDigits && string(text[:len(noncePrefix)]) == noncePrefix && isDigits(text[len(noncePrefix):])
}

// Mark is an element around a text.
type Mark struct {
	Name       string // a nonce follows it, unless Nonce is empty
	Nonce      string
	Attributes []Attribute // those without a value are left out
}

// Attribute of a mark.
type Attribute struct {
	Name  string
	Value []byte
}

// Append appends a text between the marks, each on a line of its own. The text is appended as [AppendText] does.
func (m *Mark) Append(dst, text []byte) []byte {
	dst = AppendText(m.AppendOpen(dst), text)
	return m.AppendClose(dst)
}

// AppendOpen appends the mark that opens, with the end of its line.
func (m *Mark) AppendOpen(dst []byte) []byte {
	dst = m.appendName(append(dst, '<'))
	for _, a := range m.Attributes {
		if len(a.Value) > 0 {
			dst = append(append(append(dst, ' '), a.Name...), `="`...)
			dst = append(appendAttribute(dst, a.Value), '"')
		}
	}
	return append(dst, ">\n"...)
}

// AppendClose appends the mark that closes, on a line of its own.
func (m *Mark) AppendClose(dst []byte) []byte {
	return append(m.appendName(append(dst, "\n</"...)), '>')
}

func (m *Mark) appendName(dst []byte) []byte {
	dst = append(dst, m.Name...)
	if m.Nonce == "" {
		return dst
	}
	return append(append(dst, '_'), m.Nonce...)
}

// maxAttribute is how many bytes of a value an attribute shows.
const maxAttribute = 256

// appendAttribute appends the value of an attribute: one line, nothing in it that could end it.
func appendAttribute(dst, text []byte) []byte {
	if len(text) > maxAttribute {
		text = text[:maxAttribute]
		for i := 0; i < utf8.UTFMax && len(text) > 0 && !wholeEnd(text); i++ {
			text = text[:len(text)-1] // not half a character
		}
	}
	plain := make([]byte, 0, len(text)+16)
	for _, c := range text {
		switch {
		case c == '<':
			plain = append(plain, "&lt;"...)
		case c == '>':
			plain = append(plain, "&gt;"...)
		case c == '"':
			plain = append(plain, "&quot;"...)
		case c == '&':
			plain = append(plain, "&amp;"...)
		case c < ' ' || c == 0x7f:
			plain = append(plain, ' ')
		default:
			plain = append(plain, c)
		}
	}
	return appendPlain(dst, plain)
}

// names are what the names of marks begin with, in lower case.
var names = [...]string{
	"system_instructions", "memories", "memory_", "retrieved_", "untrusted_content", "trusted_content", "message_", "peer_agent_output", "thought_",
}

// AppendText appends a text in which nothing looks like a mark or like a nonce: the < of a mark becomes &lt;, and a
// nonce loses its form. Any other text is appended as it is. It takes time in proportion to the text.
func AppendText(dst, text []byte) []byte {
	done := 0                           // what is appended
	plain := bytes.IndexByte(text, '<') // the next <, or the end of the text
	for from := 0; from < len(text); {
		if plain < from {
			if plain = bytes.IndexByte(text[from:], '<'); plain >= 0 {
				plain += from
			}
		}
		if plain < 0 {
			plain = len(text)
		}
		at, size := plain, 1
		if wide := bytes.IndexByte(text[from:plain], 0xef); wide >= 0 { // what both other forms of a < begin with
			at, size = from+wide, len("\uff1c")
			if rest := text[at:]; !bytes.HasPrefix(rest, []byte("\uff1c")) && !bytes.HasPrefix(rest, []byte("\ufe64")) {
				from = at + 1
				continue
			}
		}
		if from = at + size; at < len(text) && isMark(text[from:]) {
			dst = append(appendPlain(dst, text[done:at]), "&lt;"...)
			done = from
		}
	}
	return appendPlain(dst, text[done:])
}

// isMark tells whether what follows a < could be read as one of our marks, however much white space, slashes and
// characters other than ASCII stand before its name, and whatever invisible ones stand in it.
func isMark(text []byte) bool {
	for len(text) > 0 {
		if c := text[0]; c > ' ' && c != '/' && c < 0x7f {
			break
		}
		r, size := utf8.DecodeRune(text)
		if r > '\uff0f' && r <= '\uff5e' || r == '\ufe64' {
			break // a fullwidth letter perhaps, or another <
		}
		text = text[size:]
	}
	for _, name := range names {
		if beginsWith(text, name) {
			return true
		}
	}
	return false
}

// beginsWith tells whether a text reads like one that begins with a name in lower case.
func beginsWith(text []byte, name string) bool {
	for i := range len(name) {
		rest, c := letter(text)
		if c != name[i] {
			return false
		}
		text = rest
	}
	return true
}

// letter returns the letter or underscore that a text begins with, in lower case, and what follows it. Invisible
// characters before it are skipped, and fullwidth forms are read as what they look like. It returns 0 for anything
// else.
func letter(text []byte) (rest []byte, c byte) {
	for len(text) > 0 {
		r, size := rune(text[0]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text)
		}
		text = text[size:]
		if r >= '\uff01' && r <= '\uff5e' { // fullwidth forms of ASCII
			r -= '\uff01' - '!'
		}
		switch {
		case r == '_' || r >= 'a' && r <= 'z':
			return text, byte(r)
		case r >= 'A' && r <= 'Z':
			return text, byte(r + 'a' - 'A')
		case !isInvisible(r):
			return text, 0
		}
	}
	return nil, 0
}

// isInvisible tells whether a character takes no room in a line: soft hyphens, joiners, marks of direction, selectors.
func isInvisible(r rune) bool {
	switch {
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xfeff, r == 0xffa0:
		return true
	case r >= 0x17b4 && r <= 0x17b5, r >= 0x180b && r <= 0x180f, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e:
		return true
	}
	return r >= 0x2060 && r <= 0x206f || r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0000 && r <= 0xe0fff
}

// appendPlain appends a text without a <, with an underscore in whatever looks like a nonce.
func appendPlain(dst, text []byte) []byte {
	for {
		i := bytes.Index(text, []byte(noncePrefix))
		if i < 0 {
			return append(dst, text...)
		}
		i += len(noncePrefix)
		dst = append(dst, text[:i]...)
		if text = text[i:]; isDigits(text) {
			dst = append(dst, '_')
		}
	}
}

func isDigits(text []byte) bool {
	if len(text) < nonceDigits {
		return false
	}
	for _, c := range text[:nonceDigits] {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// wholeEnd tells whether a text does not end in the middle of a character.
func wholeEnd(text []byte) bool {
	r, size := utf8.DecodeLastRune(text)
	return r != utf8.RuneError || size != 1
}
