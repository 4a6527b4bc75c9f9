package session

import (
	"strconv"
	"unicode/utf8"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
)

// flaw is what is wrong with a member of a value. The path is that of the member from the value that was read: readers
// of the containers around it put theirs in front.
type flaw struct {
	_ [0]func() // no two are compared: that would take code

	code       fault.Code
	path, what string
}

//go:noinline
func invalid(what string) *flaw { return &flaw{code: InvalidEvent, what: what} }

// Bounds of a path, in bytes: what is further inside is told by an ellipsis.
const (
	maxPath     = 256
	maxPathName = 64
)

// in puts the name of a member, or the place in a list, in front of the path.
func (f *flaw) in(name string) *flaw {
	if f == nil {
		return nil
	}
	name = cut(name, maxPathName)
	if f.path != "" && f.path[0] != '[' {
		name += "."
	}
	f.path = cut(name+f.path, maxPath)
	return f
}

// at puts a key in front of the path, or the place in a list for nil.
func (f *flaw) at(key []byte, i int) *flaw {
	if key == nil {
		return f.in(place(i))
	}
	return f.in(string(key))
}

func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return value.UTF8(s[:most]) + "…"
}

//go:noinline
func (f *flaw) error() error {
	if f == nil {
		return nil
	}
	return New(f.code, f.path, f.what)
}

func place(i int) string { return "[" + strconv.Itoa(i) + "]" }

const (
	wantMap     = "must be a map"
	wantList    = "must be a list"
	wantString  = "must be a string"
	wantName    = "must be a non-empty string"
	wantBool    = "must be a boolean"
	wantInteger = "must be an integer"
	wantCount   = "must be an integer from 0 on"
)

// reader reads the members of a map that are not nil, or the elements of a list. Both are well-formed. f is what is
// wrong with what it has read last: it ends there, and f has the name of that in its path then.
type reader struct {
	value.Cursor
	f *flaw
	n int // how many it has read
}

// members is to read a map.
//
//go:noinline
func (r *reader) members(v []byte) {
	if r.Over(v) != value.KindMap {
		r.f = invalid(wantMap)
	}
}

// items is to read a list.
func (r *reader) items(v []byte) {
	if r.Over(v) != value.KindList {
		r.f = invalid(wantList)
	}
}

// next reads the next one, and reports whether there is one.
func (r *reader) next() bool {
	for r.f == nil && r.Next() {
		if r.n++; r.Key == nil || r.Value[0] != 0xc0 {
			return true
		}
	}
	if r.f != nil && r.n > 0 {
		r.f, r.n = r.f.at(r.Key, r.n-1), 0
	}
	return false
}

func malformed(err error) *flaw { return invalid("is no value: " + err.Error()) }

// text reads a string.
func text(v []byte, to *string) *flaw {
	s, ok := value.String(v)
	if !ok {
		return invalid(wantString)
	}
	switch string(s) { // authors and roles
	case "user":
		*to = "user"
	case "model":
		*to = "model"
	default:
		*to = value.UTF8(string(s))
	}
	return nil
}

// indexOf is the place of a name in a list; -1 for none.
func indexOf(names []string, name []byte) int {
	for i := range names {
		if names[i] == string(name) {
			return i
		}
	}
	return -1
}

// filled reads a map, and nil in place of an empty one.
func filled(v []byte, to *[]byte) *flaw {
	if value.KindOf(v) != value.KindMap {
		return invalid(wantMap)
	}
	if value.Len(v) > 0 {
		*to = v
	}
	return nil
}

// distinct checks that v is one value in which no map has a key twice.
func distinct(v []byte) *flaw {
	if len(v) > 0 && value.Flat(v, 0) == len(v) {
		return nil
	}
	end, f := distinctAt(v, 0, value.MaxDepth)
	if f == nil && end != len(v) {
		f = malformed(value.ErrMalformed)
	}
	return f
}

// few is the number of keys up to which they are compared with each other.
const few = 16

func distinctAt(v []byte, i, depth int) (end int, f *flaw) {
	kind, size, n := value.Head(v, i)
	if kind != value.KindList && kind != value.KindMap {
		rest, err := value.Skip(v[i:], depth)
		if err != nil {
			return 0, malformed(err)
		}
		return len(v) - len(rest), nil
	}
	if depth == 0 {
		return 0, malformed(value.ErrTooDeep)
	}
	var first [few][2]int
	var seen map[string]struct{}
	if n > few && kind == value.KindMap {
		seen = make(map[string]struct{})
	}
	i += size
	for k := 0; n > 0; n, k = n-1, k+1 {
		var key []byte
		twice := false
		if kind == value.KindMap {
			var err error
			if key, i, err = value.KeyAt(v, i); err != nil {
				return 0, malformed(err)
			}
			if seen != nil {
				_, twice = seen[string(key)]
				seen[string(key)] = struct{}{}
			} else {
				for _, s := range first[:k] {
					twice = twice || string(v[s[0]:s[1]]) == string(key)
				}
				first[k] = [2]int{i - len(key), i}
			}
		}
		if twice {
			f = invalid("occurs twice")
		} else if size := value.Flat(v, i); size != 0 {
			i += size
		} else {
			i, f = distinctAt(v, i, depth-1)
		}
		if f != nil {
			return 0, f.at(key, k)
		}
	}
	return i, nil
}

// appendMembers appends a map.
func appendMembers(dst []byte, list []Member) []byte {
	start := len(dst)
	return value.OrderMap(appendAll(value.AppendMapHeader(dst, len(list)), list), start)
}

// appendAll appends members.
func appendAll(dst []byte, list []Member) []byte {
	for i := range list {
		m := &list[i]
		dst = append(value.AppendString(dst, m.Name), orNil(m.Value)...)
	}
	return dst
}

// appendName appends the name of a member that this package knows: it is ASCII, and has less than 32 bytes.
func appendName(dst []byte, name string) []byte {
	return append(append(dst, 0xa0|byte(len(name))), name...)
}

// appendNamed appends a member of such a name.
func appendNamed(dst []byte, name string, v []byte) []byte {
	return append(appendName(dst, name), v...)
}

var null = []byte{0xc0}

// orNil is the encoding of a value in which nil stands for none.
func orNil(v []byte) []byte {
	if len(v) == 0 {
		return null
	}
	return v
}
