package main

import (
	"encoding/json"
	"strings"

	"github.com/turncore/turncore/abi"
)

// invocation tells whether the journal is that of an invocation.
func (t *timeline) invocation() bool { return t.start != nil && t.start.Frame == "StartInvocation" }

// invoked takes an effect of an invocation. Requests of models that are functions count, and so do calls of tools.
func (t *timeline) invoked(f *frame, text json.RawMessage) {
	var number struct {
		Kind uint8
		Args []json.RawMessage
	}
	_ = json.Unmarshal(text, &number) // other kinds have names, and other arguments
	m := &moment{depth: t.depth(f.Context), style: faint, kind: "effect"}
	element := func(i int) json.RawMessage {
		if i < len(number.Args) {
			return number.Args[i]
		}
		return nil
	}
	switch number.Kind {
	case abi.SessionEffectAppend, abi.SessionEffectDeliver:
		at, label := 0, "event"
		if number.Kind == abi.SessionEffectDeliver {
			at, label = 1, "partial"
		}
		m.label, m.text = label, t.saidIn(membersOf(element(at)), at == 0)
		if at == 0 {
			m.style = plain
			if string(element(2)) == "true" { // the module goes on: it only hears of it if the store fails
				m.kind = ""
			}
		}
	case abi.SessionEffectHook:
		m.label, m.text, m.hidden = "hook", string(element(0)), !t.verbose
	case abi.SessionEffectAgent:
		var agent int64
		_ = json.Unmarshal(element(0), &agent) // a number in this effect
		m.label, m.text = "agent", t.agents[agent]
	case abi.SessionEffectModel:
		m.label, m.text, m.style = "model", "request", plain
		t.requests++
	default:
		if f.Kind == "tool" {
			var args struct {
				Tool int64
				Args json.RawMessage
			}
			_ = json.Unmarshal(f.Args, &args) // what is missing is not shown
			m.label, m.style = "tool", accent
			m.text = strings.TrimSpace(t.named[args.Tool] + " " + t.cut(string(args.Args)))
			t.called++
			break
		}
		t.effect(f)
		return
	}
	t.effects[f.Effect] = t.add(m)
}

// saidIn is who says what in an event. The tokens of one that is stored count.
func (t *timeline) saidIn(event members, stored bool) string {
	said := []string{event.text("author") + ":"}
	content, _ := event["content"].(map[string]any)
	parts, _ := content["parts"].([]any)
	for _, each := range parts {
		part, _ := each.(map[string]any)
		if text := t.cut(members(part).text("text")); text != "" {
			said = append(said, text)
		}
		for _, of := range [...][2]string{{"functionCall", "→ "}, {"functionResponse", "← "}} {
			if function, ok := part[of[0]].(map[string]any); ok {
				said = append(said, of[1]+members(function).text("name"))
			}
		}
	}
	if code := event.text("errorCode"); code != "" {
		said = append(said, "✗ "+code)
	}
	if usage, _ := event["usage"].(map[string]any); stored {
		t.tokens[0] += members(usage).number("promptTokens")
		t.tokens[1] += members(usage).number("completionTokens")
	}
	return strings.Join(said, " ")
}
