package chat

import (
	"bytes"
	"slices"

	"github.com/turncore/turncore/abi/value"
)

// readGeneration reads the tool calls in a generation that the endpoint could not use. Each is rejected with the
// endpoint's message. A call without a legible tool name is skipped.
func readGeneration(text []byte, reason string) []call {
	text = bytes.TrimSpace(text)
	if reason == "" {
		reason = "no reason given"
	}
	var list []call
	s := value.NewScanner(text)
	switch s.Kind() {
	case value.KindMap:
		list = appendGenerated(list, &s, reason)
	case value.KindList:
		for range s.Items() {
			if len(list) < maxCalls && s.Kind() == value.KindMap {
				list = appendGenerated(list, &s, reason)
			}
		}
	}
	if s.End() != nil || len(list) == 0 {
		name, args := taggedCall(text)
		list = []call{{index: NoIndex, name: name, args: args, rejected: reason}}
	}
	return named(list)
}

// nameIn reads the tool's name from the JSON text of a call that is broken after it; nil if there is none.
func nameIn(text []byte) (name []byte) {
	s := value.NewScanner(text[max(0, bytes.IndexByte(text, '{')):])
	for key := range s.Members() {
		if string(key) == "name" && s.Kind() == value.KindString {
			name, _ = s.AppendText(nil)
			break
		}
	}
	return name
}

// named keeps the calls with a legible tool name; nil for none.
func named(list []call) []call {
	list = slices.DeleteFunc(list, func(c call) bool { return len(bytes.TrimSpace(c.name)) == 0 })
	if len(list) == 0 {
		return nil
	}
	return list
}

// appendGenerated reads one {"name": …, "arguments": …}.
func appendGenerated(list []call, s *value.Scanner, reason string) []call {
	c := call{index: NoIndex, rejected: reason}
	for key := range s.Members() {
		switch string(key) {
		case "name":
			c.name, _ = s.AppendText(c.name[:0])
		case "id":
			c.id, _ = s.AppendText(c.id[:0])
		case "arguments", "parameters":
			if s.Kind() == value.KindString {
				c.args, _ = s.AppendText(c.args[:0])
			} else {
				c.args = s.Raw()
			}
		}
	}
	return append(list, c)
}

// taggedCall reads <function=NAME{…}</function>, with or without a bracket after the name: the way Llama models write
// calls. It treats anything else as arguments, and looks for the name there.
func taggedCall(text []byte) (name, args []byte) {
	rest, ok := bytes.CutPrefix(text, []byte("<function="))
	if !ok {
		return nameIn(text), text
	}
	i := bytes.IndexAny(rest, "{>")
	if i < 0 {
		return nil, text
	}
	name = bytes.TrimSpace(rest[:i])
	args, _, _ = bytes.Cut(bytes.TrimPrefix(rest[i:], []byte{'>'}), []byte("</function>"))
	return name, args
}
