package agent

import (
	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/guest"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
)

// Context is where a function of the agent runs: in a turn, and in one of its dispatches unless the function is
// middleware of the turn. It is of use only inside that function. Times are in milliseconds.
type Context struct {
	task    runtime.Task
	turn    *runtime.Turn
	d       *runtime.Dispatch // nil in the turn's own middleware
	options []byte
	models  map[string]runtime.Executor
}

// Dispatch reports whether the context is a dispatch's. Methods about iterations, records, tools and signals need one.
func (c *Context) Dispatch() bool { return c.d != nil }

// TurnID returns the turn's id.
func (c *Context) TurnID() string { return c.turn.ID }

// Iteration returns the number of the iteration, from 0; -1 outside a dispatch.
func (c *Context) Iteration() int {
	if c.d == nil {
		return -1
	}
	return c.d.Iteration()
}

// Now returns the time, since the Unix epoch. It moves on only between two waits.
func (c *Context) Now() int64 { return c.turn.Now + int64(c.turn.Elapsed()) }

// Random returns a random number. Numbers of one turn differ, and are the same when it replays.
func (c *Context) Random() uint64 { return c.turn.Random() }

// NewID returns an id that starts with prefix, is unique in the turn and the same when it replays.
func (c *Context) NewID(prefix string) string { return c.turn.NewID(prefix) }

// Aborted reports whether the dispatch, or the turn, has been aborted.
func (c *Context) Aborted() bool {
	if c.d != nil {
		return c.d.Aborted()
	}
	return c.turn.Aborted()
}

// Sleep waits. It fails if the turn is aborted meanwhile.
func (c *Context) Sleep(ms uint64) error { return c.task.Sleep(c.number(), ms) }

// Options decodes the agent's options, which fit the schema in its definition.
func (c *Context) Options(into interface{ DecodeValue(v []byte) error }) error {
	if len(c.options) == 0 {
		return into.DecodeValue([]byte{0x80})
	}
	return into.DecodeValue(c.options)
}

// Get returns the value under a top-level key of the stash of this context: what the host gave the turn, and what
// functions of the agent and of the host have set. A dispatch begins with a copy of the stash around it; what is set in
// a dispatch stays there.
func (c *Context) Get(key string) (v []byte, ok bool) { return c.turn.Stash(c.number()).Get(key) }

// Set sets the value under a top-level key of the stash of this context, for later functions of the agent and of the
// host, and for the dispatches that begin in it. Set keeps v.
func (c *Context) Set(key string, v []byte) error {
	if err := value.Check(v); err != nil {
		return err
	}
	c.turn.SetStash(c.number(), key, v)
	return nil
}

// Ack ends the dispatch well, when the function has returned.
func (c *Context) Ack() error {
	if c.d == nil {
		return errNoDispatch("Ack")
	}
	return c.d.Ack()
}

// Nack fails the dispatch, when the function has returned. The iteration's records are dropped.
func (c *Context) Nack(err error) error {
	if c.d == nil {
		return errNoDispatch("Nack")
	}
	return c.d.Nack(err)
}

// Model lets a model of the runner run this iteration: it gets the conversation, its tool calls run, and it acks when
// it has answered without any. The name is one that the agent asks for.
func (c *Context) Model(name string) error {
	if c.d == nil {
		return errNoDispatch("Model")
	}
	e := c.models[name]
	if e == nil {
		return noModel(name)
	}
	return e.Execute(c.task, c.d)
}

// Levels of the log.
const (
	Trace = abi.LevelTrace
	Debug = abi.LevelDebug
	Info  = abi.LevelInfo
	Warn  = abi.LevelWarn
	Error = abi.LevelError
)

// Log writes a line to the structured log. kind says what it is about, such as "research.search"; payload is an encoded
// value, nil for none.
func (c *Context) Log(level uint8, kind, message string, payload []byte) error {
	if c.d == nil {
		return errNoDispatch("Log")
	}
	c.d.Log(min(level, Error), kind, message, payload)
	return nil
}

// Together runs functions side by side, as far as they wait, and returns when all have returned, with the first error
// in their order.
func (c *Context) Together(run ...func(c *Context) error) error {
	tasks := make([]func(runtime.Task) error, len(run))
	for i, f := range run {
		tasks[i] = func(task runtime.Task) error {
			inner := *c
			inner.task = task
			return f(&inner)
		}
	}
	return guest.Together(c.task, len(run), tasks...)
}

// number is the context's number in frames.
func (c *Context) number() uint32 {
	if c.d == nil {
		return 0
	}
	return c.d.Number()
}

func errNoDispatch(method string) error {
	return fault.New(fault.InvalidValue, method+" is for dispatches, and this is middleware of the turn")
}
