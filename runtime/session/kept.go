package session

import (
	"math/bits"

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

// isKept reports whether a member is not empty, false or 0.
func isKept(at any) bool {
	switch of := at.(type) {
	case *string:
		return *of != ""
	case *int64:
		return *of != 0
	case *bool:
		return *of
	case *[]byte:
		return len(*of) > 0
	case *[]string:
		return len(*of) > 0
	case *[]Member:
		return len(*of) > 0
	case *[]ArtifactVersion:
		return len(*of) > 0
	case *content:
		return of.HasContent
	case *Actions:
		return !of.Empty()
	}
	return false
}

// appendKept appends a map of the members that are not empty, and of others.
func appendKept(dst []byte, names []string, kept []any, others []Member) []byte {
	has := uint(0)
	for i, at := range kept {
		if isKept(at) {
			has |= 1 << i
		}
	}
	dst = value.AppendMapHeader(dst, bits.OnesCount(has)+len(others))
	for i, at := range kept {
		if has>>i&1 != 0 {
			dst = appendMember(value.AppendString(dst, names[i]), at)
		}
	}
	return appendAll(dst, others)
}

func appendMember(dst []byte, at any) []byte {
	switch of := at.(type) {
	case *string:
		return value.AppendString(dst, *of)
	case *int64:
		return value.AppendInt(dst, *of)
	case *bool:
		return value.AppendBool(dst, *of)
	case *[]byte:
		return append(dst, *of...)
	case *[]string:
		dst = value.AppendListHeader(dst, len(*of))
		for _, s := range *of {
			dst = value.AppendString(dst, s)
		}
	case *[]Member:
		return appendMembers(dst, *of)
	case *[]ArtifactVersion:
		start := len(dst)
		dst = value.AppendMapHeader(dst, len(*of))
		for i := range *of {
			v := &(*of)[i]
			dst = value.AppendInt(value.AppendString(dst, v.Name), int64(v.Version))
		}
		return value.OrderMap(dst, start)
	case *content:
		return AppendContent(dst, of.Role, of.Parts)
	case *Actions:
		return of.Append(dst)
	}
	return dst
}
