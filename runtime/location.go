package runtime

import "strconv"

// Seams of a turn: stretches of host code that run again as a whole if they are lost. Between them a context is in the
// seam inBetween.
const (
	inBetween byte = 0
	inStart   byte = 's' // of a turn: before its input pipeline
	inInput   byte = 'i'
	inExecute byte = 'x'
	inOutput  byte = 'o'
	inCommit  byte = 'c' // of an iteration: after its output pipeline
)

// location is a context's position in the turn. It counts the requests made from there.
type location struct {
	seam       byte
	kinds      uint16            // the kinds counted in effects, a bit each
	dispatches uint32            // dispatches opened from here
	calls      uint32            // number of tool calls with the checksum
	effects    [16]uint32        // by kind, see Ordinal; stale for those that are not counted yet
	checksum   string            // of the first tool call; stale without one
	others     map[string]uint32 // number of other tool calls, by checksum; stale without a first one, nil in most turns
}

// enter begins a seam. What was counted becomes stale, and is set back when it is next used.
func (l *location) enter(seam byte) { l.seam, l.kinds, l.dispatches, l.calls = seam, 0, 0, 0 }

// AppendPath appends the location of a context, which is the same when the turn runs again. Each level of nesting adds
// the dispatch, numbered within the seam that opened it, its iteration and its seam, such as "d1.0.x" or
// "d1.0.x.d2.1.o".
func (t *Turn) AppendPath(dst []byte, context uint32) []byte {
	d := t.DispatchContext(context)
	if d == nil {
		if seam := t.context.place.seam; seam != inBetween {
			dst = append(dst, seam)
		}
		return dst
	}
	dst = append(dst, d.path...)
	if d.place.seam != inBetween {
		dst = append(dst, '.', d.place.seam)
	}
	return dst
}

// enterIteration counts the iteration up at the end of the path, where it stands from the first one on.
func (d *Dispatch) enterIteration() {
	if last := len(d.path) - 1; d.iterations > 0 && d.path[last] < '9' {
		d.path[last]++
		return
	}
	d.carry()
}

// carry is enterIteration for the first iteration and after a 9.
//
//go:noinline
func (d *Dispatch) carry() {
	if d.iterations == 0 {
		d.path = append(d.path, '.', '0')
		return
	}
	last := len(d.path) - 1
	for ; d.path[last] == '9'; last-- {
		d.path[last] = '0'
	}
	if d.path[last] == '.' {
		d.path[last+1] = '1' // one digit more
		d.path = append(d.path, '0')
		return
	}
	d.path[last]++
}

// openPath is the path of a new dispatch opened from a context.
func (t *Turn) openPath(source *contextState) []byte {
	source.place.dispatches++
	path := t.AppendPath(make([]byte, 0, 16), source.number)
	if len(path) > 0 {
		path = append(path, '.')
	}
	return strconv.AppendUint(append(path, 'd'), uint64(source.place.dispatches), 10)
}

// Ordinal numbers the effects of a kind within their seam, from 1. Four bits tell the kinds apart: those of sessions
// begin at 32, and no context makes requests of a kind below 16 and of the one 32 above it.
func (t *Turn) Ordinal(context uint32, kind uint8) uint32 {
	l, n := &t.contextOf(context).place, uint32(1)
	kind &= 15
	if l.kinds&(1<<kind) != 0 {
		n += l.effects[kind]
	}
	l.kinds |= 1 << kind
	l.effects[kind] = n
	return n
}

// CallOrdinal numbers the tool calls with one checksum within their seam, from 1.
func (t *Turn) CallOrdinal(context uint32, checksum string) uint32 {
	l := &t.contextOf(context).place
	if l.calls == 0 {
		l.checksum = checksum
		clear(l.others)
	}
	if l.checksum == checksum {
		l.calls++
		return l.calls
	}
	if l.others == nil {
		l.others = make(map[string]uint32)
	}
	l.others[checksum]++
	return l.others[checksum]
}
