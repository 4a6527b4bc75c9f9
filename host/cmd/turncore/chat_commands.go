package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/store"
)

// chatCommands describes the lines of a chat that are no messages.
const chatCommands = `Lines that are no messages:

  /sessions               the sessions of the store, those updated last in front
  /resume NAME            go on with another session, by its name or its number in that list
  /new [NAME]             go on with a new session
  /fork [EVENT [NAME]]    go on with a new session that begins with this one's events, up to one of them
  /events                 the session's events, each with its number
  /state                  the session's state
  /rewind EVENT           take the session back to before the message that an event belongs to
  /pending                ask once more about calls that wait
  /help, /quit            show these lines; end the chat
`

// chatCommand is a command in a chat, such as /fork.
type chatCommand struct {
	arguments [2]int // the least and the most
	run       func(h *chat, ctx context.Context, args []string) error
}

// commandOf returns a command by its name.
func commandOf(name string) (chatCommand, bool) {
	commands := map[string]chatCommand{
		"sessions": {[2]int{0, 0}, (*chat).listSessions},
		"resume":   {[2]int{1, 1}, (*chat).resumeNamed},
		"new":      {[2]int{0, 1}, (*chat).createNamed},
		"fork":     {[2]int{0, 2}, (*chat).fork},
		"events":   {[2]int{0, 0}, (*chat).listEvents},
		"state":    {[2]int{0, 0}, (*chat).showState},
		"rewind":   {[2]int{1, 1}, (*chat).rewind},
		"pending":  {[2]int{0, 0}, (*chat).askAgain},
		"help":     {[2]int{0, 0}, (*chat).help},
		"quit":     {[2]int{0, 0}, func(*chat, context.Context, []string) error { return errQuit }},
	}
	c, ok := commands[name]
	return c, ok
}

// command does what a line says that begins with a slash. Its failure is told, and does not end the chat.
func (h *chat) command(ctx context.Context, line string) error {
	words := strings.Fields(line)
	name, args := words[0], words[1:]
	c, ok := commandOf(strings.TrimPrefix(name, "/"))
	switch {
	case !ok:
		return h.tell(fmt.Errorf("there is no %s; /help tells what there is", name))
	case len(args) < c.arguments[0]:
		return h.tell(fmt.Errorf("%s needs an argument; /help tells which", name))
	case len(args) > c.arguments[1]:
		return h.tell(fmt.Errorf("%s does not take %s", name, counted(len(args), "argument")))
	}
	err := c.run(h, ctx, args)
	switch {
	case err == errQuit:
		return err
	case err != nil:
		return h.tell(err)
	case !h.flags.json:
		return h.screen.broken()
	}
	events, err := h.events(ctx)
	if err != nil {
		return h.tell(err)
	}
	h.out.write(endOf(h.key, sessions.PendingCalls(events), nil), nil)
	return h.out.err
}

// answer prints a line that a command was asked for.
func (h *chat) answer(format string, args ...any) {
	h.screen.print(printable(fmt.Sprintf(format, args...)) + "\n")
}

// listSessions lists the store's sessions, of whatever application and user.
func (h *chat) listSessions(ctx context.Context, _ []string) error {
	h.listed = nil
	for cursor, more := "", true; more; more = cursor != "" {
		page, next, err := h.store.List(ctx, cursor, pageSize)
		if err != nil {
			return err
		}
		for i := range page {
			if k, ok := sessions.ParseStoredID(page[i].ID); ok {
				h.listed = append(h.listed, page[i].ID)
				h.listedSession(k, &page[i])
			}
		}
		cursor = next
	}
	return nil
}

func (h *chat) listedSession(k sessions.Key, s *store.Session) {
	if h.flags.json {
		dst := appendString([]byte(`{"app":`), k.App)
		dst = appendString(append(dst, `,"user":`...), k.User)
		dst = appendString(append(dst, `,"session":`...), k.Session)
		dst = appendString(append(dst, `,"title":`...), s.Title)
		dst = appendString(append(dst, `,"updatedAt":`...), s.UpdatedAt.Format(timeForm))
		h.out.write(append(dst, "}\n"...), nil)
		return
	}
	mark := " "
	if k == h.key {
		mark = "*"
	}
	line := fmt.Sprintf("%s%3d  %s  %s  %s", mark, len(h.listed), s.UpdatedAt.Format(time.DateTime), h.name(k), s.Title)
	h.answer("%s", strings.TrimRight(line, " "))
}

// resumeNamed goes on with a session by its name, or by its number in the list.
func (h *chat) resumeNamed(ctx context.Context, args []string) error {
	k := keyFor(args[0], h.flags.key)
	if n, err := strconv.Atoi(args[0]); err == nil && n > 0 && n <= len(h.listed) {
		k, _ = sessions.ParseStoredID(h.listed[n-1])
	}
	return h.resume(ctx, k)
}

func (h *chat) createNamed(ctx context.Context, args []string) error {
	var id string
	if len(args) > 0 {
		id = args[0]
	}
	return h.create(ctx, id)
}

// fork goes on with a new session that begins as this one does.
func (h *chat) fork(ctx context.Context, args []string) error {
	var after, id string
	if len(args) > 0 {
		e, err := h.eventNamed(ctx, args[0])
		if err != nil {
			return err
		}
		after = e.ID
	}
	if len(args) > 1 {
		id = args[1]
	}
	service, err := h.service(ctx)
	if err != nil {
		return err
	}
	s, err := service.Fork(ctx, h.key.User, h.key.Session, id, after)
	if err != nil {
		return err
	}
	k := h.key
	k.Session = s.ID
	return h.resume(ctx, k)
}

// eventNamed is an event by its number in the list or its id.
func (h *chat) eventNamed(ctx context.Context, name string) (*sessions.Event, error) {
	events, err := h.events(ctx)
	if err != nil {
		return nil, err
	}
	if n, err := strconv.Atoi(name); err == nil && n > 0 && n <= len(events) {
		return events[n-1], nil
	}
	if i := slices.IndexFunc(events, func(e *sessions.Event) bool { return e.ID == name }); i >= 0 {
		return events[i], nil
	}
	return nil, fmt.Errorf("the session has no event %s: give a number from 1 to %d, or an id", name, len(events))
}

func (h *chat) listEvents(ctx context.Context, _ []string) error {
	events, err := h.events(ctx)
	if err != nil {
		return err
	}
	for i, e := range events {
		h.list(i, e)
	}
	return nil
}

// list prints a line for an event: its number, its author, and what it says and does.
func (h *chat) list(i int, e *sessions.Event) {
	if h.flags.json {
		text, err := e.MarshalJSON()
		h.out.write(append(text, '\n'), err)
		return
	}
	h.answer("%4d  %s", i+1, summary(e))
}

func (h *chat) showState(ctx context.Context, _ []string) error {
	service, err := h.service(ctx)
	if err != nil {
		return err
	}
	s, err := service.Get(ctx, h.key.User, h.key.Session)
	if err != nil {
		return err
	}
	if h.flags.json {
		h.out.write([]byte(`{"state":`+jsonText(s.State())+"}\n"), nil)
		return nil
	}
	for _, name := range s.Names() {
		h.answer("%s: %s", name, jsonText(s.Get(name)))
	}
	return nil
}

// rewind takes the session back to before an invocation.
func (h *chat) rewind(ctx context.Context, args []string) error {
	e, err := h.eventNamed(ctx, args[0])
	if err != nil {
		return err
	}
	runner, err := h.runner(ctx, h.key.App, defaultAgent)
	if err != nil {
		return err
	}
	if _, err := runner.Rewind(ctx, h.key.User, h.key.Session, e.InvocationID); err != nil {
		return err
	}
	h.note("the session is as it was before %s", e.InvocationID)
	return nil
}

// askAgain asks about calls that the user has left waiting, too.
func (h *chat) askAgain(ctx context.Context, _ []string) error {
	h.left = nil
	events, err := h.events(ctx)
	if err != nil {
		return err
	}
	if len(sessions.PendingCalls(events)) == 0 {
		h.note("no call waits")
	}
	return nil
}

func (h *chat) help(context.Context, []string) error {
	if !h.flags.json {
		h.answer("%s", strings.TrimRight(chatCommands, "\n"))
	}
	return nil
}
