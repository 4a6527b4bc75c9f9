package main

import (
	"fmt"
	"strings"

	"github.com/turncore/turncore/host/sessions"
)

// chatView shows the events of an answer as they come.
type chatView struct {
	*show
	text    string // shown of the stream of text that runs
	thought string // likewise of the thoughts
}

// event shows an event. Of the one behind a stream that was shown only what is left is.
func (w *chatView) event(e *sessions.Event) {
	s := w.screen
	text, thought := e.Text(), thoughts(e)
	if e.Partial {
		s.whisper(thought)
		s.print(text)
		w.text, w.thought = w.text+text, w.thought+thought
		return
	}
	w.rest(thought, w.thought, s.whisper)
	w.rest(text, w.text, s.print)
	w.text, w.thought = "", ""
	s.line()
	w.calls(e)
	if e.ErrorCode != "" || e.ErrorMessage != "" {
		s.note(s.red, "✗ %s", strings.TrimSpace(e.ErrorCode+" "+e.ErrorMessage))
	}
	if e.Interrupted {
		s.aside("(broken off)")
	}
	if w.verbose {
		w.more(e)
	}
	if !e.IsFinalResponse() {
		s.busy("waiting for the model")
	}
}

// rest shows what of a whole text the stream before it has not shown.
func (w *chatView) rest(whole, shown string, print func(string)) {
	if left, ok := strings.CutPrefix(whole, shown); ok {
		print(left)
		return
	}
	print("\n" + whole)
}

// calls shows calls of tools and their results.
func (w *chatView) calls(e *sessions.Event) {
	s := w.screen
	for _, c := range e.FunctionCalls() {
		s.note(s.cyan, "→ %s %s", c.Name, w.short(jsonText(c.Args)))
	}
	for _, r := range e.FunctionResponses() {
		if failed, ok := r.Response["error"]; ok && len(r.Response) == 1 {
			s.note(s.red, "✗ %s", w.short(resultLine(failed)))
		} else {
			s.note(s.cyan, "← %s", w.short(resultLine(r.Response)))
		}
	}
}

// more shows what else an event has.
func (w *chatView) more(e *sessions.Event) {
	s := w.screen
	if len(e.Actions.StateDelta) > 0 {
		s.note(s.dim, "state: %s", w.short(jsonText(e.Actions.StateDelta)))
	}
	if u := e.Usage; u != nil {
		s.note(s.dim, "event %s of %s: %d + %d tokens", e.ID, e.InvocationID, u.PromptTokens, u.CompletionTokens)
	}
}

// resultLine is a tool's result: a text as it is, also one that stands alone in a map, and anything else as JSON.
func resultLine(v any) string {
	if m, ok := v.(map[string]any); ok && len(m) == 1 {
		for _, name := range []string{"result", "output"} {
			if text, ok := m[name].(string); ok {
				return text
			}
		}
	}
	if text, ok := v.(string); ok {
		return text
	}
	return jsonText(v)
}

// thoughts are the texts of an event that are no part of its answer.
func thoughts(e *sessions.Event) string {
	var b strings.Builder
	if e.Content != nil {
		for i := range e.Content.Parts {
			if p := &e.Content.Parts[i]; p.Thought {
				b.WriteString(p.Text)
			}
		}
	}
	return b.String()
}

// summary is an event in a line.
func summary(e *sessions.Event) string {
	said := []string{e.Author + ":"}
	if text := e.Text(); text != "" {
		said = append(said, short(text))
	}
	for _, c := range e.FunctionCalls() {
		said = append(said, short("→ "+c.Name+" "+jsonText(c.Args)))
	}
	for _, r := range e.FunctionResponses() {
		said = append(said, short("← "+r.Name+" "+resultLine(r.Response)))
	}
	if e.Content != nil {
		for i := range e.Content.Parts {
			switch p := &e.Content.Parts[i]; {
			case p.InlineData != nil:
				said = append(said, fmt.Sprintf("[%s, %d bytes]", p.InlineData.MIMEType, len(p.InlineData.Data)))
			case p.FileData != nil:
				said = append(said, "["+p.FileData.URI+"]")
			}
		}
	}
	a := &e.Actions
	if len(a.StateDelta) > 0 {
		said = append(said, short("state "+jsonText(a.StateDelta)))
	}
	if a.TransferToAgent != "" {
		said = append(said, "hands over to "+a.TransferToAgent)
	}
	if a.RewindBeforeInvocationID != "" {
		said = append(said, "back to before "+a.RewindBeforeInvocationID)
	}
	if e.ErrorCode != "" {
		said = append(said, e.ErrorCode)
	}
	return strings.Join(said, " ")
}
