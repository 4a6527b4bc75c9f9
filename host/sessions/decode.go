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
}

func (d *decoder) fail(field, reason string) {
	if d.err == nil {
		d.err, d.field = errors.New(reason), field
	}
}

// each calls fn for the members of a map. v that is nil has none.
func (d *decoder) each(field string, v []byte, fn func(name string, v []byte)) {
	if wire.IsNil(v) {
		return
	}
	if value.Each(v, func(key, v []byte) bool {
		fn(value.UTF8(string(key)), v)
		return d.err == nil
	}) != nil {
		d.fail(field, "must be a map")
	}
}

func (d *decoder) text(field string, v []byte) string {
	s, ok := value.String(v)
	if !ok && !wire.IsNil(v) {
		d.fail(field, "must be a string")
	}
	return value.UTF8(string(s))
}

func (d *decoder) flag(field string, v []byte) bool {
	b, ok := value.Bool(v)
	if !ok && !wire.IsNil(v) {
		d.fail(field, "must be true or false")
	}
	return b
}

func (d *decoder) number(field string, v []byte) int {
	n, ok := value.Int(v)
	if !ok && !wire.IsNil(v) {
		d.fail(field, "must be an integer")
	}
	return int(n)
}

func (d *decoder) any(field string, v []byte) any {
	plain, err := wire.Plain(v)
	if err != nil {
		d.fail(field, err.Error())
	}
	return plain
}

func (d *decoder) object(field string, v []byte) map[string]any {
	m, ok := d.any(field, v).(map[string]any)
	if !ok && !wire.IsNil(v) {
		d.fail(field, "must be a map")
	}
	return m
}

// items calls fn for the elements of a list.
func (d *decoder) items(field string, v []byte, fn func(field string, v []byte)) {
	if wire.IsNil(v) {
		return
	}
	if value.EachItem(v, func(i int, v []byte) bool {
		fn(field+"["+strconv.Itoa(i)+"]", v)
		return d.err == nil
	}) != nil {
		d.fail(field, "must be a list")
	}
}

// decodeEvent reads the value of an event.
func decodeEvent(v []byte) (*Event, error) {
	var d decoder
	e := d.event(v)
	if d.err != nil {
		return nil, invalid(host.CodeInvalidEvent, d.field, d.err)
	}
	return e, nil
}

func (d *decoder) event(v []byte) *Event {
	e := &Event{}
	if value.KindOf(v) != value.KindMap {
		d.fail("", "must be a map")
	}
	d.each("", v, func(name string, v []byte) {
		switch name {
		case "id":
			e.ID = d.text(name, v)
		case "invocationId":
			e.InvocationID = d.text(name, v)
		case "author":
			e.Author = d.text(name, v)
		case "timestamp":
			e.Timestamp = timeOf(int64(d.number(name, v)))
		case "branch":
			e.Branch = d.text(name, v)
		case "content":
			e.Content = d.content(name, v)
		case "partial":
			e.Partial = d.flag(name, v)
		case "turnComplete":
			e.TurnComplete = d.flag(name, v)
		case "interrupted":
			e.Interrupted = d.flag(name, v)
		case "finishReason":
			e.FinishReason = d.text(name, v)
		case "errorCode":
			e.ErrorCode = d.text(name, v)
		case "errorMessage":
			e.ErrorMessage = d.text(name, v)
		case "usage":
			e.Usage = d.usage(name, v)
		case "longRunningToolIds":
			d.items(name, v, func(field string, v []byte) {
				e.LongRunningToolIDs = append(e.LongRunningToolIDs, d.text(field, v))
			})
		case "customMetadata":
			e.CustomMetadata = d.object(name, v)
		case "actions":
			e.Actions = d.actions(name, v)
		default:
			d.fail(name, "is unknown")
		}
	})
	return e
}

func (d *decoder) content(field string, v []byte) *Content {
	if wire.IsNil(v) {
		return nil
	}
	c := &Content{}
	d.each(field, v, func(name string, v []byte) {
		switch field := field + "." + name; name {
		case "role":
			c.Role = d.text(field, v)
		case "parts":
			c.Parts = make([]Part, 0, value.Len(v))
			d.items(field, v, func(field string, v []byte) { c.Parts = append(c.Parts, d.part(field, v)) })
		default:
			d.fail(field, "is unknown")
		}
	})
	return c
}

func (d *decoder) part(field string, v []byte) (p Part) {
	d.each(field, v, func(name string, v []byte) {
		switch field := field + "." + name; name {
		case "text":
			p.Text = d.text(field, v)
		case "thought":
			p.Thought = d.flag(field, v)
		case "thoughtSignature":
			p.ThoughtSignature = d.any(field, v)
		case "inlineData":
			p.InlineData = d.blob(field, v)
		case "fileData":
			p.FileData = &File{}
			d.each(field, v, func(name string, v []byte) {
				switch name {
				case "fileUri":
					p.FileData.URI = d.text(field+".fileUri", v)
				case "mimeType":
					p.FileData.MIMEType = d.text(field+".mimeType", v)
				}
			})
		case "functionCall":
			id, function, args := d.function(field, "args", v)
			p.FunctionCall = &FunctionCall{ID: id, Name: function, Args: args}
		case "functionResponse":
			id, function, response := d.function(field, "response", v)
			p.FunctionResponse = &FunctionResponse{ID: id, Name: function, Response: response}
		case "executableCode":
			p.ExecutableCode = d.object(field, v)
		case "codeExecutionResult":
			p.CodeExecutionResult = d.object(field, v)
		default:
			if p.More == nil {
				p.More = make(map[string]any)
			}
			p.More[name] = d.any(field, v)
		}
	})
	return p
}

func (d *decoder) blob(field string, v []byte) *Blob {
	b := &Blob{}
	d.each(field, v, func(name string, v []byte) {
		switch name {
		case "mimeType":
			b.MIMEType = d.text(field+".mimeType", v)
		case "data":
			data, ok := value.Bytes(v)
			if text, isText := value.String(v); isText { // JSON has no bytes
				var err error
				data, err = base64.StdEncoding.DecodeString(string(text))
				ok = err == nil
			}
			if !ok {
				d.fail(field+".data", "must be bytes")
			}
			b.Data = bytes.Clone(data)
		}
	})
	return b
}

func (d *decoder) function(field, member string, v []byte) (id, name string, m map[string]any) {
	d.each(field, v, func(key string, v []byte) {
		switch key {
		case "id":
			id = d.text(field+".id", v)
		case "name":
			name = d.text(field+".name", v)
		case member:
			m = d.object(field+"."+member, v)
		}
	})
	return id, name, m
}

func (d *decoder) usage(field string, v []byte) *Usage {
	if wire.IsNil(v) {
		return nil
	}
	u := &Usage{}
	d.each(field, v, func(name string, v []byte) {
		switch field := field + "." + name; name {
		case "promptTokens":
			u.PromptTokens = d.number(field, v)
		case "completionTokens":
			u.CompletionTokens = d.number(field, v)
		case "totalTokens":
			u.TotalTokens = d.number(field, v)
		case "cachedTokens":
			u.CachedTokens = d.number(field, v)
		case "reasoningTokens":
			u.ReasoningTokens = d.number(field, v)
		default:
			if u.More == nil {
				u.More = make(map[string]any)
			}
			u.More[name] = d.any(field, v)
		}
	})
	return u
}

func (d *decoder) actions(field string, v []byte) (a Actions) {
	d.each(field, v, func(name string, v []byte) {
		switch field := field + "." + name; name {
		case "stateDelta":
			a.StateDelta = d.object(field, v)
		case "artifactDelta":
			a.ArtifactDelta = make(map[string]int, value.Len(v))
			d.each(field, v, func(name string, v []byte) { a.ArtifactDelta[name] = d.number(field+"."+name, v) })
		case "skipSummarization":
			a.SkipSummarization = d.flag(field, v)
		case "transferToAgent":
			a.TransferToAgent = d.text(field, v)
		case "escalate":
			a.Escalate = d.flag(field, v)
		case "requestedConfirmations":
			a.RequestedConfirmations = make(map[string]Confirmation, value.Len(v))
			d.each(field, v, func(id string, v []byte) { a.RequestedConfirmations[id] = d.confirmation(field+"."+id, v) })
		case "compaction":
			a.Compaction = d.object(field, v)
		case "rewindBeforeInvocationId":
			a.RewindBeforeInvocationID = d.text(field, v)
		default:
			if a.More == nil {
				a.More = make(map[string]any)
			}
			a.More[name] = d.any(field, v)
		}
	})
	return a
}

func (d *decoder) confirmation(field string, v []byte) (c Confirmation) {
	d.each(field, v, func(name string, v []byte) {
		switch field := field + "." + name; name {
		case "hint":
			c.Hint = d.text(field, v)
		case "payload":
			c.Payload = d.any(field, v)
		case "name":
			c.Name = d.text(field, v)
		case "args":
			c.Args = d.object(field, v)
		}
	})
	return c
}
