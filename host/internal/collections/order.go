package collections

import (
	"hash/fnv"
	"slices"

	"github.com/turncore/turncore/host/record"
)

// Order is an ordered set of handles, held as runs of consecutive ones: a history of thousands of records is one run,
// and so is a batch that was added at once. Copies share the runs until one side changes them.
type Order struct {
	runs   []run
	count  int
	shared bool
}

// run is the handles first, first+1, … first+count-1.
type run struct {
	first int64
	count int
}

func (r run) has(handle int64) bool {
	return handle >= r.first && handle < r.first+int64(r.count)
}

// Snapshot returns a copy, in constant time.
func (o *Order) Snapshot() Order {
	o.shared = true
	return *o
}

// own makes the runs this order's alone.
func (o *Order) own(extra int) {
	if o.shared {
		o.runs = append(make([]run, 0, len(o.runs)+extra), o.runs...)
		o.shared = false
	}
}

// Add appends count handles from first on. The caller has made sure that none of them is in.
func (o *Order) Add(first int64, count int) {
	o.own(4)
	o.count += count
	if n := len(o.runs); n > 0 && first > 0 {
		if last := &o.runs[n-1]; last.first > 0 && last.first+int64(last.count) == first {
			last.count += count
			return
		}
	}
	o.runs = append(o.runs, run{first, count})
}

// find returns which run holds the handle, -1 for none.
func (o *Order) find(handle int64) int {
	// Backwards, as what was added last is looked up most.
	for i := len(o.runs) - 1; i >= 0; i-- {
		if o.runs[i].has(handle) {
			return i
		}
	}
	return -1
}

// Has tells whether a handle is in.
func (o *Order) Has(handle int64) bool { return o.find(handle) >= 0 }

// Remove takes a handle out; false if it was not in.
func (o *Order) Remove(handle int64) bool { return o.splice(handle) }

// Replace puts other, which is not in, in the place of handle; false if handle was not in.
func (o *Order) Replace(handle, other int64) bool { return o.splice(handle, other) }

// Insert puts handle before another one, or at the end if that is not in.
func (o *Order) Insert(handle, before int64) {
	if before == 0 || !o.splice(before, handle, before) {
		o.Add(handle, 1)
	}
}

// splice puts others in the place of handle.
func (o *Order) splice(handle int64, others ...int64) bool {
	i := o.find(handle)
	if i < 0 {
		return false
	}
	o.own(3)
	r := o.runs[i]
	var few [4]run
	parts := few[:0]
	if before := int(handle - r.first); before > 0 {
		parts = append(parts, run{r.first, before})
	}
	for _, other := range others {
		parts = append(parts, run{other, 1})
	}
	if after := r.count - int(handle-r.first) - 1; after > 0 {
		parts = append(parts, run{handle + 1, after})
	}
	o.runs = slices.Replace(o.runs, i, i+1, parts...)
	o.count += len(others) - 1
	return true
}

// Clear takes all out.
func (o *Order) Clear() { *o = Order{} }

// All visits the handles in order.
func (o Order) All(yield func(handle int64) bool) {
	for _, r := range o.runs {
		for h := r.first; h < r.first+int64(r.count); h++ {
			if !yield(h) {
				return
			}
		}
	}
}

// Digest sums up the order the way the guest does for MethodDigest: FNV-1a over the handles, four little-endian bytes
// each.
func (o Order) Digest() uint32 {
	sum := fnv.New32a()
	o.All(func(h int64) bool {
		_, _ = sum.Write([]byte{byte(h), byte(h >> 8), byte(h >> 16), byte(h >> 24)}) // a hash never fails
		return true
	})
	return sum.Sum32()
}

// Len is how many handles there are.
func (o *Order) Len() int { return o.count }

// Records are what the handles of an order name, in a slice of the caller's own.
func Records[R record.Type](o *Order, h *Handles) []R {
	list := make([]R, 0, o.count)
	for _, run := range o.runs {
		list = appendRun(list, h, run)
	}
	return list
}

// appendRun appends the records that a run of handles names.
func appendRun[R record.Type](list []R, h *Handles, r run) []R {
	for handle := r.first; handle < r.first+int64(r.count); handle++ {
		if element, ok := h.Record(handle).(R); ok {
			list = append(list, element)
		}
	}
	return list
}
