package guest

import (
	"errors"
	"iter"
	"slices"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
)

// coroutine runs one body after another, each as a task of a turn. A body that waits parks its coroutine until the
// scheduler resumes it; nothing else ever runs on its stack meanwhile.
type coroutine struct {
	in     *Instance
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool

	turn *turn
	body body
	done func() // called when the body has ended, even by a panic
	lost bool   // a body called Goexit, which would also end its resumer
	gone error  // once the body's result is no longer wanted: its requests fail with this
	// What the body's result is for: nobody wants that if nobody wants this one's. nil for the turn.
	above *coroutine
}

// body is what a task does.
type body interface {
	perform(task runtime.Task)
	fail(err error) // it panicked
}

// funcs are a body made of two functions.
type funcs struct {
	body   func(runtime.Task)
	failed func(error)
}

func (f *funcs) perform(task runtime.Task) { f.body(task) }
func (f *funcs) fail(err error)            { f.failed(err) }

// spawn runs body as a task of t until it first waits. The end calls done, unless it is nil.
func (in *Instance) spawn(t *turn, b body, done func()) *coroutine {
	return in.spawnBelow(nil, t, b, done)
}

// spawnBelow is spawn for what another task needs; nil for none.
func (in *Instance) spawnBelow(above *coroutine, t *turn, b body, done func()) *coroutine {
	var c *coroutine
	if n := len(in.idle); n > 0 {
		c, in.idle = in.idle[n-1], in.idle[:n-1]
	} else {
		c = &coroutine{in: in}
		c.resume, c.stop = iter.Pull(c.work)
		in.coroutines = append(in.coroutines, c)
	}
	c.turn, c.body, c.done, c.gone, c.above = t, b, done, nil, above
	c.resume()
	return c
}

// work is the main loop of a coroutine.
func (c *coroutine) work(yield func(struct{}) bool) {
	c.yield = yield
	for {
		c.run()
		c.turn, c.body, c.done = nil, nil, nil
		c.in.idle = append(c.in.idle, c)
		if !yield(struct{}{}) {
			return
		}
	}
}

// run runs the body. A panic ends the task, not the instance. So does Goexit, which cannot be stopped: the coroutine
// stays parked for good in its deferred call.
func (c *coroutine) run() {
	returned := false
	defer func() {
		if returned {
			return
		}
		cause := recover()
		if c.in.closed {
			return
		}
		c.body.fail(panicError(cause))
		if c.done != nil {
			c.done()
		}
		if cause == nil {
			c.lost = true
			c.yield(struct{}{})
		}
	}()
	c.body.perform(c)
	returned = true
	if c.done != nil {
		c.done()
	}
}

// errClosed unwinds a task whose instance is closed.
var errClosed = errors.New("guest: the instance is closed")

// park gives control back until the scheduler resumes the coroutine.
func (c *coroutine) park() {
	if !c.yield(struct{}{}) {
		panic(errClosed)
	}
}

// Close ends all coroutines, even of waiting tasks, which would otherwise outlive an instance inside a larger process.
// The instance must not be used afterwards.
func (in *Instance) Close() {
	in.closed = true
	for _, c := range in.coroutines {
		if !c.lost {
			c.stop()
		}
	}
	in.coroutines, in.idle, in.ready, in.waiting = nil, nil, nil, nil
}

// wake resumes a parked coroutine after the frame in hand.
func (in *Instance) wake(c *coroutine) { in.ready = append(in.ready, c) }

// drain resumes ready tasks until everything waits for the host.
func (in *Instance) drain() {
	for {
		for i := 0; i < len(in.ready); i++ {
			c := in.ready[i]
			in.ready[i] = nil
			c.resume()
		}
		in.ready = in.ready[:0]
		if len(in.waiting) == 0 || !in.wakeWaiting() {
			return
		}
	}
}

// waiter is a task that waits for another one.
type waiter struct {
	task  *coroutine
	ready func() bool
}

// Wait implements runtime.Task.
func (c *coroutine) Wait(ready func() bool) {
	for !ready() {
		c.in.waiting = append(c.in.waiting, waiter{c, ready})
		c.park()
	}
}

// wakeWaiting resumes tasks whose wait for others is over, and reports whether there was one.
func (in *Instance) wakeWaiting() bool {
	in.waiting = slices.DeleteFunc(in.waiting, func(w waiter) bool {
		if !w.ready() {
			return false
		}
		in.wake(w.task)
		return true
	})
	return len(in.ready) > 0
}

func panicError(cause any) error {
	switch v := cause.(type) {
	case nil:
		return fault.New(fault.InstanceFailed, "a task called Goexit")
	case error:
		return fault.New(fault.InstanceFailed, "panic: "+v.Error())
	case string:
		return fault.New(fault.InstanceFailed, "panic: "+v)
	}
	return fault.New(fault.InstanceFailed, "panic")
}

// effect is an entry of a turn's table of outstanding effects.
type effect struct {
	number  uint32
	owner   *coroutine
	context uint32
	kind    uint8
	settled bool
	valued  bool // its result has a value; other results are nil
	value   []byte
	err     error

	asked   runtime.Effect     // receives its own result, or part of it
	next    func(runtime.Task) // middleware: runs what follows
	running bool               // middleware: next has not ended
	stream  *stream            // HTTP, Model, Sleep
	alarm   bool               // the alarm of a call's time limit, which survives an abort
	ahead   aheadOf            // its task has not waited
}

// aheadOf hears that an effect has failed whose task has not waited.
type aheadOf interface{ fail(err error) }

// Await implements runtime.Task.
func (c *coroutine) Await(e runtime.Effect) ([]byte, error) {
	eff, err := c.turn.begin(c, e)
	if err != nil {
		return nil, err
	}
	c.park()
	value, err := eff.value, eff.err
	*eff = effect{}
	c.in.spare = append(c.in.spare, eff)
	return value, err
}

// Request implements runtime.Task.
func (c *coroutine) Request(r *runtime.HTTPRequest) (runtime.Stream, error) {
	c.turn.catchUp(c)
	if err := c.turn.run.HoldRequest(r.Context, len(r.Body)); err != nil {
		return nil, err
	}
	args := abi.HTTPArgs{
		Method: r.Method, URL: r.URL, Body: c.in.encoded(r.Body), Credential: r.Credential,
		Redirect: uint8(r.Redirect), Redirects: uint32(r.Redirects), Splices: splicesOf(r.Splices),
	}
	for _, h := range r.Headers {
		args.Headers = append(args.Headers, []string{h[0], h[1]})
	}
	return c.turn.beginStream(c, abi.EffectHTTP, r.Context, &args)
}

// Generate implements runtime.Task.
func (c *coroutine) Generate(r *runtime.ModelRequest) (runtime.Stream, error) {
	c.turn.catchUp(c)
	if err := c.turn.run.HoldRequest(r.Context, len(r.Body)); err != nil {
		return nil, err
	}
	return c.turn.beginStream(c, abi.EffectModel, r.Context, &abi.ModelArgs{Model: r.Model, Body: c.in.encoded(r.Body), Splices: splicesOf(r.Splices)})
}

// encoded wraps a request's body for a frame, valid until the next call.
func (in *Instance) encoded(body []byte) abi.Raw {
	if body == nil {
		return nil
	}
	in.body = value.AppendBytes(in.body[:0], body)
	return in.body
}

func splicesOf(list []runtime.Splice) (splices []abi.Splice) {
	for _, s := range list {
		splices = append(splices, abi.Splice{At: uint64(s.At), Handle: s.Handle, Part: uint32(s.Part), Max: uint64(s.Max)})
	}
	return splices
}

// settle ends an effect and wakes its owner. A middleware's owner wakes after the rest of the pipeline has ended, too.
func (t *turn) settle(eff *effect, value []byte, err error) {
	eff.settled, eff.value, eff.err = true, value, err
	t.drop(eff)
	switch {
	case eff.stream != nil:
		eff.stream.wake()
	case eff.ahead != nil:
		t.overtaken(eff)
	case !eff.running:
		t.in.wake(eff.owner)
	}
}

// catchUp waits for all effects whose tasks have not waited: timers must not run while what they are for waits.
func (t *turn) catchUp(task runtime.Task) {
	if t.ahead > 0 {
		task.Wait(func() bool { return t.ahead == 0 })
	}
}

// overtaken ends an effect whose task has not waited. If it has failed, so do those behind it: the host does not
// perform them.
func (t *turn) overtaken(eff *effect) {
	t.ahead--
	if eff.err == nil {
		*eff = effect{}
		t.in.spare = append(t.in.spare, eff)
		return
	}
	eff.ahead.fail(eff.err)
	for n := len(t.effects); n > 0 && t.effects[n-1].number > eff.number; n = len(t.effects) {
		t.settle(t.effects[n-1], nil, eff.err)
	}
}

// passed ends the effects before one whose tasks have not waited: they have succeeded, as it was performed.
func (t *turn) passed(number uint32) {
	for i := 0; t.ahead > 0 && i < len(t.effects); {
		if e := t.effects[i]; e.ahead != nil && e.number < number {
			t.settle(e, nil, nil) // removes it from the table
			continue
		}
		i++
	}
}

// drop removes an effect from the table.
func (t *turn) drop(eff *effect) {
	last := len(t.effects) - 1
	switch i := slices.Index(t.effects, eff); {
	case i < 0:
		return
	case i == last: // almost always
		t.effects[last] = nil
		t.effects = t.effects[:last]
	default:
		t.effects = slices.Delete(t.effects, i, i+1)
	}
	t.in.effects--
}

// find returns an outstanding effect by its number.
func (t *turn) find(number uint32) *effect {
	for _, e := range t.effects {
		if e.number == number && number != 0 {
			return e
		}
	}
	return nil
}
