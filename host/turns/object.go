package turns

import (
	"encoding/json"
	"iter"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/partial"
)

// Object returns the object of a turn's answer, for turns with structured output: the core has checked that the
// answer matches Config.Schema. Without an object the error says why: it is the result's Err, or one of
// encoding/json. A nil result is an E_INVALID_VALUE.
func Object[T any](r *Result) (T, error) {
	var v T
	if r != nil && r.Err != nil {
		return v, r.Err
	}
	err := r.Object(&v)
	return v, err
}

// Object decodes the JSON in Text into the value that v points to, for turns with structured output. Text may wrap
// the JSON in a Markdown fence.
func (r *Result) Object(v any) error {
	if r == nil {
		return newError(abi.CodeInvalidValue, "result: must not be nil: the turn's error says why there is none", nil)
	}
	text := strings.TrimSpace(r.Text)
	if body, fenced := strings.CutPrefix(text, fence); fenced {
		_, body, _ = strings.Cut(body, "\n")
		text = strings.TrimSuffix(strings.TrimSpace(body), fence)
	}
	return json.Unmarshal([]byte(text), v)
}

// fence begins and ends code in Markdown.
const fence = "```"

// PartialObjects yields the partial objects of a streaming answer: with complete members, and growing strings. Each
// value is decoded anew from the JSON so far with its open containers closed; a value that does not fit T is skipped.
// A thirty-second of the answer comes between two values, so that all of them together cost no more than a multiple
// of its length. The last one is the whole object.
//
// An answer that the model has to repair is followed by the objects of the next one, from the start. Leaving the loop
// does not end the turn. After a nack or a failure the last pair has the error, as in [Stream.Events].
func PartialObjects[T any](s *Stream) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var objects objectReader
		for ev, err := range s.all() {
			var v T
			if err != nil {
				yield(v, err)
				return
			}
			message, ok := ev.(*event.Message)
			if !ok {
				continue
			}
			text := objects.next(message)
			if text == nil || json.Unmarshal(text, &v) != nil {
				continue
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

// objectReader finds objects in messages that come.
type objectReader struct {
	dispatch, id string // of the message
	known        bool
	head         string         // of the message, as long as it is open whether it begins with a fence
	begun        bool           // it is not
	text         partial.Reader // of the object
	shown        int            // bytes of it that were shown
	out          []byte
}

// next takes a delta of a message. It returns the object so far when there is enough of it that was not shown, nil
// otherwise. The text is valid until the next call.
func (o *objectReader) next(ev *event.Message) []byte {
	if !o.known || o.id != ev.ID || o.dispatch != ev.DispatchID {
		*o = objectReader{dispatch: ev.DispatchID, id: ev.ID, known: true, out: o.out}
	}
	if o.text.Err() != nil {
		return nil
	}
	delta := ev.Delta
	if !o.begun {
		o.head += delta
		delta, o.begun = behindFence(o.head)
		if !o.begun {
			return nil
		}
		o.head = ""
	}
	err := o.text.Write([]byte(delta))
	if text, _ := o.text.Value(); ev.IsComplete && err == nil && len(text) == 0 {
		err = o.text.End() // a number on its own: that it is complete is known now
	}
	if err != nil && !o.text.Complete() { // what follows the object is of no interest
		return nil
	}
	text, closing := o.text.Value()
	n := len(text) - o.shown
	if n == 0 || n < o.shown/growth && !o.text.Complete() {
		return nil
	}
	o.shown = len(text)
	o.out = append(append(o.out[:0], text...), closing...)
	return o.out
}

// growth is the part of an object, one in so many, that has to come before it is shown again.
const growth = 32

// behindFence is what follows the line of a fence that a text begins with, or all of the text. ok is false as long as
// it is open whether the text begins with one.
func behindFence(text string) (rest string, ok bool) {
	start := strings.TrimLeft(text, " \t\r\n")
	if body, fenced := strings.CutPrefix(start, fence); fenced {
		_, rest, ok = strings.Cut(body, "\n")
		return rest, ok
	}
	if strings.HasPrefix(fence, start) {
		return "", false
	}
	return text, true
}
