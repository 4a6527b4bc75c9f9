package invocation

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/session"
)

// DefaultModelCalls is the bound on the model calls of an invocation that names none.
const DefaultModelCalls = 500

// Input is what an invocation begins with.
type Input struct {
	Session, User string
	Log           *session.Log // the session's events
	State         []byte       // map of its state, names with their scopes
	Message       []byte       // content, nil for none
	Options       []byte       // map, nil for none
	Shown         []Shown
}

// Run is an invocation, or the run of an agent that is a tool in one, which has a log of its own.
type Run struct {
	*shared
	setting
	id string // of the invocation, in its events
	Input
	first  int    // the log's length at the start
	unsaid bool   // the user's message could not be stored
	failed Failed // overtake
	asked  []byte // content that an agent that is a tool answers; nil for the invocation

	outer      *Run // that the run's agent is a tool in; nil for none
	rewind     string
	compaction compaction
}

// setting is what all runs of an invocation have from its start on.
type setting struct {
	_ [0]func() // no two are compared: that would take code

	team     *Team
	turn     *runtime.Turn
	world    World
	state    *session.State
	maxCalls int
}

// shared is what they have in common as it changes.
type shared struct {
	calls int // of models
	shown []Shown
	text  []byte        // room for instructions
	write session.Write // the last one

	busy    bool // an event is being stored or delivered
	stopped error
	// Why an event could not be stored that the invocation had gone ahead of.
	overtaken error
	lastRun   uint32
	given     int        // how often callbacks have handed over, or answered in place of a model
	called    *Callback  // the last one
	running   *generator // the last one of those that run
	steps     *step      // the last one of those that are open
}

// New prepares an invocation of a team. turn is its clock; its id is the invocation's.
func New(team *Team, turn *runtime.Turn, world World, in *Input) (*Run, error) {
	state, err := session.NewState(in.State)
	if err != nil {
		return nil, err
	}
	r := &Run{
		Input: *in, setting: setting{team: team, turn: turn, world: world, state: state, maxCalls: DefaultModelCalls}, shared: &shared{shown: in.Shown},
		id: turn.ID, first: in.Log.Len(),
	}
	r.failed = r.overtake
	return r, r.configure(in.Options)
}

func (r *Run) configure(options []byte) error {
	if options == nil {
		return nil
	}
	if value.KindOf(options) != value.KindMap {
		return session.New(session.InvalidInvocation, "options", "must be a map")
	}
	var c value.Cursor
	for c.Over(options); c.Next(); {
		name := string(c.Key)
		text, isText := value.String(c.Value)
		n, _ := value.Int(c.Value)
		switch {
		case name == "maxModelCalls" && n > 0 && n < 1<<31:
			r.maxCalls = int(n)
		case name == "compaction" && r.compaction.read(c.Value):
		case name == "rewindBeforeInvocationId" && isText:
			if r.rewind = string(text); r.rewind == "" {
				return session.New(session.InvocationNotFound, name, `""`)
			}
		default:
			return session.New(session.InvalidInvocation, name, "is unknown, or has the wrong type")
		}
	}
	return nil
}

// Run runs the invocation to its end. It fails with the error of an agent, of the store, or of host code, and with
// E_INVOCATION_STOPPED if its caller has left.
func (r *Run) Run(task runtime.Task) error {
	if r.rewind != "" {
		return r.goBack(task)
	}
	agent, resumed, err := r.begin(task)
	if err != nil {
		return err
	}
	err = r.answer(task, agent, resumed)
	waits := err == pause
	if waits {
		err = nil
	}
	r.world.Stored(task)
	switch {
	case r.unsaid:
		return r.overtaken
	case r.overtaken != nil:
		err = r.overtaken
	case err == nil:
		err = r.stopped
	}
	for i := range r.team.Plugins {
		if _, failure := r.plugin(task, i, AfterRun, nil, nil, &session.Actions{}); failure != nil && err == nil {
			err = failure
		}
	}
	if err == nil && !waits && !r.turn.Aborted() {
		r.compact(task)
	}
	return err
}

// begin stores the user's message and chooses the agent that answers it.
func (r *Run) begin(task runtime.Task) (agent *Agent, resumed []*session.Call, err error) {
	if r.Message == nil {
		if agent, resumed = r.interrupted(); agent == nil {
			agent = r.choose()
		}
		return agent, resumed, nil
	}
	e := &session.Event{Author: "user", Role: "user", HasContent: true}
	message := r.Message
	for i := range r.team.Plugins {
		v, err := r.plugin(task, i, UserMessage, nil, message, &e.Actions)
		if err != nil {
			return nil, nil, err
		}
		if v != nil {
			_, parts, err := session.ParseContent(v)
			if err == nil && len(parts) == 0 {
				err = session.New(session.InvalidEvent, "parts", "must not be empty")
			}
			if err != nil {
				return nil, nil, r.wrong(err, "")
			}
			message = v
		}
	}
	parts, err := session.ParseMessage(message)
	if err != nil {
		return nil, nil, err
	}
	if agent, resumed, err = r.answered(parts); err != nil {
		return nil, nil, err
	}
	e.Parts = parts
	if len(resumed) > 0 {
		e.Branch = resumed[0].Branch
	}
	unsaid := func(author string, err error) {
		r.unsaid = true
		r.overtake(author, err)
	}
	if err := r.store(task, e, false, unsaid); err != nil {
		return nil, nil, err
	}
	if agent == nil {
		agent = r.choose()
	}
	return agent, resumed, nil
}

// choose returns the agent that answered last, if it can go on, and otherwise the root.
func (r *Run) choose() *Agent {
	if a := r.team.Find(r.Log.LastAuthor()); a != nil && a.keeps() {
		return a
	}
	return r.team.Root
}

// answer lets plugins answer, or the agent.
func (r *Run) answer(task runtime.Task, agent *Agent, resumed []*session.Call) error {
	for i := range r.team.Plugins {
		var actions session.Actions
		v, err := r.plugin(task, i, BeforeRun, nil, nil, &actions)
		if err != nil {
			return err
		}
		if v == nil && actions.Empty() {
			continue
		}
		e, err := r.contentEvent(agent.Name, v, &actions)
		if err != nil {
			return err
		}
		if err := r.emit(task, e, true); err != nil || v != nil {
			return err
		}
	}
	if len(resumed) > 0 {
		return r.resume(task, agent, resumed)
	}
	return r.run(task, &scope{agent: agent, run: r.nextRun(), out: r.emit})
}

// contentEvent is an event of a content that the host code gave which was called last, nil for none, and of actions.
func (r *Run) contentEvent(author string, content []byte, actions *session.Actions) (*session.Event, error) {
	e := &session.Event{Author: author}
	e.Actions.Merge(actions)
	if content == nil {
		return e, nil
	}
	role, parts, err := session.ParseContent(content)
	if err != nil {
		return nil, r.wrong(err, "")
	}
	if role == "" {
		role = "model"
	}
	e.Role, e.Parts, e.HasContent = role, parts, true
	return e, nil
}

func (r *Run) nextRun() uint32 {
	r.lastRun++
	return r.lastRun
}

// goBack stores the event that restores the state before an invocation and hides it and what followed.
func (r *Run) goBack(task runtime.Task) error {
	delta, err := r.Log.RewindBefore(r.rewind)
	if err != nil {
		return err
	}
	e := &session.Event{Author: "user"}
	e.Actions.StateDelta, e.Actions.RewindBefore = delta, r.rewind
	return r.store(task, e, true, nil)
}

// GetState returns a value of the state, nil if there is none.
func (r *Run) GetState(name string) []byte { return r.state.Get(name) }

// State are the values of the state by name, in the order of the names' bytes. The slice must not be changed, and holds
// until the state does.
func (r *Run) State() []session.Member { return r.state.Members() }

// halted is why nothing of the invocation happens any more; nil if something may.
func (r *Run) halted() error {
	if r.stopped == nil && r.turn.Aborted() {
		e := fault.Plain("the invocation was aborted")
		e.Name, e.Abort = "AbortError", true
		return e
	}
	return r.stopped
}
