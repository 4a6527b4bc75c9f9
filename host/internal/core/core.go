// Package core has the instances of the core that turns share: what each has been told of, which turns it runs, and
// when another one takes over.
package core

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

// Options are what the instances of a host are opened with, and what their turns measure by.
type Options struct {
	Clock   host.Clock
	Entropy host.Entropy
	Limits  abi.Limits
	Quota   abi.Quota
	Verify  bool // turns compare their collections with the core's after each step
}

// Core is one instance and what it has been told: runners, histories, and the turns that run in it.
type Core struct {
	Options
	engine   host.Engine
	inst     host.Instance
	greeting host.Greeting
	line     fair.Mutex // where turns wait for one another's steps

	mu        sync.Mutex
	last      uint32 // number given last, to a turn, a runner, a history or a call
	runners   map[Definition]*Runner
	histories map[*collections.History]*toldHistory
	turns     map[uint32]Turn
	drains    bool // it takes no further turns, and ends with the last one
	failed    error
	closed    bool // failed says so
}

// Turn is a turn that a core runs.
type Turn interface {
	// Enter tells the turn its number.
	Enter(number uint32)
	// Fail ends the turn, as the core is dead.
	Fail(err error)
}

// Definition is a runner as it is told to a core. Definitions are told apart by identity.
type Definition interface {
	// Frame is the frame that opens the runner, without its number. It may run the program's code: no lock may be held.
	Frame() (*abi.OpenRunner, error)
}

// Runner is a runner that the core knows.
type Runner struct {
	Number  uint32
	In, Out []byte // the frames that opened it, for journals
	err     error  // why it was refused
}

// toldHistory is a history that the core knows, as far as it was told.
type toldHistory struct {
	number uint32
	count  int
}

// open starts an instance.
func open(ctx context.Context, engine host.Engine, o Options) (*Core, error) {
	inst, err := engine.Open(ctx)
	if err != nil {
		return nil, err
	}
	greeting, err := host.Greet(inst, abi.Hello{Features: features, Limits: o.Limits, Quota: o.Quota})
	if err != nil {
		return nil, err
	}
	return &Core{
		Options: o, engine: engine, inst: inst, greeting: greeting, line: fair.NewMutex(),
		runners:   make(map[Definition]*Runner),
		histories: make(map[*collections.History]*toldHistory),
		turns:     make(map[uint32]Turn),
	}, nil
}

// Engine is what the instance runs on.
func (c *Core) Engine() host.Engine { return c.engine }

// Greeting is what the instance and its host have told one another.
func (c *Core) Greeting() *host.Greeting { return &c.greeting }

// Retire ends the instance, which went wrong, and returns the error that tells why.
func (c *Core) Retire(cause error) error { return c.inst.Retire(cause) }

// Interrupts reports whether the core knows streams that were broken off.
func (c *Core) Interrupts() bool { return c.greeting.Features&abi.FeatureInterrupts != 0 }

// MaxBody is how many bytes a record, or any other string of bytes in a frame, may have.
func (c *Core) MaxBody() int {
	return int(min(c.greeting.Limits.Frame-1024, c.greeting.Limits.String))
}

// number gives a number that the core has not seen. The caller holds c.mu.
func (c *Core) number() uint32 {
	for {
		c.last++
		if _, running := c.turns[c.last]; c.last != 0 && !running {
			return c.last
		}
	}
}

// StepTurn hands frames of a turn to the core. Turns step in the order in which they want to. A step that is to go
// first waits for the one in hand only: a person answers a gate or stops a turn, and hundreds of turns may be at work.
func (c *Core) StepTurn(dst, in []byte, first bool) ([]byte, error) {
	if !first {
		c.line.Lock()
		defer c.line.Unlock()
	}
	return c.inst.Step(dst, in)
}

// step hands frames that belong to no turn to the core. The caller holds c.mu. Only Replies may come back.
func (c *Core) step(in []byte) (out []byte, err error) {
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

// Die notes that the core is dead, has its turns ended and returns the error they end with. The caller may hold the
// lock of one of them.
func (c *Core) Die(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.die(err)
}

// die is Die for a caller that holds c.mu.
func (c *Core) die(err error) error {
	if c.closed { // the instance says only that it has ended
		err = c.failed
	}
	c.failed = err
	go c.fail(err)
	return err
}

// close ends the instance and its turns, because its host is closed.
func (c *Core) close(ctx context.Context) error {
	closed := host.NewError(host.CodeClosed, "", nil)
	c.mu.Lock()
	c.closed, c.failed = true, closed
	c.mu.Unlock()
	err := c.inst.Close(ctx)
	c.fail(closed)
	return err
}

// Runner opens a runner unless it is open, and returns it. dead tells that the core had died before, which is the error
// then.
func (c *Core) Runner(d Definition) (r *Runner, dead bool, err error) {
	if r, dead, err = c.opened(d); r != nil || err != nil {
		return r, dead, err
	}
	// Schemas and options may run code of their own, so that no lock may be held.
	frame, err := d.Frame()
	if err != nil {
		return nil, false, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, dead, err = c.openedLocked(d); r != nil || err != nil {
		return r, dead, err
	}
	r = &Runner{Number: c.number()}
	frame.Runner, frame.Call = r.Number, r.Number
	r.In = abi.Append(nil, frame)
	if r.Out, _, r.err, err = c.ask(r.In); err != nil {
		return nil, false, err
	}
	c.runners[d] = r
	return r, false, r.err
}

// opened returns a runner that is open, nil if it is not.
func (c *Core) opened(d Definition) (r *Runner, dead bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.openedLocked(d)
}

func (c *Core) openedLocked(d Definition) (r *Runner, dead bool, err error) {
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
func (c *Core) ask(in []byte) (out []byte, value abi.Raw, refused, err error) {
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
		refused = FaultError(frame)
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

// Validate has the core check arguments against a tool's schema and returns them with its defaults.
func (c *Core) Validate(args *abi.ValidateToolArgs) (abi.Raw, error) {
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

// CloseRunner forgets a runner.
func (c *Core) CloseRunner(d Definition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.runners[d]
	if r == nil {
		return
	}
	delete(c.runners, d)
	if r.err == nil {
		// When this fails the core is dead, and its turns are told.
		_, _ = c.step(abi.Append(nil, &abi.CloseRunner{Runner: r.Number}))
	}
}

// History tells the core of a history as far as view has it, and returns its number. The caller may hold the lock of a
// turn.
func (c *Core) History(view collections.View) (uint32, error) {
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
func (c *Core) DropHistory(h *collections.History) {
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

// Enter makes a turn one of the core's and numbers it.
func (c *Core) Enter(t Turn) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.failed != nil:
		return c.failed
	case c.drains:
		return errDrains
	}
	number := c.number()
	t.Enter(number)
	c.turns[number] = t
	return nil
}

// errDrains is why a core takes no turn. Nobody is told: the turn goes elsewhere.
var errDrains = errors.New("the instance takes no further turns")

// Leave takes a turn that has ended out. The last one of a core that drains ends it.
func (c *Core) Leave(number uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.turns, number)
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

// admit reports whether the core takes further turns. One whose memory has grown beyond the mark does not: a guest
// never gives memory back. It ends, once its turns have, if it may drain.
func (c *Core) admit(highWater uint64, mayDrain bool) admission {
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
func (c *Core) retireDrained() {
	c.failed = c.inst.Retire(errors.New("its memory has grown and its turns have ended"))
	clear(c.runners)
	clear(c.histories)
}

// dead reports whether the core has ended.
func (c *Core) dead() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed != nil
}

// fail ends all turns of the core, which is dead.
func (c *Core) fail(err error) {
	c.mu.Lock()
	c.failed = err
	turns := make([]Turn, 0, len(c.turns))
	for _, t := range c.turns {
		turns = append(turns, t)
	}
	clear(c.turns)
	c.mu.Unlock()
	for _, t := range turns {
		t.Fail(err)
	}
}

// FaultError is the refusal of a frame.
func FaultError(frame []byte) error {
	f, err := abi.Decode[abi.Fault](frame)
	if err != nil {
		return err
	}
	e := host.NewError(host.Code(f.Code), "", nil)
	e.Message = f.Message
	return e
}
