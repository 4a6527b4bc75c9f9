package turns

import (
	"strconv"
	"strings"

	"github.com/turncore/turncore/host/internal/core"
	"github.com/turncore/turncore/host/internal/turn"
)

// The key of a tool's call is the turn's id and, separated by slashes, the places of its dispatches from the outermost on,
// and that of the call. The place of a dispatch is its seam, that is where it was started, which of the dispatches
// started there it is, and its iteration; a call's is its checksum, and which of the calls with it this is. All count
// from 0:
//
//	turn/d0.2/CHECKSUM.0                       a call in the third iteration
//	turn/d0.2/tCHECKSUM.0:1.0/CHECKSUM.0       one in the second dispatch that the handler of that call has started
const (
	seamTurn       = "d" // the turn's own dispatch, or the one without a turn
	seamMiddleware = "m" // a dispatch that a middleware of the turn has started
	seamDispatch   = "x" // one that a middleware or the executor of a dispatch has started
	seamCall       = "t" // one that a tool's handler has started, followed by the place of its call
)

// callKey is the key of a call of a dispatch's iteration. The caller holds the turn's lock.
func (p *program) callKey(d *DispatchContext, checksum string) string {
	return p.take(d.path + "." + strconv.Itoa(d.state.IterationLocked()) + "/" + checksum + ".")
}

// pathOf is the place of a dispatch that begins: without its iteration. d is nil for the turn's own. The caller holds the
// turn's lock.
func (p *program) pathOf(from *turn.Context, d core.Definition) string {
	parent := dispatchOf(from)
	switch {
	case d == nil:
		return p.take(p.turn.ID + "/" + seamTurn)
	case parent == nil:
		return p.take(p.turn.ID + "/" + seamMiddleware)
	}
	return p.take(parent.path + "." + strconv.Itoa(from.IterationLocked()) + "/" + d.(*definition).seam)
}

// take takes the next of the places with a name. The caller holds the turn's lock.
func (p *program) take(name string) string {
	if p.places == nil {
		p.places = make(map[string]int)
	}
	n := p.places[name]
	p.places[name] = n + 1
	return name + strconv.Itoa(n)
}

// seam is where a dispatch is started whose source is the context.
func (b *base) seam() string {
	key := b.effect.String()
	if key == "" {
		return seamDispatch
	}
	return seamCall + key[strings.LastIndexByte(key, '/')+1:] + ":"
}
