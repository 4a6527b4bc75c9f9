package sessions

import (
	"maps"
	"sync"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/turn"
	"github.com/turncore/turncore/host/internal/wire"
)

// State is the state of a running invocation. All of its code sees each write at once, also before anything is stored.
// What a [Context] writes is stored only if an event's StateDelta has it, too; what a [CallbackContext] or a
// [ToolContext] writes is in the StateDelta of the event that comes of the callback or the tool. Its methods may be
// called from many goroutines.
type State struct {
	of        *turn.Context
	changes   *changes // nil if writes are not recorded
	execution string   // id of that of a tool's handler, whose writes the core records; empty for others
}

// changes are what a callback or a tool does besides its result.
type changes struct {
	acting  sync.Mutex // of actions, while code changes them, which may write the state and save artifacts
	actions Actions

	mu      sync.Mutex
	writes  []stateWrite   // that are not in actions yet: mostly nobody asks
	saved   map[string]int // versions of artifacts that are not in actions yet
	changed bool           // by other means than writes of the state
}

// stateWrite is a write of the state, with the value as it is encoded: the caller may change its own.
type stateWrite struct {
	name  string
	value []byte
}

// fewWrites are kept as they are.
const fewWrites = 16

// all are the actions with all writes of the state and all saved artifacts. The caller holds c.acting.
func (c *changes) all() *Actions {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.saved) > 0 && c.actions.ArtifactDelta == nil {
		c.actions.ArtifactDelta = make(map[string]int)
	}
	maps.Copy(c.actions.ArtifactDelta, c.saved)
	c.saved = nil
	for _, w := range c.writes {
		if c.actions.StateDelta == nil {
			c.actions.StateDelta = make(map[string]any)
		}
		c.actions.StateDelta[w.name], _ = wire.Plain(w.value) // what was encoded can be read
	}
	c.writes = nil
	return &c.actions
}

// write records a write of the state.
func (c *changes) write(w stateWrite) {
	c.mu.Lock()
	c.writes = append(c.writes, w)
	many := len(c.writes) > fewWrites // a tool may write one name over and over
	c.mu.Unlock()
	if many && c.acting.TryLock() {
		c.all()
		c.acting.Unlock()
	}
}

// save records a version of an artifact.
func (c *changes) save(name string, version int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.saved == nil {
		c.saved = make(map[string]int)
	}
	c.saved[name], c.changed = version, true
}

// change lets code change the actions.
func (c *changes) change(change func(a *Actions)) {
	c.acting.Lock()
	defer c.acting.Unlock()
	a := c.all()
	c.mu.Lock()
	c.changed = true
	c.mu.Unlock()
	change(a)
}

// beyondWrites tells whether there is more than writes of the state.
func (c *changes) beyondWrites() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

// Get returns a value by its name with the scope, as plain data: bool, int64, float64, string, []byte, []any,
// map[string]any. It is nil if there is none.
func (s *State) Get(name string) (any, error) {
	v, err := s.of.Invoke(abi.SessionMethodGetState, turn.Payload(&abi.StateKeyArgs{Name: value.UTF8(name)}))
	if err != nil {
		return nil, err
	}
	return wire.Plain(v)
}

// Set writes a value: any that JSON has. nil deletes it. It fails with E_INVALID_STATE for a misspelled scope and for
// another value.
func (s *State) Set(name string, v any) error {
	name = value.UTF8(name) // as the names in events
	raw, err := encoded(nil, v, name, host.CodeInvalidState)
	if err != nil {
		return err
	}
	args := &abi.SetStateArgs{Name: name, Value: raw, ExecutionID: s.execution}
	if _, err := s.of.Invoke(abi.SessionMethodSetState, turn.Payload(args)); err != nil {
		return err
	}
	if s.changes != nil {
		s.changes.write(stateWrite{name, raw})
	}
	return nil
}

// Delete deletes a value.
func (s *State) Delete(name string) error { return s.Set(name, nil) }

// Names are the names in the state with their scopes, in the order of their bytes.
func (s *State) Names() ([]string, error) {
	v, err := s.of.Invoke(abi.SessionMethodStateKeys, nil)
	if err != nil {
		return nil, err
	}
	d := decoderOf(v)
	var names []string
	list := at("names")
	d.items(list, v, func(i int, v []byte) { names = append(names, d.text(&place{within: list, index: i}, v)) })
	return names, d.err
}

// All returns all values by their names with their scopes.
func (s *State) All() (map[string]any, error) {
	names, err := s.Names()
	if err != nil {
		return nil, err
	}
	all := make(map[string]any, len(names))
	for _, name := range names {
		v, err := s.Get(name)
		if err != nil {
			return nil, err
		}
		if v != nil { // nobody has deleted it since
			all[name] = v
		}
	}
	return all, nil
}
