package chat

import (
	"bytes"
	"slices"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
)

// OverrideKey is the key in a dispatch's stash of a map that overrides the executor's options while it is there: member
// by member, also within headers and retry; nil keeps an option. The provider and an engine's capabilities cannot be
// overridden.
const OverrideKey = "chatExecutor"

// override caches the executor with overridden options.
type override struct {
	executor *Executor // executor of the last iteration
	given    []byte    // the stash's value; nil for none
	changed  *Executor // the executor with these options
	err      error
}

// overridden returns the executor with the options in the stash for this iteration.
func (e *Executor) overridden(d Dispatch, st *state) (*Executor, error) {
	o := &st.override
	given, _ := d.Stash(OverrideKey)
	if value.KindOf(given) == value.KindNil {
		given = nil
	}
	use := e
	if len(given) > 0 {
		if !bytes.Equal(given, o.given) {
			o.given = bytes.Clone(given)
			o.changed, o.err = e.with(o.given)
		}
		if o.err != nil {
			return nil, o.err
		}
		use = o.changed
	}
	if o.executor != nil && o.executor != use {
		st.projection = projection{} // other options rendered it
	}
	o.executor = use
	return use, nil
}

// with returns a new executor with other options.
func (e *Executor) with(given []byte) (*Executor, error) {
	const field = "`stash." + OverrideKey
	if value.KindOf(given) != value.KindMap {
		return nil, fault.New(fault.ChatInvalidOptions, field+"` must be an object")
	}
	var wrong []string
	for _, name := range fixedOptions {
		if v, _ := value.Get(given, name); value.KindOf(v) != value.KindInvalid && value.KindOf(v) != value.KindNil {
			wrong = append(wrong, field+"."+name+"` stays that of the executor")
		}
	}
	o, err := parseOptions(mergeOptions(e.given, given), e.providers, "stash."+OverrideKey+".", wrong...)
	if err != nil {
		return nil, err
	}
	return &Executor{options: o, tools: make(map[uint32][]byte)}, nil
}

// fixedOptions are the options that the stash cannot override.
var fixedOptions = []string{"provider", "capabilities"}

// mergeOptions merges two maps. A member of b wins unless it is nil; headers and retry are merged likewise. Fixed
// options come from a.
func mergeOptions(a, b []byte) []byte {
	n := 0
	var members []byte
	_ = value.Each(b, func(key, val []byte) bool {
		name := string(key)
		if slices.Contains(fixedOptions, name) {
			return true
		}
		members = value.AppendText(members, key)
		if name == "headers" || name == "retry" {
			if old, _ := value.Get(a, name); value.KindOf(old) == value.KindMap && value.KindOf(val) == value.KindMap {
				val = Merge(old, val)
			}
		}
		members, n = append(members, val...), n+1
		return true
	})
	return Merge(a, append(value.AppendMapHeader(nil, n), members...))
}
