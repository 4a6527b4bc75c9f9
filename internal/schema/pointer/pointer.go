// Package pointer follows JSON Pointers (RFC 6901) in the fragments of URIs.
package pointer

import (
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi/value"
)

// Unescape resolves the percent escapes of a fragment; ok is false when one is broken.
func Unescape(s string) (out string, ok bool) {
	if !strings.Contains(s, "%") {
		return s, true
	}
	var b []byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' {
			n, err := strconv.ParseUint(s[i+1:min(i+3, len(s))], 16, 8)
			if err != nil || i+2 >= len(s) {
				return "", false
			}
			c = byte(n)
			i += 2
		}
		b = append(b, c)
	}
	return string(b), true
}

// Next cuts the first reference token, unescaped, off a pointer that starts with a slash.
func Next(pointer string) (token, rest string) {
	token = pointer[1:]
	if i := strings.IndexByte(token, '/'); i >= 0 {
		token, rest = token[:i], token[i:]
	}
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~"), rest
}

// Child returns the member or the element of a value that a token names, nil if there is none.
func Child(v []byte, token string) (child []byte) {
	if value.KindOf(v) == value.KindMap {
		child, _ = value.Get(v, token)
	} else if index, err := strconv.Atoi(token); err == nil {
		_ = value.EachItem(v, func(i int, item []byte) bool {
			if i == index {
				child = item
			}
			return i < index
		})
	}
	return child
}
