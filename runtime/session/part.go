package session

import (
	"strconv"

	"github.com/turncore/turncore/abi/value"
)

// PartKind is what a part of a content holds.
type PartKind uint8

// Kinds of part.
const (
	PartOther      PartKind = iota // data, a file, code to run, and what this package does not know
	PartText                       // text
	PartThought                    // text of a model's reasoning
	PartCall                       // a function call
	PartResponse                   // the response to a function call
	PartCodeResult                 // what code printed that a model ran
)

// Part is a part of a content. Only the methods of this package change it.
type Part struct {
	Kind  PartKind
	Raw   []byte // the part, a map
	Text  []byte // of PartText and PartThought
	ID    string // of PartCall and PartResponse: the call's, empty if it has none
	Name  string // of PartCall and PartResponse: the function's
	Value []byte // of PartCall the arguments, of PartResponse the response, a map
}

// partMembers are the members of which a part has at most one.
var partMembers = [...]string{"text", "functionCall", "functionResponse", "codeExecutionResult", "inlineData", "fileData", "executableCode"}

var partKinds = [len(partMembers)]PartKind{PartText, PartCall, PartResponse, PartCodeResult}

var emptyMap = []byte{0x80}

// readPart reads a part.
func readPart(v []byte, p *Part) *flaw {
	p.Raw = v
	thought, is := false, -1
	var r reader
	for r.members(v); r.next(); {
		if string(r.Key) == "thought" {
			r.f = readKept(r.Value, &thought)
			continue
		}
		switch i := indexOf(partMembers[:], r.Key); {
		case i < 0:
		case is >= 0:
			r.f = invalid("stands beside " + partMembers[is] + ": a part holds one of them")
		default:
			is = i
			p.Kind = partKinds[i]
			r.f = p.read(r.Value)
		}
	}
	switch {
	case r.f != nil:
	case value.Len(v) == 0:
		r.f = invalid("must hold text, a function call, a function response, or something else")
	case thought && p.Kind == PartText:
		p.Kind = PartThought
	}
	return r.f
}

// read reads the member that says what the part is.
func (p *Part) read(v []byte) *flaw {
	switch p.Kind {
	case PartText:
		s, ok := value.String(v)
		if !ok {
			return invalid(wantString)
		}
		p.Text = s
		return nil
	case PartCall:
		return p.readFunction(v, "args")
	case PartResponse:
		return p.readFunction(v, "response")
	}
	var s string
	return named(v, mediumMembers[:], &blob{}, &s, &s)
}

var mediumMembers = [...]string{"data", "mimeType", "fileUri"}

// readFunction reads a function call, or a response.
func (p *Part) readFunction(v []byte, content string) *flaw {
	p.Value = emptyMap
	f := named(v, []string{"id", "name", content}, &p.ID, &p.Name, &p.Value)
	if f == nil && p.Name == "" {
		f = invalid(wantName).in("name")
	}
	return f
}

// ParseContent reads a content, a map of role and parts. The role is "user", "model" or empty. The parts are parts of
// v. It fails with E_INVALID_EVENT, which names the member.
func ParseContent(v []byte) (role string, parts []Part, err error) {
	f := distinct(v)
	if f == nil {
		role, parts, f = readContent(v, true)
	}
	if f != nil {
		return "", nil, f.error()
	}
	return role, parts, nil
}

// ParseMessage reads the content that a user says. It fails with E_INVALID_INVOCATION, which names the member.
func ParseMessage(v []byte) (parts []Part, err error) {
	f := distinct(v)
	if f == nil {
		_, parts, f = readContent(v, true)
	}
	if f == nil && len(parts) == 0 {
		f = invalid("must not be empty").in("parts")
	}
	if f != nil {
		f.code = InvalidInvocation
		return nil, f.in("message").error()
	}
	return parts, nil
}

// readContent reads a content.
func readContent(v []byte, strict bool) (role string, parts []Part, f *flaw) {
	var r reader
	for r.members(v); r.next(); {
		switch string(r.Key) {
		case "role":
			if r.f = text(r.Value, &role); r.f == nil && role != "" && role != "user" && role != "model" && strict {
				r.f = invalid(`must be "user" or "model"`)
			}
		case "parts":
			parts, r.f = readParts(r.Value, parts)
		default:
			if strict {
				r.f = invalid("is not a member of a content, which has role and parts")
			}
		}
	}
	return role, parts, r.f
}

// readParts appends the parts of a list.
func readParts(v []byte, parts []Part) ([]Part, *flaw) {
	if n := value.Len(v); parts == nil && n > 0 && n <= len(v) {
		parts = make([]Part, 0, n)
	}
	var r reader
	for r.items(v); r.next(); {
		parts = append(parts, Part{})
		r.f = readPart(r.Value, &parts[len(parts)-1])
	}
	return parts, r.f
}

// AppendContent appends a content. An empty role is left out.
func AppendContent(dst []byte, role string, parts []Part) []byte {
	if role == "" {
		dst = append(dst, 0x81)
	} else {
		dst = value.AppendString(append(dst, "\x82\xa4role"...), role)
	}
	dst = value.AppendListHeader(append(dst, "\xa5parts"...), len(parts))
	for i := range parts {
		dst = append(dst, parts[i].Raw...)
	}
	return dst
}

// NewText makes a part of text.
func NewText(s string) Part {
	return Part{Kind: PartText, Raw: appendText([]byte{0x81}, "text", s), Text: []byte(s)}
}

// TextParts makes the parts of a content that is one text.
func TextParts(s string) []Part { return []Part{NewText(s)} }

// appendText appends a member that is a text.
func appendText(dst []byte, name, text string) []byte {
	return value.AppendString(appendName(dst, name), text)
}

// NewThought makes a part of a model's reasoning. The signature, a value, is what its provider wants back with it; nil
// for none.
func NewThought(s string, signature []byte) Part {
	raw := appendText([]byte{0x82}, "text", s)
	raw = append(raw, "\xa7thought\xc3"...)
	p := Part{Kind: PartThought, Raw: raw, Text: []byte(s)}
	p.Sign(signature)
	return p
}

// Sign gives the part, which has no signature, one: a value, nil for none.
func (p *Part) Sign(signature []byte) {
	if signature != nil {
		raw := value.AppendMapHeader(nil, value.Len(p.Raw)+1)
		var c value.Cursor
		for c.Over(p.Raw); c.Next(); {
			raw = c.Append(raw)
		}
		p.Raw = appendNamed(raw, signatureName, signature)
	}
}

const signatureName = "thoughtSignature"

// Signature is what a model's provider wants back with the part, a value; nil for none.
func (p *Part) Signature() []byte {
	v, _ := value.Get(p.Raw, signatureName)
	if value.KindOf(v) <= value.KindNil {
		return nil
	}
	return v
}

// NewCall makes a function call. args is a map.
func NewCall(id, name string, args []byte) Part {
	return newFunction(PartCall, "functionCall", "args", id, name, args)
}

// NewResponse makes the response to a function call. response is a map.
func NewResponse(id, name string, response []byte) Part {
	return newFunction(PartResponse, "functionResponse", "response", id, name, response)
}

func newFunction(kind PartKind, member, content, id, name string, v []byte) Part {
	raw := appendName(append(make([]byte, 0, 64+len(id)+len(name)+len(v)), 0x81), member)
	if id == "" {
		raw = append(raw, 0x82)
	} else {
		raw = appendText(append(raw, 0x83), "id", id)
	}
	raw = appendText(raw, "name", name)
	raw = appendNamed(raw, content, v)
	return Part{Kind: kind, Raw: raw, ID: id, Name: name, Value: v}
}

// Medium is data, or a file, in a part.
type Medium struct {
	MimeType string
	Name     string // for people; empty for none
	Data     []byte // bytes, a value; nil for a file
	URI      string // of a file
}

// Medium returns the data of a part that holds some, or the file that it names; nil for other parts.
func (p *Part) Medium() *Medium {
	if p.Kind != PartOther {
		return nil
	}
	m := &Medium{}
	v, _ := value.Get(p.Raw, "inlineData")
	if data, ok := value.Get(v, "data"); ok {
		m.Data, m.Name = data, stringIn(v, "displayName")
	} else {
		v, _ = value.Get(p.Raw, "fileData")
		m.URI = stringIn(v, "fileUri")
	}
	m.MimeType = stringIn(v, "mimeType")
	if m.Data == nil && (m.MimeType == "" || m.URI == "") {
		return nil
	}
	return m
}

// stringIn is the text of a member of a map; empty for none.
func stringIn(v []byte, name string) string { return string(textIn(v, name)) }

// SetID gives a function call, or a response, another id. Its further members stay.
func (p *Part) SetID(id string) {
	raw := value.AppendMapHeader(make([]byte, 0, len(p.Raw)+len(id)+8), value.Len(p.Raw))
	var c value.Cursor
	for c.Over(p.Raw); c.Next(); {
		if name := string(c.Key); name == partMembers[1] || name == partMembers[2] {
			raw = appendWithID(value.AppendText(raw, c.Key), c.Value, id)
		} else {
			raw = c.Append(raw)
		}
	}
	p.Raw, p.ID = raw, id
}

func appendWithID(dst, v []byte, id string) []byte {
	start, n := len(dst), value.Len(v)
	if _, ok := value.Get(v, "id"); !ok {
		n++
	}
	dst = value.AppendMapHeader(dst, n)
	dst = appendText(dst, "id", id)
	var c value.Cursor
	for c.Over(v); c.Next(); {
		if string(c.Key) != "id" {
			dst = c.Append(dst)
		}
	}
	return value.OrderMap(dst, start)
}

// Note describes in words a part that is not text, for models that get text only: code as it is, other things by their
// kind, such as "[inlineData: image/png, 2048 bytes]".
func (p *Part) Note() []byte {
	if p.Kind == PartText || p.Kind == PartThought {
		return p.Text
	}
	var c value.Cursor
	for c.Over(p.Raw); c.Next(); {
		if value.KindOf(c.Value) != value.KindMap {
			continue
		}
		if note := textIn(c.Value, "code", "output"); note != nil {
			return note
		}
		text := "[" + string(c.Key) + ": " + string(textIn(c.Value, "name", "fileUri", "mimeType"))
		if data, ok := value.Get(c.Value, "data"); ok {
			text += ", " + strconv.Itoa(value.Len(data)) + " bytes"
		}
		return append([]byte(text), ']')
	}
	note, _ := value.AppendJSON(nil, p.Raw)
	return note
}

// textIn is the first text among some members of a map; nil for none.
func textIn(v []byte, names ...string) []byte {
	for _, name := range names {
		if s, ok := value.GetString(v, name); ok {
			return s
		}
	}
	return nil
}
