package runtime

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// library holds the scripted host's artifacts: the texts that its readers read, and the requests it got.
type library struct {
	texts        map[string]string // by the record's id, with #n in a list
	inOrder      []string          // effects about artifacts, in short form
	failRead     error
	failEstimate error
	refuse       error // fails spooling
	onSpool      func()
	keep         bool           // spooling leaves records unchanged
	tamper       func(e *Read)  // changes a reader's answers
	forge        func(e *Forge) // registers the host's own tools
	defined      map[uint32]*Tool
	lists        map[uint32][]string // registered tools by context, as the host knows them
	crossed      int                 // syncs about tools
}

func (l *library) reset() {
	l.inOrder, l.crossed = nil, 0
	l.defined, l.lists = map[uint32]*Tool{}, map[uint32][]string{}
}

func (p *play) syncTools(s Sync) {
	p.t.Helper()
	l := &p.library
	l.crossed++
	switch s.Op {
	case SyncDefine:
		if s.Tool.Number < 1<<31 || l.defined[s.Tool.Number] != nil {
			p.t.Errorf("tool %d is defined", s.Tool.Number)
		}
		l.defined[s.Tool.Number] = s.Tool
	case SyncTools:
		var names []string
		for _, tool := range s.Tools {
			if tool.Number >= 1<<31 && l.defined[tool.Number] != tool {
				p.t.Errorf("tool %d is registered, but not defined", tool.Number)
			}
			names = append(names, tool.Name)
		}
		l.lists[s.Context] = names
	default:
		p.t.Errorf("sync %d about tools", s.Op)
	}
}

// serve acts as a host that holds the texts.
func (l *library) serve(p *play, e Effect) error {
	switch e := e.(type) {
	case *Spool:
		body := p.turn.records.body(e.Handle)
		id := string(record.ID(record.Retrievables, body))
		l.inOrder = append(l.inOrder, "spool "+id)
		if l.onSpool != nil {
			l.onSpool()
		}
		if l.refuse != nil {
			return l.refuse
		}
		if l.keep {
			return nil
		}
		r := record.Retrievable(body)
		text := l.texts[id]
		lines := int64(strings.Count(text, "\n") + 1)
		if text == "" {
			lines = 0
		}
		e.Into = p.next
		p.next++
		p.turn.Accept(e.Into, 1, record.AppendRetrievable(nil, record.RetrievableFields{
			ID: id, TrustTier: string(r.TrustTier()), Part: record.AppendArtifact(nil, classText, int64(len(text)), lines, ""),
		}))
		p.names[e.Into] = id + ":spooled"
	case *Read:
		return l.read(p, e)
	case *Estimate:
		l.inOrder = append(l.inOrder, estimateWord(e))
		if l.failEstimate != nil {
			return l.failEstimate
		}
		e.Tokens = make([]int64, max(len(e.Texts), 1))
		for i := range e.Tokens {
			e.Tokens[i] = 77
		}
	case *Forge:
		l.inOrder = append(l.inOrder, "forge "+strings.Join(e.Classes, " "))
		if l.forge != nil {
			l.forge(e)
		}
	}
	return nil
}

func (l *library) read(p *play, e *Read) error {
	kind := record.ToolCalls
	if record.Retrievable(p.turn.records.body(e.Handle)).Part() != nil {
		kind = record.Retrievables
	}
	id := string(record.ID(kind, p.turn.records.body(e.Handle)))
	text, ok := l.texts[id]
	if !ok {
		id = fmt.Sprintf("%s#%d", id, e.Part)
		text, ok = l.texts[id]
	}
	l.inOrder = append(l.inOrder, fmt.Sprintf("read%d %s", e.Op, id))
	if l.failRead != nil {
		return l.failRead
	}
	if !ok {
		return errors.New("there is no text of " + id)
	}
	var lines []string
	if text != "" {
		lines = strings.Split(text, "\n")
	}
	e.Bytes, e.Count = uint64(len(text)), uint64(len(lines))
	switch e.Op {
	case ReadText:
		if len(text) > int(e.Max) {
			return fault.New(fault.ArtifactTooLarge, id)
		}
		e.Lines = [][]byte{[]byte(text)}
	case ReadLines:
		room := int(e.Max)
		for i := e.From; i < min(e.To, e.Count); i++ {
			if room -= len(lines[i]); room < 0 {
				if i == e.From {
					return fault.New(fault.ArtifactTooLarge, id)
				}
				break
			}
			e.Lines = append(e.Lines, []byte(lines[i]))
		}
	}
	if l.tamper != nil {
		l.tamper(e)
	}
	return nil
}

// artifactCall is the body of a tool call whose results are an artifact with unknown sizes, or a list of n artifacts.
func artifactCall(id, class string, n int) []byte {
	part := record.AppendArtifact(nil, class, -1, -1, "")
	results := part
	if n > 0 {
		results = value.AppendListHeader(nil, n)
		for range n {
			results = append(results, part...)
		}
	}
	return record.AppendToolCall(nil, record.ToolCallFields{
		ID: id, Tool: "fetch", Args: value.AppendMapHeader(nil, 0), Checksum: "sum", IsComplete: true, Results: results,
	})
}

// held is the body of a retrievable whose text the host holds.
func held(id string, inline bool) []byte {
	part := value.AppendInt(value.AppendInt(value.AppendListHeader(nil, 2), int64(record.TextPart)), 5)
	return record.AppendRetrievable(nil, record.RetrievableFields{ID: id, Part: part, TrustTier: "first-party", Inline: inline})
}

// found is the body of a retrievable whose content is an artifact.
func found(id string, inline bool) []byte {
	return record.AppendRetrievable(nil, record.RetrievableFields{
		ID: id, Part: record.AppendArtifact(nil, classText, -1, -1, ""), TrustTier: "first-party", Inline: inline,
	})
}

// body assigns a handle to the body of a record and returns it.
func (p *play) body(id string, body []byte) int64 {
	p.t.Helper()
	handle := p.next
	p.next++
	if !p.turn.Accept(handle, 1, body) {
		p.t.Fatalf("handle %d is refused", handle)
	}
	p.names[handle] = id
	return handle
}

// toolNames lists the names of the dispatch's tools in order.
func (s *seam) toolNames() string {
	var names []string
	for _, tool := range s.d.registry.tools {
		names = append(names, tool.Name)
	}
	return strings.Join(names, " ")
}

// reads calls a reader tool of the dispatch.
func (s *seam) reads(name, args string) (string, error) {
	tool, ok := s.d.registry.Get(name)
	if !ok {
		return "", fmt.Errorf("there is no %s among %s", name, s.toolNames())
	}
	result, err := s.d.ExecuteTool(s.task, tool, valueFrom(args), ToolRun{Keep: true})
	if result.Effect != 0 {
		s.t.Errorf("%s ran outside, as effect %d", name, result.Effect)
	}
	text, _ := value.String(result.Value)
	return string(text), err
}

// offers lists the ids that a tool's schema accepts.
func offers(tool *Tool) (ids []string) {
	properties, _ := value.Get(tool.InputSchema, "properties")
	callID, _ := value.Get(properties, "callId")
	enum, _ := value.Get(callID, "enum")
	_ = value.EachItem(enum, func(_ int, v []byte) bool {
		id, _ := value.String(v)
		ids = append(ids, string(id))
		return true
	})
	return ids
}

func (s *seam) offered(name string) string {
	tool, ok := s.d.registry.Get(name)
	if !ok || slices.Contains(s.d.registry.hidden, name) {
		return "no tool"
	}
	return strings.Join(offers(tool), " ")
}

func estimateWord(e *Estimate) string {
	if e.Handle != 0 {
		return fmt.Sprintf("estimate %s of %d", e.Encoding, e.Handle)
	}
	return fmt.Sprintf("estimate %d", len(e.Texts))
}
