package collections

import (
	"bytes"
	"slices"
	"sort"
	"strconv"
	"sync"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
)

// History is a list of records that turns share, in the form in which they cross. It only grows. Its methods may be
// called from many goroutines.
type History struct {
	kind uint8

	mu       sync.Mutex
	records  []record.Record
	places   map[record.Record]int
	ids      map[string]int // places of the first record of each id, of the first indexed records
	indexed  int
	blocks   []block
	size     int      // of the bodies, in bytes
	together int      // bytes of the last blocks that cross together
	holders  []Holder // that have been told of it
}

// Holder is somebody who was told of a history, and forgets it when nobody uses it any more.
type Holder interface{ DropHistory(h *History) }

// block is records as they cross: bodies back to back. It does not grow beyond the room that it has.
type block struct {
	first  int // the place of its first record
	count  int
	body   []byte
	ends   []int // of each body
	joined bool  // it crosses together with the block before it
}

// slice returns the bodies from the from-th up to the to-th.
func (b *block) slice(from, to int) []byte {
	start := 0
	if from > 0 {
		start = b.ends[from-1]
	}
	return b.body[start:b.ends[to-1]:b.ends[to-1]]
}

// MaxBlock is how large blocks that cross together may be, in bytes. It is far below the limit of a frame.
const MaxBlock = 1 << 20

// NewHistory returns a history without records, with room for some of one kind.
func NewHistory(kind uint8, room int) *History {
	return &History{kind: kind, places: make(map[record.Record]int, room)}
}

// Append adds the records that are not in the history yet. For an invalid record it returns the error of Validate and
// adds none.
func Append[R record.Type](h *History, records []R) error {
	// Encoding runs code of payloads, so that no lock may be held.
	bodies := make([][]byte, len(records))
	for i, r := range records {
		var err error
		if bodies[i], err = validBody(r); err != nil {
			return err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, r := range records {
		if _, in := h.places[r]; !in {
			h.append(r, bodies[i])
		}
	}
	return nil
}

// validBody encodes a record that must be valid.
func validBody(r record.Record) ([]byte, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	return AppendBody(nil, r)
}

// AppendBody appends a record as it crosses. It may run code of the record's payload: no lock may be held.
func AppendBody(dst []byte, r record.Record) ([]byte, error) {
	body, err := record.Append(dst, r)
	if err != nil {
		return nil, host.NewError(host.CodeInvalidValue, record.KindOf(r).String()+" "+strconv.Quote(record.Key(r))+": "+err.Error(), err)
	}
	return body, nil
}

// Extend makes records follow the first from ones of the history: those that follow there already stay, the others are
// appended. ok is false if different ones follow; then nothing changes.
func Extend[R record.Type](h *History, from int, records []R) (ok bool, err error) {
	bodies := make([][]byte, len(records))
	there := Slice[R](h, from, from+len(records))
	for i, r := range records {
		if i < len(there) && there[i] == r {
			continue
		}
		if bodies[i], err = validBody(r); err != nil {
			return false, err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	following := min(len(h.records)-from, len(records))
	body := h.bodiesFrom(from)
	for i, r := range records {
		if i >= following {
			if _, in := h.places[r]; in || bodies[i] == nil {
				return false, nil
			}
			continue
		}
		was := body()
		if old := h.records[from+i]; old != record.Record(r) && !(bytes.Equal(was, bodies[i]) && allInBody(old) && allInBody(r)) {
			return false, nil
		}
	}
	for i := following; i < len(records); i++ {
		h.append(records[i], bodies[i])
	}
	return true, nil
}

// allInBody tells whether a record's body says all of it: no text of its own that is rendered when it is read, and
// nothing that is read elsewhere.
func allInBody(r record.Record) bool {
	switch r := r.(type) {
	case *record.Message:
		return len(r.Attachments) == 0 && (r.Tokenizable == nil || !r.Tokenizable.Dynamic())
	case *record.Memory:
		return r.Tokenizable == nil || !r.Tokenizable.Dynamic()
	case *record.Thought:
		return r.Tokenizable == nil || !r.Tokenizable.Dynamic()
	case *record.ToolCall:
		_, static := record.StaticText(r.Results)
		return static
	case *record.Retrievable:
		_, static := record.StaticText(r.Content)
		return static && r.Inline
	}
	return true
}

// Len is the number of records.
func (h *History) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.records)
}

// Slice returns the records from a place up to another, those that there are.
func Slice[R record.Type](h *History, from, to int) []R {
	h.mu.Lock()
	defer h.mu.Unlock()
	records := h.records[from:min(to, len(h.records))]
	list := make([]R, len(records))
	for i, r := range records {
		list[i] = r.(R)
	}
	return list
}

// A history that begins with a body alone, of an event, gets others soon: it has room for them.
const (
	firstBodies  = 1 << 10 // bytes
	firstRecords = 8
)

// mostRoom is how much room a block has at most that is not of one large body.
const mostRoom = 64 << 10

func (h *History) append(r record.Record, body []byte) {
	if !h.hasRoom(len(body)) {
		h.blocks = append(h.blocks, h.nextBlock(r, len(body)))
	}
	h.together += len(body)
	b := &h.blocks[len(h.blocks)-1]
	b.body, b.count = append(b.body, body...), b.count+1
	b.ends = append(b.ends, len(b.body))
	h.size += len(body)
	if r != nil {
		h.places[r] = len(h.records)
	}
	h.records = append(h.records, r)
}

// hasRoom tells whether the last block has room for a body.
func (h *History) hasRoom(size int) bool {
	n := len(h.blocks)
	return n > 0 && cap(h.blocks[n-1].body)-len(h.blocks[n-1].body) >= size && h.together+size <= MaxBlock
}

// nextBlock is a block for a record whose body the last one has no room for.
func (h *History) nextBlock(r record.Record, size int) block {
	n := len(h.blocks)
	if n == 0 {
		if r != nil {
			return block{body: make([]byte, 0, size)}
		}
		h.records = make([]record.Record, 0, firstRecords)
		return block{body: make([]byte, 0, size+firstBodies), ends: make([]int, 0, firstRecords)}
	}
	joined := h.together+size <= MaxBlock
	if !joined {
		h.together = 0
	}
	room := max(size, min(2*cap(h.blocks[n-1].body), mostRoom))
	return block{first: len(h.records), body: make([]byte, 0, room), joined: joined}
}

// blockOf is the place of the block that has the i-th record.
func (h *History) blockOf(i int) int {
	return sort.Search(len(h.blocks), func(at int) bool { return h.blocks[at].first+h.blocks[at].count > i })
}

// ExtendBodies makes bodies follow the first from ones of a history that has no records but bodies alone: those that
// follow there already stay, the others are appended. ok is false if different ones follow; then nothing changes.
func (h *History) ExtendBodies(from int, bodies [][]byte) (ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	following := min(len(h.records)-from, len(bodies))
	for i := range following {
		if !bytes.Equal(h.bodyAt(from+i), bodies[i]) {
			return false
		}
	}
	for _, body := range bodies[following:] {
		h.append(nil, body)
	}
	return true
}

// bodiesFrom returns a function that gives one body after the other, from the i-th record's on. The caller holds h.mu.
func (h *History) bodiesFrom(i int) func() []byte {
	at := h.blockOf(i)
	return func() []byte {
		b := &h.blocks[at]
		if i == b.first+b.count {
			at++
			b = &h.blocks[at]
		}
		i++
		return b.slice(i-1-b.first, i-b.first)
	}
}

// Place returns the place of the first record with an id.
func (h *History) Place(id string) (place int, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ids == nil {
		h.ids = make(map[string]int, len(h.records))
	}
	for ; h.indexed < len(h.records); h.indexed++ {
		if key := record.Key(h.records[h.indexed]); key != "" {
			if _, in := h.ids[key]; !in {
				h.ids[key] = h.indexed
			}
		}
	}
	place, ok = h.ids[id]
	return place, ok
}

// recordOverhead is about how many bytes a record takes beside its body.
const recordOverhead = 256

// Bytes is about how much memory the history takes.
func (h *History) Bytes() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.size + recordOverhead*len(h.records)
}

// Body returns the body of the i-th record, which must not be changed.
func (h *History) Body(i int) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.bodyAt(i)
}

func (h *History) bodyAt(i int) []byte {
	at := h.blockOf(i)
	if at == len(h.blocks) {
		return nil
	}
	b := &h.blocks[at]
	return b.slice(i-b.first, i-b.first+1)
}

// View returns the history as it is now.
func (h *History) View() View {
	h.mu.Lock()
	defer h.mu.Unlock()
	return View{h, h.records[:len(h.records):len(h.records)]}
}

// Frame is a frame that tells of records up to the UpTo-th.
type Frame struct {
	Bytes []byte
	UpTo  int
}

// Frames returns the frames that tell of the records behind the first sent ones, up to the first upTo.
func (h *History) Frames(number uint32, sent, upTo int) (list []Frame) {
	h.mu.Lock()
	defer h.mu.Unlock()
	type part struct {
		body        []byte
		count, upTo int
	}
	var parts []part
	for at := h.blockOf(sent); at < len(h.blocks) && h.blocks[at].first < upTo; at++ {
		b := &h.blocks[at]
		from, to := max(sent-b.first, 0), min(upTo-b.first, b.count)
		if from >= to {
			continue
		}
		body := b.slice(from, to)
		if n := len(parts); n > 0 && b.joined {
			p := &parts[n-1]
			p.body, p.count, p.upTo = append(p.body, body...), p.count+to-from, b.first+to
			continue
		}
		parts = append(parts, part{body, to - from, b.first + to})
	}
	for _, p := range parts {
		list = append(list, Frame{abi.Append(nil, &abi.History{
			History: number, Collection: h.kind, Count: uint32(p.count), Block: abi.Bytes(p.body),
		}), p.upTo})
	}
	return list
}

// Told notes somebody who knows the history.
func (h *History) Told(holder Holder) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Contains(h.holders, holder) {
		h.holders = append(h.holders, holder)
	}
}

// Untold forgets somebody who knew the history.
func (h *History) Untold(holder Holder) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holders = slices.DeleteFunc(h.holders, func(other Holder) bool { return other == holder })
}

// Forget tells all who know the history that it is not used any more.
func (h *History) Forget() {
	h.mu.Lock()
	holders := h.holders
	h.holders = nil
	h.mu.Unlock()
	for _, holder := range holders {
		holder.DropHistory(h)
	}
}

// View is the beginning of a history.
type View struct {
	of      *History
	records []record.Record
}

// History is the history that it is the beginning of.
func (v View) History() *History { return v.of }

// Kind is the ABI's number of the collections that the records go into.
func (v View) Kind() uint8 { return v.of.kind }

// Len is the number of records.
func (v View) Len() int { return len(v.records) }

// First is the view of the first n records.
func (v View) First(n int) View { return View{v.of, v.records[:n:n]} }

// From are the records from the n-th on.
func (v View) From(n int) []record.Record { return v.records[n:] }

// index returns the place of a record.
func (v View) index(r record.Record) (int, bool) {
	if Of(r) != v.of.kind {
		return 0, false
	}
	v.of.mu.Lock()
	defer v.of.mu.Unlock()
	i, ok := v.of.places[r]
	return i, ok && i < len(v.records)
}
