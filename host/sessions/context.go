package sessions

import (
	"context"
	"iter"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/turn"
	"github.com/turncore/turncore/host/turns"
)

// base is what all contexts of an invocation have. It is a context.Context, cancelled when the invocation is aborted.
type base struct {
	context.Context
	inv    *running
	agent  string
	branch string
	state  State
}

// InvocationID is the id of the invocation, which its events have. One that answers a call of an earlier invocation
// goes on under the id of that.
func (b *base) InvocationID() string { return b.inv.invocationID() }

// App, User and SessionID say whose session it is.
func (b *base) App() string { return b.inv.runner.sessions.app }

// User is the id of the user.
func (b *base) User() string { return b.inv.user }

// SessionID is the id of the session.
func (b *base) SessionID() string { return b.inv.session }

// Session returns the session with the events that are stored so far. State writes that no event has stored are not in
// it.
func (b *base) Session() *Session { return b.inv.handle() }

// AgentName is the name of the agent; "" outside of agents.
func (b *base) AgentName() string { return b.agent }

// State is the invocation's state.
func (b *base) State() *State { return &b.state }

// Context is the context of a [CustomAgent]. Its methods may be called from many goroutines.
type Context struct {
	base
	run     uint32
	message *Content
}

// Branch is the branch that the agent's events are in; "" outside of parallel agents.
func (c *Context) Branch() string { return c.branch }

// Message is what the agent answers: what the user says, or what the model asks that calls the agent as a tool. nil for
// nothing.
func (c *Context) Message() *Content { return c.message }

// RunAgent runs one of the agent's Agents and yields its events, which are neither stored nor delivered: the agent
// yields those that it passes on. Each is yielded when the one before was taken. Leaving the loop stops the agent.
func (c *Context) RunAgent(child Agent) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		number := c.inv.runner.tree.numbers[child]
		if number == 0 {
			yield(nil, host.NewError(host.CodeInvalidAgent, "RunAgent: the agent is not in the runner's tree", nil))
			return
		}
		run, events := c.inv.receive()
		defer c.inv.leave(run)
		done := make(chan error, 1)
		go func() {
			_, err := c.inv.turn.Root().Invoke(abi.SessionMethodRunAgent, turn.Payload(&abi.RunAgentArgs{
				Run: c.run, Agent: number, Number: run,
			}))
			done <- err
		}()
		if err, ended := events.each(done, yield); !ended {
			<-done
		} else if err != nil {
			yield(nil, err)
		}
	}
}

// CallbackContext is the context of a callback. Its methods may be called from many goroutines.
type CallbackContext struct {
	base
	changes changes
	step    *turn.Context // of a callback about a model call; nil for others
}

// Actions changes what the event of the callback does besides its content. change may write the state and save
// artifacts; it must not call Actions.
func (c *CallbackContext) Actions(change func(a *Actions)) { c.changes.change(change) }

// Request returns what the model is asked, in callbacks about a model call or a tool; nil in others.
func (c *CallbackContext) Request() (*Request, error) {
	if c.step == nil {
		return nil, nil
	}
	return c.request(c.step)
}

// ToolContext is the context of a tool's handler. Its methods may be called from many goroutines.
type ToolContext struct {
	base
	changes changes
	call    *turns.ToolInvocation
	turn    *turns.DispatchContext
}

// FunctionCallID is the id of the function call.
func (c *ToolContext) FunctionCallID() string { return c.call.ProviderCallID }

// Confirmation is what the user has answered who was asked to confirm the call: a map whose member confirmed is true,
// with further members as they were given. It is nil for a call that nobody was asked about.
func (c *ToolContext) Confirmation() (map[string]any, error) {
	session := c.Session()
	for i := session.Len() - 1; i >= 0; i-- {
		e, err := session.Event(i)
		if err != nil {
			return nil, err
		}
		if e.Author != RoleUser {
			continue
		}
		for _, r := range e.FunctionResponses() {
			if r.ID == c.call.ProviderCallID {
				return r.Response, nil
			}
		}
	}
	return nil, nil
}

// IdempotencyKey names the call, for systems that must not do the same thing twice. A call that the user has confirmed
// has the same key whenever it is taken up: "SESSION.INVOCATION.CALL", the id of the session in its store, that of the
// invocation, and that of the function call. Others have the key of [turns.DispatchContext].
func (c *ToolContext) IdempotencyKey() string { return c.turn.IdempotencyKey() }

// Actions changes what the event of the call's result does besides. change may write the state and save artifacts; it
// must not call Actions.
func (c *ToolContext) Actions(change func(a *Actions)) { c.changes.change(change) }

// ModelContext is the context of an [LLMAgent]'s Executor. Its methods may be called from many goroutines.
type ModelContext struct {
	base
	answers answers
}

// Request returns what the model is asked.
func (c *ModelContext) Request() (*Request, error) { return c.request(c.answers.step) }
