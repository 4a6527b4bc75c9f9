package chat

import (
	"bytes"

	"github.com/turncore/turncore/runtime/value"
)

// calls reads tool calls out of a generation that the endpoint could not use. Each is rejected with the endpoint's
// words. There is always at least one.
func (e *providerError) calls() []call {
	text := bytes.TrimSpace(e.generation)
	reason := e.text()
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
	if s.End() == nil && len(list) > 0 {
		return list
	}
	name, args := taggedCall(text)
	return []call{{index: NoIndex, name: name, args: args, rejected: reason}}
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

// taggedCall reads <function=NAME{…}</function>, with or without a bracket behind the name: how Llama models write
// calls. Of anything else it makes arguments without a name.
func taggedCall(text []byte) (name, args []byte) {
	rest, ok := bytes.CutPrefix(text, []byte("<function="))
	if !ok {
		return nil, text
	}
	i := bytes.IndexAny(rest, "{>")
	if i < 0 {
		return nil, text
	}
	name = bytes.TrimSpace(rest[:i])
	args, _, _ = bytes.Cut(bytes.TrimPrefix(rest[i:], []byte{'>'}), []byte("</function>"))
	return name, args
}
