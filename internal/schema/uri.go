package schema

import "strings"

// resolve returns the reference ref, relative to the URI base, both without fragments (RFC 3986, section 5.2).
func resolve(base, ref string) string {
	if ref == "" {
		return base
	}
	if schemeLen(ref) > 0 {
		return ref
	}
	scheme := base[:schemeLen(base)]
	if strings.HasPrefix(ref, "//") {
		return scheme + ref
	}
	rest, authority := base[len(scheme):], ""
	if strings.HasPrefix(rest, "//") {
		end := strings.IndexAny(rest[2:], "/?")
		if end < 0 {
			end = len(rest) - 2
		}
		authority, rest = rest[:end+2], rest[end+2:]
	}
	path, _, _ := strings.Cut(rest, "?")
	switch ref[0] {
	case '?':
		return scheme + authority + path + ref
	case '/':
		path = ""
	default:
		path = path[:strings.LastIndexByte(path, '/')+1]
		if path == "" && authority != "" {
			path = "/"
		}
	}
	ref, query, hasQuery := strings.Cut(path+ref, "?")
	if hasQuery {
		query = "?" + query
	}
	return scheme + authority + removeDots(ref) + query
}

// schemeLen returns the length of the scheme a URI starts with, its colon included, and 0 when it has none.
func schemeLen(uri string) int {
	for i := range len(uri) {
		switch c := uri[i]; {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return i + 1
		default:
			return 0
		}
	}
	return 0
}

// removeDots takes the segments . and .. out of a path.
func removeDots(path string) string {
	var out []string
	segments := strings.Split(path, "/")
	for i, s := range segments {
		last := i == len(segments)-1
		switch {
		case s == "." || s == "..":
			if s == ".." && len(out) > 0 && out[len(out)-1] != "" {
				out = out[:len(out)-1]
			}
			if last {
				out = append(out, "")
			}
		default:
			out = append(out, s)
		}
	}
	return strings.Join(out, "/")
}

// unescape resolves the percent escapes of a fragment; ok is false when one is broken.
func unescape(s string) (out string, ok bool) {
	if !strings.Contains(s, "%") {
		return s, true
	}
	var b []byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' {
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				return "", false
			}
			c = hexDigit(s[i+1])<<4 | hexDigit(s[i+2])
			i += 2
		}
		b = append(b, c)
	}
	return string(b), true
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// hexDigit returns what a hexadecimal digit counts.
func hexDigit(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// nextToken cuts the first reference token, unescaped, off a JSON Pointer that starts with a slash.
func nextToken(pointer string) (token, rest string) {
	token = pointer[1:]
	if i := strings.IndexByte(token, '/'); i >= 0 {
		token, rest = token[:i], token[i:]
	}
	if strings.Contains(token, "~") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	}
	return token, rest
}
