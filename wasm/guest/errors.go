package guest

import (
	"errors"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/runtime/fault"
)

// maxCauses bounds a chain of causes on the wire.
const maxCauses = 8

// maxSuppressed is how many errors that followed another one are sent with it, as many as a frame takes.
const maxSuppressed = 64

// errorValue puts an error on the wire; nil for nil. An error that the guest made gets a handle the first time, so that
// the host can give its users one object for it.
func (t *turn) errorValue(err error) *abi.ErrorValue { return t.errorValueDeep(err, 0) }

func (t *turn) errorValueDeep(err error, depth int) *abi.ErrorValue {
	if err == nil || depth > maxCauses {
		return nil
	}
	f, ok := err.(*fault.Error)
	if !ok {
		return &abi.ErrorValue{Name: "Error", Message: err.Error(), Status: 500, Cause: t.errorValueDeep(errors.Unwrap(err), depth+1)}
	}
	if f.Handle == 0 && err != fault.ErrStreamSealed {
		t.minted--
		f.Handle = t.minted
	}
	e := &abi.ErrorValue{
		Handle: f.Handle, Name: f.Name, Code: string(f.Code), Message: f.Message, Status: f.Status,
		Fatal: f.Fatal, Abort: f.Abort, Details: f.Details, Cause: t.errorValueDeep(f.Cause, depth+1),
	}
	if depth < 2 {
		for _, s := range f.Suppressed[:min(len(f.Suppressed), maxSuppressed)] {
			e.Suppressed = append(e.Suppressed, *t.errorValueDeep(s, depth+1))
		}
	}
	return e
}

// faultOf takes an error from the wire.
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

// aborted is what a wait ends with when its context is aborted.
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
