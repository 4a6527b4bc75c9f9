package turns

import (
	"context"
	"errors"
	"fmt"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
)

// ErrStreamSealed is returned by a report on a stream that an earlier report has completed.
var ErrStreamSealed = errors.New("the stream is sealed: an earlier report completed it")

// errEnded is the cause with which a context is cancelled that outlives its turn.
var errEnded = errors.New("the turn has ended")

func newError(code string, detail string, cause error) error {
	return host.NewError(host.Code(code), detail, cause)
}

func callAfterEnd() error { return newError(abi.CodeCallAfterEnd, "the turn has ended", nil) }

// panicError is what a panic in user code becomes.
type panicError struct{ value any }

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

func (e *panicError) Unwrap() error {
	err, _ := e.value.(error)
	return err
}

// errorTable gives the errors of a turn their handles, so that the same error object comes back that went in.
type errorTable struct {
	mine   []error         // by handle, from 1
	theirs map[int64]error // made by the guest, handles below 0
}

// maxCauses is how many errors of a chain cross to the guest.
const maxCauses = 8

// encode describes err to the guest, under a fresh handle. aborted tells whether an error counts as the abort of the
// context it came out of.
func (t *errorTable) encode(err error, isAbort func(error) bool) *abi.ErrorValue {
	t.mine = append(t.mine, err)
	v := describe(err, isAbort, maxCauses)
	v.Handle = int64(len(t.mine))
	return v
}

func describe(err error, isAbort func(error) bool, depth int) *abi.ErrorValue {
	v := &abi.ErrorValue{Name: "Error", Message: err.Error(), Status: 500, Abort: isAbort(err)}
	if e, ok := err.(*host.Error); ok {
		v.Name, v.Code, v.Message, v.Fatal = e.Name, string(e.Code), e.Message, e.Fatal
		if e.Status > 0 && e.Status < 1000 {
			v.Status = uint16(e.Status)
		}
		if v.Name == "" && v.Code == "" {
			v.Name = "Error"
		}
	}
	if cause := errors.Unwrap(err); cause != nil && depth > 1 {
		v.Cause = describe(cause, isAbort, depth-1)
	}
	return v
}

// decode returns the error that the guest describes: the object that host code gave, or one that is made once.
func (t *errorTable) decode(v *abi.ErrorValue) error {
	if v == nil {
		return nil
	}
	err := host.ErrorOf(v, t.lookup)
	if v.Handle < 0 {
		if t.theirs == nil {
			t.theirs = make(map[int64]error)
		}
		t.theirs[v.Handle] = err
	}
	return err
}

func (t *errorTable) lookup(handle int64) error {
	if handle < 0 {
		return t.theirs[handle]
	}
	if handle <= int64(len(t.mine)) {
		return t.mine[handle-1]
	}
	return nil
}

// isAbortError tells an error that means an abort whatever its cause is.
func isAbortError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, host.CodeTurnGateAborted)
}
