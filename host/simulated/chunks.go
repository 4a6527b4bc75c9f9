package simulated

import (
	"strconv"
	"strings"
)

type object = map[string]any

// chunks returns the data of an answer's server-sent events.
func (a answer) chunks(r *request) []string {
	id := "sim-" + strconv.Itoa(len(r.Messages))
	var out []string
	add := func(fields object) {
		fields["id"], fields["object"], fields["model"] = id, "chat.completion.chunk", r.Model
		text, err := marshal(fields)
		if err != nil {
			panic(err) // strings, numbers, maps and lists encode
		}
		out = append(out, string(text))
	}
	delta := func(d object, finish any) {
		add(object{"choices": []object{{"index": 0, "delta": d, "finish_reason": finish}}})
	}
	delta(object{"role": "assistant", "content": ""}, nil)
	for _, word := range words(a.thought) {
		delta(object{"reasoning_content": word}, nil)
	}
	for _, word := range words(a.text) {
		delta(object{"content": word}, nil)
	}
	finish := "stop"
	if a.tool != "" {
		finish = "tool_calls"
		delta(object{"tool_calls": []object{{
			"index": 0, "id": a.callID(r), "type": "function", "function": object{"name": a.tool, "arguments": ""},
		}}}, nil)
		for rest := a.args; rest != ""; {
			n := min(len(rest), 8)
			for n < len(rest) && rest[n]&0xc0 == 0x80 {
				n++ // do not split a character
			}
			delta(object{"tool_calls": []object{{"index": 0, "function": object{"arguments": rest[:n]}}}}, nil)
			rest = rest[n:]
		}
	}
	delta(object{}, finish)
	add(object{"choices": []object{}, "usage": a.usage(r)})
	return append(out, "[DONE]")
}

// whole returns an answer that is not streamed.
func (a answer) whole(r *request) object {
	m := object{"role": "assistant", "content": a.text}
	finish := "stop"
	if a.tool != "" {
		finish = "tool_calls"
		m["content"] = nil
		m["tool_calls"] = []object{{"id": a.callID(r), "type": "function", "function": object{"name": a.tool, "arguments": a.args}}}
	}
	if a.thought != "" {
		m["reasoning_content"] = a.thought
	}
	return object{
		"id": "sim-" + strconv.Itoa(len(r.Messages)), "object": "chat.completion", "model": r.Model,
		"choices": []object{{"index": 0, "message": m, "finish_reason": finish}}, "usage": a.usage(r),
	}
}

func (a answer) callID(r *request) string { return "call_" + strconv.Itoa(len(r.Messages)) }

func (a answer) usage(r *request) object {
	prompt, completion := a.tokens(r)
	return object{"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
}

// tokens counts one for four bytes.
func (a answer) tokens(r *request) (prompt, completion int) {
	for _, m := range r.Messages {
		prompt += len(m.text())
	}
	completion = len(a.thought) + len(a.text) + len(a.args)
	return (prompt + 3) / 4, (completion + 3) / 4
}

// words splits a text behind each space.
func words(text string) []string {
	if text == "" {
		return nil
	}
	return strings.SplitAfter(text, " ")
}
