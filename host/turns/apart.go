package turns

import (
	"strings"
	"unsafe"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

// function identifies a function: one that was made is told apart from all others, also from those of the same code.
type function unsafe.Pointer

func functionOf[F any](f F) function { return *(*function)(unsafe.Pointer(&f)) }

// singleOps are what functions for single writes do.
var singleOps = [...]store.Op{store.OpStore, store.OpMutate, store.OpDelete}

// madeFunctions are the functions of Callbacks that write.
type madeFunctions struct {
	single       [record.Kinds][len(singleOps)]function
	replaceGroup function
	commit       function
}

func (c *Callbacks) functions() *madeFunctions {
	f := &madeFunctions{replaceGroup: functionOf(c.ReplaceToolCallGroup), commit: functionOf(c.Commit)}
	f.single[abi.CollectionInstructions] = three(c.StoreStandingInstruction, c.MutateStandingInstruction, c.DeleteStandingInstruction)
	f.single[abi.CollectionMemories] = three(c.StoreMemory, c.MutateMemory, c.DeleteMemory)
	f.single[abi.CollectionRetrievables] = three(c.StoreRetrievable, c.MutateRetrievable, c.DeleteRetrievable)
	f.single[abi.CollectionMessages] = three(c.StoreMessage, c.MutateMessage, c.DeleteMessage)
	f.single[abi.CollectionThoughts] = three(c.StoreThought, c.MutateThought, c.DeleteThought)
	f.single[abi.CollectionToolCalls] = three(c.StoreToolCall, c.MutateToolCall, c.DeleteToolCall)
	return f
}

func three[S, M, D any](store S, mutate M, del D) [len(singleOps)]function {
	return [...]function{functionOf(store), functionOf(mutate), functionOf(del)}
}

// apartWrites are the writes that functions of the program's own do, beside a store's.
type apartWrites struct {
	single       [record.Kinds][len(singleOps)]bool
	replaceGroup bool
	names        []string // of the functions
}

// replaced compares the functions with those that StoreCallbacks made, and returns what is the program's own; nil for
// nothing, and without a store.
func (c *Callbacks) replaced() *apartWrites {
	if c.made == nil {
		return nil
	}
	var a apartWrites
	for kind, functions := range c.functions().single {
		for i, f := range functions {
			if f != c.made.single[kind][i] {
				a.single[kind][i] = true
				name := record.Kind(kind).String()
				a.names = append(a.names, string(singleOps[i])+strings.ToUpper(name[:1])+name[1:]+"Callback")
			}
		}
	}
	if functionOf(c.ReplaceToolCallGroup) != c.made.replaceGroup {
		a.replaceGroup = true
		a.names = append(a.names, "replaceToolCallGroupCallback")
	}
	if a.names == nil {
		return nil
	}
	return &a
}

// mixed lists the functions for single writes that a Commit of the program's own would leave without writes.
func (c *Callbacks) mixed() (list []string) {
	a := c.replaced()
	if a == nil || c.Commit == nil || functionOf(c.Commit) == c.made.commit {
		return nil
	}
	for _, name := range a.names {
		list = append(list, abi.Violation(abi.RuleSameWrites, "field", name, "other", "commitCallback"))
	}
	return list
}

// resolved returns the callbacks with what is to be known of functions in the place of a store's.
func (c *Callbacks) resolved() Callbacks {
	out := *c
	out.apart = c.replaced()
	if out.apart == nil {
		return out
	}
	calls := out.apart.single[abi.CollectionToolCalls]
	if (calls[0] || calls[2]) && !out.apart.replaceGroup { // stores or deletes: it gets the calls of a group one by one
		out.ReplaceToolCallGroup, out.apart.replaceGroup = nil, true
	}
	return out
}

// has tells whether a function of the program's own does a write.
func (a *apartWrites) has(d store.Delta) bool {
	if d.Op == store.OpReplaceToolCallGroup {
		return a.replaceGroup
	}
	for kind := range a.single {
		for i, op := range singleOps {
			if d.Kind == record.Kind(kind).String() && d.Op == op {
				return a.single[kind][i]
			}
		}
	}
	return false
}
