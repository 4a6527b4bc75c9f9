package invocation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/invocation"
	"github.com/turncore/turncore/runtime/session"
)

// js encodes JSON text.
func js(text string) []byte {
	v, err := value.FromJSON(nil, []byte(text))
	if err != nil {
		panic(text + ": " + err.Error())
	}
	return v
}

// text is a value as JSON.
func text(v []byte) string {
	if v == nil {
		return "nil"
	}
	b, err := value.AppendJSON(nil, v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// stage plays invocations in one goroutine: host code answers at once.
type stage struct {
	t       *testing.T
	team    *invocation.Team
	turn    *runtime.Turn
	run     *invocation.Run
	log     *session.Log
	state   map[string][]byte // the store's, by scope and name
	stored  []string
	told    []string // what the caller got
	seen    []string // what host code did
	stopAt  int      // the caller leaves after so many events; 0 for never
	failAt  int      // the store fails at that append; 0 for never
	failed  error    // of an append that the invocation went ahead of
	model   func(s *stage, call int) error
	tools   map[string]func(s *stage, args []byte) ([]byte, error)
	hook    func(s *stage, c *invocation.Callback) []byte
	agent   func(s *stage, agent, run uint32) error
	options string
	calls   int
	asks    int // number of the agent that has begun a step last
	number  int
}

func newStage(t *testing.T, team *invocation.Team) *stage {
	return &stage{t: t, team: team, log: &session.Log{}, state: map[string][]byte{}}
}

// config has tools of these names, which take any arguments.
func config(t *testing.T, names ...string) *runtime.Config {
	c := &runtime.Config{}
	for i, name := range names {
		tool := &runtime.Tool{Number: uint32(i + 1), Name: name, InputSchema: js(`{"type":"object"}`)}
		if err := tool.Compile(); err != nil {
			t.Fatal(err)
		}
		c.Tools = append(c.Tools, tool)
	}
	return c
}

func team(t *testing.T, definitions ...invocation.Definition) *invocation.Team {
	t.Helper()
	team, err := invocation.NewTeam("app", 1, definitions, nil)
	if err != nil {
		t.Fatal(err)
	}
	return team
}

// play runs an invocation with a text from the user, with a content, or with no message if that is empty.
func (s *stage) play(message string) error {
	s.number++
	content := message
	if !strings.HasPrefix(message, "{") {
		content = fmt.Sprintf(`{"parts":[{"text":%q}]}`, message)
	}
	turn, err := runtime.NewTurn(&runtime.Config{}, runtime.Input{ID: fmt.Sprintf("i%d", s.number), Now: 1000, Seed: make([]byte, 16)}, quiet{})
	if err != nil {
		s.t.Fatal(err)
	}
	names := 0
	var members []byte
	for _, scope := range []string{"", "app/app", "user/app/u"} {
		for key, v := range s.state {
			if name, ok := strings.CutPrefix(key, scope+"|"); ok {
				prefix := map[string]string{"": "", "app/app": "app:", "user/app/u": "user:"}[scope]
				members = append(value.AppendString(members, prefix+name), v...)
				names++
			}
		}
	}
	in := invocation.Input{Session: "s", User: "u", Log: s.log, State: append(value.AppendMapHeader(nil, names), members...), Message: js(content)}
	if message == "" {
		in.Message = nil
	}
	if s.options != "" {
		in.Options = js(s.options)
	}
	s.turn = turn
	s.run, err = invocation.New(s.team, turn, s, &in)
	if err != nil {
		return err
	}
	return s.run.Run(s)
}

// quiet is a turn's world without listeners.
type quiet struct{}

func (quiet) Stream(runtime.Head, runtime.StreamEvent) {}
func (quiet) Event(runtime.Head, any)                  {}
func (quiet) Sync(runtime.Sync)                        {}
func (quiet) Timer(uint64)                             {}
func (quiet) Exceeded()                                {}

// Await implements runtime.Task.
func (s *stage) Await(e runtime.Effect) ([]byte, error) {
	switch e := e.(type) {
	case *runtime.CallTool:
		if s.failed != nil {
			return nil, s.failed
		}
		return s.tools[e.Tool.Name](s, e.Args)
	}
	return nil, fmt.Errorf("no test answers a %T", e)
}

func (s *stage) Wait(ready func() bool) {
	if !ready() {
		s.t.Fatal("it waits for ever")
	}
}
func (s *stage) Sleep(uint32, uint64) error                             { return nil }
func (s *stage) Request(*runtime.HTTPRequest) (runtime.Stream, error)   { return nil, nil }
func (s *stage) Generate(*runtime.ModelRequest) (runtime.Stream, error) { return nil, nil }

// respond answers in the running step, which is the last one.
func (s *stage) respond(answer string) error {
	return s.run.Respond(s, uint32(s.steps()), js(answer))
}

func (s *stage) steps() int {
	n := 0
	for s.turn.DispatchContext(uint32(n+1)) != nil {
		n++
	}
	return n
}

var errStore = fault.Plain("the disk is full")

// Append implements invocation.World.
func (s *stage) Append(_ runtime.Task, w *session.Write, deliver bool, failed invocation.Failed) error {
	err := s.append(w, deliver)
	if err == nil || failed == nil {
		return err
	}
	s.failed = err // and so do calls of host code
	failed(w.Author, err)
	return nil
}

// Stored implements invocation.World.
func (s *stage) Stored(runtime.Task) { s.failed = nil }

// Model implements invocation.World.
func (s *stage) Model(runtime.Task, uint32, *invocation.Part) ([]byte, error) {
	if s.failed != nil {
		return nil, s.failed
	}
	s.calls++
	return nil, s.model(s, s.calls)
}

func (s *stage) append(w *session.Write, deliver bool) error {
	if s.failAt > 0 && len(s.stored)+1 == s.failAt {
		return errStore
	}
	s.stored = append(s.stored, text(w.Event))
	for _, c := range w.State {
		if c.Value == nil {
			delete(s.state, c.Scope+"|"+c.Name)
		} else {
			s.state[c.Scope+"|"+c.Name] = c.Value
		}
	}
	if !deliver {
		return nil
	}
	return s.tell(w.Event)
}

func (s *stage) tell(event []byte) error {
	s.told = append(s.told, text(event))
	if len(s.told) == s.stopAt {
		return session.New(session.InvocationStopped, "", "")
	}
	return nil
}

// Deliver implements invocation.World.
func (s *stage) Deliver(_ runtime.Task, run uint32, event []byte) error {
	if run == 0 {
		return s.tell(event)
	}
	s.seen = append(s.seen, text(event))
	return nil
}

// Callback implements invocation.World.
func (s *stage) Callback(_ runtime.Task, c *invocation.Callback) ([]byte, error) {
	if s.failed != nil {
		return nil, s.failed
	}
	return s.hook(s, c), nil
}

// Together implements invocation.World.
func (s *stage) Error(err error) []byte { return value.AppendString(nil, err.Error()) }

func (s *stage) Together(_ runtime.Task, n int, body func(task runtime.Task, i int) error) error {
	var first error
	for i := range n {
		if err := body(s, i); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Below implements invocation.World.
func (s *stage) Below(runtime.Task, runtime.Task) {}

// Stop implements invocation.World.
func (s *stage) Stop(runtime.Task, error) { s.t.Error("an agent is stopped that has ended") }

// Agent implements invocation.World.
func (s *stage) Agent(_ runtime.Task, agent, run uint32, _ string, _ []byte) error {
	if s.failed != nil {
		return s.failed
	}
	return s.agent(s, agent, run)
}

// Step implements invocation.World.
func (s *stage) Step(_, agent uint32) { s.asks = int(agent) }

// contents is the first part of what the model of the last step is shown.
func (s *stage) contents() ([]byte, error) {
	p, err := s.run.RequestPart(uint32(s.steps()), 0, 0, false)
	if err != nil {
		return nil, err
	}
	return p.Contents, nil
}
