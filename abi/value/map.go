package value

import (
	"cmp"
	"slices"
	"strings"
)

// Map is a map value whose members keep their order.
type Map []Member

// Member is one member of a Map.
type Member struct {
	Key   string
	Value any
}

// Get returns the value of a key.
func (m Map) Get(key string) (any, bool) {
	for i := range m {
		if m[i].Key == key {
			return m[i].Value, true
		}
	}
	return nil, false
}

// Set gives a key a value, at the place the key has already or else at the end.
func (m *Map) Set(key string, v any) {
	for i := range *m {
		if (*m)[i].Key == key {
			(*m)[i].Value = v
			return
		}
	}
	*m = append(*m, Member{key, v})
}

// Plain returns a value with Go's maps in place of every Map, so that it is made of nil, bool, int64, float64, string,
// []byte, []any and map[string]any. Lists are changed in place.
func Plain(v any) any {
	switch v := v.(type) {
	case Map:
		m := make(map[string]any, len(v))
		for _, e := range v {
			m[e.Key] = Plain(e.Value)
		}
		return m
	case []any:
		for i := range v {
			v[i] = Plain(v[i])
		}
	}
	return v
}

// ordered returns the members in the order of the encoding, which is that of the properties of an ECMAScript object:
// array indexes first, in ascending order, then the others as they are; of members with the same key the value of the
// last at the place of the first. It returns m itself where nothing changes, and never changes m.
func (m Map) ordered() Map {
	sorted := m.indexesFirst()
	if sorted && len(m) <= 16 && !m.repeats() {
		return m
	}
	place := map[string]int{}
	for i := range m {
		if _, ok := place[m[i].Key]; !ok {
			place[m[i].Key] = len(place)
		}
	}
	if sorted && len(place) == len(m) {
		return m
	}
	out := make(Map, len(place))
	for _, e := range m {
		out[place[e.Key]] = e
	}
	slices.SortStableFunc(out, func(a, b Member) int {
		x, xOK := arrayIndex(a.Key)
		y, yOK := arrayIndex(b.Key)
		switch {
		case xOK && yOK:
			return cmp.Compare(x, y)
		case xOK:
			return -1
		case yOK:
			return 1
		}
		return 0
	})
	return out
}

// indexesFirst tells whether the array indexes among the keys come first and ascend.
func (m Map) indexesFirst() bool {
	next, named := int64(0), false
	for i := range m {
		n, ok := arrayIndex(m[i].Key)
		if ok && (named || n < next) {
			return false
		}
		if ok {
			next = n + 1
		} else {
			named = true
		}
	}
	return true
}

// repeats tells whether a key occurs twice. It is for few members.
func (m Map) repeats() bool {
	for i := range m {
		for j := range m[:i] {
			if m[i].Key == m[j].Key {
				return true
			}
		}
	}
	return false
}

// arrayIndex tells whether a key is an array index to ECMAScript: "0" to "4294967294" without leading zeros.
func arrayIndex(key string) (int64, bool) {
	if len(key) == 0 || len(key) > 10 || key[0] == '0' && len(key) > 1 {
		return 0, false
	}
	n := int64(0)
	for i := range len(key) {
		c := key[i] - '0'
		if c > 9 {
			return 0, false
		}
		n = n*10 + int64(c)
	}
	return n, n < 1<<32-1
}

// sorted returns the members of a plain map by their keys.
func sorted(m map[string]any) Map {
	out := make(Map, 0, len(m))
	for key, v := range m {
		out = append(out, Member{key, v})
	}
	slices.SortFunc(out, func(a, b Member) int { return strings.Compare(a.Key, b.Key) })
	return out
}
