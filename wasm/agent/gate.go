package agent

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
)

// Gate is a decision that somebody outside takes.
type Gate struct {
	ID     string // empty: a fresh one
	Reason string // such as "Send the mail?"
	// Payload is an encoded value that shows what the decision is about; nil for null.
	Payload []byte
	// Schema is the JSON Schema of the decision; empty for any value.
	Schema string
	// Timeout is after how many milliseconds nobody is waited for; 0 for no limit.
	Timeout uint64
}

// WaitFor opens a gate and waits for the decision, an encoded value that fits the schema. It fails if the gate is
// rejected, times out or is aborted.
func (c *Context) WaitFor(g Gate) ([]byte, error) {
	in := runtime.GateInput{ID: g.ID, Reason: g.Reason, Payload: g.Payload, CreatedAt: c.Now(), Timeout: g.Timeout}
	if in.ID == "" {
		in.ID = c.NewID("gate")
	}
	if in.Payload == nil {
		in.Payload = value.AppendNil(nil)
	}
	if g.Schema != "" {
		schema, err := value.FromJSON(nil, []byte(g.Schema))
		if err != nil {
			return nil, err
		}
		in.Schema = schema
	}
	return c.turn.WaitFor(c.task, c.d, in)
}

// confirm waits until somebody agrees to a tool's call.
func (c *Context) confirm(t *Tool, args []byte) error {
	payload := value.AppendMapHeader(nil, 2)
	payload = value.AppendString(value.AppendString(payload, "tool"), t.name)
	payload = append(value.AppendString(payload, "args"), args...)
	decision, err := c.WaitFor(Gate{Reason: "Call the tool " + t.name + "?", Payload: payload, Schema: `{"type":"boolean"}`})
	if err != nil {
		return err
	}
	if yes, _ := value.Bool(decision); !yes {
		return fault.Plain("the call of " + t.name + " was not confirmed")
	}
	return nil
}
