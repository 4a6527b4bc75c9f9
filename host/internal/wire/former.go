package wire

import (
	"slices"
	"unicode/utf8"

	"github.com/turncore/turncore/abi/value"
)

// Former is a value that writes itself as a map, without a [Map] in between.
type Former interface {
	// Form writes the members.
	Form(m *Encoder)
}

// former encodes what writes itself.
func (e *Encoder) former(v Former, depth int) {
	if !e.container(0, depth) {
		return
	}
	outerDepth, outerStart, outerCount, outerLoose := e.depth, e.start, e.count, e.loose
	e.depth, e.start, e.count, e.loose = depth, len(e.dst), 0, false
	e.dst = append(e.dst, 0) // the head of a map of few members
	v.Form(e)
	e.close()
	e.depth, e.start, e.count, e.loose = outerDepth, outerStart, outerCount, outerLoose
}

// close writes the head of a map whose members are written.
func (e *Encoder) close() {
	if e.err != nil || !e.container(e.count, e.depth) {
		return
	}
	var room [8]byte
	if head := value.AppendMapHeader(room[:0], e.count); len(head) == 1 {
		e.dst[e.start] = head[0]
	} else {
		e.dst = slices.Replace(e.dst, e.start, e.start+1, head...)
	}
	if e.loose {
		e.dst = value.OrderMap(e.dst, e.start)
	}
}

// isLoose tells whether a key may have to stand elsewhere than it is written, or may be there twice: it looks like an
// index, or is not ASCII.
func isLoose(key string) bool {
	if key != "" && key[0] <= '9' {
		return true
	}
	for i := range len(key) {
		if key[i] >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// begin begins a member. It tells whether its value may follow in dst.
func (e *Encoder) begin(key string) bool {
	if e.err != nil {
		return false
	}
	e.string(key)
	e.count++
	e.loose = e.loose || isLoose(key)
	e.path = append(e.path, step{key, -1})
	return e.err == nil
}

// end ends a member.
func (e *Encoder) end() {
	if e.err == nil {
		e.path = e.path[:len(e.path)-1]
	}
}

// Put writes a member.
func (e *Encoder) Put(key string, v any) {
	if e.tree != nil {
		*e.tree = append(*e.tree, Member{key, v})
	} else if e.begin(key) {
		e.value(v, e.depth+1)
		e.end()
	}
}

// String writes a member that is a text.
func (e *Encoder) String(key, text string) {
	if e.tree != nil {
		e.Put(key, text)
	} else if e.begin(key) {
		e.string(text)
		e.end()
	}
}

// Text is String unless the text is empty, Number is Put unless the number is 0, Flag unless the flag is not set, and
// Object unless there are no members.
func (e *Encoder) Text(key, text string) {
	if text != "" {
		e.String(key, text)
	}
}

// Number is as Text.
func (e *Encoder) Number(key string, n int) {
	if n != 0 {
		e.Put(key, n)
	}
}

// Flag is as Text.
func (e *Encoder) Flag(key string, set bool) {
	if set {
		e.Put(key, true)
	}
}

// Object is as Text.
func (e *Encoder) Object(key string, members map[string]any) {
	if len(members) > 0 {
		e.Put(key, members)
	}
}

// List writes a member that is a list of n elements.
func (e *Encoder) List(key string, n int, element func(i int) Former) {
	if e.tree != nil {
		list := make([]any, n)
		for i := range list {
			list[i] = element(i)
		}
		e.Put(key, list)
		return
	}
	if !e.begin(key) {
		return
	}
	if depth := e.depth + 1; e.list(n, depth) {
		for i := range n {
			e.part(step{place: i}, element(i), depth)
		}
	}
	e.end()
}

// More writes further members, in the order of their keys, unless they are there.
func (e *Encoder) More(members map[string]any) {
	for _, m := range sorted(members) {
		if !e.has(m.Key) {
			e.Put(m.Key, m.Value)
		}
	}
}

// has tells whether a member is written.
func (e *Encoder) has(key string) bool {
	if e.tree != nil {
		return slices.ContainsFunc(*e.tree, func(m Member) bool { return m.Key == key })
	}
	if e.err != nil {
		return false
	}
	rest := e.dst[e.start+1:]
	for range e.count {
		name, _ := value.String(rest)
		if string(name) == key {
			return true
		}
		for range 2 { // key and value
			var err error
			if rest, err = value.Skip(rest, value.MaxDepth); err != nil {
				return false
			}
		}
	}
	return false
}

// members are what a Former writes.
func members(v Former) Map {
	var m Map
	v.Form(&Encoder{tree: &m})
	return m
}
