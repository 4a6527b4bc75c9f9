package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/turns"
)

// What a chat's sessions belong to where nothing else is said.
const (
	defaultApp   = "chat"
	defaultUser  = "me"
	defaultAgent = "assistant"
)

const chatHelp = `turncore chat [PROMPT] [flags]

Talks with an agent in a session, which --store FILE keeps with its events and its state. A line is a message. With a
PROMPT there is that message alone. Without a terminal the lines come from standard input, and with a PROMPT nobody is
asked anything.

A session that was begun elsewhere goes on: its calls that wait for a person or for a result are shown with their
arguments and asked for. y or n answers for a call that a person confirms, a JSON object with a member "confirmed" says
more; a JSON object or a text is the result of one that waits for its result. An empty line leaves a call waiting.

` + chatCommands + `
At a terminal the keys move in a line and delete in it as elsewhere, and the arrows up and down give earlier lines.
Ctrl-C stops an answer; when none is being given, it empties the line, and ends the chat at the second time. Ctrl-D ends
the chat.

With --json the events are printed as JSON lines, and behind those of each message a line {"event":"end",…} with the
session, the ids of the calls that wait, and the error. A line of input that begins with "{" is then a message as JSON:
{"parts":[{"functionResponse":{"id":"…","name":"…","response":{"confirmed":true}}}]} answers a call.

Without a provider, a base URL and a model the model is simulated, which a note on standard error says: it calls a tool
that the message mentions. The tools current_time and calculate are offered then.

Exit status: 0, 1 if something failed, 2 for a command line that is wrong. At a terminal a message that fails is no
failure of the chat.

Environment: the provider's variables stand in for --base-url and --model, and have the key,
which is sent to the base URL's origin and nowhere else.

` + variablesHelp + `
Flags:
`

// chatFlags are what the command line asks of a chat.
type chatFlags struct {
	runFlags
	key     sessions.Key
	last    bool     // go on with the session that was updated last
	confirm []string // names of tools
}

func (c *command) parseChat(args []string) (*chatFlags, error) {
	o := &chatFlags{runFlags: runFlags{command: "chat"}, key: sessions.Key{App: defaultApp, User: defaultUser}}
	f := flag.NewFlagSet(o.command, flag.ContinueOnError)
	o.register(f)
	f.Func("app", "`name` of the application that the session belongs to (\""+defaultApp+"\")", set(&o.key.App))
	f.Func("user", "`name` of the user whose session it is (\""+defaultUser+"\")", set(&o.key.User))
	f.Func("session", "`name` of the session, which is made if need be; APP/USER/NAME as \"turncore sessions list\" has it\n"+
		"names one of any application (a session of its own)", set(&o.session))
	f.BoolVar(&o.last, "last", false, "go on with the session that was updated last")
	f.Func("confirm", "ask before a tool runs, by its `name`; may be repeated", func(s string) error {
		o.confirm = append(o.confirm, s)
		return nil
	})
	f.BoolVar(&o.json, "json", false, "print events as JSON lines")
	rest, helped, err := c.parse(f, chatHelp, args)
	if helped || err != nil {
		return nil, err
	}
	o.environment(c.getenv)
	return o, o.check(rest)
}

func (o *chatFlags) check(rest []string) error {
	if err := o.engine.check(); err != nil {
		return o.wrong("%v", err)
	}
	switch {
	case len(rest) > 1:
		return o.wrong("%d prompts are given; put the prompt in quotes", len(rest))
	case len(rest) == 1 && strings.TrimSpace(rest[0]) == "":
		return o.wrong("the prompt is empty")
	case o.last && o.session != "":
		return o.wrong("--last and --session exclude each other")
	case o.last && o.store == "":
		return o.wrong("--last is for the sessions of a --store: give one")
	}
	if len(rest) == 1 {
		o.prompt = rest[0]
	}
	if o.session != "" {
		o.key = keyFor(o.session, o.key)
	}
	return o.checkModel()
}

// keyFor is the session that a name names: one of the application and the user of another key, unless it has its own.
func keyFor(name string, of sessions.Key) sessions.Key {
	if k, ok := sessions.ParseStoredID(name); ok {
		return k
	}
	of.Session = name
	return of
}

// chat is a conversation in a session.
type chat struct {
	*session
	flags *chatFlags
	store sessions.Store
	tools []*turns.Tool
	model turns.Model
	host  *turns.Host

	runners map[runnerKey]*sessions.Runner
	key     sessions.Key // of the session that goes on
	listed  []string     // ids in the store, as they were listed last

	left map[string]bool // ids of calls that the user has left waiting

	input  *input
	stops  *stops
	out    *lines
	failed bool // something that was asked for has failed
}

// runnerKey tells the runners of a chat apart: an answer goes to the agent whose call it is.
type runnerKey struct{ app, agent string }

// chatWith runs "turncore chat".
func (c *command) chatWith(args []string) (err error) {
	o, err := c.parseChat(args)
	if o == nil || err != nil {
		return err
	}
	h := &chat{
		session: c.newSession(&o.runFlags), flags: o, key: o.key, runners: map[runnerKey]*sessions.Runner{},
		input: newInput(c.stdin),
	}
	if !o.json {
		h.input.editor = newEditor(c.stdin, c.stderr, c.getenv)
	}
	h.stops = newStops(h.warn)
	defer h.end()
	defer h.input.close()
	defer h.stops.close()
	h.out = &lines{w: c.stdout, stop: h.stops.end}
	if err := h.open(context.Background()); err != nil {
		return err
	}
	err = h.talk(h.stops.ctx)
	if e := h.screen.close(); err == nil {
		err = e
	}
	if err == nil && h.failed && !h.input.isTTY {
		err = errTold
	}
	return err
}

// open makes what the messages need.
func (h *chat) open(ctx context.Context) (err error) {
	options := h.hostOptions()
	if h.store, err = h.openStore(ctx); err != nil {
		return err
	}
	var config turns.Config
	if err := h.prepare(ctx, &config, options); err != nil {
		return err
	}
	h.model, h.tools, h.host = config.Model, config.Tools, config.Host
	for _, name := range h.flags.confirm {
		if !h.hasTool(name) {
			return h.flags.wrong("--confirm %s: there is no tool of that name", name)
		}
	}
	return nil
}

// hasTool tells whether the agent has a tool.
func (h *chat) hasTool(name string) bool {
	return slices.ContainsFunc(h.tools, func(t *turns.Tool) bool { return t.Name == name })
}

// runner returns the runner of an application whose agent has a name.
func (h *chat) runner(ctx context.Context, app, agent string) (*sessions.Runner, error) {
	key := runnerKey{app, agent}
	if r := h.runners[key]; r != nil {
		return r, nil
	}
	r, err := sessions.New(ctx, sessions.Config{
		App: app, Store: h.store, Host: h.host,
		Agent: &sessions.LLMAgent{Name: agent, Instruction: h.system, Model: h.model, Tools: h.tools, Confirm: h.flags.confirm},
	})
	if err != nil {
		return nil, err
	}
	h.runners[key] = r
	h.close = append(h.close, func() { _ = r.Close() }) // the program ends
	return r, nil
}

// service keeps the sessions of the chat's application.
func (h *chat) service(ctx context.Context) (*sessions.Service, error) {
	r, err := h.runner(ctx, h.key.App, defaultAgent)
	if err != nil {
		return nil, err
	}
	return r.Sessions(), nil
}

// events are those of the chat's session.
func (h *chat) events(ctx context.Context) ([]*sessions.Event, error) {
	service, err := h.service(ctx)
	if err != nil {
		return nil, err
	}
	s, err := service.Get(ctx, h.key.User, h.key.Session)
	if err != nil {
		return nil, err
	}
	return s.Events()
}

// talk goes from message to message until the input ends.
func (h *chat) talk(ctx context.Context) error {
	if err := h.begin(ctx); err != nil {
		return err
	}
	if h.flags.prompt != "" {
		if err := h.say(ctx, sessions.Text(h.flags.prompt)); err != nil {
			return err
		}
		if h.input.isTTY {
			return h.ask(ctx)
		}
		return h.tellWaiting(ctx)
	}
	if h.input.isTTY && !h.flags.json {
		h.screen.note(h.screen.dim, "A line is a message. /help tells what else there is. Ctrl-C stops an answer, Ctrl-D ends the chat.")
	}
	for {
		if err := h.ask(ctx); err != nil {
			return ended(err)
		}
		line, err := h.line(ctx, "\n> ", true)
		if err != nil {
			return ended(err)
		}
		if err := h.obey(ctx, line); err != nil {
			return ended(err)
		}
	}
}

// obey does what a line says.
func (h *chat) obey(ctx context.Context, line string) error {
	switch {
	case line == "":
		return nil
	case strings.HasPrefix(line, "/"):
		return h.command(ctx, line)
	case h.flags.json && strings.HasPrefix(line, "{"):
		content := &sessions.Content{}
		if err := content.UnmarshalJSON([]byte(line)); err != nil {
			return h.tell(err)
		}
		return h.say(ctx, content)
	}
	return h.say(ctx, sessions.Text(line))
}

// errQuit ends a chat.
var errQuit = errors.New("quit")

// ended is what a chat ends with: nothing if the input has ended, or the user wants no more.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, errQuit) || errors.Is(err, errInterrupted) {
		return nil
	}
	return err
}

// tell tells about a failure that does not end the chat.
func (h *chat) tell(err error) error {
	if h.stops.ctx.Err() != nil {
		return context.Cause(h.stops.ctx)
	}
	h.failed = true
	switch {
	case h.flags.json:
		events, _ := h.events(h.stops.ctx) // none if the store fails, too
		h.out.write(endOf(h.key, sessions.PendingCalls(events), err), nil)
		return h.out.err
	case errors.Is(err, errInterrupted):
		h.screen.note(h.screen.red, "interrupted")
	default:
		h.screen.failure(err)
	}
	return nil
}

// begin finds the session that goes on, or makes it.
func (h *chat) begin(ctx context.Context) error {
	service, err := h.service(ctx)
	if err != nil {
		return err
	}
	if h.flags.last {
		list, err := service.List(ctx, h.key.User)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return fmt.Errorf("the store has no session of %s/%s", h.key.App, h.key.User)
		}
		h.key.Session = list[0].ID
	}
	if h.key.Session != "" {
		err := h.resume(ctx, h.key)
		if err == nil || !errors.Is(err, host.CodeSessionNotFound) {
			return err
		}
	}
	return h.create(ctx, h.key.Session)
}

// create makes a session and goes on with it.
func (h *chat) create(ctx context.Context, id string) error {
	service, err := h.service(ctx)
	if err != nil {
		return err
	}
	s, err := service.Create(ctx, h.key.User, id, nil)
	if err != nil {
		return err
	}
	h.key.Session = s.ID
	h.note("session %s", h.name(h.key))
	return nil
}

// resume goes on with a session that is there.
func (h *chat) resume(ctx context.Context, key sessions.Key) error {
	before := h.key
	h.key = key
	events, err := h.events(ctx)
	if err != nil {
		h.key = before
		return err
	}
	h.note("session %s, %s", h.name(key), counted(len(events), "event"))
	if !h.flags.json {
		from := max(0, len(events)-recent)
		for i, e := range events[from:] {
			h.list(from+i, e)
		}
	}
	return nil
}

// recent is how many events are shown of a session that is resumed.
const recent = 6

// note tells about the chat itself, on standard error.
func (h *chat) note(format string, args ...any) { h.screen.note(h.screen.dim, format, args...) }

// warn tells that the next interrupt ends the chat.
func (h *chat) warn() {
	h.note("once more ends the chat")
	if h.input.isTTY && h.input.editor == nil && !h.flags.json {
		h.screen.prompt("> ")
	}
}

// name is how a user names a session: by its id, and by its application and user if they are not those of the flags.
func (h *chat) name(k sessions.Key) string {
	if k.App == h.flags.key.App && k.User == h.flags.key.User {
		return k.Session
	}
	return k.StoredID()
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// say runs an invocation with a message, and shows its events.
func (h *chat) say(ctx context.Context, message *sessions.Content) error {
	events, err := h.events(ctx)
	if err != nil {
		return h.tell(err)
	}
	runner, err := h.runner(ctx, h.key.App, agentFor(events, message))
	if err != nil {
		return h.tell(err)
	}
	ctx, done := h.stops.begin()
	defer done()
	view := &chatView{show: newShow(h.screen, h.flags.verbose)}
	if !h.flags.json {
		h.screen.busy("waiting for the model")
	}
	for e, err := range runner.Run(ctx, sessions.Input{User: h.key.User, Session: h.key.Session, Message: message}) {
		switch {
		case err != nil:
			if !h.flags.json {
				h.screen.line()
			}
			return h.tell(err)
		case !h.flags.json:
			view.event(e)
		default:
			text, err := e.MarshalJSON()
			if h.out.write(append(text, '\n'), err); h.out.err != nil {
				return h.out.err
			}
		}
	}
	if !h.flags.json {
		h.screen.line()
		return h.screen.broken()
	}
	if events, err = h.events(ctx); err != nil {
		return h.tell(err)
	}
	h.out.write(endOf(h.key, sessions.PendingCalls(events), nil), nil)
	return h.out.err
}

// agentFor is the name of the agent that a message is for: the one that made the call which it answers, or the one that
// spoke last.
func agentFor(events []*sessions.Event, message *sessions.Content) string {
	for i := range message.Parts {
		r := message.Parts[i].FunctionResponse
		if r == nil {
			continue
		}
		for _, e := range events {
			if slices.ContainsFunc(e.FunctionCalls(), func(c *sessions.FunctionCall) bool { return c.ID == r.ID }) {
				return e.Author
			}
		}
	}
	for _, e := range slices.Backward(events) {
		if e.Author != sessions.RoleUser && e.Author != "system" && e.Content != nil {
			return e.Author
		}
	}
	return defaultAgent
}

// endOf is the line behind the events of a message.
func endOf(key sessions.Key, waits []sessions.PendingCall, err error) []byte {
	dst := appendString([]byte(`{"event":"end","app":`), key.App)
	dst = appendString(append(dst, `,"user":`...), key.User)
	dst = appendString(append(dst, `,"session":`...), key.Session)
	dst = append(dst, `,"pending":`...)
	dst = appendList(dst, waits, func(dst []byte, p sessions.PendingCall) []byte { return appendString(dst, p.ID) })
	dst = append(dst, `,"error":`...)
	if err == nil {
		return append(dst, "null}\n"...)
	}
	code, message := describe(err)
	dst = appendString(append(dst, `{"code":`...), code)
	return append(appendString(append(dst, `,"message":`...), message), "}}\n"...)
}

// input gives lines as they are asked for. What waits for one can be stopped.
type input struct {
	isTTY  bool
	editor *editor // nil if lines are taken as they come
	want   chan wanted
	lines  chan typed
}

// wanted is what an editor is told of a line.
type wanted struct {
	prompt string
	kept   bool // the line can be had again
}

// typed is a line, or why there is none.
type typed struct {
	text string
	err  error
}

func newInput(from io.Reader) *input {
	in := &input{isTTY: isTTY(from), want: make(chan wanted), lines: make(chan typed, 1)}
	go func() {
		lines := bufio.NewReaderSize(from, 64<<10)
		for want := range in.want {
			if in.editor != nil {
				text, err := in.editor.line(want.prompt, want.kept)
				in.lines <- typed{strings.TrimSpace(text), err}
				continue
			}
			text, err := lines.ReadString('\n')
			if strings.TrimSpace(text) != "" && errors.Is(err, io.EOF) {
				err = nil // the next one ends
			}
			in.lines <- typed{strings.TrimSpace(text), err}
		}
	}()
	return in
}

// close ends the waiting for a line.
func (in *input) close() {
	if in.editor != nil {
		in.editor.close()
	}
}

// line asks for a line. The prompt is for people. A line that is kept can be had again at a terminal.
func (h *chat) line(ctx context.Context, prompt string, kept bool) (string, error) {
	for {
		text, err := h.typed(ctx, prompt, kept)
		if !errors.Is(err, errKey) {
			return text, err
		}
		h.stops.signal(os.Interrupt)
	}
}

func (h *chat) typed(ctx context.Context, prompt string, kept bool) (string, error) {
	want := wanted{kept: kept}
	if h.input.editor != nil { // which shows the last line of the prompt itself
		i := strings.LastIndexByte(prompt, '\n') + 1
		prompt, want.prompt = prompt[:i], prompt[i:]
	}
	if h.input.isTTY && !h.flags.json {
		h.screen.prompt(prompt)
	}
	select {
	case h.input.want <- want:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	select {
	case line := <-h.input.lines:
		if errors.Is(line.err, errKey) {
			return "", errKey
		}
		h.stops.typed()
		if line.err != nil && !errors.Is(line.err, io.EOF) {
			return "", fmt.Errorf("standard input: %w", line.err)
		}
		if line.err != nil && h.input.isTTY {
			h.screen.prompt("\n")
		}
		return line.text, line.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// stops turns interrupts into what they mean: one stops the answer that is being given; without one the second in a row
// ends the chat. SIGTERM ends it in any case.
type stops struct {
	ctx     context.Context // ends with the chat
	end     context.CancelCauseFunc
	signals chan os.Signal
	warn    func() // tells that the next interrupt ends the chat

	mu      sync.Mutex
	running context.CancelCauseFunc // of an answer; nil for none
	once    bool                    // the user has interrupted when nothing ran
}

func newStops(warn func()) *stops {
	s := &stops{signals: make(chan os.Signal, 1), warn: warn}
	s.ctx, s.end = context.WithCancelCause(context.Background())
	signal.Notify(s.signals, endings()...)
	go func() {
		for got := range s.signals {
			s.signal(got)
		}
	}()
	return s
}

func (s *stops) signal(got os.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case got == os.Interrupt && s.running != nil:
		s.running(errInterrupted)
	case got == os.Interrupt && !s.once:
		s.once = true
		s.warn()
	default:
		s.end(errInterrupted)
	}
}

// begin begins an answer, which an interrupt stops.
func (s *stops) begin() (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(s.ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = cancel
	return ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running, s.once = nil, false
		cancel(nil)
	}
}

// typed forgets an interrupt: the user has gone on.
func (s *stops) typed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.once = false
}

func (s *stops) close() {
	signal.Stop(s.signals)
	close(s.signals)
	s.end(nil)
}
