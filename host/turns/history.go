package turns

import (
	"bytes"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/record"
)

// History is a list of records that many turns share, for example a conversation so far. Turns take it over with
// Collection.AddAll in constant time; its records cross to the core once, however many turns use them. It only grows;
// a turn that has taken it over does not see later records. Its methods may be called from many goroutines.
type History[R record.Type] struct {
	data *historyData
}

// historyData is what a history and the turns that use it hold.
type historyData struct {
	kind uint8

	mu      sync.Mutex
	records []record.Record
	places  map[record.Record]int
	ids     map[string]int // places of the first record of each id, of the first indexed records
	indexed int
	blocks  []historyBlock
	size    int     // of the bodies, in bytes
	cores   []*core // that have been told of it
}

// historyBlock is records as they cross: bodies back to back.
type historyBlock struct {
	count uint32
	body  []byte
}

// maxBlock is how large a block may get before the next one is begun, in bytes. It is far below the limit of a frame.
const maxBlock = 1 << 20

// NewHistory returns a history that begins with the given records, which must be valid.
func NewHistory[R record.Type](records ...R) (*History[R], error) {
	var r R
	h := &History[R]{data: &historyData{kind: kindOf(r), places: make(map[record.Record]int, len(records))}}
	if err := h.Append(records...); err != nil {
		return nil, err
	}
	// The core may forget the records when nobody can refer to the history any more.
	runtime.AddCleanup(h, (*historyData).forget, h.data)
	return h, nil
}

// empty tells whether a history is nil or the zero value.
func (h *History[R]) empty() bool { return h == nil || h.data == nil }

// Append adds the records that are not in the history yet. For an invalid record it returns the error of Validate and
// adds none. It panics for a history not made by NewHistory.
func (h *History[R]) Append(records ...R) error {
	if h.empty() {
		panic("turns: a History is made by NewHistory")
	}
	// Encoding runs code of payloads, so that no lock may be held.
	bodies := make([][]byte, len(records))
	for i, r := range records {
		var err error
		if bodies[i], err = validBody(r); err != nil {
			return err
		}
	}
	d := h.data
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, r := range records {
		if _, in := d.places[r]; !in {
			d.append(r, bodies[i])
		}
	}
	return nil
}

// validBody encodes a record that must be valid.
func validBody(r record.Record) ([]byte, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	body, err := record.Append(nil, r)
	if err != nil {
		return nil, invalidBody(r, err)
	}
	return body, nil
}

// extend makes records follow the first from ones of the history: those that follow there already stay, the others are
// appended. ok is false if different ones follow; then nothing changes.
func (h *History[R]) extend(from int, records []R) (ok bool, err error) {
	d := h.data
	bodies := make([][]byte, len(records))
	there := h.slice(from, from+len(records))
	for i, r := range records {
		if i < len(there) && there[i] == r {
			continue
		}
		if bodies[i], err = validBody(r); err != nil {
			return false, err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	following := min(len(d.records)-from, len(records))
	body := d.bodiesFrom(from)
	for i, r := range records {
		if i >= following {
			if _, in := d.places[r]; in || bodies[i] == nil {
				return false, nil
			}
			continue
		}
		was := body()
		if old := d.records[from+i]; old != record.Record(r) && !(bytes.Equal(was, bodies[i]) && allInBody(old) && allInBody(r)) {
			return false, nil
		}
	}
	for i := following; i < len(records); i++ {
		d.append(records[i], bodies[i])
	}
	return true, nil
}

// allInBody tells whether a record's body says all of it: no text of its own that is rendered when it is read, and nothing
// that is read elsewhere.
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

// Len is the number of records, 0 for a nil history.
func (h *History[R]) Len() int {
	if h.empty() {
		return 0
	}
	h.data.mu.Lock()
	defer h.data.mu.Unlock()
	return len(h.data.records)
}

// Slice returns the records in order, in a slice of the caller's own; nil for a nil history.
func (h *History[R]) Slice() []R {
	if h.empty() {
		return nil
	}
	return h.slice(0, math.MaxInt)
}

// slice returns the records from a place up to another, those that there are.
func (h *History[R]) slice(from, to int) []R {
	h.data.mu.Lock()
	defer h.data.mu.Unlock()
	records := h.data.records[from:min(to, len(h.data.records))]
	list := make([]R, len(records))
	for i, r := range records {
		list[i] = r.(R)
	}
	return list
}

func (d *historyData) append(r record.Record, body []byte) {
	n := len(d.blocks)
	if n == 0 || len(d.blocks[n-1].body)+len(body) > maxBlock {
		d.blocks = append(d.blocks, historyBlock{})
		n++
	}
	b := &d.blocks[n-1]
	b.body, b.count = append(b.body, body...), b.count+1
	d.size += len(body)
	d.places[r] = len(d.records)
	d.records = append(d.records, r)
}

// bodiesFrom returns a function that gives one body after the other, from the i-th record's on. The caller holds d.mu.
func (d *historyData) bodiesFrom(i int) func() []byte {
	block, rest := 0, []byte(nil)
	for ; block < len(d.blocks) && i >= int(d.blocks[block].count); block++ {
		i -= int(d.blocks[block].count)
	}
	if block < len(d.blocks) {
		rest = d.blocks[block].body
	}
	for ; i > 0; i-- {
		rest = skipValue(rest)
	}
	return func() []byte {
		if len(rest) == 0 {
			block++
			rest = d.blocks[block].body
		}
		body := rest
		rest = skipValue(rest)
		return body[:len(body)-len(rest)]
	}
}

// find returns the place of the first record with an id.
func (d *historyData) find(id string) (place int, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ids == nil {
		d.ids = make(map[string]int, len(d.records))
	}
	for ; d.indexed < len(d.records); d.indexed++ {
		if key := record.Key(d.records[d.indexed]); key != "" {
			if _, in := d.ids[key]; !in {
				d.ids[key] = d.indexed
			}
		}
	}
	place, ok = d.ids[id]
	return place, ok
}

// recordOverhead is about how many bytes a record takes beside its body.
const recordOverhead = 256

// bytes is about how much memory the history takes.
func (d *historyData) bytes() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.size + recordOverhead*len(d.records)
}

// body returns the body of the i-th record.
func (d *historyData) body(i int) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, b := range d.blocks {
		if i < int(b.count) {
			return slice(b.body, i, i+1)
		}
		i -= int(b.count)
	}
	return nil
}

// view returns the history as it is now.
func (d *historyData) view() historyView {
	d.mu.Lock()
	defer d.mu.Unlock()
	return historyView{d, d.records[:len(d.records):len(d.records)]}
}

// historyFrame is a frame that tells of records up to the upTo-th.
type historyFrame struct {
	frame []byte
	upTo  int
}

// frames returns the frames that tell of the records behind the first sent ones, up to the first upTo.
func (d *historyData) frames(number uint32, sent, upTo int) (list []historyFrame) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := 0
	for _, b := range d.blocks {
		from, to := max(sent-at, 0), min(upTo-at, int(b.count))
		at += int(b.count)
		if from >= to {
			continue
		}
		body := b.body
		if from > 0 || to < int(b.count) {
			body = slice(body, from, to)
		}
		list = append(list, historyFrame{abi.Append(nil, &abi.History{
			History: number, Collection: d.kind, Count: uint32(to - from), Block: abi.Bytes(body),
		}), at - int(b.count) + to})
	}
	return list
}

// slice returns the bodies from the from-th up to the to-th.
func slice(body []byte, from, to int) []byte {
	start, rest := body, body
	for i := 0; i < to; i++ {
		if i == from {
			start = rest
		}
		rest = skipValue(rest)
	}
	return start[:len(start)-len(rest)]
}

// skipValue returns what follows the value that this package has encoded at the start of b.
func skipValue(b []byte) []byte {
	rest, err := value.Skip(b, abi.MaxDepth)
	if err != nil {
		return nil
	}
	return rest
}

// told notes a core that knows the history.
func (d *historyData) told(c *core) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Contains(d.cores, c) {
		d.cores = append(d.cores, c)
	}
}

// forget tells all cores that the history is not used any more.
func (d *historyData) forget() {
	d.mu.Lock()
	cores := d.cores
	d.cores = nil
	d.mu.Unlock()
	for _, c := range cores {
		c.dropHistory(d)
	}
}

// historyView is the beginning of a history.
type historyView struct {
	data    *historyData
	records []record.Record
}

func (v historyView) record(i int) record.Record { return v.records[i] }
func (v historyView) length() int                { return len(v.records) }

// first is the view of the first n records.
func (v historyView) first(n int) historyView { return historyView{v.data, v.records[:n:n]} }

func (v historyView) index(r record.Record) (int, bool) {
	if kindOf(r) != v.data.kind {
		return 0, false
	}
	v.data.mu.Lock()
	defer v.data.mu.Unlock()
	i, ok := v.data.places[r]
	return i, ok && i < len(v.records)
}
