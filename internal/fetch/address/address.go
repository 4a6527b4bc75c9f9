// Package address reads the http and https addresses of web pages, resolves references against them, and tells which
// ones a list allows. An address has one spelling, and every host reads that one in the same way: it is in ASCII, has
// no user name, no fragment, no dot segments and no default port. What other software is known to read in different
// ways, such as a backslash, is refused.
package address

import (
	"strconv"
	"strings"
)

// Address is where a page is. Its zero value is no address.
type Address struct {
	text  string // in its one spelling
	path  int    // where the path begins, with a slash
	query int    // where the query begins, with a question mark; the end if there is none
}

// problem is what is wrong with an address.
type problem string

func (p problem) Error() string { return string(p) }

// What is wrong with addresses.
const (
	badScheme = problem("an address begins with http:// or https://")
	badHost   = problem("the host of an address is made of letters, digits, dots and hyphens, without a user name; others are written in Punycode")
	badPort   = problem("the port of an address is a number up to 65535")
	badPath   = problem("an address has no control characters, and no backslashes in its path")
	badRule   = problem("a rule has no query, no fragment and no escaped slashes")
)

const space = " \t\r\n\f"

// Parse reads an absolute address. Space around it is dropped. An error says what is wrong with it.
func Parse(text string) (Address, error) {
	text = strings.Trim(text, space)
	i := strings.Index(text, "://")
	if i < 0 {
		return Address{}, badScheme
	}
	scheme := strings.ToLower(text[:i])
	if scheme != "http" && scheme != "https" {
		return Address{}, badScheme
	}
	text = text[i+3:]
	end := strings.IndexAny(text, "/?#")
	if end < 0 {
		end = len(text)
	}
	host := text[:end]
	b := append(make([]byte, 0, len(scheme)+len(text)+8), scheme...)
	b = append(b, "://"...)
	if colon := strings.LastIndexByte(host, ':'); colon > strings.LastIndexByte(host, ']') {
		port := host[colon+1:]
		host = host[:colon]
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil && port != "" {
			return Address{}, badPort
		}
		b = append(b, strings.ToLower(host)...)
		if port != "" && (scheme != "http" || n != 80) && (scheme != "https" || n != 443) {
			b = strconv.AppendUint(append(b, ':'), n, 10)
		}
	} else {
		b = append(b, strings.ToLower(host)...)
	}
	if !isHost(host) {
		return Address{}, badHost
	}
	return finish(b, text[end:])
}

// String returns the address in its one spelling.
func (a Address) String() string { return a.text }

// Resolve returns the address that a reference in the page at a means: absolute, or relative to it.
func (a Address) Resolve(ref string) (Address, error) {
	ref = strings.Trim(ref, space)
	path := a.text[a.path:a.query]
	switch {
	case ref == "" || ref[0] == '#':
		return a, nil
	case hasScheme(ref):
		return Parse(ref)
	case strings.HasPrefix(ref, "//"):
		return Parse(a.text[:strings.IndexByte(a.text, ':')+1] + ref)
	case ref[0] == '/':
		path = ""
	case ref[0] != '?':
		path = path[:strings.LastIndexByte(path, '/')+1]
	}
	return finish([]byte(a.text[:a.path]), path+ref)
}

// hasScheme tells whether a reference begins with a scheme.
func hasScheme(ref string) bool {
	i := 0
	for i < len(ref) && (isLetter(ref[i]) || i > 0 && (isDigit(ref[i]) || strings.IndexByte("+-.", ref[i]) >= 0)) {
		i++
	}
	return i > 0 && i < len(ref) && ref[i] == ':'
}

// isHost tells whether a text is the name of a host or an IP address.
func isHost(host string) bool {
	if n := len(host); n > 2 && host[0] == '[' && host[n-1] == ']' {
		for i := 1; i < n-1; i++ {
			if !isHex(host[i]) && host[i] != ':' && host[i] != '.' {
				return false
			}
		}
		return true
	}
	for i := range len(host) {
		switch c := host[i]; {
		case isLetter(c) || isDigit(c) || c == '-' || c == '_':
		case c != '.' || i == 0 || host[i-1] == '.':
			return false
		}
	}
	return host != ""
}

const (
	hexDigits  = "0123456789ABCDEF"
	plainPath  = "!$&'()*+,;=:@-._~"
	plainQuery = "!$&()*+,;=:@-._~/?"
)

// finish puts path and query, and not the fragment, of a text behind an origin: escaped, the path without the segments
// "." and "..", escaped ones too.
func finish(b []byte, text string) (Address, error) {
	a := Address{path: len(b)}
	if i := strings.IndexByte(text, '#'); i >= 0 {
		text = text[:i]
	}
	b = append(b, '/')
	segment := len(b) // where the current one begins
	i := 0
	if text != "" && text[0] == '/' {
		i = 1
	}
	for ; ; i++ {
		end := i == len(text) || text[i] == '?'
		if !end && text[i] != '/' {
			if text[i] < ' ' || text[i] == 0x7f || text[i] == '\\' {
				return Address{}, badPath
			}
			b = appendEscaped(b, text, i, plainPath)
			continue
		}
		if n := dots(b[segment:]); n > 0 {
			b = b[:segment]
			if n == 2 && segment > a.path+1 {
				segment--
				for b[segment-1] != '/' {
					segment--
				}
				b = b[:segment]
			}
		} else if !end {
			b = append(b, '/')
			segment = len(b)
		}
		if end {
			break
		}
	}
	a.query = len(b)
	for ; i < len(text); i++ {
		if text[i] < ' ' || text[i] == 0x7f {
			return Address{}, badPath
		}
		b = appendEscaped(b, text, i, plainQuery)
	}
	a.text = string(b)
	return a, nil
}

// appendEscaped appends a byte of a text, escaped unless it is a letter, a digit, one of the plain ones, or begins an
// escape.
func appendEscaped(b []byte, text string, i int, plain string) []byte {
	c := text[i]
	if isLetter(c) || isDigit(c) || c < 0x80 && strings.IndexByte(plain, c) >= 0 ||
		c == '%' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]) {
		return append(b, c)
	}
	return append(b, '%', hexDigits[c>>4], hexDigits[c&15])
}

// dots returns how many dots a segment is made of, escaped or not, one or two; 0 if there is anything else.
func dots(segment []byte) (n int) {
	for len(segment) > 0 && n < 3 {
		switch {
		case segment[0] == '.':
			segment = segment[1:]
		case len(segment) >= 3 && segment[0] == '%' && segment[1] == '2' && segment[2]|0x20 == 'e':
			segment = segment[3:]
		default:
			return 0
		}
		n++
	}
	return n % 3
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }
