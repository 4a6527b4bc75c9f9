package host

import (
	"log/slog"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/wire"
)

// Code is the kind of an [Error]. It is an error itself, so that you can test for it:
//
//	if errors.Is(err, host.CodeInstanceFailed) { … }
type Code string

// Error returns the code.
func (c Code) Error() string { return string(c) }

// Error is an error with a code. Every failure that Turncore reports is an Error or wraps one; find it with
// errors.As.
type Error struct {
	// Code is one of the documented codes, or empty for a foreign error that came back from the core.
	Code Code
	// Name is the class of a foreign error without a code, such as "TypeError". "Error" is that of one without a class of
	// its own.
	Name string
	// Message describes the failure for people.
	Message string
	// Status is the HTTP status that fits best.
	Status int
	// Fatal marks a mistake in the program, which a retry cannot cure.
	Fatal bool
	// Help is the remedy; empty for foreign codes.
	Help string
	// Details are data of the error, such as the list of violations or the progress of a commit, as plain data; nil for
	// none.
	Details any
	// Cause is the error that led to this one, or nil.
	Cause error
	// Suppressed are later errors that are not reported separately.
	Suppressed []error
}

// NewError returns an error with a code and the code's text, status and help. A detail that is not empty follows the
// text after a colon. cause may be nil.
func NewError(code Code, detail string, cause error) *Error {
	e := &Error{Code: code, Message: detail, Status: 500, Cause: cause}
	info, known := abi.LookupCode(string(code))
	if !known {
		return e
	}
	e.Status, e.Fatal, e.Help, e.Message = info.Status, info.Fatal, info.Help, info.Message
	if detail != "" {
		e.Message = strings.TrimSuffix(info.Message, ".") + ": " + detail
	}
	return e
}

// Error returns the code or class and the message, and the message alone of an error that has neither.
func (e *Error) Error() string {
	switch {
	case e == nil:
		return "nil *host.Error"
	case e.Code != "":
		return string(e.Code) + ": " + e.Message
	case e.classed():
		return e.Name + ": " + e.Message
	}
	return e.Message
}

// classed reports whether the error has a class of its own.
func (e *Error) classed() bool { return e.Name != "" && e.Name != "Error" }

// LogValue gives slog the code, the message, the details and the causes, and for a panic its stack.
func (e *Error) LogValue() slog.Value {
	if e == nil {
		return slog.StringValue(e.Error())
	}
	attrs := make([]slog.Attr, 0, 4)
	switch {
	case e.Code != "":
		attrs = append(attrs, slog.String("code", string(e.Code)))
	case e.classed():
		attrs = append(attrs, slog.String("name", e.Name))
	}
	attrs = append(attrs, slog.String("message", e.Message))
	if e.Details != nil {
		attrs = append(attrs, slog.Any("details", e.Details))
	}
	if e.Cause != nil {
		attrs = append(attrs, slog.Any("cause", e.Cause))
	}
	return slog.GroupValue(attrs...)
}

// Is reports whether target is this error's code, so that errors.Is(err, host.CodeInstanceFailed) works.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && e != nil && code == e.Code
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Cause
}

// ErrorOf builds the error that a value from the core describes, with the help text of its code. For every error with
// a handle it first calls lookup; a non-nil result replaces the built error, so that an error from host code comes
// back as itself. lookup may be nil.
//
// Details become plain data: nil, bool, int64, float64, string, []byte, []any, map[string]any.
func ErrorOf(v *abi.ErrorValue, lookup func(handle int64) error) error {
	if v.Handle != 0 && lookup != nil {
		if err := lookup(v.Handle); err != nil {
			return err
		}
	}
	e := &Error{Code: Code(v.Code), Name: v.Name, Message: v.Message, Status: int(v.Status), Fatal: v.Fatal}
	if info, known := abi.LookupCode(v.Code); known {
		e.Help = info.Help
		if e.Status == 0 {
			e.Status = info.Status
		}
	}
	if details, err := wire.Read(v.Details); err == nil {
		e.Details = details // without what is not a value: the error itself matters more
	}
	if v.Cause != nil {
		e.Cause = ErrorOf(v.Cause, lookup)
	}
	for i := range v.Suppressed {
		e.Suppressed = append(e.Suppressed, ErrorOf(&v.Suppressed[i], lookup))
	}
	return e
}
