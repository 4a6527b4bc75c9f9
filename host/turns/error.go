package turns

import (
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/turn"
)

// ErrStreamSealed is the error of a report on a stream that an earlier report has completed. The error's text names
// the stream.
var ErrStreamSealed = turn.ErrStreamSealed

// ErrClosed is the error of Run, Stream and Dispatch after Close or Shutdown, and of turns that Close cuts off or
// Shutdown aborts.
var ErrClosed error = host.CodeClosed

func newError(code string, detail string, cause error) error {
	return host.NewError(host.Code(code), detail, cause)
}
