package sessions

import (
	"sync"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/turn"
)

// Request is what a model is asked. Requests of a session share what they have in common: it must not be changed.
type Request struct {
	// Instructions are the system prompt.
	Instructions string
	// Contents are the conversation as the agent sees it, the oldest first.
	Contents []*Content
	// Tools are those that the model may call.
	Tools []ToolDeclaration
}

// ToolDeclaration describes a tool to a model.
type ToolDeclaration struct {
	Name        string
	Description string
	InputSchema map[string]any // a JSON Schema
}

// contents are what the models of an agent are shown of a session.
type contents struct {
	list []*Content
	mark uint64 // names them
}

// shown keeps what models are shown of a session: each content crosses from the core once.
type shown struct {
	mu sync.Mutex
	to map[string]contents // by agent
}

func (s *shown) get(agent string) contents {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.to[agent]
}

// extend has others follow the first from ones of some contents, which somebody has got before.
func (s *shown) extend(agent string, before contents, from int, others []*Content, mark uint64) contents {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := before.list[:from:from]
	if now := s.to[agent]; len(now.list) == from && now.mark == before.mark {
		list = now.list // nobody has made others follow
	}
	after := contents{append(list, others...), mark}
	if s.to == nil {
		s.to = make(map[string]contents)
	}
	s.to[agent] = after
	return after
}

// request asks what the model of a step is asked.
func (b *base) request(step *turn.Context) (*Request, error) {
	kept := b.inv.shown()
	known := kept.get(b.agent)
	for {
		args := &abi.RequestArgs{Have: uint32(len(known.list)), Mark: known.mark, Tools: true}
		v, err := step.Invoke(abi.SessionMethodRequest, turn.Payload(args))
		if err != nil {
			return nil, err
		}
		part, err := abi.DecodeInPlace[abi.ModelRequest](v)
		if err != nil {
			return nil, err
		}
		var d decoder
		var others []*Content
		d.items("request.contents", part.Contents, func(field string, v []byte) { others = append(others, d.content(field, v)) })
		r := &Request{Instructions: part.Instructions}
		d.items("request.tools", part.Tools, func(field string, v []byte) { r.Tools = append(r.Tools, d.declaration(field, v)) })
		if d.err != nil {
			return nil, invalid(host.CodeInvalidEvent, d.field, d.err)
		}
		known = kept.extend(b.agent, known, min(int(part.From), len(known.list)), others, part.Mark)
		if n := len(known.list); n >= int(part.Total) || len(others) == 0 {
			r.Contents = known.list[:n:n]
			return r, nil
		}
	}
}

func (d *decoder) declaration(field string, v []byte) (t ToolDeclaration) {
	d.each(field, v, func(name string, v []byte) {
		switch field := field + "." + name; name {
		case "name":
			t.Name = d.text(field, v)
		case "description":
			t.Description = d.text(field, v)
		case "inputSchema":
			t.InputSchema = d.object(field, v)
		}
	})
	return t
}
