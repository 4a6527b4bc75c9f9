package turns

import (
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/panics"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

// Callbacks are the storage that turns read and write: 27 required functions and three optional ones. StoreCallbacks
// makes them from a Store. They may be called from many goroutines at once, for different turns.
//
// ctx is the *TurnContext, or the *DispatchContext of a dispatch without a turn; it is a context.Context. A function
// that writes finds the key of its write in ctx.IdempotencyKey: the context is that of this one call.
type Callbacks struct {
	FetchMemories               func(ctx Context) ([]*record.Memory, error)
	FetchMessages               func(ctx Context) ([]*record.Message, error)
	FetchThoughts               func(ctx Context) ([]*record.Thought, error)
	FetchToolCalls              func(ctx Context) ([]*record.ToolCall, error)
	FetchTools                  func(ctx Context) ([]*Tool, error)
	FetchRetrievables           func(ctx Context) ([]*record.Retrievable, error)
	RefreshStandingInstructions func(ctx Context) ([]string, error)

	StoreStandingInstruction  func(ctx Context, text string) error
	MutateStandingInstruction func(ctx Context, old, text string) error
	DeleteStandingInstruction func(ctx Context, text string) error

	StoreMemory  func(ctx Context, m *record.Memory) error
	MutateMemory func(ctx Context, m *record.Memory) error
	DeleteMemory func(ctx Context, id string) error

	StoreRetrievable  func(ctx Context, r *record.Retrievable) error
	MutateRetrievable func(ctx Context, r *record.Retrievable) error
	DeleteRetrievable func(ctx Context, id string) error

	StoreMessage  func(ctx Context, m *record.Message) error
	MutateMessage func(ctx Context, m *record.Message) error
	DeleteMessage func(ctx Context, id string) error

	StoreThought  func(ctx Context, t *record.Thought) error
	MutateThought func(ctx Context, t *record.Thought) error
	DeleteThought func(ctx Context, id string) error

	StoreToolCall  func(ctx Context, c *record.ToolCall) error
	MutateToolCall func(ctx Context, c *record.ToolCall) error
	DeleteToolCall func(ctx Context, id string) error

	StoreMediaBytes       func(ctx Context, id string, bytes io.Reader) (record.MediaReader, error)
	StoreRetrievableBytes func(ctx Context, id string, bytes io.Reader) (record.SpoolReader, error)

	// ReplaceToolCallGroup replaces tool calls in one go. Without it the tool calls are deleted and stored one by one; a
	// failure is then a *ReplaceGroupError.
	ReplaceToolCallGroup func(ctx Context, ids []string, replacements []*record.ToolCall) error
	// Commit writes an iteration's queue in call order, so that one transaction can hold it. Without it the other
	// functions are called one by one.
	Commit func(ctx Context, deltas []store.Delta) error
	// Discard gets the discarded writes of an iteration.
	Discard func(ctx Context, deltas []store.Delta, status event.Status) error

	// made tells which of the functions StoreCallbacks has put here, nil for none of them.
	made *madeFunctions
	// apart tells which writes Commit does not take, as functions of the program's own do; nil for none.
	apart *apartWrites
}

// missing lists the functions that must be there and are not, by the names that the rules give them.
func (c *Callbacks) missing(rules *abi.Rules) (list []string) {
	functions := reflect.ValueOf(c).Elem()
	for i := range rules.Fields {
		f := &rules.Fields[i]
		name := strings.TrimSuffix(f.Name, "Callback")
		function := functions.FieldByName(strings.ToUpper(name[:1]) + name[1:])
		if f.Required && function.IsValid() && function.IsNil() {
			list = append(list, abi.Violation(abi.RuleRequired, "field", f.Name))
		}
	}
	return list
}

// atOnce tells whether a commit is one call.
func (c *Callbacks) atOnce() bool { return c.Commit != nil && c.apart == nil }

// commit writes deltas in order. Where that takes several calls it counts those that were written, also when one fails,
// panics or ends its goroutine.
func (c *Callbacks) commit(ctx Context, deltas []store.Delta, applied *int) error {
	for at := 0; len(deltas) > 0; {
		n := c.together(deltas)
		ctx.shared().effect.of("." + strconv.Itoa(at))
		err := error(nil)
		if n > 0 {
			err = c.Commit(ctx, deltas[:n])
		} else {
			n = 1
			err = c.apply(ctx, deltas[0])
		}
		if err != nil {
			return err
		}
		*applied += n
		at, deltas = at+n, deltas[n:]
	}
	return nil
}

// together is how many of the next writes Commit takes.
func (c *Callbacks) together(deltas []store.Delta) int {
	if c.Commit == nil {
		return 0
	}
	n := slices.IndexFunc(deltas, c.apart.has)
	if n < 0 {
		n = len(deltas)
	}
	return n
}

// apply does one write through its function.
func (c *Callbacks) apply(ctx Context, d store.Delta) error {
	if d.Op == store.OpReplaceToolCallGroup {
		return c.replaceGroup(ctx, d.IDs, d.Records)
	}
	switch r := d.Record.(type) {
	case *record.Instruction:
		if d.Op == store.OpMutate {
			return c.MutateStandingInstruction(ctx, d.ID, r.Text)
		}
		return c.StoreStandingInstruction(ctx, r.Text)
	case *record.Memory:
		return write(ctx, d.Op, r, c.StoreMemory, c.MutateMemory)
	case *record.Retrievable:
		return write(ctx, d.Op, r, c.StoreRetrievable, c.MutateRetrievable)
	case *record.Message:
		return write(ctx, d.Op, r, c.StoreMessage, c.MutateMessage)
	case *record.Thought:
		return write(ctx, d.Op, r, c.StoreThought, c.MutateThought)
	case *record.ToolCall:
		return write(ctx, d.Op, r, c.StoreToolCall, c.MutateToolCall)
	}
	switch d.Kind {
	case record.Kind(abi.CollectionInstructions).String():
		return c.DeleteStandingInstruction(ctx, d.ID)
	case record.Kind(abi.CollectionMemories).String():
		return c.DeleteMemory(ctx, d.ID)
	case record.Kind(abi.CollectionRetrievables).String():
		return c.DeleteRetrievable(ctx, d.ID)
	case record.Kind(abi.CollectionMessages).String():
		return c.DeleteMessage(ctx, d.ID)
	case record.Kind(abi.CollectionThoughts).String():
		return c.DeleteThought(ctx, d.ID)
	}
	return c.DeleteToolCall(ctx, d.ID)
}

func write[R record.Type](ctx Context, op store.Op, r R, put, mutate func(Context, R) error) error {
	if op == store.OpMutate {
		return mutate(ctx, r)
	}
	return put(ctx, r)
}

func (c *Callbacks) replaceGroup(ctx Context, ids []string, replacements []*record.ToolCall) error {
	if c.ReplaceToolCallGroup != nil {
		return c.ReplaceToolCallGroup(ctx, ids, replacements)
	}
	key := ctx.shared().effect
	group := key.inPart()
	for i, id := range ids {
		key.of(group + "." + strconv.Itoa(i))
		if err := guarded(func() error { return c.DeleteToolCall(ctx, id) }); err != nil {
			return &store.ReplaceGroupError{DeletedIDs: ids[:i:i], Err: err}
		}
	}
	for i, r := range replacements {
		key.of(group + "." + strconv.Itoa(len(ids)+i))
		if err := guarded(func() error { return c.StoreToolCall(ctx, r) }); err != nil {
			return &store.ReplaceGroupError{DeletedIDs: ids, Err: err}
		}
	}
	return nil
}

// guarded returns a panic as an error.
func guarded(run func() error) (err error) {
	defer panics.Recovered(&err)
	return run()
}

// asked asks storage for something. A panic there is an error like another.
func asked[T any](ctx Context, fetch func(Context) ([]T, error)) (list []T, err error) {
	defer panics.Recovered(&err)
	return fetch(ctx)
}

// FetchMemories asks storage for memories. Like all Fetch methods it changes no collection: add the records that you
// want.
func (b *base) FetchMemories() ([]*record.Memory, error) {
	ctx, c := b.storage()
	return asked(ctx, c.FetchMemories)
}

// FetchMessages asks storage for messages.
func (b *base) FetchMessages() ([]*record.Message, error) {
	ctx, c := b.storage()
	return asked(ctx, c.FetchMessages)
}

// FetchThoughts asks storage for thoughts.
func (b *base) FetchThoughts() ([]*record.Thought, error) {
	ctx, c := b.storage()
	return asked(ctx, c.FetchThoughts)
}

// FetchToolCalls asks storage for tool calls.
func (b *base) FetchToolCalls() ([]*record.ToolCall, error) {
	ctx, c := b.storage()
	return asked(ctx, c.FetchToolCalls)
}

// FetchTools asks storage for tools.
func (b *base) FetchTools() ([]*Tool, error) {
	ctx, c := b.storage()
	return asked(ctx, c.FetchTools)
}

// FetchRetrievables asks storage for documents. Two with the same id are an error. Texts that are not inline are
// spooled.
func (b *base) FetchRetrievables() ([]*record.Retrievable, error) {
	ctx, c := b.storage()
	list, err := asked(ctx, c.FetchRetrievables)
	if err != nil {
		return nil, err
	}
	// All are checked before any is written.
	seen := make(map[string]bool, len(list))
	for _, r := range list {
		if err := r.Validate(); err != nil {
			return nil, err
		}
		if seen[r.ID] {
			return nil, duplicateError(r.ID)
		}
		seen[r.ID] = true
	}
	list = slices.Clone(list)
	for i, r := range list {
		if list[i], err = c.spool(ctx, r); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// duplicateError says, in the contract's words, that two documents have the same id.
type duplicateError string

func (e duplicateError) Error() string { return "Duplicate retrievable id: " + string(e) }

// RefreshStandingInstructions asks storage for standing instructions.
func (b *base) RefreshStandingInstructions() ([]string, error) {
	ctx, c := b.storage()
	return asked(ctx, c.RefreshStandingInstructions)
}

// StoreMediaBytes passes bytes to storage immediately. They do not go through the core.
func (b *base) StoreMediaBytes(id string, bytes io.Reader) (reader record.MediaReader, err error) {
	defer panics.Recovered(&err)
	if bytes == nil {
		return nil, newError(abi.CodeInvalidValue, "bytes: must be a reader", nil)
	}
	ctx, c := b.storage()
	reader, err = c.StoreMediaBytes(ctx, id, bytes)
	if err == nil && reader == nil {
		err = newError(abi.CodeNotAMediaReader, "what storeMediaBytes gave for "+id, nil)
	}
	return reader, err
}

// StoreRetrievableBytes passes a text to storage immediately. It does not go through the core.
func (b *base) StoreRetrievableBytes(id string, bytes io.Reader) (record.SpoolReader, error) {
	if bytes == nil {
		return nil, newError(abi.CodeInvalidValue, "bytes: must be a reader", nil)
	}
	ctx, c := b.storage()
	return c.spoolBytes(ctx, id, bytes)
}

// storage returns the callbacks and the context they are given.
func (b *base) storage() (Context, *Callbacks) { return b.program.storage(b.state) }
