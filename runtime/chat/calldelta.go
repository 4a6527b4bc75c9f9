package chat

import (
	"strconv"
)

// call is a tool call assembled from the response.
type call struct {
	index    int64 // the number that the response gives it; NoIndex for none
	id       []byte
	name     []byte
	args     []byte // text
	extra    []byte // value to send back to the provider; nil for none
	rejected string // why the endpoint itself refused the call; empty if it did not
}

// CallDelta is a piece of a tool call, or a complete one.
type CallDelta struct {
	Index int64 // the number that the response gives the call; [NoIndex] for none
	ID    []byte
	Name  []byte
	Args  []byte // text
	Extra []byte // value to send back to the provider with the call; nil for none
	Later bool   // continues an earlier call; without one the piece is dropped
	Whole bool   // Name and Args are complete and replace earlier pieces
}

// NoIndex is the Index of a call that the response does not number.
const NoIndex = -1

// NewCall returns an empty piece. The next call reuses it.
func (a *Answer) NewCall() *CallDelta {
	c := &a.piece
	*c = CallDelta{Index: NoIndex, ID: c.ID[:0], Name: c.Name[:0], Args: c.Args[:0], Extra: c.Extra[:0]}
	return c
}

// Call adds a piece of a tool call. Calls are in the order of their first pieces.
func (a *Answer) Call(d *CallDelta) {
	a.pieces.count++
	if a.scan.Err() != nil || !a.fits(len(d.ID)+len(d.Name)+len(d.Args)+len(d.Extra)) {
		return
	}
	c := a.find(d)
	if c == nil {
		if d.Later {
			return
		}
		if len(a.calls) == maxCalls {
			a.breakOff("the answer has more than " + strconv.Itoa(maxCalls) + " tool calls")
			return
		}
		a.calls = append(a.calls, call{index: d.Index})
		c = &a.calls[len(a.calls)-1]
	}
	if len(c.id) == 0 {
		c.id = append(c.id, d.ID...)
	}
	if d.Whole {
		if len(d.Name) > 0 {
			c.name = c.name[:0]
		}
		if len(d.Args) > 0 {
			a.size -= len(c.args)
			c.args = c.args[:0]
		}
	}
	// A name comes in pieces, or complete with every piece of the arguments.
	if len(c.args) == 0 || string(c.name) != string(d.Name) {
		c.name = append(c.name, d.Name...)
	}
	c.args = append(c.args, d.Args...)
	if len(d.Extra) > 0 && fits(d.Extra) {
		c.extra = append(c.extra[:0], d.Extra...)
	}
}

// find returns the call that a piece belongs to, nil if the piece begins a call.
func (a *Answer) find(d *CallDelta) *call {
	if !a.deltas {
		return nil // a response in one piece has complete calls, whatever their ids
	}
	for i := len(a.calls) - 1; i >= 0; i-- {
		c := &a.calls[i]
		switch {
		case d.Index != NoIndex:
			if c.index == d.Index {
				// Some endpoints give every call the index 0, so that only a new id and a name begin another one. A new
				// id alone does not: some endpoints make one for every piece.
				if len(d.Name) > 0 && len(d.ID) > 0 && len(c.id) > 0 && string(d.ID) != string(c.id) {
					continue
				}
				return c
			}
		case len(d.ID) > 0:
			if string(c.id) == string(d.ID) {
				return c
			}
		case len(d.Name) > 0 && len(c.name) > 0:
			return nil
		default:
			return c // just more arguments
		}
	}
	return nil
}
