package session

import (
	"slices"

	"github.com/turncore/turncore/abi/value"
)

// Log is a session's stored events, oldest first, and what they mean together. The zero value is empty. It holds the
// events' bytes as they were given, and an index of them.
type Log struct {
	entries []entry
	shown   []int32 // places of the events that no later one undid, ascending
	calls   []callEntry
	answers []answer
	covers  []cover // compactions that no later event undid

	invocations map[string]int32 // place of the first event of each, among those shown, once a rewind has asked
	byID        map[string]int32 // place of the last call with an id, once there are many
	events      map[string]int32 // place of each event by id, once a compaction has asked
	indexed     int              // how many entries are in events

	views []*projection

	// Salt tells the marks of the log's contents from those of other logs whose contents the same agent is shown.
	Salt uint64
}

// entry is what the log knows of an event.
type entry struct {
	body                       []byte
	content, delta             []byte // parts of the body, nil for none
	author, invocation, branch string
	at                         int64
	call, answer               int32 // the first of each that it has, in the log's lists
	calls, answers             int32
	low                        int32 // the first event of which a model is shown something else because of this one
	undone                     bool
	compacts                   bool
}

// callEntry is a function call.
type callEntry struct {
	id          string
	event, part int32
	last        int32 // the last answer to it, -1 for none
	waits       bool  // it waits for an answer from outside
	asks        bool  // the first answer of the user is no response: it says whether the call may run
}

// answer is a function response.
type answer struct {
	event, part int32
	call        int32 // -1 if no call before it has its id
	before      int32 // the answer before it to the same call, -1 for none
}

// cover is a compaction: the content of an event stands for a range of events.
type cover struct{ event, first, last int32 }

// Len is the number of events.
func (l *Log) Len() int { return len(l.entries) }

// Body returns the bytes of the i-th event.
func (l *Log) Body(i int) []byte { return l.entries[i].body }

// At reads the i-th event.
func (l *Log) At(i int) *Event {
	e := &Event{}
	_ = e.read(l.entries[i].body, false)
	return e
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

// AddEvent adds an event that is stored as body, which Append has made of it.
func (l *Log) AddEvent(e *Event, body []byte) {
	r := reading{Event: e, entry: entry{body: body, at: e.Timestamp, author: e.Author, branch: e.Branch}}
	l.share(&r.entry)
	r.invocation = e.InvocationID
	if n := len(l.entries); n > 0 && l.entries[n-1].invocation == r.invocation {
		r.invocation = l.entries[n-1].invocation // most are of the invocation of the one before
	}
	if e.HasContent {
		r.content, _ = value.Get(body, eventMembers[eventContent])
	}
	if len(e.Actions.StateDelta) > 0 {
		actions, _ := value.Get(body, eventMembers[eventActions])
		r.delta, _ = value.Get(actions, actionMembers[actionState])
	}
	l.admit(&r)
}

// reading is an event that becomes an entry.
type reading struct {
	*Event
	entry
}

// share gives an entry the strings of events shortly before that have the same author and branch, as most have.
func (l *Log) share(e *entry) {
	n := len(l.entries)
	for k := n - 1; k >= 0 && k >= n-8; k-- {
		if of := &l.entries[k]; of.author == e.author && of.branch == e.branch {
			e.author, e.branch = of.author, of.branch
			return
		}
	}
}

// admit adds an event that was read without a flaw.
func (l *Log) admit(r *reading) {
	if r.Actions.RewindBefore != "" {
		l.index()
	}
	i := int32(len(l.entries))
	r.low, r.call, r.answer = i, int32(len(l.calls)), int32(len(l.answers))
	for p := range r.Parts {
		if part := &r.Parts[p]; part.ID != "" {
			l.admitPart(r, part, i, int32(p))
		}
	}
	r.calls, r.answers = int32(len(l.calls))-r.call, int32(len(l.answers))-r.answer
	if l.entries == nil {
		l.entries, l.shown = make([]entry, 0, 8), make([]int32, 0, 8)
	}
	l.entries = append(l.entries, r.entry)
	l.shown = append(l.shown, i)
	if r.Actions.Compaction != nil {
		first, last, _ := readCompaction(r.Actions.Compaction)
		l.admitCompaction(i, first, last)
	}
	if r.Actions.RewindBefore != "" {
		l.undo(i, r.Actions.RewindBefore)
	}
	if l.invocations != nil && !l.entries[i].undone {
		l.begin(i)
	}
}

// index finds where invocations begin.
func (l *Log) index() {
	if l.invocations != nil {
		return
	}
	l.invocations = make(map[string]int32)
	for _, i := range l.shown {
		l.begin(i)
	}
}

// begin notes the i-th event if it is the first of its invocation.
func (l *Log) begin(i int32) {
	invocation := l.entries[i].invocation
	if _, known := l.invocations[invocation]; !known && invocation != "" {
		l.invocations[invocation] = i
	}
}

// fewCalls is how many calls are looked through for an id.
const fewCalls = 16

// callOf is the place of the last call with an id.
func (l *Log) callOf(id string) (int32, bool) {
	if l.byID != nil {
		c, ok := l.byID[id]
		return c, ok
	}
	for c := len(l.calls) - 1; c >= 0; c-- {
		if l.calls[c].id == id {
			return int32(c), true
		}
	}
	return 0, false
}

// addCall adds a call.
func (l *Log) addCall(c callEntry) {
	l.calls = append(l.calls, c)
	switch n := len(l.calls); {
	case l.byID != nil:
		l.byID[c.id] = int32(n - 1)
	case n > fewCalls:
		l.byID = make(map[string]int32, 2*n)
		for i := range l.calls {
			l.byID[l.calls[i].id] = int32(i)
		}
	}
}

// asks reports whether an event asks somebody to confirm the call of an id.
func (r *reading) asks(id string) bool {
	for i := range r.Actions.Confirmations {
		if c := &r.Actions.Confirmations[i]; c.Name == id {
			return value.KindOf(c.Value) == value.KindMap
		}
	}
	return false
}

func (l *Log) admitPart(r *reading, part *Part, event, place int32) {
	switch part.Kind {
	case PartCall:
		waits := slices.Contains(r.LongRunning, part.ID)
		l.addCall(callEntry{id: part.ID, event: event, part: place, last: -1, waits: waits, asks: waits && r.asks(part.ID)})
	case PartResponse:
		a := answer{event: event, part: place, call: -1, before: -1}
		if c, ok := l.callOf(part.ID); ok && !l.undone(l.calls[c].event) {
			a.call, a.before = c, l.calls[c].last
			l.calls[c].last = int32(len(l.answers))
			r.low = min(r.low, l.calls[c].event)
		}
		l.answers = append(l.answers, a)
	}
}

// undone reports whether a later event undid the i-th. The event that is being added is not.
func (l *Log) undone(i int32) bool { return int(i) < len(l.entries) && l.entries[i].undone }

func (l *Log) admitCompaction(i int32, first, last string) {
	from, ok := l.find(first)
	to, found := l.find(last)
	e := &l.entries[i]
	if e.compacts = ok && found && from <= to && to < i; e.compacts {
		l.covers = append(l.covers, cover{i, from, to})
		e.low = 0
	}
}

// find returns the place of the event with an id.
func (l *Log) find(id string) (int32, bool) {
	if l.events == nil {
		l.events = make(map[string]int32, len(l.entries))
	}
	for ; l.indexed < len(l.entries); l.indexed++ {
		s, _ := value.GetString(l.entries[l.indexed].body, eventMembers[eventID])
		if _, twice := l.events[string(s)]; !twice {
			l.events[string(s)] = int32(l.indexed)
		}
	}
	i, ok := l.events[id]
	return i, ok
}

// undo hides the events from the first of an invocation to the i-th, the last.
func (l *Log) undo(i int32, invocation string) {
	from, ok := l.invocations[invocation]
	if !ok {
		return
	}
	low := min(l.entries[i].low, from)
	n := len(l.shown)
	for ; n > 0 && l.shown[n-1] >= from; n-- {
		e := &l.entries[l.shown[n-1]]
		e.undone = true
		if first, ok := l.invocations[e.invocation]; ok && first >= from {
			delete(l.invocations, e.invocation)
		}
		for _, a := range l.answers[e.answer : e.answer+e.answers] {
			if a.call >= 0 {
				low = min(low, l.calls[a.call].event)
			}
		}
		if e.compacts {
			l.covers, low = l.covers[:len(l.covers)-1], 0
		}
	}
	l.shown = l.shown[:n]
	l.entries[i].low = low
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
func (l *Log) HasCall(id string) bool {
	_, ok := l.callOf(id)
	return ok
}

// Call returns a function call and what became of it. One that waits for an answer from outside is pending until the
// user responds to it, whatever its agent says in between. One that is unknown is nil.
func (l *Log) Call(id string) (*Call, CallState) {
	i, ok := l.callOf(id)
	if !ok || l.undone(l.calls[i].event) {
		return nil, CallUnknown
	}
	c := &l.calls[i]
	state := CallDone
	if !l.isAnswered(c) {
		if state = CallPending; !c.waits {
			return nil, CallUnknown
		}
	} else if !l.hasResult(c) {
		state = CallConfirmed
	}
	return l.call(c), state
}

// Confirmed are the calls of the first event with some that the user was asked about and has answered, without a
// result: what was to run them has not come to its end. some reports whether a call is wanted.
func (l *Log) Confirmed(some func(c *Call) bool) (calls []*Call) {
	for i := range l.calls {
		c := &l.calls[i]
		if len(calls) > 0 && int(c.event) != calls[0].Event {
			break
		}
		if !c.asks || l.undone(c.event) || l.hasResult(c) || !l.isAnswered(c) {
			continue
		}
		if call := l.call(c); some(call) {
			calls = append(calls, call)
		}
	}
	return calls
}

// Waits reports whether a call of an invocation has no result that was made in a branch or inside of it. some reports
// whether those of an author count.
func (l *Log) Waits(invocation, branch string, some func(author string) bool) bool {
	for i := range l.calls {
		c := &l.calls[i]
		e := &l.entries[c.event]
		if c.waits && e.invocation == invocation && !e.undone && around(branch, e.branch) && !l.hasResult(c) && some(e.author) {
			return true
		}
	}
	return false
}

// Before calls fn for the events of an invocation in front of the i-th that were made in a branch or inside of it,
// oldest first.
func (l *Log) Before(i int, branch string, fn func(e *Event)) {
	invocation := l.entries[i].invocation
	for _, k := range l.shown {
		if e := &l.entries[k]; int(k) < i && e.invocation == invocation && around(branch, e.branch) {
			fn(l.At(int(k)))
		}
	}
}

func (l *Log) call(c *callEntry) *Call {
	e := &l.entries[c.event]
	part := &l.parts(c.event)[c.part]
	call := &Call{
		ID: c.id, Name: part.Name, Args: part.Value, Event: int(c.event), Author: e.author, InvocationID: e.invocation, Branch: e.branch,
	}
	actions, _ := value.Get(e.body, eventMembers[eventActions])
	asked, _ := value.Get(actions, actionMembers[actionConfirmations])
	if call.Confirmation, _ = value.Get(asked, c.id); value.KindOf(call.Confirmation) != value.KindMap {
		call.Confirmation = nil
	}
	if args, _ := value.Get(call.Confirmation, "args"); value.KindOf(args) == value.KindMap {
		call.Args = args
	}
	for a := c.last; a >= 0; a = l.answers[a].before {
		if of := &l.answers[a]; l.confirms(a) && !l.entries[of.event].undone {
			call.Answer = l.parts(of.event)[of.part].Value
		}
	}
	return call
}

// parts reads the content of an event.
func (l *Log) parts(event int32) []Part {
	_, parts, _ := readContent(l.entries[event].content, nil, false)
	return parts
}

// isAnswered reports whether a call has its answer: one of the user if it waits for that, any otherwise.
func (l *Log) isAnswered(c *callEntry) bool {
	for a := c.last; a >= 0; a = l.answers[a].before {
		if e := &l.entries[l.answers[a].event]; !e.undone && (!c.waits || e.author == "user") {
			return true
		}
	}
	return false
}

// hasResult reports whether a call has what its agent's model reads: one that asks needs more than its confirmation.
func (l *Log) hasResult(c *callEntry) bool {
	if !l.isAnswered(c) {
		return false
	}
	return !c.asks || l.lastAnswer(c) >= 0
}

// lastAnswer returns the last answer to a call that no event undid and that is no confirmation, -1 if there is none.
func (l *Log) lastAnswer(c *callEntry) int32 {
	a := c.last
	for a >= 0 && (l.entries[l.answers[a].event].undone || l.confirms(a)) {
		a = l.answers[a].before
	}
	return a
}

// confirms reports whether an answer says whether its call may run: whether it is the user's first one to a call that
// asks.
func (l *Log) confirms(a int32) bool {
	of := &l.answers[a]
	if of.call < 0 || !l.calls[of.call].asks || l.entries[of.event].author != "user" {
		return false
	}
	for a = of.before; a >= 0; a = l.answers[a].before {
		if e := &l.entries[l.answers[a].event]; !e.undone && e.author == "user" {
			return false
		}
	}
	return true
}

// Waiting reports whether a function call of the i-th event has no result, and waits for one or for a confirmation.
func (l *Log) Waiting(i int) bool {
	e := &l.entries[i]
	for c := e.call; c < e.call+e.calls; c++ {
		if l.calls[c].waits && !l.hasResult(&l.calls[c]) {
			return true
		}
	}
	return false
}

// LastAuthor is the agent of the last event that is an agent's and was not undone; empty if there is none.
func (l *Log) LastAuthor() string {
	for k := len(l.shown) - 1; k >= 0; k-- {
		if author := l.entries[l.shown[k]].author; author != "user" && author != "system" {
			return author
		}
	}
	return ""
}
