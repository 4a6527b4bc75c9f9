package turns

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/turn"
	"github.com/turncore/turncore/host/store"
)

// writing is how a turn writes to stores.
type writing struct {
	mu       sync.Mutex
	busy     chan struct{} // holds one element while a commit is under way
	sessions []*writtenSession
	commits  int // without a key of an effect
}

// writtenSession is what a turn has seen of a session, and written to it.
type writtenSession struct {
	keeper   *keeper
	session  string
	revision string // that it has loaded; "" for none
	wrote    bool
}

// of returns what the turn has of a session. The caller holds w.mu.
func (w *writing) of(k *keeper, session string) *writtenSession {
	i := slices.IndexFunc(w.sessions, func(s *writtenSession) bool { return s.keeper == k && s.session == session })
	if i < 0 {
		i = len(w.sessions)
		w.sessions = append(w.sessions, &writtenSession{keeper: k, session: session})
	}
	return w.sessions[i]
}

// saw notes the revision that a session was loaded with. All that came before it, the turn knows.
func (w *writing) saw(k *keeper, session, revision string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.of(k, session).revision = revision
}

// sawPart notes the revision that a part of a session was fetched with, unless all of it was loaded before.
func (w *writing) sawPart(k *keeper, session, revision string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.of(k, session); s.revision == "" {
		s.revision = revision
	}
}

// begin waits until no other commit of the turn is under way.
func (w *writing) begin(ctx context.Context) error {
	w.mu.Lock()
	if w.busy == nil {
		w.busy = make(chan struct{}, 1)
	}
	w.mu.Unlock()
	select {
	case w.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// commit writes deltas in one transaction of a store.
func (p *program) commit(ctx Context, k *keeper, session string, deltas []store.Delta) error {
	w := &p.writing
	if err := w.begin(ctx); err != nil {
		return err
	}
	defer func() { <-w.busy }()
	w.mu.Lock()
	s := w.of(k, session)
	c := store.Commit{Deltas: deltas, Turn: p.run(), Ended: k.toEnd(session), Revision: s.revision}
	if c.Key = ctx.shared().effect.next(); c.Key == "" {
		w.commits++
		c.Key = c.Turn + ".c" + strconv.Itoa(w.commits)
	}
	s.wrote = true
	w.mu.Unlock()
	if _, err := k.store.Commit(ctx, session, c); err != nil {
		return err
	}
	k.told(session, c.Ended)
	return nil
}

// ended tells the stores that the turn has written to, at their next commits, that it writes no more.
func (p *program) ended() {
	p.writing.mu.Lock()
	defer p.writing.mu.Unlock()
	for _, s := range p.writing.sessions {
		if s.wrote {
			s.keeper.end(s.session, p.run())
		}
	}
}

// run names this run of the turn. Another run of the same id, at another time, is not taken for it.
func (p *program) run() string { return abi.RunOf(p.turn.ID, p.turn.Now()) }

// effectKey is the key of the call of a storage function, or of a tool's handler.
type effectKey struct {
	turn   *turn.Turn
	write  uint32        // the number of the effect; 0 for a tool's call
	called toolCall      // whose key is no commit's: another run of the turn has it too
	named  func() string // the key of a call of an agent's tool, "" for none; nil elsewhere

	mu   sync.Mutex
	part string // of the effect; "" if it is one call
	used int    // how many commits were made under it
}

// toolCall is what the key of a tool's call is made of.
type toolCall struct {
	path, callID string
	ordinal      uint32
}

// ofEffect is the key of the effect.
func (k *effectKey) ofEffect() string {
	if k.write == 0 {
		return abi.CallKey(k.turn.ID, k.called.path, k.called.callID, k.called.ordinal)
	}
	return abi.WriteKey(k.turn.ID, k.turn.Now(), k.write)
}

// String is the key; "" for none.
func (k *effectKey) String() string {
	if k == nil {
		return ""
	}
	if k.named != nil {
		if key := k.named(); key != "" {
			return key
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ofEffect() + k.part
}

// next is the key of the next commit: a function may make several of them.
func (k *effectKey) next() string {
	if k == nil || k.write == 0 {
		return ""
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.used++
	if k.used == 1 {
		return k.ofEffect() + k.part
	}
	return k.ofEffect() + k.part + "+" + strconv.Itoa(k.used-1)
}

// of makes the key that of a part of the effect, for the next call.
func (k *effectKey) of(part string) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.part, k.used = part, 0
}

// inPart is the part of the effect that the key is of.
func (k *effectKey) inPart() string {
	if k == nil {
		return ""
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.part
}
