package session

import (
	"slices"

	"github.com/turncore/turncore/abi/value"
)

// Log is a session's stored events, oldest first, and what they mean together. The zero value is empty. It holds the
// events' bytes as they were given, and an index of them.
type Log struct {
	entries []*entry
	shown   []*entry // those that no later one undid
	calls   []*callEntry
	answers int     // how many there are
	covers  []cover // compactions that no later event undid

	invocations map[string]int // place of the first event of each, among those shown, once a rewind has asked
	byID        map[string]int // place of the last call with an id, once there are many
	events      map[string]int // place of each event by id, once a compaction has asked
	indexed     int            // how many entries are in events

	views []*projection
	room  []entry // for the next ones

	// Salt tells the marks of the log's contents from those of other logs whose contents the same agent is shown.
	Salt uint64
}

// entry is what the log knows of an event.
type entry struct {
	body                       []byte
	content                    []byte // part of the body, nil for none
	author, invocation, branch string
	at                         int64
	calls                      *callEntry // the first one that it has
	answers                    *answer    // the first one that it has
	place                      int        // in the log
	low                        int        // the first event of which a model is shown something else because of this one
	undone                     bool
	compacts                   bool
}

// callEntry is a function call.
type callEntry struct {
	_ [0]func() // no two are compared: that would take code

	id    string
	event *entry
	next  *callEntry // of the event
	last  *answer    // to it, nil for none
	part  int
	waits bool // it waits for an answer from outside
	asks  bool // the first answer of the user is no response: it says whether the call may run
}

// answer is a function response.
type answer struct {
	event        *entry
	next         *answer    // of the event
	call         *callEntry // nil if no call before it has its id
	before       *answer    // to the same call, nil for none
	part, number int        // in the event, and in the log
}

// cover is a compaction: the content of an event stands for a range of events.
type cover struct {
	event       *entry
	first, last int
}

// Len is the number of events.
func (l *Log) Len() int { return len(l.entries) }

// Body returns the bytes of the i-th event.
func (l *Log) Body(i int) []byte { return l.entries[i].body }

// At reads the i-th event.
func (l *Log) At(i int) *Event { return l.entries[i].read() }

func (e *entry) read() *Event {
	event := &Event{}
	_ = event.read(e.body, false)
	return event
}

// Add adds a stored event, a value. It keeps body, which must stay as it is. It fails with E_INVALID_EVENT, which names
// the member, and then adds nothing.
func (l *Log) Add(body []byte) error {
	if err := value.Check(body); err != nil {
		return malformed(err).error()
	}
	e := &Event{}
	f := e.read(body, false)
	if f == nil && e.Partial {
		f = invalid("a partial event is not stored").in(eventMembers[eventPartial])
	}
	if f != nil {
		return f.error()
	}
	l.AddEvent(e, body)
	return nil
}

// fewEvents is for how many events there is room at once.
const fewEvents = 8

// AddEvent adds an event that is stored as body, which Append has made of it.
func (l *Log) AddEvent(of *Event, body []byte) {
	i := len(l.entries)
	if len(l.room) == 0 {
		l.room = make([]entry, fewEvents)
	}
	e := &l.room[0]
	l.room = l.room[1:]
	*e = entry{
		body: body, at: of.Timestamp, author: of.Author, invocation: of.InvocationID, branch: of.Branch, place: i, low: i,
	}
	l.share(e)
	if of.HasContent {
		e.content, _ = value.Get(body, eventMembers[eventContent])
	}
	actions := &of.Actions
	if actions.RewindBefore != "" {
		l.index()
	}
	l.addParts(e, of)
	if l.entries == nil {
		l.entries, l.shown = make([]*entry, 0, fewEvents), make([]*entry, 0, fewEvents)
	}
	l.entries = append(l.entries, e)
	l.shown = append(l.shown, e)
	if actions.Compaction != nil {
		l.compact(e, actions.Compaction)
	}
	if actions.RewindBefore != "" {
		l.undo(e, actions.RewindBefore)
	}
	if l.invocations != nil && !e.undone {
		l.begin(e)
	}
}

// share gives an entry the strings of events shortly before: most have the author and the branch of one of them, and
// the invocation of the last one.
func (l *Log) share(e *entry) {
	n := len(l.entries)
	if n > 0 && l.entries[n-1].invocation == e.invocation {
		e.invocation = l.entries[n-1].invocation
	}
	for i := n - 1; i >= max(0, n-8); i-- {
		if of := l.entries[i]; of.author == e.author && of.branch == e.branch {
			e.author, e.branch = of.author, of.branch
			return
		}
	}
}

// index finds where invocations begin.
func (l *Log) index() {
	if l.invocations != nil {
		return
	}
	l.invocations = make(map[string]int)
	for _, e := range l.shown {
		l.begin(e)
	}
}

// begin notes an event if it is the first of its invocation.
func (l *Log) begin(e *entry) {
	if _, known := l.invocations[e.invocation]; !known && e.invocation != "" {
		l.invocations[e.invocation] = e.place
	}
}

// fewCalls is how many calls are looked through for an id.
const fewCalls = 16

// callOf is the last call with an id, nil if there is none.
func (l *Log) callOf(id string) *callEntry {
	if l.byID != nil {
		if i, ok := l.byID[id]; ok {
			return l.calls[i]
		}
		return nil
	}
	for i := len(l.calls) - 1; i >= 0; i-- {
		if c := l.calls[i]; c.id == id {
			return c
		}
	}
	return nil
}

// addCall adds a call.
func (l *Log) addCall(c *callEntry) {
	n := len(l.calls)
	l.calls = append(l.calls, c)
	if l.byID == nil {
		if n < fewCalls {
			return
		}
		l.byID, n = make(map[string]int, 2*n), 0
	}
	for ; n < len(l.calls); n++ {
		l.byID[l.calls[n].id] = n
	}
}

// addParts adds the calls and the responses of an event.
func (l *Log) addParts(e *entry, of *Event) {
	call, response := &e.calls, &e.answers // where the next one goes
	for i := range of.Parts {
		part := &of.Parts[i]
		switch {
		case part.ID == "":
		case part.Kind == PartCall:
			c := &callEntry{id: part.ID, event: e, part: i, waits: slices.Contains(of.LongRunning, part.ID)}
			c.asks = c.waits && of.asks(part.ID)
			l.addCall(c)
			*call, call = c, &c.next
		case part.Kind == PartResponse:
			a := &answer{event: e, part: i, number: l.answers}
			l.answers++
			if c := l.callOf(part.ID); c != nil && !c.event.undone {
				a.call, a.before, c.last = c, c.last, a
				e.low = min(e.low, c.event.place)
			}
			*response, response = a, &a.next
		}
	}
}

// asks reports whether an event asks somebody to confirm the call of an id.
func (e *Event) asks(id string) bool {
	for i := range e.Actions.Confirmations {
		if c := &e.Actions.Confirmations[i]; c.Name == id {
			return value.KindOf(c.Value) == value.KindMap
		}
	}
	return false
}

// compact notes the events that one stands for, if it does.
func (l *Log) compact(e *entry, compaction []byte) {
	first, last, _ := readCompaction(compaction)
	from, ok := l.find(first)
	to, found := l.find(last)
	if e.compacts = ok && found && from <= to && to < e.place; e.compacts {
		l.covers = append(l.covers, cover{e, from, to})
		e.low = 0
	}
}

// find returns the place of the event with an id.
func (l *Log) find(id string) (int, bool) {
	if l.events == nil {
		l.events = make(map[string]int, len(l.entries))
	}
	for ; l.indexed < len(l.entries); l.indexed++ {
		of := l.entries[l.indexed].id()
		if _, twice := l.events[of]; !twice {
			l.events[of] = l.indexed
		}
	}
	i, ok := l.events[id]
	return i, ok
}

// delta is what an event changes of the state, nil for nothing.
func (e *entry) delta() []byte {
	actions, _ := value.Get(e.body, eventMembers[eventActions])
	delta, _ := value.Get(actions, actionMembers[actionState])
	return delta
}

func (e *entry) id() string {
	s, _ := value.GetString(e.body, eventMembers[eventID])
	return string(s)
}

// undo hides the events from the first of an invocation to the given one, the last.
func (l *Log) undo(last *entry, invocation string) {
	from, ok := l.invocations[invocation]
	if !ok {
		return
	}
	low := min(last.low, from)
	n := len(l.shown)
	for ; n > 0 && l.shown[n-1].place >= from; n-- {
		e := l.shown[n-1]
		e.undone = true
		if first, ok := l.invocations[e.invocation]; ok && first >= from {
			delete(l.invocations, e.invocation)
		}
		for a := e.answers; a != nil; a = a.next {
			if a.call != nil {
				low = min(low, a.call.event.place)
			}
		}
		if e.compacts {
			l.covers, low = l.covers[:len(l.covers)-1], 0
		}
	}
	l.shown = l.shown[:n]
	last.low = low
}

// CallState is what became of a function call.
type CallState uint8

// States of a function call.
const (
	CallUnknown   CallState = iota // no event of the log asks anybody outside for it
	CallPending                    // it waits for an answer from outside
	CallConfirmed                  // it has what the user was asked for, but no result
	CallDone                       // it has its answer
)

// Call is a function call of a log.
type Call struct {
	ID, Name     string
	Args         []byte // map; as they were shown, if confirmation was asked
	Event        int    // its place in the log
	Author       string // of the event
	InvocationID string // of the event
	Branch       string // of the event
	Confirmation []byte // what was asked, a map; nil if it waits for its response itself
	Answer       []byte // a map: what the user has said who was asked to confirm it; nil for nothing yet
}

// HasCall reports whether any event of the log has a function call with the id, undone ones included.
func (l *Log) HasCall(id string) bool { return l.callOf(id) != nil }

// Call returns a function call and what became of it. One that waits for an answer from outside is pending until the
// user responds to it, whatever its agent says in between. One that is unknown is nil.
func (l *Log) Call(id string) (*Call, CallState) {
	c := l.callOf(id)
	state := CallDone
	switch {
	case c == nil || c.event.undone:
		return nil, CallUnknown
	case c.isAnswered():
		if !c.hasResult() {
			state = CallConfirmed
		}
	case c.waits:
		state = CallPending
	default:
		return nil, CallUnknown
	}
	return c.call(), state
}

// Confirmed adds calls that the user was asked about and has answered, without a result: what was to run them has not
// come to its end. They are those of the event whose calls there are, or else of the first one with some. some reports
// whether a call is wanted.
func (l *Log) Confirmed(calls []*Call, some func(c *Call) bool) []*Call {
	for _, c := range l.calls {
		if len(calls) > 0 && c.event.place != calls[0].Event {
			continue
		}
		if !c.asks || c.event.undone || c.hasResult() || !c.isAnswered() {
			continue
		}
		if call := c.call(); some(call) {
			calls = append(calls, call)
		}
	}
	return calls
}

// Waits reports whether a call of an invocation has no result that was made in a branch or inside of it. some reports
// whether those of an author count.
func (l *Log) Waits(invocation, branch string, some func(author string) bool) bool {
	for _, c := range l.calls {
		e := c.event
		if c.waits && e.invocation == invocation && !e.undone && around(branch, e.branch) && !c.hasResult() && some(e.author) {
			return true
		}
	}
	return false
}

// Within calls fn for the events of the i-th's invocation that were made in a branch or inside of it, oldest first.
// later reports whether one stands behind the i-th.
func (l *Log) Within(i int, branch string, fn func(e *Event, later bool)) {
	invocation := l.entries[i].invocation
	for _, e := range l.shown {
		if e.invocation == invocation && around(branch, e.branch) {
			fn(e.read(), e.place > i)
		}
	}
}

func (c *callEntry) call() *Call {
	e := c.event
	part := &e.parts()[c.part]
	call := &Call{
		ID: c.id, Name: part.Name, Args: part.Value, Event: e.place, Author: e.author, InvocationID: e.invocation, Branch: e.branch,
	}
	actions, _ := value.Get(e.body, eventMembers[eventActions])
	asked, _ := value.Get(actions, actionMembers[actionConfirmations])
	if call.Confirmation, _ = value.Get(asked, c.id); value.KindOf(call.Confirmation) != value.KindMap {
		call.Confirmation = nil
	}
	if args, _ := value.Get(call.Confirmation, "args"); value.KindOf(args) == value.KindMap {
		call.Args = args
	}
	for a := c.last; a != nil; a = a.before {
		if a.confirms() && !a.event.undone {
			call.Answer = a.event.parts()[a.part].Value
		}
	}
	return call
}

// parts reads the content of an event.
func (e *entry) parts() []Part {
	_, parts, _ := readContent(e.content, false)
	return parts
}

// isAnswered reports whether a call has its answer: one of the user if it waits for that, any otherwise.
func (c *callEntry) isAnswered() bool {
	for a := c.last; a != nil; a = a.before {
		if e := a.event; !e.undone && (!c.waits || e.author == "user") {
			return true
		}
	}
	return false
}

// hasResult reports whether a call has what its agent's model reads: one that asks needs more than its confirmation.
func (c *callEntry) hasResult() bool { return c.isAnswered() && (!c.asks || c.lastAnswer() != nil) }

// lastAnswer returns the last answer to a call, leaving out confirmations and what an event undid; nil without one.
func (c *callEntry) lastAnswer() *answer {
	a := c.last
	for a != nil && (a.event.undone || a.confirms()) {
		a = a.before
	}
	return a
}

// confirms reports whether an answer says whether its call may run: whether it is the user's first one to a call that
// asks.
func (a *answer) confirms() bool {
	if a.call == nil || !a.call.asks || a.event.author != "user" {
		return false
	}
	for a = a.before; a != nil; a = a.before {
		if e := a.event; !e.undone && e.author == "user" {
			return false
		}
	}
	return true
}

// Waiting reports whether a function call of the i-th event has no result, and waits for one or for a confirmation.
func (l *Log) Waiting(i int) bool {
	for c := l.entries[i].calls; c != nil; c = c.next {
		if c.waits && !c.hasResult() {
			return true
		}
	}
	return false
}

// LastAuthor is the agent of the last event that is an agent's and was not undone; empty if there is none.
func (l *Log) LastAuthor() string {
	for k := len(l.shown) - 1; k >= 0; k-- {
		if author := l.shown[k].author; author != "user" && author != "system" {
			return author
		}
	}
	return ""
}
