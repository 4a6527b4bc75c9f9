package agent

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/guest"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
)

// module is the registered agent, as package guest asks for it.
type module struct{}

// Describe implements guest.Agent.
func (module) Describe() []byte { return said }

// Open implements guest.Agent.
func (module) Open(options []byte, chat func([]byte) (runtime.Executor, error)) (*guest.Parts, error) {
	d := registered
	if d == nil {
		return nil, fault.New(fault.ABIUnknownTarget, "the module has registered no agent")
	}
	models, err := openModels(options, chat)
	if err != nil {
		return nil, err
	}
	own, err := d.options(options)
	if err != nil {
		return nil, err
	}
	in := func(task runtime.Task, t *runtime.Turn, dispatch *runtime.Dispatch) *Context {
		return &Context{task, t, dispatch, own, models}
	}
	parts := &guest.Parts{Executor: models["default"], Tools: make(map[string]runtime.Handler)}
	if d.Executor != nil {
		parts.Executor = executor(func(task runtime.Task, dispatch *runtime.Dispatch) error {
			return d.Executor(in(task, dispatch.Turn(), dispatch))
		})
	}
	if parts.Executor == nil {
		return nil, noModel("default")
	}
	for _, t := range d.Tools {
		parts.Tools[t.name] = func(task runtime.Task, dispatch *runtime.Dispatch, args []byte) ([]byte, error) {
			c := in(task, dispatch.Turn(), dispatch)
			if t.Confirm {
				if err := c.confirm(t, args); err != nil {
					return nil, err
				}
			}
			return t.run(c, args)
		}
	}
	for i, list := range d.pipelines() {
		parts.Middleware[i] = make(map[string]runtime.Around)
		for _, m := range list {
			parts.Middleware[i][m.Name] = func(task runtime.Task, t *runtime.Turn, dispatch *runtime.Dispatch, next func(runtime.Task)) error {
				return m.Run(in(task, t, dispatch), func() { next(task) })
			}
		}
	}
	return parts, nil
}

// options are those of the agent among a runner's, with the defaults of their schema.
func (d *Definition) options(given []byte) ([]byte, error) {
	own, ok := value.Get(given, "options")
	if !ok || value.KindOf(own) == value.KindNil {
		own = []byte{0x80} // an empty map
	}
	if d.Options == "" {
		return nil, nil
	}
	schema, err := value.FromJSON(nil, []byte(d.Options))
	if err != nil {
		return nil, err // Register has refused it
	}
	// A tool's arguments are checked like that.
	t := runtime.Tool{Name: "options", InputSchema: schema}
	if err := t.Compile(); err != nil {
		return nil, fault.Wrap(fault.InvalidOptions, err)
	}
	valid, err := t.Check(append([]byte(nil), own...))
	if err != nil {
		// Of what it says the text of its code, which is about tools, is left out.
		wrong := fault.New(fault.InvalidOptions, fault.MessageOf(err)[len(fault.InvalidToolArgs.Error())+1:])
		wrong.Cause = err
		return nil, wrong
	}
	return valid, nil
}

// openModels makes the chat executors of a runner's models, by the agent's names for them.
func openModels(options []byte, chat func([]byte) (runtime.Executor, error)) (map[string]runtime.Executor, error) {
	models := make(map[string]runtime.Executor)
	given, _ := value.Get(options, "models")
	if value.KindOf(given) != value.KindMap {
		return models, nil
	}
	var failed error
	err := value.Each(given, func(name, v []byte) bool {
		models[string(name)], failed = chat(v)
		return failed == nil
	})
	if failed != nil {
		err = failed
	}
	return models, err
}

func noModel(name string) error {
	return fault.New(fault.ChatInvalidOptions, "the runner has no model "+name)
}

type executor func(task runtime.Task, d *runtime.Dispatch) error

// Execute implements runtime.Executor.
func (e executor) Execute(task runtime.Task, d *runtime.Dispatch) error { return e(task, d) }
