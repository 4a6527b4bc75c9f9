// Package invocation ties the hosts of package turns, which have instances, tools and models, to package sessions,
// which has agents. It has no code of its own: package turns sets [Open].
package invocation

import (
	"context"
	"io"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/turn"
	"github.com/turncore/turncore/host/model"
)

// Team is a tree of agents.
type Team struct {
	App     string
	Root    uint32
	Agents  []abi.AgentDef // without the numbers of runners
	Models  []Model        // of the agents that have one, in their order
	Plugins []abi.PluginDef
}

// Model is what an agent with a model has.
type Model struct {
	Agent     uint32
	Executor  any                // turns.Executor; nil for a model
	Model     any                // turns.Model
	Chat      *model.ChatOptions // instead of Model; nil for none
	Tools     any                // []*turns.Tool
	WrapTool  any                // []turns.ToolWrapper
	WrapModel any                // []model.Wrapper
	// Key is the idempotency key of a call of a tool, by the provider's id of the call; "" for the one that it has anyway.
	Key func(c *turn.Context, call string) string
}

// Host runs the invocations of a team.
type Host interface {
	// Begin prepares an invocation, which the caller then runs with [turn.Turn.Invoke]. prepare sets what performs an
	// effect of a kind that turns do not have; it is called under the turn's lock. journal, nil for none, gets its
	// journal.
	Begin(ctx context.Context, id string, journal io.Writer, prepare func(e *turn.Effect, f *abi.Effect) error) (*turn.Turn, error)
	// Until returns a context for an invocation that waits for its beginning: it ends with E_CLOSED when none may begin
	// any more. Call stop when the wait is over.
	Until(ctx context.Context) (wait context.Context, stop func())
	// Load opens the team in an instance: what is wrong with it shows.
	Load(ctx context.Context) error
	// Call calls a method outside of invocations.
	Call(ctx context.Context, method uint8, args abi.Raw) (abi.Raw, error)
	// Now is the host's clock, in ms since the Unix epoch. ID makes an id that is unique.
	Now() (int64, error)
	ID() string
	// Close lets no further invocation begin, and aborts those that run.
	Close() error
}

// Open returns the host of a team. of is a *turns.Host, nil for one of its own, on an engine: nil for the default one.
var Open func(of any, engine host.Engine, t *Team) Host

// CheckModel tells whether any field of a turns.Model is set, and lists what is wrong with those that field names.
var CheckModel func(of any, field string) (given bool, wrong []string)

// StateOf is what the turn has of a context, a *turns.DispatchContext.
var StateOf func(ctx any) *turn.Context

// OfHandler is an error of the innermost wrapper of a tool, which counts as the handler's own.
type OfHandler struct{ Err error }

func (e *OfHandler) Error() string { return e.Err.Error() }

func (e *OfHandler) Unwrap() error { return e.Err }
