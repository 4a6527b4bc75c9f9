package invocation

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/session"
)

// instruct asks host code for the instructions that it gives.
func (r *Run) instruct(task runtime.Task, s *step) error {
	for _, from := range [...]struct {
		agent *Agent
		hook  Hook
		to    *string
	}{{s.agent.root(), GlobalInstruction, &s.global}, {s.agent, Instruction, &s.instruction}} {
		if from.agent.Hooks[from.hook] == 0 {
			continue
		}
		v, _, err := r.callback(task, &Callback{Hook: from.hook}, &scope{agent: from.agent, run: s.run, context: s.context})
		if err != nil {
			return err
		}
		text, ok := value.String(v)
		if !ok && v != nil {
			return session.New(session.InvalidAgent, "instruction", "the callback must give a string")
		}
		*from.to = string(text)
	}
	return nil
}

// request is what the model of a step is asked.
func (r *Run) request(s *step) (*Request, error) {
	var text []byte
	add := func(more []byte) {
		if len(more) > 0 && len(text) > 0 {
			text = append(text, "\n\n"...)
		}
		text = append(text, more...)
	}
	for _, from := range [...]struct{ template, given string }{{s.agent.root().global, s.global}, {s.agent.instruction, s.instruction}} {
		filled, err := session.Instruct([]byte(from.template), r.state)
		if err != nil {
			return nil, err
		}
		add(filled)
		add([]byte(from.given))
	}
	add([]byte(s.agent.introduction()))
	view := session.View{Agent: s.agent.Name, Branch: s.branch, None: s.agent.none, From: s.from}
	return &Request{Instructions: string(text), Contents: r.Log.Contents(view)}, nil
}

// RequestValue is the request of a step as host code gets it: a map of instructions, contents and tools.
func (r *Run) RequestValue(context uint32) ([]byte, error) {
	s, err := r.stepOf(context)
	if err != nil {
		return nil, err
	}
	request, err := s.of.request(s)
	if err != nil {
		return nil, err
	}
	var m, tool members
	m.text("instructions", request.Instructions)
	v := value.AppendListHeader(nil, len(request.Contents))
	for i := range request.Contents {
		c := &request.Contents[i]
		v = session.AppendContent(v, c.Role, c.Parts)
	}
	m.add("contents", v)
	n := 0
	var tools []byte
	s.d.Tools().Visible(func(t *runtime.Tool) bool {
		tool = members{}
		tool.text("name", t.Name)
		tool.text("description", t.Description)
		tool.add("inputSchema", t.InputSchema)
		tools = append(tools, tool.value()...)
		n++
		return true
	})
	m.add("tools", append(value.AppendListHeader(nil, n), tools...))
	return m.value(), nil
}
