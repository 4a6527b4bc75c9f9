package guest

import (
	"bytes"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/invocation"
	"github.com/turncore/turncore/runtime/session"
)

// Hosts and the guest bound the state alike: the difference either way is not negative.
const _ = uint(session.MaxState-abi.MaxState) + uint(abi.MaxState-session.MaxState) +
	uint(session.MaxName-abi.MaxStateName) + uint(abi.MaxStateName-session.MaxName) +
	uint(session.MaxValue-abi.MaxStateValue) + uint(abi.MaxStateValue-session.MaxValue)

// sessions is the front of sessions and invocations.
type sessions struct {
	in    *Instance
	teams map[uint32]*invocation.Team // by runner; nil before the first
	logs  map[uint32]*eventLog        // by history; nil before the first

	noConfig runtime.Config  // of the turns below invocations: each agent has its own
	asked    runtime.Encoded // the last effect of an invocation
}

// running is an invocation, and the log that it began with.
type running struct {
	run *invocation.Run
	log *eventLog
}

// eventLog is a session's events as the host tells them, and those that an invocation has appended since.
type eventLog struct {
	log   *session.Log
	told  int // events that the host knows that the log has; it may have more
	bytes int
}

// ServeSessions gives the module its second front door, before the first step.
func (in *Instance) ServeSessions() {
	in.front = &sessions{in: in}
	in.more |= abi.FeatureSessions
}

func (s *sessions) take(op abi.Op, r *abi.Reader) error {
	switch op {
	case abi.OpOpenAgents:
		var f abi.OpenAgents
		if f.Decode(r); r.OK() {
			s.open(&f)
		}
	case abi.OpStartInvocation:
		var f abi.StartInvocation
		if f.Decode(r); r.OK() {
			return s.start(&f)
		}
	default:
		return fault.New(fault.ABIUnknownFrame, "op "+itoa(int64(op)))
	}
	return nil
}

func (s *sessions) open(f *abi.OpenAgents) {
	team, err := s.team(f)
	if err == nil && (f.Runner == 0 || s.teams[f.Runner] != nil || s.in.runners[f.Runner] != nil) {
		err = noTarget("runner ", f.Runner, " is 0 or already open")
	}
	if err == nil {
		if s.teams == nil {
			s.teams = make(map[uint32]*invocation.Team)
		}
		s.teams[f.Runner] = team
	}
	(&turn{in: s.in}).reply(f.Call, nil, err)
}

func (s *sessions) team(f *abi.OpenAgents) (*invocation.Team, error) {
	definitions := make([]invocation.Definition, len(f.Agents))
	for i := range f.Agents {
		d := &f.Agents[i]
		if d.Number != uint32(i+1) {
			return nil, fault.New(fault.ABIMalformedFrame, "OpenAgents: an agent's number is its place in the list")
		}
		config := s.in.runners[d.Runner]
		if config == nil && d.Runner != 0 {
			return nil, noTarget("runner ", d.Runner, "")
		}
		definitions[i] = invocation.Definition{
			Kind: invocation.Kind(d.Kind), Name: d.Name, Description: d.Description, Config: config, Children: d.Children,
			Options: valueOf(d.Options), Hooks: d.Hooks,
		}
		if config != nil {
			if e, ok := config.Executor.(chatExecutor); ok {
				definitions[i].Model = (*chatModel)(e.executor)
			}
		}
	}
	plugins := make([]invocation.Plugin, len(f.Plugins))
	for i := range f.Plugins {
		plugins[i] = invocation.Plugin(f.Plugins[i])
	}
	return invocation.NewTeam(f.App, f.Root, definitions, plugins)
}

func (s *sessions) close(runner uint32) { delete(s.teams, runner) }

// tell takes events of a session. Those that an invocation of this instance has appended are there already; if others
// came between, the log begins anew, and the invocations that have the old one keep it.
func (s *sessions) tell(f *abi.History, data []byte) error {
	if f.History == 0 || s.in.histories[f.History] != nil || uint64(f.Count) > uint64(len(data)) {
		return fault.New(fault.ABIMalformedFrame, "History: number, collection, count or block")
	}
	l := s.logs[f.History]
	if l == nil {
		l = &eventLog{log: &session.Log{}}
		if s.logs == nil {
			s.logs = make(map[uint32]*eventLog)
		}
		s.logs[f.History] = l
	}
	rest := clone(data)
	for range f.Count {
		after, err := value.Skip(rest, value.MaxDepth)
		if err != nil {
			return fault.New(fault.ABIMalformedFrame, "History: an event is malformed")
		}
		body := rest[: len(rest)-len(after) : len(rest)-len(after)]
		rest = after
		if l.told < l.log.Len() && !bytes.Equal(l.log.Body(l.told), body) {
			if err := l.begin(l.told); err != nil {
				return err
			}
		}
		if l.told == l.log.Len() {
			if err := l.log.Add(body); err != nil {
				return err
			}
		}
		l.told++
	}
	s.hold(l, len(data))
	return nil
}

// begun notes that the host knows that a log has the first count events.
func (s *sessions) begun(history, count uint32) {
	for l := s.logs[history]; l != nil && l.told < int(count); l.told++ {
		s.hold(l, len(l.log.Body(l.told)))
	}
}

// hold counts bytes that a log holds.
//
//go:noinline
func (s *sessions) hold(l *eventLog, n int) {
	l.bytes += n
	s.in.quota.AddHistory(n)
}

// begin makes a log of the first n events.
func (l *eventLog) begin(n int) error {
	log := &session.Log{}
	for i := range n {
		if err := log.Add(l.log.Body(i)); err != nil {
			return err
		}
	}
	l.log = log
	return nil
}

func (s *sessions) drop(history uint32) {
	if l := s.logs[history]; l != nil {
		s.hold(l, -l.bytes)
		delete(s.logs, history)
	}
}

// log is that of an invocation that begins with the first count events of a history.
func (s *sessions) log(history, count uint32) (*eventLog, error) {
	l := s.logs[history]
	switch {
	case history == 0 && count == 0:
		return &eventLog{log: &session.Log{}}, nil
	case l == nil || int(count) > l.log.Len():
		return nil, noTarget("StartInvocation: history ", history, " has not so many events")
	case int(count) == l.log.Len():
		return l, nil
	}
	of := &eventLog{log: l.log}
	return of, of.begin(int(count))
}

func (s *sessions) start(f *abi.StartInvocation) error {
	in, team := s.in, s.teams[f.Runner]
	if f.Turn == 0 || in.turns[f.Turn] != nil || team == nil {
		return noTarget("StartInvocation: turn ", f.Turn, " is 0 or running, or runner "+itoa(int64(f.Runner))+" is not open")
	}
	if len(f.Seed) != abi.SeedSize {
		return badSeed("StartInvocation", f.Seed)
	}
	log, err := s.log(f.History, f.Count)
	if err != nil {
		return err
	}
	t := &turn{in: in, number: f.Turn}
	t.effects = t.few[:0]
	run, err := runtime.NewTurn(&s.noConfig, runtime.Input{
		ID: f.ID, Now: f.Now, Seed: f.Seed, Aborted: f.Aborted, Quota: &in.quota,
	}, (*quiet)(t))
	if err != nil {
		return err
	}
	t.run = run
	s.begun(f.History, f.Count)
	shown := make([]invocation.Shown, len(f.Shown))
	for i := range f.Shown {
		shown[i] = invocation.Shown(f.Shown[i])
	}
	r, err := invocation.New(team, run, (*world)(t), &invocation.Input{
		Session: f.Session, User: f.User, Log: log.log, State: valueOf(f.State), Message: valueOf(f.Message), Options: valueOf(f.Options),
		Shown: shown,
	})
	if err != nil {
		t.end(runtime.StatusRefused, 0, err)
		return nil
	}
	in.turns[f.Turn], t.served = t, &running{r, log}
	in.spawn(t, (*invoked)(t), nil)
	return nil
}

// invoked is the turn below an invocation as the body of a task.
type invoked turn

func (i *invoked) perform(task runtime.Task) {
	err := i.served.(*running).run.Run(task)
	(*turn)(i).end(outcome(i.run, err), 0, err)
}

func (i *invoked) fail(err error) { (*turn)(i).end(runtime.StatusFailed, 0, err) }

func outcome(run *runtime.Turn, err error) runtime.Status {
	switch {
	case err == nil:
		return runtime.StatusAck
	case run.Aborted() || fault.Is(err, session.InvocationStopped):
		return runtime.StatusAborted
	}
	return runtime.StatusFailed
}

// quiet is the world of a turn below an invocation: its events are not those of the invocation.
type quiet turn

// Stream implements runtime.World.
func (*quiet) Stream(runtime.Head, runtime.StreamEvent) {}

// Event implements runtime.World.
func (q *quiet) Event(h runtime.Head, p any) {
	switch p.(type) {
	case *runtime.LogEvent, *runtime.WarningEvent:
		(*turn)(q).Event(h, p)
	}
}

// Sync implements runtime.World.
func (*quiet) Sync(runtime.Sync) {}

// Timer implements runtime.World.
func (q *quiet) Timer(due uint64) { (*turn)(q).Timer(due) }

// Exceeded implements runtime.World.
func (q *quiet) Exceeded() { (*turn)(q).Exceeded() }

// world is what surrounds an invocation.
type world turn

// ask sends an effect and returns its answer. args are encoded, and copied before it waits.
//
//go:noinline
func (w *world) ask(task runtime.Task, kind uint8, context uint32, args []byte) ([]byte, error) {
	return task.Await(w.encoded(kind, context, args))
}

// encoded is an effect whose arguments are encoded. It holds until the next one.
//
//go:noinline
func (w *world) encoded(kind uint8, context uint32, args []byte) *runtime.Encoded {
	e := &w.in.front.(*sessions).asked
	e.Kind, e.Context, e.Args = kind, context, args
	return e
}

// Step implements invocation.World.
func (w *world) Step(number, agent uint32) {
	w.in.append(&abi.Sync{Op: abi.OpSync, Turn: w.number, Context: number, Sync: abi.SyncOpen, Other: int64(agent)})
}

// Append implements invocation.World.
func (w *world) Append(task runtime.Task, write *session.Write, deliver bool, failed invocation.Failed) error {
	w.in.body = appendWrite(w.in.body[:0], write, deliver, failed != nil)
	args := w.in.body
	if failed == nil {
		_, err := w.ask(task, abi.SessionEffectAppend, 0, args)
		return err
	}
	of := w.served.(*running)
	eff, err := (*turn)(w).begin(task.(*coroutine), w.encoded(abi.SessionEffectAppend, 0, args))
	if err != nil {
		return err
	}
	eff.ahead = &appended{of, of.run.Log.Len(), write.Author, failed}
	w.ahead++
	return nil
}

// appended is an event that its agent has gone ahead of.
type appended struct {
	of     *running
	n      int // events in front of it
	author string
	failed invocation.Failed
}

// fail implements aheadOf.
func (a *appended) fail(err error) {
	n, of := a.n, a.of
	if fault.Is(err, session.InvocationStopped) {
		n++ // the caller has the event, and none of those behind it is stored
	}
	if log := of.log.log; log == of.run.Log && n < log.Len() {
		_ = of.log.begin(n) // which it has taken before
	}
	a.failed(a.author, err)
}

// Stored implements invocation.World.
func (w *world) Stored(task runtime.Task) { (*turn)(w).catchUp(task) }

// Model implements invocation.World.
func (w *world) Model(task runtime.Task, context uint32, p *invocation.Part) ([]byte, error) {
	var args []byte
	if p != nil {
		w.in.body = appendPart(w.in.body[:0], p)
		args = w.in.body
	}
	if p == nil || len(args) > int(w.in.limits.Frame)/2 {
		args = value.AppendNil(nil)
	}
	return w.ask(task, abi.SessionEffectModel, context, args)
}

// appendWrite appends a write as the host gets it.
func appendWrite(dst []byte, w *session.Write, deliver, ahead bool) []byte {
	args := abi.AppendArgs{Event: w.Event, Deliver: deliver, Ahead: ahead}
	for i := range w.State {
		c := &w.State[i]
		args.State = append(args.State, abi.StateDelta{Scope: c.Scope, Name: c.Name, Value: c.Value})
	}
	for i := range w.Artifacts {
		args.Artifacts = append(args.Artifacts, abi.ArtifactDelta(w.Artifacts[i]))
	}
	return args.Append(dst)
}

// Deliver implements invocation.World.
func (w *world) Deliver(task runtime.Task, run uint32, event []byte) error {
	args := abi.DeliverArgs{Run: run, Event: event}
	w.in.body = args.Append(w.in.body[:0])
	_, err := w.ask(task, abi.SessionEffectDeliver, 0, w.in.body)
	return err
}

// Callback implements invocation.World.
func (w *world) Callback(task runtime.Task, c *invocation.Callback) ([]byte, error) {
	args := abi.HookArgs{Hook: uint8(c.Hook), Plugin: c.Plugin, Index: c.Index, Agent: c.Agent, Run: c.Run, Value: c.Value}
	return w.ask(task, abi.SessionEffectHook, c.Context, args.Append(nil))
}

// Error implements invocation.World.
func (w *world) Error(err error) []byte { return (*turn)(w).errorBytes(err) }

// Agent implements invocation.World.
func (w *world) Agent(task runtime.Task, agent, run uint32, branch string, input []byte) error {
	args := abi.AgentArgs{Agent: agent, Run: run, Branch: branch, Input: input}
	_, err := w.ask(task, abi.SessionEffectAgent, 0, args.Append(nil))
	return err
}

// Together implements invocation.World.
func (w *world) Together(task runtime.Task, n int, body func(task runtime.Task, i int) error) error {
	return task.(*coroutine).each(n, n, body)
}

// Below implements invocation.World.
func (w *world) Below(task, other runtime.Task) {
	c, t := task.(*coroutine), (*turn)(w)
	other.(*coroutine).above = c
	for _, e := range t.effects {
		if e.owner == c && e.kind == abi.SessionEffectAgent {
			t.passed(e.number)
			return
		}
	}
}

// Stop implements invocation.World.
func (w *world) Stop(task runtime.Task, err error) {
	task.(*coroutine).stopBody(err)
}

// call serves a method in an invocation, or one about sessions outside of any.
func (s *sessions) call(t *turn, f *abi.Call) error {
	r := abi.NewReader(f.Args)
	if f.Turn == 0 {
		v, err := outside(f.Method, r)
		if !r.OK() {
			return malformed(f, r)
		}
		t.reply(f.Call, v, err)
		return nil
	}
	if len(f.Args) > int(t.in.limits.Frame)-callMargin {
		t.reply(f.Call, nil, fault.New(fault.ABILimitExceeded, "arguments of "+itoa(int64(len(f.Args)))+" bytes"))
		return nil
	}
	s.method(t, t.served.(*running).run, f, r)
	if !r.OK() {
		return malformed(f, r)
	}
	return nil
}

// method serves a method in an invocation. Malformed arguments leave an error in r, which reads them.
func (s *sessions) method(t *turn, run *invocation.Run, f *abi.Call, r *abi.Reader) {
	context := f.Context // f must not outlive the call
	var v []byte
	var err error
	var waits func(runtime.Task) ([]byte, error) // for a method that does
	switch f.Method {
	case abi.SessionMethodGetState:
		var a abi.StateKeyArgs
		a.Decode(r)
		v = run.GetState(a.Name)
	case abi.SessionMethodSetState:
		var a abi.SetStateArgs
		if a.Decode(r); r.OK() {
			err = run.SetState(context, a.ExecutionID, a.Name, valueOf(a.Value))
		}
	case abi.SessionMethodStateKeys:
		state := run.State()
		v = value.AppendListHeader(nil, len(state))
		for i := range state {
			v = value.AppendString(v, state[i].Name)
		}
	case abi.SessionMethodYield:
		var a abi.YieldArgs
		a.Decode(r)
		number, event := a.Run, a.Event
		waits = func(task runtime.Task) ([]byte, error) { return run.Yield(task, number, event) }
	case abi.SessionMethodRespond:
		var a abi.RespondArgs
		a.Decode(r)
		response := a.Response
		waits = func(task runtime.Task) ([]byte, error) { return nil, run.Respond(task, context, response) }
	case abi.SessionMethodRequest:
		var a abi.RequestArgs
		if a.Decode(r); r.OK() {
			v, err = requestPart(run, context, &a)
		}
	case abi.SessionMethodRunAgent:
		var a abi.RunAgentArgs
		a.Decode(r)
		by, agent, number := a.Run, a.Agent, a.Number
		waits = func(task runtime.Task) ([]byte, error) { return nil, run.RunAgent(task, by, agent, number) }
	case abi.SessionMethodActions:
		var a abi.ActionsArgs
		if a.Decode(r); r.OK() {
			err = run.Act(context, a.ExecutionID, a.Actions)
		}
	default:
		err = noTarget("method ", uint32(f.Method), "")
	}
	switch {
	case !r.OK():
	case waits != nil:
		t.serve(f.Call, waits)
	default:
		t.reply(f.Call, v, err)
	}
}

func requestPart(run *invocation.Run, context uint32, a *abi.RequestArgs) ([]byte, error) {
	p, err := run.RequestPart(context, int(a.Have), a.Mark, a.Tools)
	if err != nil {
		return nil, err
	}
	return appendPart(nil, p), nil
}

func appendPart(dst []byte, p *invocation.Part) []byte {
	m := &abi.ModelRequest{
		Instructions: p.Instructions, From: uint32(p.From), Total: uint32(p.Total), Mark: p.Mark, Contents: p.Contents, Tools: p.Tools,
	}
	return m.Append(dst)
}

// outside serves the methods about sessions outside invocations. Malformed arguments leave an error in r.
func outside(method uint8, r *abi.Reader) ([]byte, error) {
	var w session.Write
	var err error
	switch method {
	case abi.SessionMethodNewSession:
		var a abi.NewSessionArgs
		if a.Decode(r); r.OK() {
			err = session.Create(&w, a.App, a.User, a.ID, a.Now, a.State)
		}
	case abi.SessionMethodAppend:
		var a abi.AppendEventArgs
		if a.Decode(r); !r.OK() {
			break
		}
		var e *session.Event
		if e, err = session.Parse(a.Event); err != nil || e.Partial {
			return nil, err
		}
		if e.Author == "" {
			return nil, session.New(session.InvalidEvent, "author", "must be a non-empty string")
		}
		if e.ID == "" {
			e.ID = a.ID
		}
		if e.Timestamp == 0 {
			e.Timestamp = a.Now
		}
		e.Write(&w, a.App, a.User)
	default:
		err = noTarget("method ", uint32(method), " outside a turn")
	}
	if err != nil {
		return nil, err
	}
	return appendWrite(nil, &w, false, false), nil
}

// noTarget is the error for a number that names nothing.
//
//go:noinline
func noTarget(what string, number uint32, why string) error {
	return fault.New(fault.ABIUnknownTarget, what+itoa(int64(number))+why)
}
