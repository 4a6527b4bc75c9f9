package runtime

import (
	"strconv"

	"github.com/turncore/turncore/runtime/fault"
)

// Quota bounds the bytes that turns hold: bodies of records, queued writes, data of open streams, and requests. All
// turns of an instance share one.
type Quota struct {
	Turn, Instance uint64 // bounds
	held           uint64 // bytes of all turns and histories
}

// AddHistory counts the bytes of a history. It never fails: a turn that uses the history fails instead.
func (q *Quota) AddHistory(bytes int) { q.held += uint64(bytes) }

// DropHistory subtracts the bytes of a history that no turn uses.
func (q *Quota) DropHistory(h *History) {
	h.dropped = true
	q.settle(h)
}

func (q *Quota) settle(h *History) {
	if h.dropped && h.users == 0 {
		q.held -= h.bytes
		h.bytes = 0
	}
}

// deltaBytes is the size of a queued write without the bodies of its records.
const deltaBytes = 96

func (d *Delta) bytes() int {
	n := deltaBytes + len(d.ID) + 8*len(d.Handles)
	for _, id := range d.IDs {
		n += 16 + len(id)
	}
	return n
}

// hold counts n more bytes, fewer if n is negative. A turn that exceeds a bound of the quota makes no further requests,
// and its World must end it.
func (t *Turn) hold(n int) {
	t.held += uint64(int64(n))
	if t.Quota == nil {
		return
	}
	t.Quota.held += uint64(int64(n))
	if n > 0 && (t.held+t.borrowed > t.Quota.Turn || t.Quota.held > t.Quota.Instance) {
		t.exceed()
	}
}

// borrow counts the bytes of a history, once per instance.
func (t *Turn) borrow(h *History, count uint32) {
	t.borrowed += h.upTo(count)
	h.users++
	t.histories = append(t.histories, h)
	if q := t.Quota; q != nil && (t.held+t.borrowed > q.Turn || q.held > q.Instance) {
		t.exceed()
	}
}

func (t *Turn) exceed() {
	if t.over != nil {
		return
	}
	bound, of := t.Quota.Turn, "a turn"
	if t.held+t.borrowed <= bound {
		bound, of = t.Quota.Instance, "all turns of an instance"
	}
	t.over = fault.New(fault.TurnQuotaExceeded, "more than the "+strconv.FormatUint(bound, 10)+" bytes of "+of)
	t.world.Exceeded()
}

// Exceeded is the failure of a turn that exceeds its quota, nil for any other.
func (t *Turn) Exceeded() error { return t.over }

// Hold counts n more bytes for the turn, fewer if n is negative.
func (t *Turn) Hold(n int) { t.hold(n) }

// HoldRequest counts a dispatch's rendered request in place of its previous one.
func (t *Turn) HoldRequest(context uint32, size int) error {
	if d := t.DispatchContext(context); d != nil {
		t.hold(size - d.rendered)
		d.rendered = size
	}
	return t.over
}

// HoldStream counts an executor's data of open streams until the iteration ends.
func (d *Dispatch) HoldStream(n int) error {
	d.streamed += n
	d.turn.hold(n)
	return d.turn.over
}

// Release subtracts everything that the ended turn held.
func (t *Turn) Release() {
	if t.Quota == nil {
		return
	}
	t.Quota.held -= t.held
	t.held = 0
	for _, h := range t.histories {
		h.users--
		t.Quota.settle(h)
	}
	t.histories = nil
	t.Quota = nil
}

// Held is the number of bytes of all turns and histories.
func (q *Quota) Held() uint64 { return q.held }
