package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/turns"
)

// longestShown is how much of a tool's arguments or result is shown, in bytes.
const longestShown = 400

// show tells people how a turn goes.
type show struct {
	screen  *screen
	verbose bool
	begun   map[string]int // tool calls that were shown, by checksum
}

func newShow(s *screen, verbose bool) *show {
	return &show{screen: s, verbose: verbose, begun: map[string]int{}}
}

// event shows an event.
func (w *show) event(ev event.Event) {
	s := w.screen
	switch ev := ev.(type) {
	case *event.IterationStart:
		if w.verbose {
			s.note(s.dim, "iteration %d", ev.Iteration)
		}
		s.busy("waiting for the model")
	case *event.Thought:
		s.whisper(ev.Delta)
		if ev.IsComplete {
			s.busy("waiting for the model")
		}
	case *event.Message:
		s.print(ev.Delta)
		if ev.IsInterrupted {
			s.aside("(broken off)")
		}
		if ev.IsComplete {
			s.line()
		}
	case *event.ToolExecutionStart:
		w.begun[ev.CallID]++
		s.note(s.cyan, "→ %s %s", ev.ToolName, w.short(string(ev.Args)))
		s.busy("running " + ev.ToolName)
	case *event.ToolCall:
		if ev.IsComplete {
			w.toolCall(ev)
		}
	case *event.Warning:
		s.note(s.yellow, "warning: %s", ev.Message)
	case *event.Log:
		if ev.Level >= event.LevelWarn || w.verbose {
			s.note(s.dim, "%s: %s", ev.Level, ev.Message)
		}
	case *event.GenerationStats:
		if w.verbose {
			s.note(s.dim, "model call: %s", w.short(string(ev.Stats)))
		}
	case *event.Error:
		if w.verbose {
			s.note(s.dim, "error event: %v", ev.Err)
		}
	}
}

// toolCall shows what came out of a tool call. One that was refused before it ran has not been shown yet.
func (w *show) toolCall(ev *event.ToolCall) {
	s := w.screen
	if w.begun[ev.Checksum] > 0 {
		w.begun[ev.Checksum]--
	} else {
		s.note(s.cyan, "→ %s %s", ev.Tool, w.short(string(ev.Args)))
	}
	text, ok := ev.Results.(string)
	if !ok {
		encoded, err := json.Marshal(ev.Results)
		if text = string(encoded); err != nil {
			text = fmt.Sprint(ev.Results)
		}
	}
	if ev.IsError {
		s.note(s.red, "✗ %s", w.short(text))
	} else {
		s.note(s.cyan, "← %s", w.short(text))
	}
}

// short is a text in one line, its beginning if it is long.
func (w *show) short(text string) string {
	if w.verbose {
		return text
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= longestShown {
		return text
	}
	return strings.ToValidUTF8(text[:longestShown], "") + " …"
}

// end shows how a turn ended.
func (w *show) end(result *turns.Result) {
	s := w.screen
	s.line()
	switch {
	case result.Status == event.Ack:
	case errors.Is(result.Err, errInterrupted):
		s.note(s.red, "interrupted")
	case result.Err != nil:
		s.failure(result.Err)
	default:
		s.note(s.red, "the turn ended with %s", result.Status)
	}
	if w.verbose {
		s.note(s.dim, "turn %s: %s after %d iterations, %d + %d tokens",
			result.TurnID, result.Status, result.Iterations, result.Usage.PromptTokens, result.Usage.CompletionTokens)
	}
}
