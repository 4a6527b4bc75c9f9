package value

// Fits reports whether v is exactly one well-formed value whose containers nest at most maxDepth levels, none of them
// with more than maxItems members or elements: whether a frame with these limits can carry it.
func Fits(v []byte, maxDepth, maxItems int) bool {
	end, ok := fits(v, 0, maxDepth, uint64(maxItems))
	return ok && end == len(v)
}

func fits(v []byte, i, depth int, items uint64) (end int, ok bool) {
	kind, size, n := Head(v, i)
	if kind != KindList && kind != KindMap {
		end, err := skip(v, i, 0)
		return end, err == nil
	}
	if i += size; depth <= 0 || n > items {
		return 0, false
	}
	for ; n > 0; n-- {
		if kind == KindMap {
			var err error
			if _, i, err = KeyAt(v, i); err != nil {
				return 0, false
			}
		}
		if i, ok = fits(v, i, depth-1, items); !ok {
			return 0, false
		}
	}
	return i, true
}
