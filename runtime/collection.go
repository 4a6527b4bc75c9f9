package runtime

import (
	"github.com/turncore/turncore/runtime/record"
)

// Collection is an ordered set of records, named by their handles. It is held as runs of consecutive handles, so that a
// long history is one run, and copies share their runs until one of them changes.
type Collection struct {
	runs   []run
	edits  uint32 // number of changes other than appending
	kind   record.Kind
	shared bool
}

type run struct {
	first int64
	count uint32
}

func (r run) has(handle int64) bool {
	return handle >= r.first && handle < r.first+int64(r.count)
}

// snapshot returns a copy in constant time.
func (c *Collection) snapshot() Collection {
	c.shared = true
	return *c
}

// own copies shared runs before a change, with room for extra more.
func (c *Collection) own(extra int) {
	if !c.shared {
		return
	}
	runs := make([]run, len(c.runs), len(c.runs)+extra)
	copy(runs, c.runs)
	c.runs, c.shared = runs, false
}

// append adds count consecutive handles at the end.
func (c *Collection) append(first int64, count uint32) {
	c.own(4)
	if n := len(c.runs); n > 0 && first > 0 {
		if last := &c.runs[n-1]; last.first > 0 && last.first+int64(last.count) == first {
			last.count += count
			return
		}
	}
	c.runs = append(c.runs, run{first, count})
}

// size is the number of records.
func (c *Collection) size() int {
	n := 0
	for _, r := range c.runs {
		n += int(r.count)
	}
	return n
}

func (c *Collection) clear() {
	c.edits++
	c.runs, c.shared = nil, false
}

// contains reports whether the handle is in the set.
func (c *Collection) contains(handle int64) bool {
	for _, r := range c.runs {
		if r.has(handle) {
			return true
		}
	}
	return false
}

// remove takes a handle out; false if it was not in.
func (c *Collection) remove(handle int64) bool {
	return c.splice(handle, 0)
}

// replace puts other in the place of handle; false if handle was not in.
func (c *Collection) replace(handle, other int64) bool {
	return c.splice(handle, other)
}

// splice replaces handle by other, or removes it if other is 0; false if handle was not in.
func (c *Collection) splice(handle, other int64) bool {
	for i, r := range c.runs {
		if !r.has(handle) {
			continue
		}
		var parts [3]run
		n := 0
		if before := uint32(handle - r.first); before > 0 {
			parts[n] = run{r.first, before}
			n++
		}
		if other != 0 {
			parts[n] = run{other, 1}
			n++
		}
		if after := r.count - uint32(handle-r.first) - 1; after > 0 {
			parts[n] = run{handle + 1, after}
			n++
		}
		c.own(2)
		c.edits++
		switch n {
		case 1:
			c.runs[i] = parts[0]
		case 0:
			c.runs = append(c.runs[:i], c.runs[i+1:]...)
		default:
			tail := append([]run(nil), c.runs[i+1:]...)
			c.runs = append(append(c.runs[:i], parts[:n]...), tail...)
		}
		return true
	}
	return false
}

// insert puts a handle before another, or at the end if that is not in.
func (c *Collection) insert(handle, before int64) {
	if before == 0 || !c.replace(before, handle) {
		c.append(handle, 1)
		return
	}
	for i, r := range c.runs {
		if r.first == handle && r.count == 1 {
			tail := append([]run{{before, 1}}, c.runs[i+1:]...)
			c.runs = append(c.runs[:i+1], tail...)
			return
		}
	}
}

// each visits the handles in order until yield returns false.
func (c *Collection) each(yield func(handle int64) bool) {
	for _, r := range c.runs {
		for i := range r.count {
			if !yield(r.first + int64(i)) {
				return
			}
		}
	}
}

// eachFrom visits the handles from the n-th on.
func (c *Collection) eachFrom(n int, yield func(handle int64)) {
	for _, r := range c.runs {
		if n >= int(r.count) {
			n -= int(r.count)
			continue
		}
		for i := n; i < int(r.count); i++ {
			yield(r.first + int64(i))
		}
		n = 0
	}
}

// find returns the first handle whose record has the id.
func (c *Collection) find(rs *records, id string) (int64, bool) {
	return c.findAfter(rs, id, 0)
}

// findAfter is find behind the handle after (0: from the start).
func (c *Collection) findAfter(rs *records, id string, after int64) (int64, bool) {
	seen := after == 0
	for _, r := range c.runs {
		end := r.first + int64(r.count)
		for h := r.first; h < end; h++ {
			if !seen {
				if r.has(after) {
					h, seen = after, true
					continue
				}
				break
			}
			if s := rs.spanOf(h); h > 0 && s != nil && s.history != nil && !s.history.duplicates {
				i, ok := s.history.find(id, s.count)
				if !s.history.duplicates {
					at := s.first + int64(i)
					if ok && at >= h && at < end {
						return at, true
					}
					h = min(end, s.first+int64(s.count)) - 1
					continue
				}
			}
			if string(record.ID(c.kind, rs.body(h))) == id {
				return h, true
			}
		}
	}
	return 0, false
}

// digest is FNV-1a over the handles in order, each as four little-endian bytes. Hosts compute the same over their copy.
func (c *Collection) digest() uint32 {
	sum := uint32(2166136261)
	c.each(func(handle int64) bool {
		v := uint32(handle)
		for range 4 {
			sum = (sum ^ v&0xff) * 16777619
			v >>= 8
		}
		return true
	})
	return sum
}
