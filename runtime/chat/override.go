package chat

import (
	"bytes"
	"slices"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
)

// OverrideKey is the key of a dispatch's stash whose value, a map, takes the place of the executor's options for as long as it
// is there: member by member, of headers and retry each of theirs; nil leaves an option as it is. The provider, and what an
// engine can do, stay.
const OverrideKey = "chatExecutor"

// override is what the stash of a dispatch made of the executor's options.
type override struct {
	executor *Executor // what the last iteration ran with
	given    []byte    // the stash's value; nil for none
	changed  *Executor // the executor with it
	err      error
}

// overridden returns the executor with the options that the stash gives for this iteration.
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
		st.projection = projection{} // it was rendered by other options
	}
	o.executor = use
	return use, nil
}

// with returns an executor with other options. It shares nothing with this one.
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

// fixedOptions are the options that the stash does not change.
var fixedOptions = []string{"provider", "capabilities"}

// mergeOptions returns a map with the members of two. Those of b count where both have them and that of b is not nil; headers and
// retry are merged likewise. The options that are fixed are those of a.
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
