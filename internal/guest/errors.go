package guest

import (
	"errors"
	"unicode/utf8"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
)

// maxCauses bounds a chain of causes on the wire.
const maxCauses = 8

// maxSuppressed is how many suppressed errors go with an error; a frame allows no more.
const maxSuppressed = 64

// maxDetailsDepth is how deep an error's details may nest: causes and their containers add levels.
const maxDetailsDepth = 32

// errorValue encodes an error; nil for nil. It gives the guest's own errors a handle, so that the host can represent
// each by one object. It drops whatever does not fit a frame: the ends of long messages, details, suppressed errors.
func (t *turn) errorValue(err error) *abi.ErrorValue { return t.errorWithin(err, t.in.limits.Frame) }

// errorWithin is errorValue with a limit in bytes.
func (t *turn) errorWithin(err error, limit uint32) *abi.ErrorValue {
	if err == nil {
		return nil
	}
	w := errorWriter{turn: t, left: int(limit) / 2, plain: t.plain}
	if w.plain {
		w.left = int(min(limit/2, t.in.limits.String))
	}
	return w.write(err, 0)
}

// plainError is errorValue without details, causes and suppressed errors.
func (t *turn) plainError(err error) *abi.ErrorValue {
	was := t.plain
	t.plain = true
	defer func() { t.plain = was }()
	return t.errorValue(err)
}

// errorBytes is errorValue in a value of bytes.
func (t *turn) errorBytes(err error) abi.Raw {
	b := t.errorWithin(err, min(t.in.limits.Frame, t.in.limits.String)).Append(nil)
	if _, failed := value.Skip(b, int(t.in.limits.Depth)); failed != nil {
		b = t.plainError(err).Append(nil)
	}
	return abi.Bytes(b)
}

type errorWriter struct {
	turn  *turn
	left  int  // bytes
	plain bool // only the error itself
}

func (w *errorWriter) write(err error, depth int) *abi.ErrorValue {
	if err == nil || depth > maxCauses {
		return nil
	}
	f, ok := err.(*fault.Error)
	if !ok {
		e := &abi.ErrorValue{Name: "Error", Message: w.text(err.Error()), Status: 500}
		if !w.plain {
			e.Cause = w.write(errors.Unwrap(err), depth+1)
		}
		return e
	}
	if f.Handle == 0 {
		w.turn.minted--
		f.Handle = w.turn.minted
	}
	e := &abi.ErrorValue{
		Handle: f.Handle, Name: f.Name, Code: string(f.Code), Message: w.text(f.Message), Status: f.Status,
		Fatal: f.Fatal, Abort: f.Abort,
	}
	if w.plain {
		return e
	}
	if _, err := value.Skip(f.Details, maxDetailsDepth); err == nil && len(f.Details) < w.left {
		e.Details = f.Details
		w.left -= len(f.Details)
	}
	e.Cause = w.write(f.Cause, depth+1)
	if depth < 2 {
		for _, s := range f.Suppressed[:min(len(f.Suppressed), maxSuppressed)] {
			if w.left > 0 {
				e.Suppressed = append(e.Suppressed, *w.write(s, depth+1))
			}
		}
	}
	return e
}

// text returns as much of a message as fits, in whole characters.
func (w *errorWriter) text(s string) string {
	if n := max(w.left, 0); len(s) > n {
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n]
	}
	w.left -= len(s) + 64
	return s
}

// faultOf decodes an error.
func faultOf(e *abi.ErrorValue) error {
	f := &fault.Error{
		Code: fault.Code(e.Code), Message: e.Message, Handle: e.Handle, Name: e.Name, Status: e.Status,
		Fatal: e.Fatal, Abort: e.Abort, Details: valueOf(e.Details),
	}
	if e.Cause != nil {
		f.Cause = faultOf(e.Cause)
	}
	for i := range e.Suppressed {
		f.Suppressed = append(f.Suppressed, faultOf(&e.Suppressed[i]))
	}
	return f
}

// aborted is the error of a wait whose context is aborted.
func aborted() error {
	e := fault.Plain("the context was aborted")
	e.Name, e.Abort = "AbortError", true
	return e
}

// codeOf is the code of an error, empty if it has none.
func codeOf(err error) string {
	var f *fault.Error
	if errors.As(err, &f) {
		return string(f.Code)
	}
	var frame *abi.FrameError
	if errors.As(err, &frame) {
		return frame.Code
	}
	return ""
}
