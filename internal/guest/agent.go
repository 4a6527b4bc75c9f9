package guest

import (
	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/runtime"
)

// Agent is what an author has compiled into the module besides the core.
type Agent interface {
	// Describe returns the agent's manifest without what only its file says: the answer to the method Describe.
	Describe() []byte
	// Open returns the agent's parts for a runner. options are those of the frame, a map: "options" are the agent's, and
	// "models" those of the chat executor by the agent's names for its models. chat makes the executor of one. Both are of
	// use during Open only.
	Open(options []byte, chat func(options []byte) (runtime.Executor, error)) (*Parts, error)
}

// Parts are an agent's parts in one runner.
type Parts struct {
	Executor   runtime.Executor
	Tools      map[string]runtime.Handler // by the name that a ToolDef gives as its builtin
	Middleware [4]map[string]runtime.Around
}

// Serve makes the module an agent module, before the first step.
func (in *Instance) Serve(a Agent) { in.agent, in.more = a, in.more|abi.FeatureAgent }

// Together runs functions as tasks of a turn, at most so many at once, and returns when all have returned, with the
// first error in their order. A function that panics fails with that. task is the one that waits.
func Together(task runtime.Task, atOnce int, run ...func(runtime.Task) error) error {
	return task.(*coroutine).each(len(run), atOnce, func(t runtime.Task, i int) error { return run[i](t) })
}
