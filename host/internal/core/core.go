// Package core manages the instances that turns share: what the host has told each one, which turns it runs, and when
// another one takes over.
package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/collections"
	"github.com/turncore/turncore/host/internal/fair"
	"github.com/turncore/turncore/host/internal/guard"
)

// features are the features that this host can use.
const features = abi.FeatureChat | abi.FeatureHistory | abi.FeatureTimers | abi.FeatureDigest | abi.FeatureInterrupts |
	abi.FeatureSessions

// Options configure the instances of a host and their turns.
type Options struct {
	Clock   host.Clock
	Entropy host.Entropy
	Limits  abi.Limits
	Quota   abi.Quota
	Guard   *guard.Guard // of turns, nil for none
	Verify  bool         // turns compare their collections with the core's after each step
}

// Core is an instance with the runners, histories and turns that it knows.
type Core struct {
	Options
	engine   host.Engine
	inst     host.Instance
	greeting host.Greeting
	line     fair.Mutex // where turns wait for one another's steps
	born     time.Time
	serial   uint64 // increases from instance to instance
	single   bool   // takes one turn
	ended    func() // is called after the end, without c.mu; nil for nobody

	mu        sync.Mutex
	last      uint32          // last number assigned to a turn, a runner, a history or a call
	runners   map[any]*Runner // by Definition or Team
	histories map[*collections.History]*toldHistory
	turns     map[uint32]Turn
	claims    int  // turns that are to enter
	drains    bool // takes no further turns, and ends with its last one
	failed    error
	closed    bool            // failed says so
	closing   context.Context // of the close
}

// Turn is a turn that a core runs.
type Turn interface {
	// Enter sets the turn's number.
	Enter(number uint32)
	// Fail ends the turn because the core is dead.
	Fail(err error)
}

// Definition defines a runner for cores. Its identity distinguishes it.
type Definition interface {
	// Frame returns the frame that opens the runner, without its number. It may run the program's code: hold no lock.
	Frame() (*abi.OpenRunner, error)
}

// Team defines a tree of agents for cores. Its identity distinguishes it.
type Team interface {
	// Models are the definitions of the runners of its agents with a model.
	Models() []Definition
	// Frame returns the frame that opens the tree, without its number, given the numbers of those runners.
	Frame(models []uint32) *abi.OpenAgents
}

// Runner is a runner that the core knows.
type Runner struct {
	Number  uint32
	In, Out []byte // the frames that opened it, for journals
	err     error  // why the core rejected it
}

// toldHistory is the part of a history that the core knows.
type toldHistory struct {
	number uint32
	count  int // records that it was told, or that an invocation has counted
	there  int // records that it has; more than count if invocations have appended some
}

// Now reads the clock.
func (o *Options) Now() (int64, error) {
	now := o.Clock()
	if now > abi.MaxInt || now < -abi.MaxInt {
		return 0, invalidOption("clock", fmt.Sprintf("tells %d ms, which is beyond 2^53-1", now))
	}
	return now, nil
}

// check refuses limits with which no turn can run.
func (o *Options) check() error {
	l := o.Limits.Effective()
	for _, bound := range [...]struct {
		name     string
		n, least uint32
	}{
		{"frame", l.Frame, minFrame},
		{"string", l.String, minString},
		{"array", l.Array, minArray},
		{"depth", l.Depth, minDepth},
	} {
		if bound.n < bound.least {
			why := fmt.Sprintf("is %d, must be at least %d, or 0 for the default", bound.n, bound.least)
			return invalidOption("limits."+bound.name, why)
		}
	}
	return nil
}

// Least limits, with room for a short message.
const (
	minFrame  = 2048
	minString = 1024
	minArray  = 24
	minDepth  = 8
)

func invalidOption(field, why string) error {
	e := host.NewError(host.CodeInvalidValue, field+": "+why, nil)
	e.Details = map[string]any{"field": field}
	return e
}

// open starts an instance.
func open(ctx context.Context, engine host.Engine, o Options) (*Core, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
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
		born: time.Now(), serial: serials.Add(1),
		runners:   make(map[any]*Runner),
		histories: make(map[*collections.History]*toldHistory),
		turns:     make(map[uint32]Turn),
	}, nil
}

// serials numbers the instances of the program.
var serials atomic.Uint64

// Engine is the instance's engine.
func (c *Core) Engine() host.Engine { return c.engine }

// Greeting holds what the instance and its host told each other.
func (c *Core) Greeting() *host.Greeting { return &c.greeting }

// Retire ends a failed instance and returns the error that explains it.
func (c *Core) Retire(cause error) error { return c.inst.Retire(cause) }

// Sessions reports whether the core has agents and sessions.
func (c *Core) Sessions() bool { return c.greeting.Features&abi.FeatureSessions != 0 }

// NoSessions is the error of a module without agents and sessions.
func NoSessions() error {
	return host.NewError(host.CodeInvalidAgent, "host: its module has no sessions; that of package wasm/full has", nil)
}

// Interrupts reports whether the core supports interrupted streams.
func (c *Core) Interrupts() bool { return c.greeting.Features&abi.FeatureInterrupts != 0 }

// MaxBody is the maximum size of a record, or of any other byte string in a frame.
func (c *Core) MaxBody() int {
	return int(min(c.greeting.Limits.Frame-1024, c.greeting.Limits.String))
}

// number returns a fresh number. The caller holds c.mu.
func (c *Core) number() uint32 {
	for {
		c.last++
		if _, running := c.turns[c.last]; c.last != 0 && !running {
			return c.last
		}
	}
}

// StepTurn passes frames of a turn to the core. Turns step in order of arrival. With first, a step only waits for the
// one in progress: a person answers a gate or stops a turn, while hundreds of turns may be queued.
func (c *Core) StepTurn(dst, in []byte, first bool) ([]byte, error) {
	if !first {
		c.line.Lock()
		defer c.line.Unlock()
	}
	return c.inst.Step(dst, in)
}

// step passes frames that belong to no turn to the core. The caller holds c.mu. Only Replies may come back.
func (c *Core) step(in []byte) (out []byte, err error) {
	if c.failed != nil {
		return nil, c.failed
	}
	out, err = c.inst.Step(nil, in)
	switch {
	case err == nil:
		return out, nil
	case !errors.Is(err, host.CodeABILimitExceeded): // the core has not seen it
		err = c.die(err)
	}
	return nil, err
}

// Die marks the core as dead, ends its turns and returns their error. The caller may hold the lock of one of them.
func (c *Core) Die(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.die(err)
}

// die is Die for a caller that holds c.mu.
func (c *Core) die(err error) error {
	if c.closed { // the instance only says that it has ended
		err = c.gone()
	}
	c.failed = err
	go c.fail(err)
	return err
}

// close ends the instance and its turns, because its host is closed.
func (c *Core) close(ctx context.Context) error {
	c.mu.Lock()
	c.closed, c.closing, c.failed = true, ctx, host.NewError(host.CodeClosed, "", nil)
	c.mu.Unlock()
	err := c.inst.Close(ctx)
	c.mu.Lock()
	gone := c.gone()
	c.mu.Unlock()
	c.fail(gone)
	return err
}

// gone is the error of turns that the close of their host cuts off. It has the cause of the closing's context, if that
// has ended. The caller holds c.mu.
func (c *Core) gone() error {
	if c.closing != nil && c.closing.Err() != nil {
		c.failed = host.NewError(host.CodeClosed, "", context.Cause(c.closing))
	}
	return c.failed
}

// Runner returns the open runner of a definition, and opens it if necessary. dead reports that the core died earlier;
// err is then the reason.
func (c *Core) Runner(d Definition) (r *Runner, dead bool, err error) {
	if r, dead, err = c.opened(d); r != nil || err != nil {
		return r, dead, err
	}
	// Schemas and options may run code of their own: hold no lock.
	frame, err := d.Frame()
	if err != nil {
		return nil, false, err
	}
	return c.open(d, &Runner{}, func(number uint32) abi.Frame {
		frame.Runner, frame.Call = number, number
		return frame
	})
}

// Team returns the open runner of a team, and opens it and those of its models if necessary. See Runner.
func (c *Core) Team(t Team) (r *Runner, dead bool, err error) {
	if r, dead, err = c.opened(t); r != nil || err != nil {
		return r, dead, err
	}
	if !c.Sessions() {
		return nil, false, NoSessions()
	}
	var numbers []uint32
	models := &Runner{}
	for _, d := range t.Models() {
		r, dead, err := c.Runner(d)
		if err != nil {
			return nil, dead, err
		}
		numbers = append(numbers, r.Number)
		models.In, models.Out = append(models.In, r.In...), append(models.Out, r.Out...)
	}
	return c.open(t, models, func(number uint32) abi.Frame {
		frame := t.Frame(numbers)
		frame.Runner, frame.Call = number, number
		return frame
	})
}

// open opens a runner with a frame, behind those that it builds on.
func (c *Core) open(d any, on *Runner, frame func(number uint32) abi.Frame) (r *Runner, dead bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, dead, err = c.openedLocked(d); r != nil || err != nil {
		return r, dead, err
	}
	r = &Runner{Number: c.number()}
	in := abi.Append(nil, frame(r.Number))
	out, _, refused, err := c.ask(in)
	if err != nil {
		return nil, false, err
	}
	r.In, r.Out, r.err = append(on.In, in...), append(on.Out, out...), refused
	c.runners[d] = r
	return r, false, r.err
}

// opened returns the runner of a definition, nil if it is not open.
func (c *Core) opened(d any) (r *Runner, dead bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.openedLocked(d)
}

func (c *Core) openedLocked(d any) (r *Runner, dead bool, err error) {
	if c.failed != nil {
		return nil, true, c.failed
	}
	if r = c.runners[d]; r != nil {
		return r, false, r.err
	}
	return nil, false, nil
}

// ask sends a frame that belongs to no turn and is answered by a Reply. refused is the error in the Reply, or in a
// Fault, or says that the frame is too large; err means that the core is dead. The caller holds c.mu.
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
		err = fmt.Errorf("frame %d instead of a Reply", op)
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

// Validate checks arguments against a tool's schema in the core and returns them with its defaults.
func (c *Core) Validate(args *abi.ValidateToolArgs) (abi.Raw, error) {
	return c.Call(abi.MethodValidate, args.Append(nil))
}

// Call calls a method outside of turns and returns the reply's value.
func (c *Core) Call(method uint8, args abi.Raw) (abi.Raw, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := &abi.Call{Call: c.number(), Method: method, Args: args}
	_, reply, refused, err := c.ask(abi.Append(nil, f))
	return reply, cmp.Or(err, refused)
}

// CloseRunner forgets the runner of a Definition or of a Team.
func (c *Core) CloseRunner(d any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.runners[d]
	if r == nil {
		return
	}
	delete(c.runners, d)
	if r.err == nil {
		// If this fails, the core is dead, and its turns learn of it.
		_, _ = c.step(abi.Append(nil, &abi.CloseRunner{Runner: r.Number}))
	}
}

// History tells the core a history up to the end of view, unless it has that, and returns its number. The caller may
// hold the lock of a turn.
func (c *Core) History(view collections.View) (uint32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	told := c.histories[view.History()]
	if told == nil {
		told = &toldHistory{number: c.number()}
		c.histories[view.History()] = told
		view.History().Told(c)
	}
	if view.Len() <= told.there {
		return told.number, nil
	}
	for _, f := range view.History().Frames(told.number, told.count, view.Len()) {
		if _, err := c.step(f.Bytes); err != nil {
			return 0, err
		}
		told.count = f.UpTo
		told.there = max(told.there, told.count)
	}
	return told.number, nil
}

// Counted notes that an invocation has begun with all of a view: the next frame has what follows.
func (c *Core) Counted(view collections.View) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if told := c.histories[view.History()]; told != nil {
		told.count = max(told.count, view.Len())
	}
}

// Appended notes that an invocation has appended the last record of a view, which the core has by itself.
func (c *Core) Appended(view collections.View) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if told := c.histories[view.History()]; told != nil && told.there == view.Len()-1 {
		told.there++
	}
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
	// If this fails, the core is dead, and its turns learn of it.
	_, _ = c.step(abi.Append(nil, &abi.DropHistory{History: told.number}))
}

// claim keeps a place for a turn that is about to enter. It reports false for a core that takes none.
func (c *Core) claim() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil || c.drains {
		return false
	}
	c.claims++
	return true
}

// release gives up a place that claim has kept.
func (c *Core) release() {
	c.mu.Lock()
	c.claims = max(c.claims-1, 0)
	c.leave()
}

// Enter adds a turn to the core and numbers it. It takes the place that was kept for it, also when it fails.
func (c *Core) Enter(t Turn) error {
	c.mu.Lock()
	if err := c.enter(t); err != nil {
		c.leave()
		return err
	}
	c.mu.Unlock()
	return nil
}

// enter is Enter for a caller that holds c.mu.
func (c *Core) enter(t Turn) error {
	c.claims = max(c.claims-1, 0)
	switch {
	case c.failed != nil:
		return c.failed
	case c.drains:
		return errDrains
	}
	c.drains = c.single
	number := c.number()
	t.Enter(number)
	c.turns[number] = t
	return nil
}

// errDrains says that a core takes no turn. Nobody sees it: the turn goes to another core.
var errDrains = errors.New("the instance takes no further turns")

// Leave removes a turn that has ended. The last one of a draining core ends the core.
func (c *Core) Leave(number uint32) {
	c.mu.Lock()
	delete(c.turns, number)
	c.leave()
}

// leave ends a draining core that has no turns. The caller holds c.mu, which leave gives back.
func (c *Core) leave() {
	end := c.drains && len(c.turns) == 0 && c.failed == nil
	if end {
		c.retireDrained()
	}
	c.mu.Unlock()
	if end && c.ended != nil {
		c.ended()
	}
}

// drain has the core take no further turns, and end with its last one.
func (c *Core) drain() {
	c.mu.Lock()
	c.drains = true
	c.mu.Unlock()
}

// admission says whether a core takes turns.
type admission uint8

const (
	admitted admission = iota
	drains             // takes none, and ends with its last one
	full               // takes none, but must go on, since others are draining
	ended
)

// admit decides whether the core takes further turns, and says how many it has. One whose memory has grown beyond the
// mark takes none, since a guest never gives memory back. One that is aged takes turns until it may drain. If it may
// drain, it ends after its last turn.
func (c *Core) admit(highWater uint64, aged, mayDrain bool) (verdict admission, turns int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	turns = len(c.turns) + c.claims
	grown := c.inst.MemoryBytes() > highWater
	switch {
	case c.failed != nil:
		return ended, 0
	case !grown && !(aged && (mayDrain || turns == 0)):
		return admitted, turns
	case turns == 0:
		c.retireDrained()
		return ended, 0
	case !mayDrain:
		return full, turns
	}
	c.drains = true
	return drains, turns
}

// errDrained is the end of an instance that has drained.
var errDrained = errors.New("it takes no further turns, and those that it had have ended")

// retireDrained ends a draining core without turns. The caller holds c.mu.
func (c *Core) retireDrained() {
	c.failed = c.inst.Retire(errDrained)
	c.forget()
}

// forget drops what the core knows. The caller holds c.mu.
func (c *Core) forget() {
	clear(c.runners)
	for h := range c.histories {
		h.Untold(c)
	}
	clear(c.histories)
}

// dead reports whether the core has ended.
func (c *Core) dead() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed != nil
}

// fail ends all turns of the dead core.
func (c *Core) fail(err error) {
	c.mu.Lock()
	c.failed = err
	turns := slices.Collect(maps.Values(c.turns))
	clear(c.turns)
	c.forget()
	c.mu.Unlock()
	for _, t := range turns {
		t.Fail(err)
	}
	if c.ended != nil {
		c.ended()
	}
}

// maxFault is how many bytes of a Fault's message are shown.
const maxFault = 4 << 10

// FaultError is the error in a Fault frame.
func FaultError(frame []byte) error {
	f, err := abi.Decode[abi.Fault](frame)
	if err != nil {
		return err
	}
	e := host.NewError(host.Code(f.Code), "", nil)
	if e.Message = f.Message; len(e.Message) > maxFault {
		e.Message = strings.ToValidUTF8(e.Message[:maxFault], "") + "…"
	}
	return e
}
