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
		v, err := r.callback(task, &Callback{Hook: from.hook}, &scope{agent: from.agent, run: s.run, context: s.context}, &s.actions)
		if err != nil {
			return err
		}
		text, ok := value.String(v)
		if !ok && v != nil {
			return r.wrong(session.New(session.InvalidAgent, "", "the callback must give a string"), "")
		}
		*from.to = string(text)
	}
	return nil
}

// request is what the model of a step is asked.
func (r *Run) request(s *step) (*Request, error) {
	if s.asked != nil {
		return s.asked, nil
	}
	text := r.text[:0]
	for _, from := range [...]struct{ template, given string }{{s.agent.root().global, s.global}, {s.agent.instruction, s.instruction}} {
		var err error
		if text, err = r.fill(text, from.template); err != nil {
			return nil, err
		}
		text = apart(text, from.given)
	}
	text = apart(text, s.agent.introduction)
	r.text = text
	view := session.View{Agent: s.agent.Name, Branch: s.branch, None: s.agent.none, From: s.from}
	s.request = Request{Instructions: string(text), Contents: r.Log.Contents(view)}
	return &s.request, nil
}

// fill is a text with what comes of an instruction below it.
func (r *Run) fill(text []byte, template string) ([]byte, error) {
	above := len(text)
	if above > 0 && template != "" {
		text = append(text, "\n\n"...)
	}
	start := len(text)
	text, err := session.Instruct(text, template, r.state)
	if len(text) == start {
		text = text[:above] // nothing came of it
	}
	return text, err
}

// apart is a text with another one below it.
func apart(text []byte, more string) []byte {
	if len(text) > 0 && more != "" {
		text = append(text, "\n\n"...)
	}
	return append(text, more...)
}

// Part is a part of a request, for host code.
type Part struct {
	Instructions string
	From, Total  int    // place of the first content, and how many there are
	Mark         uint64 // of the last content
	Contents     []byte
	count        int    // of Contents
	Tools        []byte // list of maps; nil if they are not wanted
}

// Bounds of a part of a request.
const (
	partContents = 4096
	partBytes    = 1 << 20
)

// RequestPart is a part of the request of a step, from what host code keeps on: the first have contents, up to the one
// that the mark names.
func (r *Run) RequestPart(context uint32, have int, mark uint64, tools bool) (*Part, error) {
	s, err := r.stepOf(context)
	if err != nil {
		return nil, err
	}
	request, err := s.of.request(s)
	if err != nil {
		return nil, err
	}
	p := s.part(request, have, mark, tools)
	if k := r.shownTo(s.agent); int(k.Have) == have && k.Mark == mark {
		k.note(p)
	}
	return p, nil
}

// Shown is what host code keeps of what the model of an agent was asked.
type Shown struct {
	Agent uint32
	Have  uint32 // contents
	Mark  uint64 // of the last one
	Tools bool
}

// shownTo is what host code keeps of an agent.
func (s *shared) shownTo(a *Agent) *Shown {
	for i := range s.shown {
		if s.shown[i].Agent == a.Number {
			return &s.shown[i]
		}
	}
	s.shown = append(s.shown, Shown{Agent: a.Number})
	return &s.shown[len(s.shown)-1]
}

// note notes what host code gets.
func (k *Shown) note(p *Part) {
	if p.Mark != 0 {
		k.Have, k.Mark, k.Tools = uint32(p.From+p.count), p.Mark, k.Tools || p.Tools != nil
	}
}

// offer is the request of a step from what host code keeps on; nil if the request fails, as host code hears when it
// asks.
func (r *Run) offer(s *step) *Part {
	request, err := s.of.request(s)
	if err != nil {
		return nil
	}
	k := r.shownTo(s.agent)
	p := s.part(request, int(k.Have), k.Mark, !k.Tools || s.asked != nil)
	k.note(p)
	return p
}

func (s *step) part(request *Request, have int, mark uint64, tools bool) *Part {
	contents := request.Contents
	p := &Part{Instructions: request.Instructions, Total: len(contents)}
	if have > 0 && have <= len(contents) && contents[have-1].Mark == mark && mark != 0 {
		p.From, p.Mark = have, mark
	}
	size := 0
	for p.count < partContents && size < partBytes && p.From+p.count < len(contents) {
		size += contents[p.From+p.count].Size()
		p.count++
	}
	p.Contents = value.AppendListHeader(make([]byte, 0, size+8), p.count)
	for i := range p.count {
		c := &contents[p.From+i]
		p.Contents, p.Mark = session.AppendContent(p.Contents, c.Role, c.Parts), c.Mark
	}
	if tools {
		p.Tools = s.tools()
	}
	return p
}

// tools is the list of the tools that the model may call.
func (s *step) tools() []byte {
	n := 0
	var list []byte
	s.d.Tools().Visible(func(t *runtime.Tool) bool {
		var tool members
		tool.text("name", t.Name)
		tool.text("description", t.Description)
		tool.add("inputSchema", t.InputSchema)
		list = append(list, tool.value()...)
		n++
		return true
	})
	return append(value.AppendListHeader(nil, n), list...)
}
