package chat

import (
	"bytes"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/trust"
	"github.com/turncore/turncore/runtime/record"
)

// fill makes the unit of the item at i and of the neighbours that belong to it, and returns the index after them.
// filled is false if the unit is empty.
func (p *projection) fill(o *options, d Dispatch, i int) (end int, filled bool) {
	thoughts := i
	for i < len(p.line) && p.line[i].kind == record.Thoughts {
		i++
	}
	if i == len(p.line) {
		return i, false
	}
	p.unit = Unit{Thoughts: p.unit.Thoughts[:0], Calls: p.unit.Calls[:0]}
	p.text = p.text[:0]
	it := p.line[i]
	if it.kind == record.ToolCalls {
		return p.fillAssistant(o, d, thoughts, i, i, nil)
	}
	m := record.Message(it.body)
	if string(m.Role()) == "assistant" {
		next := i + 1
		for !o.protocol.InParts && next < len(p.line) && p.line[next].kind == record.Thoughts {
			next++ // reasoning has no position among the parts of an answer
		}
		if next == len(p.line) || !bytes.Equal(messageOf(p.line[next]), m.ID()) {
			next = i + 1 // thoughts after the message led to no call
		}
		return p.fillAssistant(o, d, thoughts, next, i, m)
	}
	p.fillMessage(o, d, p.line[i], "message")
	return i + 1, p.unit.HasText
}

// fillMessage adds a message's content. If the speaker is not the role's own, marks name the speaker.
func (p *projection) fillMessage(o *options, d Dispatch, it item, mark string) {
	u, m := &p.unit, record.Message(it.body)
	text, ok := m.Content()
	attachments := m.Attachments()
	if u.HasText = ok || attachments != nil; !u.HasText {
		return
	}
	start := len(p.text)
	if id, ok := m.Identity(); ok && !bytes.Equal(id.Identifier, m.Role()) {
		u.Name = speakerName(id.Identifier)
		p.text = o.marks.append(p.text, trust.Mark{Name: mark, Nonce: p.nonce(d, it.kind, it.handle, m.ID()), Attributes: []trust.Attribute{
			{Name: "from", Value: id.Representation}, {Name: "role", Value: m.Role()}, date(m.CreatedAt()),
		}}, text)
	} else {
		p.text = o.marks.text(p.text, text)
	}
	if attachments != nil {
		p.attach(o, d, it, start)
	}
	u.Text = p.text[start:len(p.text):len(p.text)]
}

// attach adds the attachments of a message to the unit, or to its text, which begins at start. No protocol accepts an
// assistant's attachments.
func (p *projection) attach(o *options, d Dispatch, it item, start int) {
	u, m := &p.unit, record.Message(it.body)
	var notes []byte
	notes, u.Media = p.addMedia(o, nil, nil, it.handle, m.Attachments(), p.nonce(d, it.kind, it.handle, m.ID()), u.Assistant)
	if len(notes) > 0 && len(p.text) > start {
		p.text = append(p.text, "\n\n"...)
	}
	p.text = append(p.text, notes...)
}

// speakerName reduces an identifier to the characters that protocols accept in names.
func speakerName(id []byte) []byte {
	name := make([]byte, 0, 64)
	for _, c := range id {
		if len(name) == cap(name) {
			break
		}
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			name = append(name, c)
		}
	}
	return name
}

// fillAssistant makes the unit of an assistant's message m (nil for none) and of the same answer's tool calls from i
// on, with their results. Without a message it takes at least one call. The thoughts before them begin at thoughts; m
// is the item at message.
func (p *projection) fillAssistant(o *options, d Dispatch, thoughts, i, message int, m record.Message) (end int, filled bool) {
	end = i
	if m == nil || i < len(p.line) && bytes.Equal(messageOf(p.line[i]), m.ID()) {
		group := groupOf(p.line[i])
		for end++; len(group) > 0 && end < len(p.line) && bytes.Equal(groupOf(p.line[end]), group); end++ {
		}
	}
	u := &p.unit
	u.Assistant = true
	if m != nil {
		p.fillMessage(o, d, p.line[message], "peer_agent_output")
	}
	if !u.HasText && end == i {
		return end, false
	}
	p.addThoughts(o, d, p.line[thoughts:i])
	for _, it := range p.line[i:end] {
		p.addCall(o, d, it)
	}
	return end, true
}

// addCall adds a call and its result to the unit.
func (p *projection) addCall(o *options, d Dispatch, it item) {
	t := record.ToolCall(it.body)
	c := UnitCall{ID: callID(t), Name: callName(t.Tool()), Args: payloadOf(t, "arguments"), Extra: o.extraOf(t), IsError: t.IsError()}
	if c.Args == nil {
		start := len(p.text)
		text, err := value.AppendJSON(p.text, t.Args())
		if err != nil {
			text = append(p.text[:start], "{}"...)
		}
		p.text = text
		c.Args = text[start:len(text):len(text)]
	}
	start := len(p.text)
	if results := t.Results(); holds(results, record.MediaPart) { // our descriptions of media are trusted
		p.text, c.Media = p.addMedia(o, p.text, nil, it.handle, results, p.callNonce(d, it), false)
	} else {
		p.note = p.appendResult(p.note[:0], it.handle, results)
		p.text = o.marks.append(p.text, p.resultMark(o, d, it), p.note)
	}
	c.Result = p.text[start:len(p.text):len(p.text)]
	p.unit.Calls = append(p.unit.Calls, c)
}

// resultMark is the mark of a call's result. A tool's result is trusted if the application declares the tool trusted;
// the content of an artifact never is.
func (p *projection) resultMark(o *options, d Dispatch, it item) trust.Mark {
	if o.marks.off {
		return trust.Mark{}
	}
	t := record.ToolCall(it.body)
	m := trust.Mark{Name: "untrusted_content", Nonce: p.callNonce(d, it)}
	kind := "tool-result"
	tool, known := d.Tool(string(t.Tool()))
	switch {
	case holds(t.Results(), record.ArtifactPart):
		if kind = "artifact-handle"; t.Inline() {
			kind = "artifact"
		}
	case known && tool.Trusted:
		m.Name, kind = "trusted_content", "trusted-tool-result"
	}
	m.Attributes = append(kindOf(kind), trust.Attribute{Name: "tool", Value: t.Tool()})
	return m
}

// holds reports whether a result is, or contains, a part of a kind.
func holds(results []byte, what record.PartKind) (found bool) {
	if value.KindOf(results) == value.KindList {
		record.EachPart(results, func(_ int, kind record.PartKind, _ []byte) bool {
			found = found || kind == what
			return !found
		})
	}
	return found
}

// callNonce is the nonce of a call: the one stored with it, or its record's.
func (p *projection) callNonce(d Dispatch, it item) string {
	t := record.ToolCall(it.body)
	if kept := payloadOf(t, "nonce"); trust.IsNonce(kept) {
		return string(kept)
	}
	return p.nonce(d, it.kind, it.handle, t.ID())
}

// nonce is the nonce of a record, requested once per dispatch.
func (p *projection) nonce(d Dispatch, kind record.Kind, handle int64, id []byte) string {
	key := recordKey{kind, handle}
	nonce, known := p.nonces[key]
	if !known {
		nonce = d.Nonce(kind, id)
		if p.nonces == nil {
			p.nonces = make(map[recordKey]string)
		}
		p.nonces[key] = nonce
	}
	return nonce
}

// payloadOf returns a member of the payload that this executor stores with calls, nil if there is none.
func payloadOf(t record.ToolCall, key string) []byte {
	if string(t.ReplayCompatibility()) != compatibility {
		return nil
	}
	s, _ := value.GetString(t.Payload(), key)
	return s
}

// extraOf returns the provider's data of a call; nil for none, or if another host sent it.
func (o *options) extraOf(t record.ToolCall) []byte {
	if string(t.ReplayCompatibility()) != compatibility {
		return nil
	}
	v, _ := value.Get(t.Payload(), o.extra)
	return v
}

func groupOf(it item) []byte { return payloadIn(it, "group") }

func messageOf(it item) []byte { return payloadIn(it, "message") }

func payloadIn(it item, key string) []byte {
	if it.kind != record.ToolCalls {
		return nil
	}
	return payloadOf(record.ToolCall(it.body), key)
}

// callID is the id of a call for the endpoint.
func callID(t record.ToolCall) []byte {
	if id := payloadOf(t, "id"); len(id) > 0 {
		return id
	}
	id := t.ID()
	if len(id) > 64 || !printable(id) {
		return []byte(WireID(string(id)))
	}
	return id
}

// callName replaces a tool's name by one that endpoints accept; a model may have called a tool that cannot exist.
func callName(name []byte) []byte {
	if printable(name) && len(name) <= 128 {
		return name
	}
	out := bytes.Clone(name[:min(len(name), 64)])
	for i, c := range out {
		if c <= ' ' || c > '~' {
			out[i] = '_'
		}
	}
	return out
}

// printable reports whether text is ASCII without white space or control characters.
func printable(text []byte) bool {
	for _, c := range text {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return len(text) > 0
}

// appendResult appends the text of a call's result for the model.
func (p *projection) appendResult(dst []byte, handle int64, v []byte) []byte {
	if text, ok := value.String(v); ok {
		return append(dst, text...)
	}
	if value.KindOf(v) == value.KindInvalid {
		return dst
	}
	if n := len(dst); value.KindOf(v) == value.KindList {
		if dst = p.appendParts(dst, handle, v); len(dst) > n {
			return dst
		}
	}
	text, err := value.AppendJSON(dst, v)
	if err != nil {
		return dst
	}
	return text
}
