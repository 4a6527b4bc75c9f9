package form

import (
	"encoding/base64"
	"errors"
	"strconv"
	"time"

	"github.com/turncore/turncore/abi/value"
)

// In JSON a time is text, and so are bytes. A byte string within a free value stands in an object of one member, named
// bytesKey; an object that looks like that, in one named objectKey.
const (
	bytesKey  = "$bytes"
	objectKey = "$object"
)

// AppendJSON appends a stored record as compact JSON text.
func (t Table) AppendJSON(dst, body []byte) ([]byte, error) {
	spelled, err := t.translate(nil, body, toText)
	if err != nil {
		return dst, err
	}
	return value.AppendJSON(dst, spelled)
}

// FromJSON returns the stored form that a JSON text spells; its error is an *Error.
func (t Table) FromJSON(text []byte) ([]byte, error) {
	spelled, err := value.FromJSON(nil, text)
	if err != nil {
		return nil, &Error{"", "not JSON: " + err.Error()}
	}
	return t.fromSpelled(spelled)
}

// fromSpelled puts the members in their order, and takes texts for the times and bytes that they stand for.
func (t Table) fromSpelled(spelled []byte) ([]byte, error) {
	if value.KindOf(spelled) != value.KindMap {
		return nil, &Error{"", "it is not an object"}
	}
	body, err := t.translate(nil, spelled, fromText)
	if err != nil {
		var named *Error
		if !errors.As(err, &named) {
			err = &Error{"", err.Error()}
		}
		return nil, err
	}
	return body, nil
}

// direction says which way a translation goes.
type direction bool

const (
	toText   direction = true
	fromText direction = false
)

// translate appends a map with its members in the order of the table; those that the table lacks follow, for Check to
// name them.
func (t Table) translate(dst, m []byte, to direction) ([]byte, error) {
	if value.KindOf(m) != value.KindMap {
		return append(dst, m...), nil
	}
	members := make([][]byte, len(t))
	var others []byte
	n := 0
	err := value.Each(m, func(key, val []byte) bool {
		if i := t.find(key, 0); i >= 0 {
			if members[i] == nil {
				n++
			}
			members[i] = val
			return true
		}
		others = append(value.AppendText(others, key), val...)
		n++
		return true
	})
	if err != nil {
		return dst, err
	}
	dst = value.AppendMapHeader(dst, n)
	for i, val := range members {
		if val == nil {
			continue
		}
		dst = value.AppendString(dst, t[i].Name)
		if dst, err = t[i].translate(dst, val, to); err != nil {
			return dst, err
		}
	}
	return append(dst, others...), nil
}

func (m *Member) translate(dst, val []byte, to direction) ([]byte, error) {
	switch kind := value.KindOf(val); m.Type {
	case Time:
		if to == toText {
			ms, _ := value.Int(val)
			return value.AppendText(dst, appendTime(nil, ms)), nil
		}
		text, _ := value.String(val)
		ms, err := parseTime(string(text))
		if err != nil {
			return dst, &Error{m.Name, "it is not a time such as 2006-01-02T15:04:05.000Z"}
		}
		return value.AppendInt(dst, ms), nil
	case Number:
		if f, ok := value.Number(val); ok && to == fromText {
			return value.AppendFloat(dst, f), nil
		}
	case Free:
		if to == toText {
			return spell(dst, val)
		}
		out, err := unspell(dst, val)
		if err != nil {
			return dst, &Error{m.Name, err.Error()}
		}
		return out, nil
	case Speaker:
		return IdentityTable.translate(dst, val, to)
	case MediaSet, Contents:
		if kind == value.KindMap {
			return partTable(val).translate(dst, val, to)
		}
		if kind != value.KindList {
			break
		}
		dst = value.AppendListHeader(dst, listLen(val))
		var err error
		if each := value.EachItem(val, func(_ int, part []byte) bool {
			dst, err = partTable(part).translate(dst, part, to)
			return err == nil
		}); each != nil {
			return dst, each
		}
		return dst, err
	}
	return append(dst, val...), nil
}

func listLen(list []byte) int {
	_, _, n := value.Head(list, 0)
	return int(n)
}

// marked tells whether a map has one member, named bytesKey or objectKey.
func marked(m []byte) (key string, val []byte) {
	if _, _, n := value.Head(m, 0); n != 1 {
		return "", nil
	}
	for _, key := range []string{bytesKey, objectKey} {
		if val, ok := value.Get(m, key); ok {
			return key, val
		}
	}
	return "", nil
}

// spell appends a free value as JSON spells it.
func spell(dst, v []byte) ([]byte, error) {
	switch value.KindOf(v) {
	case value.KindBytes:
		data, _ := value.Bytes(v)
		return value.AppendString(value.AppendString(value.AppendMapHeader(dst, 1), bytesKey), base64.StdEncoding.EncodeToString(data)), nil
	case value.KindMap:
		if key, _ := marked(v); key != "" {
			dst = value.AppendString(value.AppendMapHeader(dst, 1), objectKey)
		}
	}
	return each(dst, v, spell)
}

// unspell undoes spell.
func unspell(dst, v []byte) ([]byte, error) {
	if value.KindOf(v) == value.KindMap {
		switch key, val := marked(v); key {
		case bytesKey:
			text, _ := value.String(val)
			data, err := base64.StdEncoding.DecodeString(string(text))
			if err != nil || value.KindOf(val) != value.KindString {
				return dst, errors.New(bytesKey + " is not base64")
			}
			return value.AppendBytes(dst, data), nil
		case objectKey:
			if inner, _ := marked(val); value.KindOf(val) != value.KindMap || inner == "" {
				return dst, errors.New(objectKey + " is not an object of one member, " + bytesKey + " or " + objectKey)
			}
			return each(dst, val, unspell)
		}
	}
	return each(dst, v, unspell)
}

// each appends a value with its parts translated.
func each(dst, v []byte, part func(dst, v []byte) ([]byte, error)) (_ []byte, err error) {
	var walk error
	switch kind, _, n := value.Head(v, 0); kind {
	case value.KindList:
		dst = value.AppendListHeader(dst, int(n))
		walk = value.EachItem(v, func(_ int, val []byte) bool {
			dst, err = part(dst, val)
			return err == nil
		})
	case value.KindMap:
		dst = value.AppendMapHeader(dst, int(n))
		walk = value.Each(v, func(key, val []byte) bool {
			dst, err = part(value.AppendText(dst, key), val)
			return err == nil
		})
	default:
		return append(dst, v...), nil
	}
	if err == nil {
		err = walk
	}
	return dst, err
}

// appendTime appends a time as ECMAScript's toISOString writes it: years beyond 0 to 9999 have a sign and six digits.
func appendTime(dst []byte, ms int64) []byte {
	t := time.UnixMilli(ms).UTC()
	if year := t.Year(); year < 0 || year > 9999 {
		sign, digits := byte('+'), year
		if year < 0 {
			sign, digits = '-', -year
		}
		text := strconv.Itoa(1_000_000 + digits)
		return t.AppendFormat(append(append(dst, sign), text[1:]...), "-01-02T15:04:05.000Z")
	}
	return t.AppendFormat(dst, "2006-01-02T15:04:05.000Z")
}

// parseTime reads a time of RFC 3339, or one that appendTime has written.
func parseTime(text string) (ms int64, err error) {
	if len(text) > 7 && (text[0] == '+' || text[0] == '-') {
		year, err := strconv.Atoi(text[1:7])
		if err != nil {
			return 0, err
		}
		if text[0] == '-' {
			year = -year
		}
		// A year of the same length, 400 years apart or several times that, has the same calendar.
		like := 2000 + ((year%400)+400)%400
		t, err := time.Parse(time.RFC3339, strconv.Itoa(like)+text[7:])
		return t.UnixMilli() + int64(year-like)/400*146_097*86_400_000, err
	}
	t, err := time.Parse(time.RFC3339, text)
	return t.UnixMilli(), err
}
