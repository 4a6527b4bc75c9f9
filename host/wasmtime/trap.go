package wasmtime

import (
	"errors"
	"fmt"
	"strings"

	wt "github.com/bytecodealliance/wasmtime-go/v39"

	"github.com/turncore/turncore/host/engine"
)

// trap is the error of a guest that Wasmtime has stopped.
type trap struct {
	code int    // a [wt.TrapCode], -1 for none
	text string // the reason in the first line, and where it was
}

func (t *trap) Error() string { return t.text }

// newTrap makes an error of Wasmtime's words, which say first where it was and then why.
func newTrap(code int, words string) error {
	words = strings.TrimRight(words, "\x00\n")
	if where, why, ok := strings.Cut(words, "Caused by:"); ok {
		words = fmt.Sprintf("%s\n%s", strings.TrimSpace(why), strings.TrimSpace(where))
	}
	return &trap{code, words}
}

// interrupted reports whether an error is that of a guest whose time was over.
func interrupted(err error) bool {
	var t *trap
	return errors.As(err, &t) && t.code == int(wt.Interrupt)
}

// flat is an error of Wasmtime's Go module as those of calls are.
func flat(err error) error {
	var trapped *wt.Trap
	var failed *wt.Error
	switch {
	case errors.As(err, &trapped):
		code := -1
		if c := trapped.Code(); c != nil {
			code = int(*c)
		}
		return newTrap(code, trapped.Message())
	case errors.As(err, &failed):
		if status, ok := failed.ExitStatus(); ok {
			return engine.ExitError(status)
		}
		return newTrap(-1, failed.Error())
	}
	return err
}
