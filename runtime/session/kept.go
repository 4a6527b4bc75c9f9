package session

import (
	"slices"

	"github.com/turncore/turncore/abi/value"
)

// Events and actions have a table of where they keep their members: pointers to fields, in the order of the members'
// names. What follows works on such pointers.

// readKept reads a member of a simple kind.
func readKept(v []byte, at any) *flaw {
	switch to := at.(type) {
	case *string:
		return text(v, to)
	case *int64:
		n, ok := value.Int(v)
		if !ok {
			return invalid(wantInteger)
		}
		*to = n
	case *bool:
		b, ok := value.Bool(v)
		if !ok {
			return invalid(wantBool)
		}
		*to = b
	case *[]byte:
		return filled(v, to)
	case *count:
		if n, ok := value.Int(v); !ok || n < 0 {
			return invalid(wantCount)
		}
	case *blob:
		if value.KindOf(v) != value.KindBytes {
			return invalid("must be bytes")
		}
	}
	return nil
}

// Members that are checked and nothing else.
type (
	count struct{} // an integer from 0 on
	blob  struct{} // bytes
)

// named reads the members of a map that have names of a list, each to where it is kept. Others may be anything.
func named(v []byte, names []string, kept ...any) *flaw {
	var r reader
	for r.members(v); r.next(); {
		if i := indexOf(names, r.Key); i >= 0 {
			r.f = readKept(r.Value, kept[i])
		}
	}
	return r.f
}

// appendKept appends a map of the members that are not empty, and of others.
func appendKept(dst []byte, names []string, kept []any, others []Member) []byte {
	start, n := len(dst), len(others)
	dst = value.AppendMapHeader(dst, 0)
	for i, at := range kept {
		end, name := len(dst), names[i]
		from := end + 1 + len(name) // of the value: names have less than 32 bytes
		dst = slices.Grow(dst, from-end)
		if behind := appendMember(dst[:from], at); len(behind) > from {
			value.AppendString(behind[:end], name)
			dst = behind
			n++
		}
	}
	return value.CloseContainer(appendAll(dst, others), start, n)
}

// appendMember appends a member, and nothing if it is empty, false or 0.
func appendMember(dst []byte, at any) []byte {
	switch of := at.(type) {
	case *string:
		if *of != "" {
			dst = value.AppendString(dst, *of)
		}
	case *int64:
		if *of != 0 {
			dst = value.AppendInt(dst, *of)
		}
	case *bool:
		if *of {
			dst = value.AppendBool(dst, true)
		}
	case *[]byte:
		dst = append(dst, *of...)
	case *[]string:
		if len(*of) > 0 {
			dst = value.AppendListHeader(dst, len(*of))
		}
		for _, s := range *of {
			dst = value.AppendString(dst, s)
		}
	case *[]Member:
		if len(*of) > 0 {
			dst = appendMembers(dst, *of)
		}
	case *[]ArtifactVersion:
		if len(*of) == 0 {
			break
		}
		start := len(dst)
		dst = value.AppendMapHeader(dst, len(*of))
		for i := range *of {
			v := &(*of)[i]
			dst = value.AppendInt(value.AppendString(dst, v.Name), int64(v.Version))
		}
		dst = value.OrderMap(dst, start)
	case *content:
		if of.HasContent {
			dst = AppendContent(dst, of.Role, of.Parts)
		}
	case *Actions:
		if !of.Empty() {
			dst = of.Append(dst)
		}
	}
	return dst
}
