package chat

import (
	"strconv"

	"github.com/turncore/turncore/runtime/value"
)

// call is a tool call as the response gives it, piece by piece.
type call struct {
	index    int64 // as the response numbers it, noIndex if it does not
	id       []byte
	name     []byte
	args     []byte // text
	rejected string // why the endpoint itself refused the call; empty if it did not
}

const noIndex = -1

// callDelta takes a piece of a call.
func (a *answer) callDelta(s *value.Scanner) {
	// The members come in any order, so which call the piece belongs to is known at its end.
	index := int64(noIndex)
	a.id, a.name, a.args = a.id[:0], a.name[:0], a.args[:0]
	for key := range s.Members() {
		switch string(key) {
		case "index":
			if i, ok := s.Int(); ok && i >= 0 {
				index = i
			}
		case "id":
			a.id, _ = s.AppendText(a.id)
		case "function":
			for key := range s.Members() {
				switch string(key) {
				case "name":
					a.name, _ = s.AppendText(a.name)
				case "arguments":
					switch s.Kind() {
					case value.KindString:
						a.args, _ = s.AppendText(a.args)
					case value.KindMap:
						a.args = append(a.args, s.Raw()...)
					}
				}
			}
		}
	}
	if s.Err() != nil || !a.fits(len(a.id)+len(a.name)+len(a.args)) {
		return
	}
	c := a.find(index)
	if c == nil {
		if len(a.calls) == maxCalls {
			a.breakOff("the answer has more than " + strconv.Itoa(maxCalls) + " tool calls")
			return
		}
		a.calls = append(a.calls, call{index: index})
		c = &a.calls[len(a.calls)-1]
	}
	if len(c.id) == 0 {
		c.id = append(c.id, a.id...)
	}
	// Names come in pieces, or whole with every piece of the arguments.
	if len(c.args) == 0 || string(c.name) != string(a.name) {
		c.name = append(c.name, a.name...)
	}
	c.args = append(c.args, a.args...)
}

// find returns the call that the piece in scratch belongs to, nil for one that begins.
func (a *answer) find(index int64) *call {
	if !a.deltas {
		return nil // a response in one piece has whole calls, whatever ids it gives them
	}
	for i := len(a.calls) - 1; i >= 0; i-- {
		c := &a.calls[i]
		switch {
		case index != noIndex:
			if c.index == index {
				// Some endpoints give every call the index 0, and only id and name say that another one begins. An id
				// alone does not: others draw one for every piece.
				if len(a.name) > 0 && len(a.id) > 0 && len(c.id) > 0 && string(a.id) != string(c.id) {
					return nil
				}
				return c
			}
		case len(a.id) > 0:
			if string(c.id) == string(a.id) {
				return c
			}
		case len(a.name) > 0 && len(c.name) > 0:
			return nil
		default:
			return c // nothing but more arguments
		}
	}
	return nil
}
