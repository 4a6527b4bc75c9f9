package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/turncore/turncore/host/sessions"
)

// ask asks the user about the session's calls that wait, and hands the answers in, until none waits or the user leaves
// those that do. With --json nobody is asked: the end of a message tells which calls wait.
func (h *chat) ask(ctx context.Context) error {
	if h.flags.json {
		return nil
	}
	for {
		events, err := h.events(ctx)
		if err != nil {
			return h.tell(err)
		}
		waiting := slices.DeleteFunc(sessions.PendingCalls(events), func(p sessions.PendingCall) bool { return h.left[p.ID] })
		if len(waiting) == 0 {
			return nil
		}
		if err := h.askEvent(ctx, waiting); err != nil {
			return err
		}
	}
}

// askEvent asks about those of the calls that are of the first one's event: one message answers them all.
func (h *chat) askEvent(ctx context.Context, waiting []sessions.PendingCall) error {
	message := &sessions.Content{Role: sessions.RoleUser}
	for i := range waiting {
		p := &waiting[i]
		if p.EventID != waiting[0].EventID {
			break
		}
		h.showCall(p)
		response, again, err := h.askCall(ctx, p)
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, errQuit):
			h.noteWaiting(len(waiting))
			return err
		case err != nil:
			return err
		case again:
			return nil // a command may have changed everything
		case response == nil:
			h.leave(p.ID)
		default:
			message.Parts = append(message.Parts, sessions.Answer(p.ID, p.Name, response).Parts...)
		}
	}
	if len(message.Parts) == 0 {
		return nil
	}
	failed := h.failed
	h.failed = false
	err := h.say(ctx, message)
	if h.failed {
		// What was answered may wait still. The user decides when to answer once more.
		for i := range message.Parts {
			h.leave(message.Parts[i].FunctionResponse.ID)
		}
	}
	h.failed = h.failed || failed
	return err
}

// tellWaiting shows the session's calls that wait, and asks nobody.
func (h *chat) tellWaiting(ctx context.Context) error {
	if h.flags.json {
		return nil
	}
	events, err := h.events(ctx)
	if err != nil {
		return h.tell(err)
	}
	waiting := sessions.PendingCalls(events)
	for i := range waiting {
		h.showCall(&waiting[i])
	}
	h.noteWaiting(len(waiting))
	return nil
}

// noteWaiting tells how calls that wait can be answered later.
func (h *chat) noteWaiting(n int) {
	if n == 0 || h.flags.store == "" {
		return
	}
	waits := "1 call waits"
	if n > 1 {
		waits = fmt.Sprintf("%d calls wait", n)
	}
	h.note("%s; turncore chat --store %s --session %s goes on", waits, h.flags.store, h.key.StoredID())
}

// leave lets a call wait without asking about it again.
func (h *chat) leave(id string) {
	if h.left == nil {
		h.left = map[string]bool{}
	}
	h.left[id] = true
}

// showCall shows a call with all of its arguments: they are what the user decides about.
func (h *chat) showCall(p *sessions.PendingCall) {
	s := h.screen
	s.line()
	if p.Confirmation == nil {
		s.note(s.yellow, "? %s waits for its result: %s", p.Name, plainly(p.Args))
		return
	}
	s.note(s.yellow, "? %s wants to run %s %s", p.Author, p.Name, plainly(p.Args))
	if p.Confirmation.Hint != "" {
		s.note(s.yellow, "  %s", visible(p.Confirmation.Hint))
	}
	if p.Confirmation.Payload != nil {
		s.note(s.yellow, "  %s", plainly(p.Confirmation.Payload))
	}
}

// askCall asks about a call until the answer makes sense. nil leaves the call waiting; again tells that a command was
// run instead.
func (h *chat) askCall(ctx context.Context, p *sessions.PendingCall) (response map[string]any, again bool, err error) {
	question := "Run it? y, n, or nothing to decide later: "
	if p.Confirmation == nil {
		question = "Its result, or nothing to give it later: "
	}
	for {
		line, err := h.line(ctx, question, false)
		switch {
		case err != nil || line == "":
			return nil, false, err
		case strings.HasPrefix(line, "/"):
			return nil, true, h.command(ctx, line)
		}
		response, err := answerTo(p, line)
		switch confirmed, _ := response["confirmed"].(bool); {
		case err != nil:
			h.screen.failure(err)
		case p.Confirmation != nil && confirmed && !h.hasTool(p.Name):
			h.screen.failure(fmt.Errorf("this chat has no tool %s: give it with --tool %s=CMD, or answer n", p.Name, p.Name))
		default:
			return response, false, nil
		}
	}
}

// answerTo is the response that a line means.
func answerTo(p *sessions.PendingCall, line string) (map[string]any, error) {
	if strings.HasPrefix(line, "{") {
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		var response map[string]any
		if err := d.Decode(&response); err != nil {
			return nil, fmt.Errorf("the answer is not JSON: %w", err)
		}
		if _, ok := response["confirmed"].(bool); p.Confirmation != nil && !ok {
			return nil, errors.New("the answer needs a member confirmed, true or false")
		}
		return response, nil
	}
	if p.Confirmation == nil {
		return map[string]any{"result": line}, nil
	}
	switch strings.ToLower(line) {
	case "y", "yes":
		return map[string]any{"confirmed": true}, nil
	case "n", "no":
		return map[string]any{"confirmed": false}, nil
	}
	return nil, errors.New("answer y or n, or a JSON object with a member confirmed")
}

// longestLine is how long arguments may be to be shown in one line, in bytes.
const longestLine = 100

// plainly is a value as JSON for a person who decides about it: whole, and nothing in it hides or moves other text.
func plainly(v any) string {
	text := jsonText(v)
	if len(text) > longestLine {
		var b bytes.Buffer
		if json.Indent(&b, []byte(text), "  ", "  ") == nil {
			text = b.String()
		}
	}
	return visible(text)
}

// visible writes out the characters that are not seen, such as those that turn the direction of a text.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// jsonText is a value as JSON, as the npm package's command writes it.
func jsonText(v any) string {
	var b bytes.Buffer
	if err := jsonLines(&b).Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
