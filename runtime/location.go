package runtime

import (
	"math/bits"
	"strconv"
)

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
	used       bool              // something was counted since the seam began
	kinds      uint16            // the kinds counted in effects, a bit each
	dispatches uint32            // dispatches opened from here
	effects    [16]uint32        // by kind
	checksum   string            // of the first tool call
	calls      uint32            // number of tool calls with that checksum
	others     map[string]uint32 // number of other tool calls, by checksum; most seams have none
}

// enter begins a seam. Most seams make no request, so that it is inlined.
func (l *location) enter(seam byte) {
	l.seam = seam
	if l.used {
		l.reset()
	}
}

// reset sets the counts back to 0.
func (l *location) reset() {
	for ; l.kinds != 0; l.kinds &= l.kinds - 1 {
		l.effects[bits.TrailingZeros16(l.kinds)] = 0
	}
	l.used, l.dispatches, l.checksum, l.calls = false, 0, "", 0
	if len(l.others) > 0 {
		clear(l.others)
	}
}

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
	if d.iterations > 0 {
		if n := d.iteration; n < 10 {
			dst = append(dst, '.', '0'+byte(n))
		} else {
			dst = strconv.AppendInt(append(dst, '.'), int64(n), 10)
		}
		if d.place.seam != inBetween {
			dst = append(dst, '.', d.place.seam)
		}
	}
	return dst
}

// openPath is the path of a new dispatch opened from a context.
func (t *Turn) openPath(source *contextState) string {
	source.place.used = true
	source.place.dispatches++
	var room [32]byte
	path := t.AppendPath(room[:0], source.number)
	if len(path) > 0 {
		path = append(path, '.')
	}
	return string(strconv.AppendUint(append(path, 'd'), uint64(source.place.dispatches), 10))
}

// Ordinal numbers the effects of a kind (below 16) within their seam, from 1.
func (t *Turn) Ordinal(context uint32, kind uint8) uint32 {
	l := &t.contextOf(context).place
	l.used = true
	l.kinds |= 1 << (kind & 15)
	l.effects[kind&15]++
	return l.effects[kind&15]
}

// CallOrdinal numbers the tool calls with one checksum within their seam, from 1.
func (t *Turn) CallOrdinal(context uint32, checksum string) uint32 {
	l := &t.contextOf(context).place
	l.used = true
	if l.calls == 0 || l.checksum == checksum {
		l.checksum = checksum
		l.calls++
		return l.calls
	}
	if l.others == nil {
		l.others = make(map[string]uint32)
	}
	l.others[checksum]++
	return l.others[checksum]
}
