package runtime

import (
	"sort"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/record"
)

// block is a list of consecutive records, split into bodies on first access.
type block struct {
	count uint32
	end   uint32 // of the body of a single record, once it is known
	data  []byte
	ends  *[]uint32 // end offset of each body of several
}

// body returns the i-th body, nil if the block does not hold that many.
func (b *block) body(i uint32) []byte {
	if b.count == 1 {
		return b.single(i)
	}
	if b.ends == nil {
		b.split()
	}
	ends, start := *b.ends, uint32(0)
	if i >= uint32(len(ends)) {
		return nil
	}
	if i > 0 {
		start = ends[i-1]
	}
	return b.data[start:ends[i]:ends[i]]
}

// single is body of a block of one record.
func (b *block) single(i uint32) []byte {
	if b.end == 0 {
		rest, err := value.Skip(b.data, value.MaxDepth)
		if err != nil {
			return nil
		}
		b.end = uint32(len(b.data) - len(rest))
	}
	if i > 0 {
		return nil
	}
	return b.data[:b.end:b.end]
}

func (b *block) split() {
	// The host sets count; each body takes at least a byte.
	ends := make([]uint32, 0, min(int(b.count), len(b.data)))
	rest := b.data
	for range b.count {
		var err error
		if rest, err = value.Skip(rest, value.MaxDepth); err != nil {
			break
		}
		ends = append(ends, uint32(len(b.data)-len(rest)))
	}
	b.ends = &ends
}

// History is a list of records that many turns share. It only grows; later records do not affect a turn that refers
// to its first n records.
type History struct {
	kind   record.Kind
	blocks []block
	starts []uint32 // index of each block's first record
	sizes  []uint64 // total bytes up to and including each block
	count  uint32

	bytes   uint64 // total size of the bodies
	users   int    // turns that use it
	dropped bool

	ids        map[string]uint32 // first index of each id, over the first `indexed` records
	indexed    uint32
	duplicates bool
}

// NewHistory returns an empty history of records of one kind.
func NewHistory(kind record.Kind) *History { return &History{kind: kind} }

// Kind of the records.
func (h *History) Kind() record.Kind { return h.kind }

// Len is the number of records.
func (h *History) Len() uint32 { return h.count }

// Append adds count records, whose bodies are consecutive in data. It keeps data.
func (h *History) Append(count uint32, data []byte) {
	if count == 0 {
		return
	}
	h.blocks = append(h.blocks, block{count: count, data: data})
	h.starts = append(h.starts, h.count)
	h.count += count
	h.bytes += uint64(len(data))
	h.sizes = append(h.sizes, h.bytes)
}

// upTo returns the size of the blocks that hold the first n records.
func (h *History) upTo(n uint32) uint64 {
	k := sort.Search(len(h.starts), func(k int) bool { return h.starts[k] >= n }) - 1
	if k < 0 {
		return 0
	}
	return h.sizes[k]
}

func (h *History) body(i uint32) []byte {
	k := sort.Search(len(h.starts), func(k int) bool { return h.starts[k] > i }) - 1
	if k < 0 {
		return nil
	}
	return h.blocks[k].body(i - h.starts[k])
}

// find returns the index of the first record among the first n with the id.
func (h *History) find(id string, n uint32) (uint32, bool) {
	if h.ids == nil {
		h.ids = make(map[string]uint32, h.count)
	}
	for ; h.indexed < n; h.indexed++ {
		key := string(record.ID(h.kind, h.body(h.indexed)))
		if _, ok := h.ids[key]; ok {
			h.duplicates = true
			continue
		}
		h.ids[key] = h.indexed
	}
	i, ok := h.ids[id]
	return i, ok && i < n
}

// records maps the handles of a turn to bodies.
type records struct {
	spans []span   // host handles, ascending
	few   [3]span  // room for the usual number of them
	made  [][]byte // guest handles: -1, -2, …
}

// span is a range of consecutive host handles: the turn's own records, or those that a history begins with.
type span struct {
	first   int64
	history *History // nil for the turn's own
	block            // has only a count if there is a history
}

// put assigns the handles from first on to a block or to the beginning of a history. It rejects a range that is not
// above all earlier ones, or that no frame could name.
func (r *records) put(s span) bool {
	if s.first <= 0 || s.count == 0 || s.first < r.next() || s.first > value.MaxInt-int64(s.count) {
		return false
	}
	if r.spans == nil {
		r.spans = r.few[:0]
	}
	r.spans = append(r.spans, s)
	return true
}

// next is the lowest free host handle.
func (r *records) next() int64 {
	if n := len(r.spans); n > 0 {
		return r.spans[n-1].first + int64(r.spans[n-1].count)
	}
	return 1
}

func (r *records) spanOf(handle int64) *span {
	k := sort.Search(len(r.spans), func(k int) bool { return r.spans[k].first > handle }) - 1
	if k < 0 || handle >= r.spans[k].first+int64(r.spans[k].count) {
		return nil
	}
	return &r.spans[k]
}

// make keeps a body that the guest made and returns its handle.
func (r *records) make(body []byte) int64 {
	r.made = append(r.made, body)
	return -int64(len(r.made))
}

// unmake takes back the handle that make returned last, if nobody has seen it yet.
func (r *records) unmake() { r.made = r.made[:len(r.made)-1] }

// body of a handle; nil if unknown.
func (r *records) body(handle int64) []byte {
	if handle < 0 {
		if i := -handle - 1; i < int64(len(r.made)) {
			return r.made[i]
		}
		return nil
	}
	s := r.spanOf(handle)
	if s == nil {
		return nil
	}
	if s.history != nil {
		return s.history.body(uint32(handle - s.first))
	}
	return s.block.body(uint32(handle - s.first))
}

// check validates a record.
func (r *records) check(kind record.Kind, handle int64) error {
	if handle > 0 {
		if s := r.spanOf(handle); s != nil && s.history == nil && s.count == 1 && s.end == 0 {
			// The pass that checks the record finds its end, too.
			if s.end = uint32(record.CheckFirst(kind, s.data)); s.end > 0 {
				return nil
			}
		}
	}
	return record.Check(kind, r.body(handle))
}

// known reports whether a handle names a record of this turn.
func (r *records) known(handle int64) bool {
	if handle < 0 {
		return -handle <= int64(len(r.made))
	}
	return r.spanOf(handle) != nil
}
