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

func isDigit(c byte) bool { return c-'0' <= 9 }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
