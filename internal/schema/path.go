package schema

import "strconv"

// step is one level of a path into a value: a member's key, or an element's index when key is nil.
type step struct {
	key   []byte
	index int
}

// appendStep appends a step as a JSON Pointer has it.
func appendStep(p []byte, s step) []byte {
	p = append(p, '/')
	if s.key == nil {
		return strconv.AppendInt(p, int64(s.index), 10)
	}
	for _, c := range s.key {
		switch c {
		case '~':
			p = append(p, "~0"...)
		case '/':
			p = append(p, "~1"...)
		default:
			p = append(p, c)
		}
	}
	return p
}

// pointer returns the path to the value at hand as a JSON Pointer.
func (v *validator) pointer() string {
	var p []byte
	for i := range v.path.n {
		p = appendStep(p, v.path.at(i))
	}
	return string(p)
}

// field returns the path to the value at hand as a reader would write it: user.tags[2].
func (v *validator) field() string {
	if v.path.n == 0 {
		return "the value"
	}
	var p []byte
	for i := range v.path.n {
		s := v.path.at(i)
		if s.key == nil {
			p = append(strconv.AppendInt(append(p, '['), int64(s.index), 10), ']')
			continue
		}
		if i > 0 {
			p = append(p, '.')
		}
		p = append(p, s.key...)
	}
	return string(p)
}
