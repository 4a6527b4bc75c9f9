package runtime

import "github.com/turncore/turncore/runtime/record"

// A step is a dispatch without a loop: the context of one model call of an invocation, in which nothing is stored. Its
// owner runs the model and the tools, and makes events of what they give.

// OpenStep opens a step with the tools of config. It fails if two of them share a name.
func (t *Turn) OpenStep(config *Config) (*Dispatch, error) {
	registry, err := config.registry()
	if err != nil {
		return nil, err
	}
	d := &Dispatch{turn: t, config: config, begun: true}
	d.running = d.one[:0]
	d.path = t.openPath(&t.context)
	d.number = uint32(len(t.dispatches) + 1)
	d.aborted = t.context.aborted
	d.registry = registry
	d.enterIteration()
	d.iterations = 1
	d.place.enter(inExecute)
	t.dispatches = append(t.dispatches, d)
	return d, nil
}

// CloseStep ends a step. Executions of tools that nobody awaited are cut off.
func (d *Dispatch) CloseStep() {
	d.cutTools()
	d.turn.hold(-d.rendered - d.streamed)
	d.rendered, d.streamed, d.state = 0, 0, nil
	d.begun, d.ended = false, true
}

// Put appends a record that the guest made to a collection of a step, and returns its handle.
func (d *Dispatch) Put(kind record.Kind, body []byte) int64 {
	handle := d.turn.records.make(body)
	d.cols[kind].append(handle, 1)
	return handle
}

// Offer adds a tool to those of a step.
func (d *Dispatch) Offer(tool *Tool) {
	d.registry = d.registry.own()
	d.registry.tools = append(d.registry.tools, tool)
	d.registry.edits++
}
