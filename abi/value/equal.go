package value

// Equal reports whether two values are the same in JSON: numbers by magnitude, maps whatever their order. Bytes only
// equal bytes. Values that are malformed or nest deeper than [MaxDepth] equal nothing.
func Equal(a, b []byte) bool {
	i, j := equal(a, 0, b, 0, MaxDepth)
	return i > 0 && i == len(a) && j == len(b)
}

// equal returns the ends of the values at a[i:] and b[j:], or 0, 0 if they differ.
func equal(a []byte, i int, b []byte, j, depth int) (int, int) {
	kind, size, n := Head(a, i)
	other, width, m := Head(b, j)
	if size == 0 || width == 0 {
		return 0, 0
	}
	i, j = i+size, j+width
	if kind != other {
		if isNumber(kind) && isNumber(other) && number(kind, n) == number(other, m) {
			return i, j
		}
		return 0, 0
	}
	if n != m || kind >= KindList && depth <= 0 {
		if kind == KindFloat && number(kind, n) == number(kind, m) {
			return i, j // 0 and -0
		}
		return 0, 0
	}
	switch kind {
	case KindString, KindBytes:
		end, till := i+int(n), j+int(n)
		if n > uint64(len(a)-i) || n > uint64(len(b)-j) || string(a[i:end]) != string(b[j:till]) {
			return 0, 0
		}
		return end, till
	case KindList:
		for ; n > 0; n-- {
			if i, j = equal(a, i, b, j, depth-1); i == 0 {
				return 0, 0
			}
		}
	case KindMap:
		for ; n > 0; n-- {
			key, val, err := KeyAt(a, i)
			name, at, fault := KeyAt(b, j)
			if err != nil || fault != nil {
				return 0, 0
			}
			if string(key) != string(name) {
				return equalMembers(a, i, b, j, int(n), depth)
			}
			if i, j = equal(a, val, b, at, depth-1); i == 0 {
				return 0, 0
			}
		}
	}
	return i, j
}

func isNumber(kind Kind) bool { return kind == KindInt || kind == KindFloat }

// equalMembers compares the n members at a[i:] and b[j:] in any order. Keys are unique.
func equalMembers(a []byte, i int, b []byte, j, n, depth int) (int, int) {
	places := make(map[string]int, min(n, 64))
	for range n {
		key, val, err := KeyAt(b, j)
		if err == nil {
			j, err = skip(b, val, depth-1)
		}
		if err != nil {
			return 0, 0
		}
		places[string(key)] = val
	}
	for range n {
		key, val, err := KeyAt(a, i)
		if err != nil {
			return 0, 0
		}
		at, ok := places[string(key)]
		if !ok {
			return 0, 0
		}
		if i, _ = equal(a, val, b, at, depth-1); i == 0 {
			return 0, 0
		}
	}
	return i, j
}
