package value

import (
	"slices"

	"github.com/turncore/turncore/abi"
)

// AppendCanonical appends a value as canonical JSON text (RFC 8785): as AppendJSON does, with the members of every map
// sorted by the UTF-16 code units of their keys.
func AppendCanonical(dst, v []byte) ([]byte, error) {
	out, rest, err := appendCanonical(dst, v, abi.MaxValueDepth)
	if err == nil && len(rest) > 0 {
		err = errMalformed
	}
	if err != nil {
		return dst, err
	}
	return out, nil
}

// entry is a key of a map and the value behind it, which is encoded.
type entry struct{ key, value []byte }

func appendCanonical(dst, v []byte, depth int) (out, rest []byte, err error) {
	k, n, rest, err := head(v)
	if err != nil {
		return nil, nil, err
	}
	if k != listKind && k != mapKind {
		return appendJSON(dst, v, depth)
	}
	if depth == 0 {
		return nil, nil, errDepth
	}
	if k == listKind {
		dst = append(dst, '[')
		for i := range n {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, rest, err = appendCanonical(dst, rest, depth-1); err != nil {
				return nil, nil, err
			}
		}
		return append(dst, ']'), rest, nil
	}
	var members []entry
	for range n {
		kk, size, body, err := head(rest)
		if err != nil || kk != textKind || size > uint64(len(body)) {
			return nil, nil, errMalformed
		}
		m := entry{key: body[:size], value: body[size:]}
		if rest, err = skip(m.value, depth-1); err != nil {
			return nil, nil, err
		}
		members = append(members, m)
	}
	slices.SortFunc(members, func(a, b entry) int { return compareUnits(a.key, b.key) })
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendJSONString(dst, m.key), ':')
		if dst, _, err = appendCanonical(dst, m.value, depth-1); err != nil {
			return nil, nil, err
		}
	}
	return append(dst, '}'), rest, nil
}

// compareUnits compares UTF-8 texts by their UTF-16 code units: as bytes are ordered, but for characters beyond U+FFFF,
// which come before those from U+E000 on.
func compareUnits(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		switch {
		case x == y:
		case x >= 0xee && y >= 0xee && (x >= 0xf0) != (y >= 0xf0):
			return int(y) - int(x)
		default:
			return int(x) - int(y)
		}
	}
	return len(a) - len(b)
}
