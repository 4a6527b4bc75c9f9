package main

import (
	"encoding/json"
	"strings"
)

// invocation tells whether the journal is that of an invocation.
func (t *timeline) invocation() bool { return t.start != nil && t.start.Frame == "StartInvocation" }

// invoked takes an effect of an invocation. Requests of models that are functions count, and so do calls of tools.
func (t *timeline) invoked(f *frame) {
	m := &moment{depth: t.depth(f.Context), style: faint, kind: "effect"}
	args := membersOf(f.Args)
	switch f.Kind {
	case "sessionAppend":
		event, _ := args["event"].(map[string]any)
		m.label, m.text, m.style = "event", t.saidIn(event, true), plain
		if args["ahead"] == true { // the module goes on: it only hears of it if the store fails
			m.kind = ""
		}
	case "sessionDeliver":
		event, _ := args["event"].(map[string]any)
		m.label, m.text = "partial", t.saidIn(event, false)
	case "sessionHook":
		m.label, m.text, m.hidden = "hook", args.text("hook"), !t.verbose
	case "sessionAgent":
		m.label, m.text = "agent", t.agents[args.number("agent")]
	case "sessionModel":
		m.label, m.text, m.style = "model", "request", plain
		t.requests++
	case "tool":
		var args struct {
			Tool int64
			Args json.RawMessage
		}
		_ = json.Unmarshal(f.Args, &args) // what is missing is not shown
		m.label, m.style = "tool", accent
		m.text = strings.TrimSpace(t.named[args.Tool] + " " + t.cut(string(args.Args)))
		t.called++
	default:
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
