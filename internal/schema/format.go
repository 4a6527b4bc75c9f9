package schema

import (
	"bytes"
	"strings"

	"github.com/turncore/turncore/internal/pattern"
)

// formats are the checks of formats; others are annotations.
var formats = map[string]func([]byte) bool{
	"date":                  isDate,
	"time":                  isTime,
	"date-time":             isDateTime,
	"duration":              isDuration,
	"email":                 isEmail,
	"hostname":              isHostname,
	"ipv4":                  isIPv4,
	"ipv6":                  isIPv6,
	"uri":                   isURI,
	"uri-reference":         isURIReference,
	"uuid":                  isUUID,
	"json-pointer":          isJSONPointer,
	"relative-json-pointer": isRelativeJSONPointer,
	"regex":                 isPattern,
}

// fits tells whether s is as long as layout and has a digit where that has 0, a hexadecimal digit where it has x, and
// what layout has anywhere else.
func fits(s []byte, layout string) bool {
	if len(s) != len(layout) {
		return false
	}
	for i, c := range s {
		switch layout[i] {
		case '0':
			if !isDigit(c) {
				return false
			}
		case 'x':
			if !isHex(c) {
				return false
			}
		default:
			if c != layout[i] {
				return false
			}
		}
	}
	return true
}

// two reads two digits.
func two(s []byte) int { return int(s[0]-'0')*10 + int(s[1]-'0') }

func isDate(s []byte) bool {
	if !fits(s, "0000-00-00") {
		return false
	}
	year, month, day := two(s)*100+two(s[2:]), two(s[5:]), two(s[8:])
	if month < 1 || month > 12 || day < 1 {
		return false
	}
	days := int("\x1f\x1c\x1f\x1e\x1f\x1e\x1f\x1f\x1e\x1f\x1e\x1f"[month-1])
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		days = 29
	}
	return day <= days
}

func isTime(s []byte) bool {
	if len(s) < 9 || !fits(s[:8], "00:00:00") {
		return false
	}
	minutes, second := two(s)*60+two(s[3:]), two(s[6:])
	if two(s) > 23 || two(s[3:]) > 59 || second > 60 {
		return false
	}
	s = s[8:]
	if s[0] == '.' {
		digits := 1
		for digits < len(s) && isDigit(s[digits]) {
			digits++
		}
		if digits == 1 {
			return false
		}
		s = s[digits:]
	}
	switch {
	case len(s) == 1 && s[0]|0x20 == 'z':
	case fits(s, "+00:00") || fits(s, "-00:00"):
		hour, minute := two(s[1:]), two(s[4:])
		if hour > 23 || minute > 59 {
			return false
		}
		offset := hour*60 + minute
		if s[0] == '+' {
			offset = -offset
		}
		minutes = (minutes + offset + 24*60) % (24 * 60)
	default:
		return false
	}
	return second < 60 || minutes == 24*60-1 // a leap second is the last of a day in UTC
}

func isDateTime(s []byte) bool {
	return len(s) > 11 && s[10]|0x20 == 't' && isDate(s[:10]) && isTime(s[11:])
}

// isDuration checks RFC 3339, appendix A: units in order, none left out between two.
func isDuration(s []byte) bool {
	date, clock, hasClock := strings.Cut(string(s), "T")
	if len(date) < 1 || date[0] != 'P' || hasClock && clock == "" || len(s) < 3 {
		return false
	}
	return (areUnits(date[1:], "YMD") || !hasClock && areUnits(date[1:], "W")) && areUnits(clock, "HMS")
}

func areUnits(s, units string) bool {
	for first := true; s != ""; first = false {
		i := 0
		for i < len(s) && isDigit(s[i]) {
			i++
		}
		if i == 0 || i == len(s) {
			return false
		}
		unit := strings.IndexByte(units, s[i])
		if unit < 0 || unit > 0 && !first {
			return false
		}
		s, units = s[i+1:], units[unit+1:]
	}
	return true
}

func isEmail(s []byte) bool {
	at := bytes.LastIndexByte(s, '@')
	if at < 1 {
		return false
	}
	local, domain := s[:at], s[at+1:]
	if local[0] == '"' {
		if at < 3 || local[at-1] != '"' {
			return false
		}
		for i := 1; i < at-1; i++ {
			if local[i] == '\\' {
				i++
			} else if local[i] == '"' {
				return false
			}
			if i == at-1 || local[i] < ' ' || local[i] > '~' {
				return false
			}
		}
	} else {
		for i, c := range local {
			if c == '.' && (i == 0 || i == at-1 || local[i-1] == '.') {
				return false
			}
			if !isAlpha(c) && !isDigit(c) && !strings.ContainsRune(".!#$%&'*+-/=?^_`{|}~", rune(c)) {
				return false
			}
		}
	}
	if n := len(domain); n > 2 && domain[0] == '[' && domain[n-1] == ']' {
		literal := domain[1 : n-1]
		if rest, ok := bytes.CutPrefix(literal, []byte("IPv6:")); ok {
			return isIPv6(rest)
		}
		return isIPv4(literal)
	}
	return isHostname(domain)
}

func isHostname(s []byte) bool {
	if len(s) > 253 {
		return false
	}
	size := 0
	for i, c := range s {
		switch {
		case isAlpha(c) || isDigit(c):
		case c == '-' && size > 0 && i+1 < len(s) && s[i+1] != '.':
			// Two hyphens there are for names in other scripts only.
			if size == 3 && s[i-1] == '-' && !bytes.EqualFold(s[i-3:i-1], []byte("xn")) {
				return false
			}
		case c == '.' && size > 0:
			size = -1
		default:
			return false
		}
		if size++; size > 63 {
			return false
		}
	}
	return size > 0
}

func isIPv4(s []byte) bool {
	parts := 0
	for {
		i, n := 0, 0
		for i < len(s) && i < 4 && isDigit(s[i]) {
			n = n*10 + int(s[i]-'0')
			i++
		}
		if i == 0 || n > 255 || i > 1 && s[0] == '0' {
			return false
		}
		parts++
		if i == len(s) {
			return parts == 4
		}
		if s[i] != '.' {
			return false
		}
		s = s[i+1:]
	}
}

func isIPv6(s []byte) bool {
	groups, gap := 0, false
	for len(s) > 0 {
		if bytes.HasPrefix(s, []byte("::")) {
			if gap {
				return false
			}
			gap = true
			if s = s[2:]; len(s) == 0 {
				break
			}
		} else if groups > 0 {
			if s[0] != ':' {
				return false
			}
			s = s[1:]
		}
		i := 0
		for i < len(s) && isHex(s[i]) {
			i++
		}
		if i < len(s) && s[i] == '.' {
			if !isIPv4(s) {
				return false
			}
			groups += 2
			break
		}
		if i < 1 || i > 4 {
			return false
		}
		groups++
		s = s[i:]
	}
	return groups == 8 || gap && groups < 8
}

func isURI(s []byte) bool { return schemeLen(string(s)) > 0 && isURIReference(s) }

// isURIReference checks RFC 3986.
func isURIReference(s []byte) bool {
	fragments := 0
	for i, c := range s {
		switch {
		case isAlpha(c) || isDigit(c) || strings.IndexByte("-._~:/?[]@!$&'()*+,;=", c) >= 0:
		case c == '#' && fragments == 0:
			fragments++
		case c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
		default:
			return false
		}
	}
	rest := s[schemeLen(string(s)):]
	if bytes.HasPrefix(rest, []byte("//")) {
		end := bytes.IndexAny(rest[2:], "/?#")
		if end < 0 {
			end = len(rest) - 2
		}
		if !isAuthority(rest[2 : end+2]) {
			return false
		}
		rest = rest[end+2:]
	} else if len(rest) == len(s) {
		// A colon in the first segment would make it a scheme.
		if colon := bytes.IndexByte(rest, ':'); colon >= 0 && !bytes.ContainsAny(rest[:colon], "/?#") {
			return false
		}
	}
	return !bytes.ContainsAny(rest, "[]")
}

func isAuthority(s []byte) bool {
	if at := bytes.LastIndexByte(s, '@'); at >= 0 {
		if bytes.ContainsAny(s[:at], "[]@") {
			return false
		}
		s = s[at+1:]
	}
	port := bytes.LastIndexByte(s, ':')
	if len(s) > 0 && s[0] == '[' {
		end := bytes.IndexByte(s, ']')
		if end < 0 || !isIPv6(s[1:end]) && (s[1]|0x20 != 'v' || bytes.IndexByte(s[1:end], '.') < 3) {
			return false
		}
		s, port = s[end+1:], 0
		if len(s) == 0 {
			return true
		}
		if s[0] != ':' {
			return false
		}
	}
	if port >= 0 {
		for _, c := range s[port+1:] {
			if !isDigit(c) {
				return false
			}
		}
		s = s[:port]
	}
	return !bytes.ContainsAny(s, "[]:")
}

func isUUID(s []byte) bool { return fits(s, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") }

func isJSONPointer(s []byte) bool {
	for i, c := range s {
		if i == 0 && c != '/' || c == '~' && (i+1 == len(s) || s[i+1] != '0' && s[i+1] != '1') {
			return false
		}
	}
	return true
}

func isRelativeJSONPointer(s []byte) bool {
	i := 0
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	if i == 0 || i > 1 && s[0] == '0' {
		return false
	}
	return string(s[i:]) == "#" || isJSONPointer(s[i:])
}

func isPattern(s []byte) bool {
	_, err := pattern.ECMA(string(s))
	return err == nil || err.(*pattern.Error).Unsupported
}
