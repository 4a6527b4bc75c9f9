// Package provider holds the wire protocols that the chat executor speaks, one a file. They write requests and read
// answers; the conversation, tools, retries and records are package chat's.
package provider

import (
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/chat"
)

// appendSchema appends the JSON Schema of a tool's arguments, that of any object when it is none.
func appendSchema(dst, schema []byte) []byte {
	text, err := value.AppendJSON(dst, schema)
	if err != nil {
		return append(dst, `{"type":"object","properties":{}}`...)
	}
	return text
}

// joined is the text of plain thoughts with a blank line between any two.
func joined(thoughts []chat.UnitThought) (text []byte) {
	for _, t := range thoughts {
		if t.Payload != nil {
			continue
		}
		if len(text) > 0 {
			text = append(text, "\n\n"...)
		}
		text = append(text, t.Text...)
	}
	return text
}

// said is what a unit says, behind the name of who speaks where a protocol has no other place for it.
func said(u *chat.Unit) []byte {
	if len(u.Name) == 0 {
		return u.Text
	}
	return append(append(append([]byte(nil), u.Name...), ": "...), u.Text...)
}

// appendOpening appends a message of the user's where one of the assistant's, such as a greeting, would be the first:
// APIs refuse conversations that the model begins.
func appendOpening(dst []byte, message string) []byte {
	if dst[len(dst)-1] != '[' {
		return dst
	}
	return append(dst, message...)
}

// plainName is a name in letters, digits, _, - and these others, with _ in the place of anything else.
func plainName(name []byte, others string) []byte {
	plain := func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || strings.IndexByte(others, c) >= 0
	}
	for i, c := range name {
		if plain(c) {
			continue
		}
		out := append([]byte(nil), name...)
		for ; i < len(out); i++ {
			if !plain(out[i]) {
				out[i] = '_'
			}
		}
		return out
	}
	return name
}

// appendRaw appends `,"name":` and a JSON text.
func appendRaw(dst, name, text []byte) []byte {
	return append(append(value.AppendJSONText(append(dst, ','), name), ':'), text...)
}

// appendMembersBut appends members, as in [chat.Head], but for the one of a name.
func appendMembersBut(dst, members []byte, but string) []byte {
	chat.EachMember(members, func(name, text []byte) {
		if string(name) != but {
			dst = appendRaw(dst, name, text)
		}
	})
	return dst
}

// appendBeside appends the members of an object, JSON text or nil, to one that has begun. ok is false when it has a
// member of the name.
func appendBeside(dst, object []byte, name string) (out []byte, ok bool) {
	ok = true
	s := value.NewScanner(object)
	for key := range s.Members() {
		ok = ok && string(key) != name
		dst = append(value.AppendJSONText(chat.AppendComma(dst), key), ':')
		dst = append(dst, s.Raw()...)
	}
	return dst, ok
}

// hasMember tells whether one of members, as in [chat.Head], has a name.
func hasMember(members []byte, name string) (found bool) {
	chat.EachMember(members, func(key, _ []byte) { found = found || string(key) == name })
	return found
}
