package invocation

import (
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/session"
)

// World is what surrounds an invocation. Its methods wait in the task.
type World interface {
	// Step says that a step begins, and of which agent.
	Step(number, agent uint32)
	// Append stores what an event writes, in one transaction, and delivers the event to the caller if deliver says so. It
	// returns when the caller asks for the next event, with E_INVOCATION_STOPPED if the caller wants none. With failed it
	// returns at once: executors, tools, callbacks and generators that are called next wait for the event, and fail with
	// it once failed was called.
	Append(task runtime.Task, w *session.Write, deliver bool, failed Failed) error
	// Stored returns when all events were handled that Append has returned ahead of.
	Stored(task runtime.Task)
	// Model lets host code answer in a step. p is what it is asked, nil if it must ask for that with [Run.RequestPart].
	Model(task runtime.Task, context uint32, p *Part) ([]byte, error)
	// Deliver hands an event that is not stored to the caller (run 0), or to the generator that runs an agent under the
	// number run. It returns when that asks for the next event.
	Deliver(task runtime.Task, run uint32, event []byte) error
	// Callback calls host code and returns its answer: nil, or a map of "value" and "actions".
	Callback(task runtime.Task, c *Callback) ([]byte, error)
	// Error encodes an error for host code, which gets its own errors back as they were.
	Error(err error) []byte
	// Agent runs a generator of host code to its end. It yields with [Run.Yield]. input is the content that it
	// answers as a tool of another agent; nil for the invocation's message.
	Agent(task runtime.Task, agent, run uint32, branch string, input []byte) error
	// Together runs body for 0 to n-1 in tasks of their own and returns when all have ended, with the first error in
	// order.
	Together(task runtime.Task, n int, body func(task runtime.Task, i int) error) error
	// Below says that host code which a task waits for has called, and another task serves that: what stops the one stops
	// the other, too. The events that the code was to wait for were handled.
	Below(task, other runtime.Task)
	// Stop tells host code that a task waits for, and what is below the task, that nobody wants the result. Requests from
	// then on fail with err.
	Stop(task runtime.Task, err error)
}

// Failed hears that an event of an author could not be stored.
type Failed func(author string, err error)

// Callback is a call of host code.
type Callback struct {
	Hook    Hook
	Plugin  uint32 // number of the plugin; 0 for the agent's own
	Index   uint32 // place in the agent's list
	Agent   uint32 // 0 for none
	Run     uint32
	Context uint32 // number of the step that it is about; 0 for none
	Value   []byte
}

// Model is the model of an agent inside the module.
type Model interface {
	// Answer makes a model call in a step and returns the answer: an event with what models know of it. part takes each
	// piece of the answer as it comes, a thought or text. refused says of each function call why it cannot run, "" if it
	// can.
	Answer(task runtime.Task, d *runtime.Dispatch, r *Request, part func(text []byte, thought bool) error) (e *session.Event, refused []string, err error)
	// Times reports whether Execute bounds how long a tool runs.
	Times() bool
	// Execute runs a tool that an answer has called, for as long as the model's options allow.
	Execute(task runtime.Task, d *runtime.Dispatch, t *runtime.Tool, args []byte, run runtime.ToolRun) (runtime.ToolResult, error)
}

// Request is what a model is asked.
type Request struct {
	Instructions string
	Contents     []session.Content
}

// answerOf reads an answer that host code gave: an event with what models know of it.
func answerOf(v []byte) (*session.Event, error) {
	e, err := session.Parse(v)
	if err == nil && e.Role == "" {
		e.Role = "model"
	}
	return e, err
}
