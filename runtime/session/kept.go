package session

import "github.com/turncore/turncore/abi/value"

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

// appendKept appends a map of the members that are not empty, false or 0, and of others.
func appendKept(dst []byte, names []string, kept []any, others []Member) []byte {
	start, n := len(dst), len(others)
	dst = value.AppendMapHeader(dst, 0)
	for i, at := range kept {
		name, end := names[i], len(dst)
		switch of := at.(type) {
		case *string:
			if *of != "" {
				dst = appendText(dst, name, *of)
			}
		case *int64:
			if *of != 0 {
				dst = value.AppendInt(appendName(dst, name), *of)
			}
		case *bool:
			if *of {
				dst = value.AppendBool(appendName(dst, name), true)
			}
		case *[]byte:
			if len(*of) > 0 {
				dst = appendNamed(dst, name, *of)
			}
		case *[]string:
			if len(*of) > 0 {
				dst = appendTexts(appendName(dst, name), *of)
			}
		case *[]Member:
			if len(*of) > 0 {
				dst = appendMembers(appendName(dst, name), *of)
			}
		case *[]ArtifactVersion:
			if len(*of) > 0 {
				dst = appendVersions(appendName(dst, name), *of)
			}
		case *content:
			if of.HasContent {
				dst = AppendContent(appendName(dst, name), of.Role, of.Parts)
			}
		case *Actions:
			if !of.Empty() {
				dst = of.Append(appendName(dst, name))
			}
		}
		if len(dst) > end {
			n++
		}
	}
	return value.CloseContainer(appendAll(dst, others), start, n)
}

func appendTexts(dst []byte, list []string) []byte {
	dst = value.AppendListHeader(dst, len(list))
	for _, s := range list {
		dst = value.AppendString(dst, s)
	}
	return dst
}

func appendVersions(dst []byte, list []ArtifactVersion) []byte {
	start := len(dst)
	dst = value.AppendMapHeader(dst, len(list))
	for i := range list {
		v := &list[i]
		dst = value.AppendInt(value.AppendString(dst, v.Name), int64(v.Version))
	}
	return value.OrderMap(dst, start)
}
