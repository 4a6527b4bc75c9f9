package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/store/sqlite"
)

const sessionsHelp = `turncore sessions ACTION --store FILE [flags]

Looks after the conversations that "turncore run --store FILE" keeps in an SQLite database, and the sessions of "turncore
chat --store FILE", whose names are APP/USER/SESSION:

  turncore sessions list             name, messages or events, last update and title of each, the last
                                     updated first
  turncore sessions show NAME        what was said and done in one
  turncore sessions export NAME      print one as a JSON document
  turncore sessions import [FILE]    store a document as a conversation and print its name; from standard
                                     input without FILE or with "-"
  turncore sessions delete NAME...   delete conversations

Exit status: 0, 1 if something failed, 2 for a command line that is wrong.

Flags:
`

// sessionsFlags is what the command line asks of "turncore sessions".
type sessionsFlags struct {
	store string
	as    string // name of an imported conversation; "" for the document's own
	json  bool
}

func (c *command) sessions(args []string) error {
	o := &sessionsFlags{}
	f := flag.NewFlagSet("sessions", flag.ContinueOnError)
	f.Func("store", "the database in `file`", set(&o.store))
	f.Func("session", "`name` of an imported conversation (the document's own)", set(&o.as))
	f.BoolVar(&o.json, "json", false, "list and show: print JSON lines")
	rest, helped, err := c.parse(f, sessionsHelp, args)
	if helped || err != nil {
		return err
	}
	if len(rest) == 0 {
		return usagef("sessions", "give an action: list, show, export, import or delete")
	}
	if err := o.check(rest[0], rest[1:]); err != nil {
		return err
	}
	ctx, stop := interruptible()
	defer stop()
	if rest[0] != "import" {
		if _, err := os.Stat(o.store); err != nil {
			return err // opening would make one
		}
	}
	s, err := sqlite.Open(ctx, o.store, sqlite.Options{})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(c.stdout)
	err = c.session(ctx, s, o, out, rest)
	return errors.Join(err, out.Flush(), s.Close())
}

// check checks the arguments of an action.
func (o *sessionsFlags) check(action string, args []string) error {
	counts := map[string][2]int{"list": {0, 0}, "show": {1, 1}, "export": {1, 1}, "import": {0, 1}, "delete": {1, 1 << 20}}
	count, known := counts[action]
	switch {
	case !known:
		return usagef("sessions", "%q is no action: list, show, export, import or delete", action)
	case len(args) < count[0]:
		return usagef("sessions", "%s needs the name of a conversation", action)
	case len(args) > count[1]:
		return usagef("sessions", "%s does not take %d names", action, len(args))
	case o.store == "":
		return usagef("sessions", "give the database with --store")
	case o.as != "" && action != "import":
		return usagef("sessions", "--session is for import")
	case o.json && action != "list" && action != "show":
		return usagef("sessions", "--json is for list and show")
	}
	return nil
}

// session does an action.
func (c *command) session(ctx context.Context, s store.Sessions, o *sessionsFlags, out io.Writer, args []string) error {
	action, args := args[0], args[1:]
	switch action {
	case "list":
		return listSessions(ctx, s, out, o.json)
	case "show":
		return showSession(ctx, s, out, args[0], o.json)
	case "export":
		return store.Export(ctx, s, args[0], out)
	case "import":
		return c.importSession(ctx, s, out, o.as, args)
	}
	for _, name := range args {
		there, err := s.Find(ctx, name)
		if err == nil && there == nil {
			err = store.NoSession(name)
		}
		if err != nil {
			return err
		}
		if err := s.Delete(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// pageSize is how many conversations are listed at a time.
const pageSize = 200

// timeForm is how JSON lines write times.
const timeForm = "2006-01-02T15:04:05.000Z07:00"

// listSessions prints a line for each conversation.
func listSessions(ctx context.Context, s store.Sessions, out io.Writer, asJSON bool) error {
	for cursor, more := "", true; more; more = cursor != "" {
		page, next, err := s.List(ctx, cursor, pageSize)
		if err != nil {
			return err
		}
		for i := range page {
			n, err := countEvents(ctx, s, page[i].ID)
			if err != nil {
				return err
			}
			if err := listSession(out, &page[i], n, asJSON); err != nil {
				return err
			}
		}
		cursor = next
	}
	return nil
}

// counter is a store that counts a session's events.
type counter interface {
	store.Appender
	CountEvents(ctx context.Context, session string) (int, error)
}

// countEvents counts the events of a session, without the one that makes it.
func countEvents(ctx context.Context, s store.Sessions, id string) (n int, err error) {
	c, ok := s.(counter)
	if !ok {
		return 0, nil
	}
	if n, err = c.CountEvents(ctx, id); n == 0 || err != nil {
		return 0, err
	}
	first, err := c.Events(ctx, id, store.EventQuery{Limit: 1})
	if err != nil || len(first) == 0 {
		return 0, err
	}
	if author, _ := value.GetString(first[0].Body, "author"); string(author) == "system" {
		n--
	}
	return n, nil
}

func listSession(out io.Writer, s *store.Session, events int, asJSON bool) error {
	if asJSON {
		return jsonLines(out).Encode(struct {
			ID        string `json:"id"`
			Title     string `json:"title,omitempty"`
			Messages  int    `json:"messages"`
			Events    int    `json:"events,omitempty"`
			CreatedAt string `json:"createdAt"`
			UpdatedAt string `json:"updatedAt"`
			Revision  string `json:"revision"`
		}{s.ID, s.Title, s.Messages, events, s.CreatedAt.Format(timeForm), s.UpdatedAt.Format(timeForm), s.Revision})
	}
	line := fmt.Sprintf("%s\t%d\t%s\t%s", s.ID, s.Messages+events, s.UpdatedAt.Format(time.RFC3339), s.Title)
	_, err := fmt.Fprintln(out, printable(line))
	return err
}

// jsonLines writes lines of JSON, as the npm package's command writes them.
func jsonLines(out io.Writer) *json.Encoder {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e
}

// showSession prints what was said and done in a conversation, in the order of its times.
func showSession(ctx context.Context, s store.Store, out io.Writer, name string, asJSON bool) error {
	c, err := s.Load(ctx, name, "")
	if err != nil {
		return err
	}
	if c == nil {
		c = &store.Conversation{}
	}
	events, err := eventsOf(ctx, s, name)
	if err != nil {
		return err
	}
	texts := len(c.Instructions) + len(c.Memories) + len(c.Retrievables)
	if texts+len(c.Messages)+len(c.Thoughts)+len(c.ToolCalls)+len(events) == 0 {
		return store.NoSession(name)
	}
	type entry struct {
		at   time.Time
		data any // with its JSON
		text string
	}
	var list []entry
	for _, m := range c.Messages {
		text, err := m.ContentString()
		if err != nil {
			return err
		}
		for _, a := range m.Attachments {
			text += fmt.Sprintf(" [%s %s]", a.Kind, a.MimeType)
		}
		list = append(list, entry{m.CreatedAt, m, string(m.Role) + ": " + text})
	}
	for _, call := range c.ToolCalls {
		sign := "←"
		if call.IsError {
			sign = "✗"
		}
		text, err := resultText(ctx, call.Results)
		if err != nil {
			return err
		}
		list = append(list, entry{call.CreatedAt, call, fmt.Sprintf("→ %s %s\n%s %s", call.Tool, call.Args, sign, text)})
	}
	for _, e := range events {
		list = append(list, entry{e.Timestamp, e, summary(e)})
	}
	slices.SortStableFunc(list, func(a, b entry) int { return a.at.Compare(b.at) })
	for _, e := range list {
		if asJSON {
			err = jsonLines(out).Encode(e.data)
		} else {
			_, err = fmt.Fprintln(out, printable(e.text))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eventsOf are the events of a session, without the one that makes it.
func eventsOf(ctx context.Context, s store.Store, name string) (list []*sessions.Event, err error) {
	a, ok := s.(store.Appender)
	if !ok {
		return nil, nil
	}
	stored, err := a.Events(ctx, name, store.EventQuery{})
	for i := range stored {
		text, err := value.AppendJSON(nil, stored[i].Body)
		if err != nil {
			return nil, err
		}
		e := &sessions.Event{}
		if err := e.UnmarshalJSON(text); err != nil {
			return nil, err
		}
		if i > 0 || e.Author != "system" {
			list = append(list, e)
		}
	}
	return list, err
}

// resultText is the text of a tool's results, or what they are.
func resultText(ctx context.Context, results any) (string, error) {
	switch r := results.(type) {
	case string:
		return r, nil
	case *record.Tokenizable:
		return r.Render(ctx)
	case *record.SpooledArtifact:
		return r.AsString(ctx)
	case []*record.SpooledArtifact:
		return fmt.Sprintf("[%d texts]", len(r)), nil
	case *record.Media:
		return fmt.Sprintf("[%s %s]", r.Kind, r.MimeType), nil
	case []*record.Media:
		return fmt.Sprintf("[%d media]", len(r)), nil
	}
	return "", nil
}

// importSession stores a document and prints the conversation's name.
func (c *command) importSession(ctx context.Context, s store.Store, out io.Writer, as string, args []string) error {
	from := c.stdin
	if name := cmp.Or(append(args, "-")[0], "-"); name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close() // it was only read
		from = file
	}
	name, err := store.Import(ctx, s, as, from)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, printable(name))
	return err
}
