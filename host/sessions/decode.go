package sessions

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strconv"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/wire"
)

// decoder reads values into Go's types and keeps the first error. Nothing that it gives shares memory with the values.
type decoder struct {
	err   error
	field string // of err
	texts wire.Texts
}

// decoderOf reads what is in a value.
func decoderOf(v []byte) decoder { return decoder{texts: wire.TextsOf(v)} }

// place is where a value stands within another one. Its text is made for errors alone: values have many members.
type place struct {
	within *place // nil for none
	name   string // of a member; "" for the one of a key, or for an element
	key    []byte
	index  int // of an element
}

// at is the place of a value that stands in no other one.
func at(name string) *place { return &place{name: name} }

// member is the place of a member of a map; within is nil for a map that has no name.
func (p *place) member(key []byte) place { return place{within: p, key: key} }

// append appends how errors name the place.
func (p *place) append(text []byte) []byte {
	if p == nil {
		return text
	}
	text = p.within.append(text)
	if p.name == "" && p.key == nil {
		return append(strconv.AppendInt(append(text, '['), int64(p.index), 10), ']')
	}
	if p.within != nil {
		text = append(text, '.')
	}
	if p.name != "" {
		return append(text, p.name...)
	}
	return append(text, value.UTF8(string(p.key))...)
}

func (d *decoder) fail(at *place, reason string) {
	if d.err == nil {
		d.err, d.field = errors.New(reason), string(at.append(nil))
	}
}

// each calls fn for the members of a map. v that is nil has none.
func (d *decoder) each(at *place, v []byte, fn func(key, v []byte)) {
	if wire.IsNil(v) {
		return
	}
	if value.Each(v, func(key, v []byte) bool {
		fn(key, v)
		return d.err == nil
	}) != nil {
		d.fail(at, "must be a map")
	}
}

func (d *decoder) text(at *place, v []byte) string {
	s, ok := value.String(v)
	if !ok && !wire.IsNil(v) {
		d.fail(at, "must be a string")
	}
	switch string(s) { // roles and authors
	case RoleUser:
		return RoleUser
	case RoleModel:
		return RoleModel
	}
	return d.texts.String(s)
}

func (d *decoder) flag(at *place, v []byte) bool {
	b, ok := value.Bool(v)
	if !ok && !wire.IsNil(v) {
		d.fail(at, "must be true or false")
	}
	return b
}

func (d *decoder) number(at *place, v []byte) int {
	n, ok := value.Int(v)
	if !ok && !wire.IsNil(v) {
		d.fail(at, "must be an integer")
	}
	return int(n)
}

func (d *decoder) any(at *place, v []byte) any {
	plain, err := d.texts.Plain(v)
	if err != nil {
		d.fail(at, err.Error())
	}
	return plain
}

func (d *decoder) object(at *place, v []byte) map[string]any {
	m, ok := d.any(at, v).(map[string]any)
	if !ok && !wire.IsNil(v) {
		d.fail(at, "must be a map")
	}
	return m
}

// items calls fn for the elements of a list.
func (d *decoder) items(at *place, v []byte, fn func(i int, v []byte)) {
	if wire.IsNil(v) {
		return
	}
	if value.EachItem(v, func(i int, v []byte) bool {
		fn(i, v)
		return d.err == nil
	}) != nil {
		d.fail(at, "must be a list")
	}
}

// decodeEvent reads the value of an event.
func decodeEvent(v []byte) (*Event, error) {
	d := decoderOf(v)
	e := d.event(v)
	if d.err != nil {
		return nil, invalid(host.CodeInvalidEvent, d.field, d.err)
	}
	return e, nil
}

func (d *decoder) event(v []byte) *Event {
	e := &Event{}
	if value.KindOf(v) != value.KindMap {
		d.fail(nil, "must be a map")
	}
	d.each(nil, v, func(key, v []byte) {
		switch at := (*place)(nil).member(key); string(key) {
		case "id":
			e.ID = d.text(&at, v)
		case "invocationId":
			e.InvocationID = d.text(&at, v)
		case "author":
			e.Author = d.text(&at, v)
		case "timestamp":
			e.Timestamp = timeOf(int64(d.number(&at, v)))
		case "branch":
			e.Branch = d.text(&at, v)
		case "content":
			e.Content = d.content(&at, v)
		case "partial":
			e.Partial = d.flag(&at, v)
		case "turnComplete":
			e.TurnComplete = d.flag(&at, v)
		case "interrupted":
			e.Interrupted = d.flag(&at, v)
		case "finishReason":
			e.FinishReason = d.text(&at, v)
		case "errorCode":
			e.ErrorCode = d.text(&at, v)
		case "errorMessage":
			e.ErrorMessage = d.text(&at, v)
		case "usage":
			e.Usage = d.usage(&at, v)
		case "longRunningToolIds":
			d.items(&at, v, func(i int, v []byte) {
				e.LongRunningToolIDs = append(e.LongRunningToolIDs, d.text(&place{within: &at, index: i}, v))
			})
		case "customMetadata":
			e.CustomMetadata = d.object(&at, v)
		case "actions":
			e.Actions = d.actions(&at, v)
		default:
			d.fail(&at, "is unknown")
		}
	})
	return e
}

func (d *decoder) content(at *place, v []byte) *Content {
	if wire.IsNil(v) {
		return nil
	}
	var c Content
	var whole *single
	d.each(at, v, func(key, v []byte) {
		switch at := at.member(key); string(key) {
		case "role":
			c.Role = d.text(&at, v)
		case "parts":
			if n := value.Len(v); n == 1 {
				whole = &single{}
				c.Parts = whole.part[:0]
			} else {
				whole = nil
				c.Parts = make([]Part, 0, n)
			}
			d.items(&at, v, func(i int, v []byte) { c.Parts = append(c.Parts, d.part(&place{within: &at, index: i}, v)) })
		default:
			d.fail(&at, "is unknown")
		}
	})
	if whole == nil {
		several := c
		return &several
	}
	whole.Content = c
	return &whole.Content
}

// single is a content with the one part that most have: they take one allocation.
type single struct {
	Content
	part [1]Part
}

func (d *decoder) part(at *place, v []byte) (p Part) {
	d.each(at, v, func(key, v []byte) {
		switch at := at.member(key); string(key) {
		case "text":
			p.Text = d.text(&at, v)
		case "thought":
			p.Thought = d.flag(&at, v)
		case "thoughtSignature":
			p.ThoughtSignature = d.any(&at, v)
		case "inlineData":
			p.InlineData = d.blob(&at, v)
		case "fileData":
			p.FileData = &File{}
			d.each(&at, v, func(key, v []byte) {
				switch at := at.member(key); string(key) {
				case "fileUri":
					p.FileData.URI = d.text(&at, v)
				case "mimeType":
					p.FileData.MIMEType = d.text(&at, v)
				}
			})
		case "functionCall":
			id, function, args := d.function(&at, "args", v)
			p.FunctionCall = &FunctionCall{ID: id, Name: function, Args: args}
		case "functionResponse":
			id, function, response := d.function(&at, "response", v)
			p.FunctionResponse = &FunctionResponse{ID: id, Name: function, Response: response}
		case "executableCode":
			p.ExecutableCode = d.object(&at, v)
		case "codeExecutionResult":
			p.CodeExecutionResult = d.object(&at, v)
		default:
			if p.More == nil {
				p.More = make(map[string]any)
			}
			p.More[value.UTF8(string(key))] = d.any(&at, v)
		}
	})
	return p
}

func (d *decoder) blob(at *place, v []byte) *Blob {
	b := &Blob{}
	d.each(at, v, func(key, v []byte) {
		switch at := at.member(key); string(key) {
		case "mimeType":
			b.MIMEType = d.text(&at, v)
		case "data":
			data, ok := value.Bytes(v)
			if text, isText := value.String(v); isText { // JSON has no bytes
				var err error
				data, err = base64.StdEncoding.DecodeString(string(text))
				ok = err == nil
			}
			if !ok {
				d.fail(&at, "must be bytes")
			}
			b.Data = bytes.Clone(data)
		}
	})
	return b
}

func (d *decoder) function(at *place, member string, v []byte) (id, name string, m map[string]any) {
	d.each(at, v, func(key, v []byte) {
		switch at := at.member(key); string(key) {
		case "id":
			id = d.text(&at, v)
		case "name":
			name = d.text(&at, v)
		case member:
			m = d.object(&at, v)
		}
	})
	return id, name, m
}

func (d *decoder) usage(at *place, v []byte) *Usage {
	if wire.IsNil(v) {
		return nil
	}
	u := &Usage{}
	d.each(at, v, func(key, v []byte) {
		switch at := at.member(key); string(key) {
		case "promptTokens":
			u.PromptTokens = d.number(&at, v)
		case "completionTokens":
			u.CompletionTokens = d.number(&at, v)
		case "totalTokens":
			u.TotalTokens = d.number(&at, v)
		case "cachedTokens":
			u.CachedTokens = d.number(&at, v)
		case "reasoningTokens":
			u.ReasoningTokens = d.number(&at, v)
		default:
			if u.More == nil {
				u.More = make(map[string]any)
			}
			u.More[value.UTF8(string(key))] = d.any(&at, v)
		}
	})
	return u
}

func (d *decoder) actions(at *place, v []byte) (a Actions) {
	d.each(at, v, func(key, v []byte) {
		switch at := at.member(key); string(key) {
		case "stateDelta":
			a.StateDelta = d.object(&at, v)
		case "artifactDelta":
			a.ArtifactDelta = make(map[string]int, value.Len(v))
			d.each(&at, v, func(key, v []byte) {
				at := at.member(key)
				a.ArtifactDelta[value.UTF8(string(key))] = d.number(&at, v)
			})
		case "skipSummarization":
			a.SkipSummarization = d.flag(&at, v)
		case "transferToAgent":
			a.TransferToAgent = d.text(&at, v)
		case "escalate":
			a.Escalate = d.flag(&at, v)
		case "requestedConfirmations":
			a.RequestedConfirmations = make(map[string]Confirmation, value.Len(v))
			d.each(&at, v, func(id, v []byte) {
				at := at.member(id)
				a.RequestedConfirmations[value.UTF8(string(id))] = d.confirmation(&at, v)
			})
		case "compaction":
			a.Compaction = d.object(&at, v)
		case "rewindBeforeInvocationId":
			a.RewindBeforeInvocationID = d.text(&at, v)
		default:
			if a.More == nil {
				a.More = make(map[string]any)
			}
			a.More[value.UTF8(string(key))] = d.any(&at, v)
		}
	})
	return a
}

func (d *decoder) confirmation(at *place, v []byte) (c Confirmation) {
	d.each(at, v, func(key, v []byte) {
		switch at := at.member(key); string(key) {
		case "hint":
			c.Hint = d.text(&at, v)
		case "payload":
			c.Payload = d.any(&at, v)
		case "name":
			c.Name = d.text(&at, v)
		case "args":
			c.Args = d.object(&at, v)
		}
	})
	return c
}
