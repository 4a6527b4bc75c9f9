package turn

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/wire"
)

// ErrStreamSealed is the error of a report on a stream that an earlier report has completed.
var ErrStreamSealed = errors.New("the stream is sealed: an earlier report completed it")

// sealedError is ErrStreamSealed in the core's words.
type sealedError string

func (e sealedError) Error() string        { return string(e) }
func (e sealedError) Is(target error) bool { return target == ErrStreamSealed }

// errEnded is the cause with which a context is cancelled that outlives its turn.
var errEnded = errors.New("the turn has ended")

// ErrAfterEnd is what a call fails with whose turn has ended.
func ErrAfterEnd() error { return host.NewError(abi.CodeCallAfterEnd, "the turn has ended", nil) }

// errorTable gives the errors of a turn their handles, so that the same error object comes back that went in.
type errorTable struct {
	mine   []error         // by handle, from 1
	theirs map[int64]error // made by the guest, handles below 0
	most   int             // bytes of text, and bytes of details, that an error crosses with
}

// maxCauses is how many errors of a chain cross to the guest.
const maxCauses = 8

// maxSuppressed is how many of the errors that followed one cross with it.
const maxSuppressed = 64

// maxErrorText is how many bytes of text of an error and those that go with it cross at most: an abort must not fail
// because its reason is long.
const maxErrorText = 256 << 10

// keep gives an error a fresh handle, in the description of it that goes to the guest.
func (t *errorTable) keep(err error, v *abi.ErrorValue) *abi.ErrorValue {
	shorten(v, &room{text: min(maxErrorText, t.most), details: t.most})
	t.mine = append(t.mine, err)
	v.Handle = int64(len(t.mine))
	return v
}

// describe tells the guest about an error that came out of a context which was, or was not, aborted for the given
// cause. It runs the error's own code, which may panic: no lock may be held.
func describe(err, cause error) (v *abi.ErrorValue) {
	defer func() {
		if p := recover(); p != nil {
			v = &abi.ErrorValue{Name: "Error", Message: fmt.Sprintf("an error of type %T that cannot be read: %v", err, p), Status: 500}
		}
	}()
	return describeChain(err, cause, maxCauses)
}

// room is what an error and those that go with it may still cross with, in bytes.
type room struct{ text, details int }

// shorten cuts the texts of an error and of those that go with it, and drops the details that do not fit.
func shorten(v *abi.ErrorValue, left *room) {
	for _, text := range []*string{&v.Name, &v.Code, &v.Message} {
		if len(*text) > left.text {
			*text = strings.ToValidUTF8((*text)[:left.text], "")
		}
		left.text -= len(*text)
	}
	if len(v.Details) > left.details {
		v.Details = nil
	}
	left.details -= len(v.Details)
	if v.Cause != nil {
		shorten(v.Cause, left)
	}
	for i := range v.Suppressed {
		shorten(&v.Suppressed[i], left)
	}
}

func describeChain(err, cause error, depth int) *abi.ErrorValue {
	v := &abi.ErrorValue{
		Name: "Error", Message: err.Error(), Status: 500,
		Abort: isAbortError(err) || cause != nil && errors.Is(err, cause),
	}
	if e, ok := err.(*host.Error); ok && e != nil {
		v.Name, v.Code, v.Message, v.Fatal = e.Name, string(e.Code), e.Message, e.Fatal
		if e.Status > 0 && e.Status < 1000 {
			v.Status = uint16(e.Status)
		} else if info, known := abi.LookupCode(v.Code); known {
			v.Status = uint16(info.Status)
		}
		if v.Name == "" && v.Code == "" {
			v.Name = "Error"
		}
		if e.Details != nil {
			if details, unfit := wire.Append(nil, e.Details, "details"); unfit == nil { // else they stay with the error
				v.Details = details
			}
		}
		if depth >= maxCauses-1 {
			for _, later := range e.Suppressed[:min(len(e.Suppressed), maxSuppressed)] {
				v.Suppressed = append(v.Suppressed, *describeChain(later, nil, depth-2))
			}
		}
	}
	if inner := errors.Unwrap(err); inner != nil && depth > 1 {
		v.Cause = describeChain(inner, cause, depth-1)
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
	for e := err; e != nil; e = errors.Unwrap(e) {
		if foreign, ok := e.(*host.Error); ok && foreign != nil && foreign.Name == "AbortError" { // the core's
			return true
		}
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, host.CodeTurnGateAborted)
}
