// Package provider holds the wire protocols that the chat executor speaks, one a file. They write requests and read
// answers; the conversation, tools, retries and records are package chat's.
package provider

import (
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/value"
)

// appendSchema appends the JSON Schema of a tool's arguments, that of any object when it is none.
func appendSchema(dst, schema []byte) []byte {
	text, err := value.AppendJSON(dst, schema)
	if err != nil {
		return append(dst, `{"type":"object","properties":{}}`...)
	}
	return text
}

// joined is the text of thoughts with a blank line between any two.
func joined(thoughts []chat.UnitThought) (text []byte) {
	for i, t := range thoughts {
		if i > 0 && len(text) > 0 {
			text = append(text, "\n\n"...)
		}
		text = append(text, t.Text...)
	}
	return text
}
