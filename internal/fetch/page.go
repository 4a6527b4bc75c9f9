package fetch

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/fetch/address"
	"github.com/turncore/turncore/internal/fetch/htmltext"
)

// page is what came back.
type page struct {
	status  int
	headers [][2]string
	body    []byte
	cut     bool // there is more of it
}

// maxLink is the longest address of a link in a text, in bytes.
const maxLink = 1 << 10

// header returns the value of a header, "" if there is none.
//
//go:noinline
func (p *page) header(name string) string {
	for _, h := range p.headers {
		if h[0] == name {
			return h[1]
		}
	}
	return ""
}

// kind is the media type of the page in lower case, found out by its text if nobody says.
func (p *page) kind() string {
	kind := strings.ToLower(p.header("content-type"))
	if i := strings.IndexByte(kind, ';'); i >= 0 {
		kind = kind[:i]
	}
	switch text := bytes.TrimSpace(p.body); {
	case kind != "":
		return strings.TrimSpace(kind)
	case !utf8.Valid(whole(text)) || bytes.IndexByte(text, 0) >= 0:
		return "application/octet-stream"
	case len(text) > 0 && text[0] == '<':
		return "text/html"
	}
	return "text/plain"
}

// text returns the text of the page, of HTML what it says, or why it has none. It may be longer than most, but not
// much.
func (p *page) text(at address.Address, most int) (text []byte, problem string) {
	kind := p.kind()
	if len(p.body) > 0 && !isText(kind) {
		return nil, ", not text"
	}
	body := p.body
	if p.cut {
		body = whole(body)
	}
	charset := charsetOf(p.header("content-type"))
	if bytes.HasPrefix(body, []byte("\ufeff")) { // counts more than what is said
		body, charset = body[len("\ufeff"):], ""
	}
	switch {
	case charset == "" || charset == "utf-8" || charset == "utf8":
		text = []byte(value.UTF8(string(body)))
	case strings.Contains(" us-ascii ascii iso-8859-1 latin1 windows-1252 cp1252 ", " "+charset+" "): // all the same on the web
		text = make([]byte, 0, len(body))
		for _, c := range body {
			r := rune(c)
			if c >= 128 && c < 160 {
				r = windows[c-128]
			}
			text = utf8.AppendRune(text, r)
		}
	default:
		return nil, " in a character set that is not known: " + clip([]byte(charset), 64)
	}
	if kind == "text/html" || kind == "application/xhtml+xml" {
		text = htmltext.Append(nil, text, most, func(ref string) string {
			a, err := at.Resolve(ref)
			if url := a.String(); err == nil && len(url) <= maxLink && !strings.HasPrefix(ref, "#") {
				return url
			}
			return ""
		})
	}
	return text, ""
}

// textTypes are the media types of text that are not named text or end with what they are written in.
const textTypes = " json json5 jsonl ndjson xml javascript ecmascript typescript yaml toml sql graphql sh x-www-form-urlencoded "

// isText tells whether a media type is of text.
func isText(kind string) bool {
	if strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") || strings.HasSuffix(kind, "+yaml") {
		return true
	}
	name := strings.TrimPrefix(strings.TrimPrefix(kind, "application/"), "x-")
	return len(name) < len(kind) && strings.Contains(textTypes, " "+name+" ")
}

// charsetOf returns the character set that a content type names, in lower case; "" if none.
func charsetOf(contentType string) string {
	contentType = strings.ToLower(contentType)
	i := strings.Index(contentType, "charset=")
	if i < 0 {
		return ""
	}
	set := contentType[i+len("charset="):]
	if i := strings.IndexByte(set, ';'); i >= 0 {
		set = set[:i]
	}
	return strings.Trim(set, " \t\"'")
}

// windows are the characters of windows-1252 from 128 to 159.
var windows = [...]rune{
	'€', 0x81, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0x8d, 'Ž', 0x8f,
	0x90, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0x9d, 'ž', 'Ÿ',
}

// whole takes the beginning of a character off the end of a text that was cut.
func whole(text []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}

// clip returns a text that is cut if it is over so many bytes.
//
//go:noinline
func clip(text []byte, most int) string {
	if len(text) > most {
		return string(whole(text[:most])) + "…"
	}
	return string(text)
}
