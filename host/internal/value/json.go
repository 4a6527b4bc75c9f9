package value

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/turncore/turncore/abi"
)

// errJSON says that a json.RawMessage is not the text of one value.
var errJSON = errors.New("not JSON")

// FromJSON appends the encoding of a JSON text. Numbers are read as ECMAScript reads them. After an error dst is returned
// as it was.
func FromJSON(dst, text []byte) ([]byte, error) {
	if !json.Valid(text) {
		return dst, errJSON
	}
	p := parser{text: text}
	out, err := p.value(dst, abi.MaxValueDepth)
	if err != nil {
		return dst, err
	}
	return out, nil
}

// parser reads a text that is known to be valid.
type parser struct {
	text []byte
	i    int
}

// next skips white space and returns the byte that follows it.
func (p *parser) next() byte {
	for p.text[p.i] <= ' ' {
		p.i++
	}
	return p.text[p.i]
}

func (p *parser) value(dst []byte, depth int) ([]byte, error) {
	switch c := p.next(); c {
	case '{', '[':
		if depth == 0 {
			return nil, errDepth
		}
		if c == '{' {
			return p.object(dst, depth)
		}
		return p.list(dst, depth)
	case '"':
		return String(dst, p.str()), nil
	case 't':
		p.i += 4
		return Bool(dst, true), nil
	case 'f':
		p.i += 5
		return Bool(dst, false), nil
	case 'n':
		p.i += 4
		return Nil(dst), nil
	}
	start := p.i
	for p.i < len(p.text) && bytes.IndexByte([]byte("+-0123456789.eE"), p.text[p.i]) >= 0 {
		p.i++
	}
	f, err := strconv.ParseFloat(string(p.text[start:p.i]), 64)
	if err != nil { // out of range
		return Nil(dst), nil
	}
	return number(dst, f), nil
}

func (p *parser) str() string {
	start := p.i
	for p.i++; p.text[p.i] != '"'; p.i++ {
		if p.text[p.i] == '\\' {
			p.i++
		}
	}
	p.i++
	token := p.text[start:p.i]
	if body := token[1 : len(token)-1]; bytes.IndexByte(body, '\\') < 0 {
		return string(body)
	}
	var s string
	_ = json.Unmarshal(token, &s) // the token is part of a valid text
	return s
}

func (p *parser) list(dst []byte, depth int) ([]byte, error) {
	start, n := len(dst), 0
	dst = append(dst, 0x90)
	for p.i++; p.next() != ']'; n++ {
		if p.text[p.i] == ',' {
			p.i++
		}
		var err error
		if dst, err = p.value(dst, depth-1); err != nil {
			return nil, err
		}
	}
	p.i++
	return closeContainer(dst, start, n)
}

// member is a map's entry at out[from:to], its key included.
type member struct {
	key      string
	from, to int
}

func (p *parser) object(dst []byte, depth int) ([]byte, error) {
	start := len(dst)
	dst = append(dst, 0x80)
	var few [16]member
	members := few[:0]
	ordered := true
	for p.i++; p.next() != '}'; {
		if p.text[p.i] == ',' {
			p.i++
			p.next()
		}
		m := member{key: p.str(), from: len(dst)}
		p.next()
		p.i++ // the colon
		var err error
		if dst, err = p.value(String(dst, m.key), depth-1); err != nil {
			return nil, err
		}
		m.to = len(dst)
		ordered = ordered && arrayIndex(m.key) == notIndex
		members = append(members, m)
	}
	p.i++
	if unique := latest(members); !ordered || len(unique) != len(members) {
		dst = reorder(dst, start+1, unique)
		members = unique
	}
	return closeContainer(dst, start, len(members))
}

// latest drops members whose key comes again; what comes last takes the place of what came first.
func latest(members []member) []member {
	places := make(map[string]int, len(members))
	out := members
	for i, m := range members {
		place, again := places[m.key]
		if !again {
			places[m.key] = len(places)
			if len(out) != len(members) {
				out = append(out, m)
			}
			continue
		}
		if len(out) == len(members) {
			out = slices.Clone(members[:i])
		}
		out[place] = m
	}
	return out
}

// reorder lays the members out from dst[start:] on, array indexes first.
func reorder(dst []byte, start int, members []member) []byte {
	slices.SortStableFunc(members, func(a, b member) int { return int(arrayIndex(a.key) - arrayIndex(b.key)) })
	body := slices.Clone(dst[start:])
	dst = dst[:start]
	for _, m := range members {
		dst = append(dst, body[m.from-start:m.to-start]...)
	}
	return dst
}

// closeContainer gives the list or map whose one-byte head is dst[start] its length.
func closeContainer(dst []byte, start, n int) ([]byte, error) {
	switch {
	case n > maxLength:
		return nil, errLength
	case n < 16:
		dst[start] |= byte(n)
		return dst, nil
	}
	head := container(nil, dst[start], n)
	return slices.Replace(dst, start, start+1, head...), nil
}

// AppendJSON appends v, encoded, as compact JSON text the way ECMAScript writes it, bytes as base64. After an error dst is
// returned as it was.
func AppendJSON(dst, v []byte) ([]byte, error) {
	out, rest, err := appendJSON(dst, v, abi.MaxValueDepth)
	if err == nil && len(rest) > 0 {
		err = errTrailing
	}
	if err != nil {
		return dst, err
	}
	return out, nil
}

func appendJSON(dst, v []byte, depth int) (out, rest []byte, err error) {
	k, n, rest, err := head(v)
	if err != nil {
		return nil, nil, err
	}
	switch k {
	case nilKind:
		return append(dst, "null"...), rest, nil
	case boolKind:
		return strconv.AppendBool(dst, n == 1), rest, nil
	case intKind, floatKind:
		return AppendJSONNumber(dst, float(k, n)), rest, nil
	case textKind, bytesKind:
		if n > uint64(len(rest)) {
			return nil, nil, errMalformed
		}
		if k == textKind {
			return AppendJSONString(dst, rest[:n]), rest[n:], nil
		}
		dst = base64.StdEncoding.AppendEncode(append(dst, '"'), rest[:n])
		return append(dst, '"'), rest[n:], nil
	}
	if depth == 0 {
		return nil, nil, errDepth
	}
	open, end := byte('['), byte(']')
	if k == mapKind {
		open, end = '{', '}'
	}
	dst = append(dst, open)
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		if k == mapKind {
			kk, size, body, err := head(rest)
			if err != nil || kk != textKind || size > uint64(len(body)) {
				return nil, nil, errMalformed
			}
			dst = append(AppendJSONString(dst, body[:size]), ':')
			rest = body[size:]
		}
		if dst, rest, err = appendJSON(dst, rest, depth-1); err != nil {
			return nil, nil, err
		}
	}
	return append(dst, end), rest, nil
}

// AppendJSONNumber appends a number as ECMAScript writes it.
func AppendJSONNumber(dst []byte, f float64) []byte {
	abs := math.Abs(f)
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return append(dst, "null"...)
	case abs <= abi.MaxInt && f == math.Trunc(f):
		return strconv.AppendInt(dst, int64(f), 10)
	case abs >= 1e-6 && abs < 1e21:
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	if n := len(dst); dst[n-2] == '0' && (dst[n-3] == '-' || dst[n-3] == '+') {
		dst = append(dst[:n-2], dst[n-1]) // 1e-07
	}
	return dst
}

// AppendJSONString appends text as a JSON string with the escapes that JSON requires and no others.
func AppendJSONString[T string | []byte](dst []byte, s T) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	run := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf || c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[run:i]...)
		run = i + 1
		switch c {
		case '\b':
			c = 'b'
		case '\t':
			c = 't'
		case '\n':
			c = 'n'
		case '\f':
			c = 'f'
		case '\r':
			c = 'r'
		case '"', '\\':
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			continue
		}
		dst = append(dst, '\\', c)
	}
	return append(append(dst, s[run:]...), '"')
}
