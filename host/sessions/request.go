package sessions

import (
	"fmt"
	"sync"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/turn"
	"github.com/turncore/turncore/host/internal/wire"
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

// told is what is kept of what the models of agents were asked, for the core.
func (inv *running) told() (list []abi.Shown) {
	inv.known = make([]contents, len(inv.runner.tree.nodes))
	for i, n := range inv.runner.tree.nodes {
		if n.llm == nil || n.llm.Executor == nil {
			continue
		}
		k := abi.Shown{Agent: uint32(i + 1), Tools: n.tools.Load() != nil}
		if log := inv.now.events.log; log != nil {
			known := log.shown.get(n.name)
			inv.known[i] = known
			k.Have, k.Mark = uint32(len(known.list)), known.mark
		}
		if k.Have > 0 || k.Tools {
			list = append(list, k)
		}
	}
	return list
}

// asked takes what the model of a step is asked, from what the core knows that is kept. It is called under the turn's
// lock.
func (inv *running) asked(step *turn.Context, raw abi.Raw) error {
	if wire.IsNil(raw) {
		return nil // the executor asks
	}
	n, err := inv.runner.tree.agent(step.Agent)
	if err != nil {
		return err
	}
	inv.mu.Lock()
	known := inv.known[n.number-1]
	inv.mu.Unlock()
	r, _, err := inv.read(n, known, raw)
	if err != nil || r == nil {
		return err
	}
	step.Asked = r
	return nil
}

// read reads a part of a request. r is nil if there is more; after is what is kept then.
func (inv *running) read(n *node, known contents, raw abi.Raw) (r *Request, after contents, err error) {
	part := &abi.ModelRequest{}
	if err := abi.DecodeInPlaceTo(raw, part); err != nil {
		return nil, known, err
	}
	if int64(part.From) > int64(len(known.list)) {
		return nil, known, fmt.Errorf("a request goes on from %d contents, and %d are kept", part.From, len(known.list))
	}
	d := decoderOf(part.Contents)
	others := make([]*Content, 0, value.Len(part.Contents))
	of := at("request.contents")
	d.items(of, part.Contents, func(i int, v []byte) { others = append(others, d.content(&place{within: of, index: i}, v)) })
	r = &Request{Instructions: part.Instructions}
	of = at("request.tools")
	d.items(of, part.Tools, func(i int, v []byte) { r.Tools = append(r.Tools, d.declaration(&place{within: of, index: i}, v)) })
	if d.err != nil {
		return nil, known, invalid(host.CodeInvalidEvent, d.field, d.err)
	}
	if part.Mark == 0 {
		r.Contents = others
		return r, known, nil
	}
	if !wire.IsNil(part.Tools) {
		n.tools.Store(&r.Tools)
	} else if tools := n.tools.Load(); tools != nil {
		r.Tools = *tools
	}
	after = inv.shown().extend(n.name, known, int(part.From), others, part.Mark)
	inv.mu.Lock()
	if now := inv.known[n.number-1]; now.mark == known.mark && len(now.list) == len(known.list) {
		inv.known[n.number-1] = after
	}
	inv.mu.Unlock()
	if len(after.list) < int(part.Total) && len(others) > 0 {
		return nil, after, nil
	}
	r.Contents = after.list[:len(after.list):len(after.list)]
	return r, after, nil
}

// request asks what the model of a step is asked.
func (b *base) request(step *turn.Context) (*Request, error) {
	inv := b.inv
	n, err := inv.runner.tree.agent(step.Agent)
	if err != nil {
		return nil, err
	}
	step.Turn().Lock()
	r, _ := step.Asked.(*Request)
	step.Turn().Unlock()
	inv.mu.Lock()
	known := inv.known[n.number-1]
	inv.mu.Unlock()
	for r == nil {
		args := &abi.RequestArgs{Have: uint32(len(known.list)), Mark: known.mark, Tools: n.tools.Load() == nil}
		v, err := step.Invoke(abi.SessionMethodRequest, turn.Payload(args))
		if err != nil {
			return nil, err
		}
		if r, known, err = inv.read(n, known, v); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (d *decoder) declaration(at *place, v []byte) (t ToolDeclaration) {
	d.each(at, v, func(key, v []byte) {
		switch at := at.member(key); string(key) {
		case "name":
			t.Name = d.text(&at, v)
		case "description":
			t.Description = d.text(&at, v)
		case "inputSchema":
			t.InputSchema = d.object(&at, v)
		}
	})
	return t
}
