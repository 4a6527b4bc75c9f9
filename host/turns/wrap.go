package turns

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/check"
	"github.com/turncore/turncore/host/internal/invocation"
	"github.com/turncore/turncore/host/internal/panics"
	"github.com/turncore/turncore/host/model"
)

// wrapperErrorName is the Name of errors that a wrapper failed with.
const wrapperErrorName = "WrapperError"

// wrapped is one layer of a chain of wrappers while it runs.
type wrapped struct {
	field string // such as "wrapTool"
	index int
	over  atomic.Bool

	mu    sync.Mutex
	given []error // what next failed with
}

// name is how messages name the wrapper.
func (w *wrapped) name() string { return check.At(w.field, w.index) }

// enter tells whether next may still run, and was given a call.
func (w *wrapped) enter(given bool) error {
	if w.over.Load() {
		return newError(abi.CodeCallAfterEnd, "next of "+w.name()+", which has returned", nil)
	}
	if !given {
		return newError(abi.CodeInvalidValue, "what next was given: must be a call", nil)
	}
	return nil
}

// gave notes what next failed with.
func (w *wrapped) gave(err error) {
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.given = append(w.given, err)
	}
}

// run runs the wrapper. What it fails with by itself names it.
func (w *wrapped) run(do func() error) (err error) {
	defer func() {
		w.over.Store(true)
		if v := recover(); v != nil {
			if given, ok := v.(error); ok && w.was(given) {
				err = given
			} else {
				err = w.failure(panics.Caught(v))
			}
		}
	}()
	if err = do(); err == nil || w.was(err) {
		return err
	}
	if of := (*invocation.OfHandler)(nil); errors.As(err, &of) {
		return of.Err
	}
	return w.failure(err)
}

// was tells whether an error is, or leads to, one that next failed with.
func (w *wrapped) was(err error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.given, func(given error) bool { return errors.Is(err, given) })
}

func (w *wrapped) failure(cause error) error {
	return &host.Error{Name: wrapperErrorName, Message: w.name() + ": " + cause.Error(), Status: 500, Cause: cause}
}

// nilWrappers lists the entries of a list of wrappers that are no functions.
func nilWrappers[W ToolWrapper | model.Wrapper](field string, list []W) (violations []string) {
	for i, w := range list {
		if w == nil {
			violations = append(violations, abi.Violation(string(abi.KindFunction), "field", field+"["+strconv.Itoa(i)+"]"))
		}
	}
	return violations
}
