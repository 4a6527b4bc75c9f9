package chat

import (
	"strconv"
)

// call is a tool call as the response gives it, piece by piece.
type call struct {
	index    int64 // as the response numbers it, NoIndex if it does not
	id       []byte
	name     []byte
	args     []byte // text
	extra    []byte // value that the provider must get back; nil for none
	rejected string // why the endpoint itself refused the call; empty if it did not
}

// CallDelta is a piece of a tool call, or a whole one.
type CallDelta struct {
	Index int64 // as the response numbers the call, [NoIndex] if it does not
	ID    []byte
	Name  []byte
	Args  []byte // text
	Extra []byte // value that the provider must get back with the call; nil for none
	Later bool   // continues a call that has begun; without one the piece is dropped
	Whole bool   // Name and Args are not pieces, but all of it: they take the place of what came before
}

// NoIndex is the Index of a call that the response does not number.
const NoIndex = -1

// NewCall returns an empty piece. Its space is used again for the next one.
func (a *Answer) NewCall() *CallDelta {
	c := &a.piece
	*c = CallDelta{Index: NoIndex, ID: c.ID[:0], Name: c.Name[:0], Args: c.Args[:0], Extra: c.Extra[:0]}
	return c
}

// Call adds a piece of a tool call. Calls have the order in which they begin.
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
	// Names come in pieces, or whole with every piece of the arguments.
	if len(c.args) == 0 || string(c.name) != string(d.Name) {
		c.name = append(c.name, d.Name...)
	}
	c.args = append(c.args, d.Args...)
	if len(d.Extra) > 0 && fits(d.Extra) {
		c.extra = append(c.extra[:0], d.Extra...)
	}
}

// find returns the call that a piece belongs to, nil for one that begins.
func (a *Answer) find(d *CallDelta) *call {
	if !a.deltas {
		return nil // a response in one piece has whole calls, whatever ids it gives them
	}
	for i := len(a.calls) - 1; i >= 0; i-- {
		c := &a.calls[i]
		switch {
		case d.Index != NoIndex:
			if c.index == d.Index {
				// Some endpoints give every call the index 0, and only id and name say that another one begins. An id
				// alone does not: others draw one for every piece.
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
			return c // nothing but more arguments
		}
	}
	return nil
}
