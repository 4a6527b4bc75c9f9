package invocation

import (
	"slices"
	"strconv"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/session"
)

// answered finds the calls that a message answers, and the agent that made them. The invocation goes on under their id.
func (r *Run) answered(parts []session.Part) (agent *Agent, calls []*session.Call, err error) {
	for i := range parts {
		p := &parts[i]
		if p.Kind != session.PartResponse {
			continue
		}
		field := "id"
		c, state := r.Log.Call(p.ID)
		for _, other := range calls {
			if other.ID == p.ID {
				state = session.CallDone
			}
		}
		if state == session.CallConfirmed && r.starts(c) {
			c.Confirmation, state = nil, session.CallPending
		}
		code, wrong := session.InvalidInvocation, ""
		switch {
		case state >= session.CallConfirmed:
			code, wrong = session.CallAnswered, quote(p.ID)
		case state == session.CallUnknown:
			code, wrong = session.CallNotAsked, quote(p.ID)
		case len(calls) > 0 && calls[0].Event != c.Event:
			wrong = "the calls must be of one event"
		default:
			if v, _ := value.Get(p.Value, "confirmed"); c.Confirmation != nil && value.KindOf(v) != value.KindBool {
				field, wrong = "response.confirmed", "must be true or false"
			} else if p.Name != c.Name {
				field, wrong = "name", "the call is of "+quote(c.Name)
			} else if agent = r.team.Find(c.Author); agent == nil || agent.Kind != LLM {
				wrong = "the team has no LLM agent " + quote(c.Author)
			}
		}
		if wrong != "" {
			return nil, nil, session.New(code, "message.parts["+strconv.Itoa(i)+"].functionResponse."+field, wrong)
		}
		c.Answer = p.Value
		calls = append(calls, c)
	}
	if len(calls) > 0 {
		r.id = calls[0].InvocationID
		calls = r.Log.Confirmed(calls, func(c *session.Call) bool { return !r.starts(c) })
	}
	return agent, calls, nil
}

// starts reports whether the user has confirmed a call of a long-running tool, whose result may come from outside.
func (r *Run) starts(c *session.Call) bool {
	a := r.team.Find(c.Author)
	return a != nil && slices.Contains(a.longRunning, c.Name) && confirmed(c)
}

// confirmed reports whether the user lets a call run.
func confirmed(c *session.Call) bool {
	v, _ := value.Get(c.Answer, "confirmed")
	return isTrue(v)
}

// interrupted finds calls that the user has confirmed or refused, and that have no result: of one event, with its
// agent.
func (r *Run) interrupted() (agent *Agent, calls []*session.Call) {
	calls = r.Log.Confirmed(nil, func(c *session.Call) bool {
		a := r.team.Find(c.Author)
		if a == nil || a.Kind != LLM || r.starts(c) {
			return false
		}
		agent = a
		return true
	})
	if len(calls) > 0 {
		r.id = calls[0].InvocationID
	}
	return agent, calls
}

// place is an agent that goes on, or a group around it.
type place struct {
	agent  *Agent
	branch string
	inside *place          // nil for the agent itself
	calls  []*session.Call // that it has made
}

// resume lets the agent go on that made the calls, and then those around it, up to one of host code: that has not
// waited.
func (r *Run) resume(task runtime.Task, a *Agent, calls []*session.Call) error {
	p := &place{agent: a, branch: calls[0].Branch, calls: calls}
	for up := a.Parent; up != nil && up.Kind != Host; up = up.Parent {
		branch := p.branch
		if up.Kind == Parallel {
			own := up.Name + "." + p.agent.Name
			if n := len(branch) - len(own); n >= 0 && branch[n:] == own {
				branch = branch[:max(n-1, 0)] // without the dot in front
			}
		}
		p = &place{agent: up, branch: branch, inside: p, calls: calls}
	}
	return r.goOn(task, p, r.emit)
}

// goOn runs an agent, or a group from an agent in it on, and then the callback behind it.
func (r *Run) goOn(task runtime.Task, p *place, out sink) error {
	at := &scope{agent: p.agent, run: r.nextRun(), branch: p.branch, out: out}
	var err error
	switch {
	case p.inside == nil:
		err = r.converse(task, at, p.calls)
	case p.agent.Kind == Sequential:
		err = r.sequence(task, at, p.inside)
	case p.agent.Kind == Loop:
		err = r.loop(task, at, p)
	default:
		err = r.goOn(task, p.inside, out)
	}
	switch {
	case err != nil:
		return err
	case p.inside == nil:
	case p.agent.Kind == LLM:
		return nil // it has handed over
	case p.agent.Kind == Parallel && r.Log.Waits(r.id, p.branch, r.waitsIn(p.agent)):
		return pause
	}
	_, err = r.around(task, at, AfterAgent)
	return err
}

// waitsIn returns a function that reports whether a group waits for the calls of an author: one below an agent of host
// code does not hold up those around that.
func (r *Run) waitsIn(g *Agent) func(author string) bool {
	return func(author string) bool {
		a := r.team.Find(author)
		for ; a != nil && a != g; a = a.Parent {
			if a.Kind == Host {
				return false
			}
		}
		return a != nil
	}
}

// part is the part of a loop that an agent belongs to: the agent itself, or the outermost loop around it. It is nil for
// one outside, and the loop for itself and for what host code runs, once or often.
func (g *Agent) part(a *Agent) (part *Agent) {
	part = a
	for ; a != g; a = a.Parent {
		switch {
		case a == nil:
			return nil
		case a.Kind == Loop:
			part = a
		case a.Kind == Host:
			part = g
		}
	}
	return part
}

// rounds is how many rounds a loop has behind it, as far as stored events tell. A round is over when a part of the loop
// has events again that has ended: an agent with its answer or by handing over, a loop when another part has spoken. A
// loop begins when an agent outside of it has spoken, when it has escalated, and, if it may begin again behind no such
// event, when it has reached its bound: all in front of the calls, since what the loop does behind them belongs to it.
func (r *Run) rounds(p *place) (n int) {
	g := p.agent
	again := false
	for up := g.Parent; up != nil; up = up.Parent {
		again = again || up.Kind == Loop || up.Kind == Host
	}
	last := g
	ended := make([]bool, len(r.team.Agents)+1) // by number
	r.Log.Within(p.calls[0].Event, p.branch, func(e *session.Event, later bool) {
		author := r.team.Find(e.Author)
		if author == nil {
			return // the user
		}
		part := g.part(author)
		switch {
		case part == nil || e.Actions.Escalate && (part == author || part == g):
			if !later {
				n, last = 0, g
				clear(ended)
			} else if part != nil {
				n = g.rounds - 1
			}
			return
		case part == g:
			return
		case part != last && last.Kind == Loop:
			ended[last.Number] = true
		}
		last = part
		if ended[part.Number] {
			clear(ended)
			if n++; n == g.rounds {
				if n = 0; later || !again {
					n = g.rounds - 1
				}
			}
		}
		to := g.part(r.team.Find(e.Actions.TransferToAgent))
		ended[part.Number] = part == author && (to != nil || e.HasContent && e.Final() && len(e.LongRunning) == 0)
		if to != nil {
			ended[to.Number] = false
		}
	})
	return n
}

// resumeCalls runs the calls that the user has confirmed, with the arguments that were shown. more reports that all
// calls of the answer have their results.
func (r *Run) resumeCalls(task runtime.Task, s *step, answered []*session.Call) (more bool, err error) {
	var calls []call // the answers of the others are their results
	for _, a := range answered {
		if a.Confirmation == nil {
			continue
		}
		c := call{id: a.ID, name: a.Name, args: a.Args}
		if !confirmed(a) {
			c.refused = "the user did not confirm the call"
		}
		calls = append(calls, c)
	}
	return r.runCalls(task, s, calls, answered)
}
