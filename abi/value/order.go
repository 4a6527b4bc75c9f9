package value

// span is a member of a map: dst[start:end], with its key at [key:keyEnd] of an associated buffer. pos is its position
// among the members.
type span struct{ pos, key, keyEnd, start, end uint32 }

func (s *span) keyIn(keys []byte) []byte { return keys[s.key:s.keyEnd] }

// OrderMap sorts the members of the map at dst[start:], the end of dst, into the order of the encoding: array indexes
// first, and one member per key. Of members with the same key, the last value stays, in the place of the first. dst is
// returned unchanged if there is no map, or a malformed one.
func OrderMap(dst []byte, start int) []byte {
	kind, size, n := Head(dst, start)
	if kind != KindMap || n < 2 {
		return dst
	}
	var few [16]span
	spans := few[:0]
	i, tidy := start+size, keyOrder{}
	for ; n > 0; n-- {
		key, val, err := KeyAt(dst, i)
		if err != nil {
			return dst
		}
		end, err := skip(dst, val, MaxDepth)
		if err != nil {
			return dst
		}
		tidy.add(key)
		spans = append(spans, span{uint32(len(spans)), uint32(val - len(key)), uint32(val), uint32(i), uint32(end)})
		i = end
	}
	if !tidy.broken && !hasDuplicate(dst, spans) {
		return dst
	}
	fixed, count := orderSpans(dst, spans)
	if count == len(spans) {
		return fixed
	}
	body := start + size
	head := appendContainer(nil, 0x80, count)
	copy(fixed[start+len(head):], fixed[body:])
	copy(fixed[start:], head)
	return fixed[:len(fixed)-size+len(head)]
}

// keyOrder reports whether a sequence of keys breaks the order of the encoding.
type keyOrder struct {
	broken, names bool
	next          uint64
}

func (o *keyOrder) add(key []byte) {
	index, ok := arrayIndex(key)
	switch {
	case !ok:
		o.names = true
	case o.names || index < o.next:
		o.broken = true
	default:
		o.next = index + 1
	}
}

// arrayIndex reports whether key is an array index in ECMAScript's sense.
func arrayIndex(key []byte) (uint64, bool) {
	if len(key) == 0 || len(key) > 10 || key[0] == '0' && len(key) > 1 {
		return 0, false
	}
	n := uint64(0)
	for _, c := range key {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, n < 1<<32-1
}

// hasDuplicate reports whether two spans have the same key.
func hasDuplicate(keys []byte, spans []span) bool {
	if len(spans) > 16 {
		seen := make(map[string]struct{}, len(spans))
		for i := range spans {
			seen[string(spans[i].keyIn(keys))] = struct{}{}
		}
		return len(seen) != len(spans)
	}
	for i := 1; i < len(spans); i++ {
		key := spans[i].keyIn(keys)
		for j := range i {
			if string(spans[j].keyIn(keys)) == string(key) {
				return true
			}
		}
	}
	return false
}

// orderSpans sorts the members of the map at the end of dst into the order of the encoding and returns how many are
// left.
func orderSpans(dst []byte, spans []span) ([]byte, int) {
	first := make(map[string]int, len(spans))
	kept := spans[:0:0]
	for _, s := range spans {
		key := string(s.keyIn(dst))
		at, again := first[key]
		if again {
			s.pos = kept[at].pos
			kept[at] = s
			continue
		}
		first[key] = len(kept)
		kept = append(kept, s)
	}
	body := int(spans[0].start)
	sortSpans(kept, func(a, b span) bool {
		m, mIndex := arrayIndex(a.keyIn(dst))
		n, nIndex := arrayIndex(b.keyIn(dst))
		if mIndex && nIndex {
			return m < n
		}
		if mIndex != nIndex {
			return mIndex
		}
		return a.pos < b.pos
	})
	return permute(dst, body, kept, 0), len(kept)
}

// permute replaces dst[body:] by its spans in the given order, separated by sep unless it is 0.
func permute(dst []byte, body int, spans []span, sep byte) []byte {
	end := len(dst)
	for i := range spans {
		if sep != 0 && i > 0 {
			dst = append(dst, sep)
		}
		dst = append(dst, dst[spans[i].start:spans[i].end]...)
	}
	return dst[:body+copy(dst[body:], dst[end:])]
}

// sortSpans is a heap sort: it allocates nothing, and no input makes it slow. Keys are unique, so it need not be
// stable.
func sortSpans(s []span, less func(a, b span) bool) {
	for n, root := len(s), len(s)/2; n > 1; {
		if root > 0 {
			root--
		} else {
			n--
			s[0], s[n] = s[n], s[0]
		}
		for i := root; ; {
			child := 2*i + 1
			if child >= n {
				break
			}
			if child+1 < n && less(s[child], s[child+1]) {
				child++
			}
			if !less(s[i], s[child]) {
				break
			}
			s[i], s[child] = s[child], s[i]
			i = child
		}
	}
}
