package turns

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/collections"
	"github.com/turncore/turncore/host/internal/fair"
)

// features are what this host can use.
const features = abi.FeatureChat | abi.FeatureHistory | abi.FeatureTimers | abi.FeatureDigest | abi.FeatureInterrupts

// core is one instance and what it has been told: runners, histories, and the turns that run in it.
type core struct {
	host     *Host
	engine   host.Engine
	inst     host.Instance
	greeting host.Greeting
	line     fair.Mutex // where turns wait for one another's steps

	mu        sync.Mutex
	last      uint32 // number given last, to a turn, a runner, a history or a call
	runners   map[*definition]*openRunner
	histories map[*collections.History]*toldHistory
	turns     map[uint32]*turn
	drains    bool // it takes no further turns, and ends with the last one
	failed    error
	closed    bool // failed says so
}

// openRunner is a runner that the core knows.
type openRunner struct {
	number  uint32
	in, out []byte // the frames that opened it, for journals
	err     error  // why it was refused
}

// toldHistory is a history that the core knows, as far as it was told.
type toldHistory struct {
	number uint32
	count  int
}

func openCore(ctx context.Context, h *Host) (*core, error) {
	engine, err := h.engine(ctx)
	if err != nil {
		return nil, err
	}
	inst, err := engine.Open(ctx)
	if err != nil {
		return nil, err
	}
	greeting, err := host.Greet(inst, abi.Hello{Features: features, Limits: h.options.Limits, Quota: h.options.Quota})
	if err != nil {
		return nil, err
	}
	return &core{
		host: h, engine: engine, inst: inst, greeting: greeting, line: fair.NewMutex(),
		runners:   make(map[*definition]*openRunner),
		histories: make(map[*collections.History]*toldHistory),
		turns:     make(map[uint32]*turn),
	}, nil
}

// interrupts tells whether the core knows streams that were broken off.
func (c *core) interrupts() bool { return c.greeting.Features&abi.FeatureInterrupts != 0 }

// maxBody is how many bytes a record, or any other string of bytes in a frame, may have.
func (c *core) maxBody() int {
	return int(min(c.greeting.Limits.Frame-1024, c.greeting.Limits.String))
}

// number gives a number that the core has not seen. The caller holds c.mu.
func (c *core) number() uint32 {
	for {
		c.last++
		if _, running := c.turns[c.last]; c.last != 0 && !running {
			return c.last
		}
	}
}

// stepTurn hands frames of a turn to the core. Turns step in the order in which they want to. A step that is to go first
// waits for the one in hand only: a person answers a gate or stops a turn, and hundreds of turns may be at work.
func (c *core) stepTurn(dst, in []byte, first bool) ([]byte, error) {
	if !first {
		c.line.Lock()
		defer c.line.Unlock()
	}
	return c.inst.Step(dst, in)
}

// step hands frames that belong to no turn to the core. The caller holds c.mu. Only Replies may come back.
func (c *core) step(in []byte) (out []byte, err error) {
	if c.failed != nil {
		return nil, c.failed
	}
	out, err = c.inst.Step(nil, in)
	switch {
	case err == nil:
		return out, nil
	case !errors.Is(err, host.CodeABILimitExceeded): // which the core has not seen
		err = c.die(err)
	}
	return nil, err
}

// die notes that the core is dead, has its turns ended and returns the error they end with. The caller holds c.mu, and
// perhaps the lock of one of them.
func (c *core) die(err error) error {
	if c.closed { // the instance says only that it has ended
		err = c.failed
	}
	c.failed = err
	go c.fail(err)
	return err
}

// close ends the instance and its turns, because its host is closed.
func (c *core) close(ctx context.Context) error {
	closed := newError(abi.CodeClosed, "", nil)
	c.mu.Lock()
	c.closed, c.failed = true, closed
	c.mu.Unlock()
	err := c.inst.Close(ctx)
	c.fail(closed)
	return err
}

// runner opens a runner unless it is open, and returns it. dead tells that the core had died before, which is the error
// then.
func (c *core) runner(d *definition) (r *openRunner, dead bool, err error) {
	if r, dead, err = c.opened(d); r != nil || err != nil {
		return r, dead, err
	}
	// Schemas and options may run code of their own, so that no lock may be held.
	frame, err := d.frame()
	if err != nil {
		return nil, false, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, dead, err = c.openedLocked(d); r != nil || err != nil {
		return r, dead, err
	}
	r = &openRunner{number: c.number()}
	frame.Runner, frame.Call = r.number, r.number
	r.in = abi.Append(nil, frame)
	if r.out, _, r.err, err = c.ask(r.in); err != nil {
		return nil, false, err
	}
	c.runners[d] = r
	return r, false, r.err
}

// opened returns a runner that is open, nil if it is not.
func (c *core) opened(d *definition) (r *openRunner, dead bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.openedLocked(d)
}

func (c *core) openedLocked(d *definition) (r *openRunner, dead bool, err error) {
	if c.failed != nil {
		return nil, true, c.failed
	}
	if r = c.runners[d]; r != nil {
		return r, false, r.err
	}
	return nil, false, nil
}

// ask hands the core a frame that belongs to no turn and is answered by a Reply. refused is what the Reply, or a Fault,
// refuses it with, or that it is too large; err means that the core is dead. The caller holds c.mu.
func (c *core) ask(in []byte) (out []byte, value abi.Raw, refused, err error) {
	if out, err = c.step(in); err != nil {
		if c.failed == nil {
			return nil, nil, err, nil
		}
		return nil, nil, nil, err
	}
	op, frame, rest, err := abi.Next(out, c.greeting.Limits)
	switch {
	case err != nil:
	case op == abi.OpFault:
		refused = faultError(frame)
	case op != abi.OpReply || len(rest) > 0:
		err = fmt.Errorf("frame %d came in place of a Reply", op)
	default:
		var f abi.Reply
		if err = abi.DecodeTo(frame, &f); err == nil && f.Error != nil {
			refused = host.ErrorOf(f.Error, nil)
		}
		value = f.Value
	}
	if err != nil {
		c.die(c.inst.Retire(err))
		return nil, nil, nil, c.failed
	}
	return out, value, refused, nil
}

// validate has the core check arguments against a tool's schema and returns them with its defaults.
func (c *core) validate(args *abi.ValidateToolArgs) (abi.Raw, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := &abi.Call{Call: c.number(), Method: abi.MethodValidate, Args: args.Append(nil)}
	_, valid, refused, err := c.ask(abi.Append(nil, f))
	if err == nil {
		err = refused
	}
	if err != nil {
		return nil, err
	}
	return valid, nil
}

// closeRunner forgets a runner.
func (c *core) closeRunner(d *definition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.runners[d]
	if r == nil {
		return
	}
	delete(c.runners, d)
	if r.err == nil {
		// When this fails the core is dead, and its turns are told.
		_, _ = c.step(abi.Append(nil, &abi.CloseRunner{Runner: r.number}))
	}
}

// history tells the core of a history as far as view has it, and returns its number. The caller may hold the lock of a
// turn.
func (c *core) history(view collections.View) (uint32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	told := c.histories[view.History()]
	if told == nil {
		told = &toldHistory{number: c.number()}
		c.histories[view.History()] = told
		view.History().Told(c)
	}
	for _, f := range view.History().Frames(told.number, told.count, view.Len()) {
		if _, err := c.step(f.Bytes); err != nil {
			return 0, err
		}
		told.count = f.UpTo
	}
	return told.number, nil
}

// DropHistory makes the core forget a history.
func (c *core) DropHistory(h *collections.History) {
	c.mu.Lock()
	defer c.mu.Unlock()
	told := c.histories[h]
	if told == nil {
		return
	}
	delete(c.histories, h)
	// When this fails the core is dead, and its turns are told.
	_, _ = c.step(abi.Append(nil, &abi.DropHistory{History: told.number}))
}

// enter makes a turn one of the core's and numbers it.
func (c *core) enter(t *turn) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.failed != nil:
		return c.failed
	case c.drains:
		return errDrains
	}
	t.number = c.number()
	c.turns[t.number] = t
	return nil
}

// errDrains is why a core takes no turn. Nobody is told: the turn goes elsewhere.
var errDrains = errors.New("the instance takes no further turns")

// leave takes a turn that has ended out. The last one of a core that drains ends it.
func (c *core) leave(t *turn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.turns, t.number)
	if c.drains && len(c.turns) == 0 && c.failed == nil {
		c.retireDrained()
	}
}

// admission is whether a core takes turns.
type admission uint8

const (
	admitted admission = iota
	drains             // it takes none, and ends with the last of its own
	full               // it takes none, and must go on all the same, as others drain
	ended
)

// admit tells whether the core takes further turns. One whose memory has grown beyond the mark does not: a guest never
// gives memory back. It ends, once its turns have, if it may drain.
func (c *core) admit(highWater uint64, mayDrain bool) admission {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.failed != nil:
		return ended
	case c.inst.MemoryBytes() <= highWater:
		return admitted
	case len(c.turns) == 0:
		c.retireDrained()
		return ended
	case !mayDrain:
		return full
	}
	c.drains = true
	return drains
}

// retireDrained ends a core without turns. The caller holds c.mu.
func (c *core) retireDrained() {
	c.failed = c.inst.Retire(errors.New("its memory has grown and its turns have ended"))
	clear(c.runners)
	clear(c.histories)
}

// dead tells whether the core has ended.
func (c *core) dead() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed != nil
}

// fail ends all turns of the core, which is dead.
func (c *core) fail(err error) {
	c.mu.Lock()
	c.failed = err
	turns := make([]*turn, 0, len(c.turns))
	for _, t := range c.turns {
		turns = append(turns, t)
	}
	clear(c.turns)
	c.mu.Unlock()
	for _, t := range turns {
		t.mu.Lock()
		t.die(err)
		t.mu.Unlock()
		// Its own goroutines may be busy in user code; the events must not wait for them.
		go t.settle()
	}
}

// faultError is the refusal of a frame.
func faultError(frame []byte) error {
	f, err := abi.Decode[abi.Fault](frame)
	if err != nil {
		return err
	}
	e := host.NewError(host.Code(f.Code), "", nil)
	e.Message = f.Message
	return e
}
