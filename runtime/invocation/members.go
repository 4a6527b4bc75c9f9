package invocation

import "github.com/turncore/turncore/abi/value"

// members builds a map.
type members struct {
	n int
	b []byte
}

// add adds a member whose value is encoded.
//
//go:noinline
func (m *members) add(name string, v []byte) {
	m.b = append(value.AppendString(m.b, name), v...)
	m.n++
}

// text adds a member that is a text.
//
//go:noinline
func (m *members) text(name, text string) {
	m.b = value.AppendString(value.AppendString(m.b, name), text)
	m.n++
}

// value is the map.
func (m *members) value() []byte { return append(value.AppendMapHeader(nil, m.n), m.b...) }

// single is a map of one member.
func single(name string, v []byte) []byte {
	var m members
	m.add(name, v)
	return m.value()
}

// quote puts a name between quotation marks.
//
//go:noinline
func quote(name string) string { return "\"" + name + "\"" }

// joined is the texts one after another.
//
//go:noinline
func joined(texts ...string) string {
	var b []byte
	for _, t := range texts {
		b = append(b, t...)
	}
	return string(b)
}
