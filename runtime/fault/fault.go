// Package fault holds the errors of the core: their codes, the static text, status and severity of each code, and the
// error type that crosses to the host. The table is generated from abi/errors.json, which the hosts share.
package fault

import (
	"errors"
	"slices"
	"strings"
)

// Code is the stable name of an error. It is itself an error for errors.Is: errors.Is(err, fault.StorageCommitError)
// reports whether err has that code.
type Code string

// Error returns the code's static text, or the code itself if it is not in the table.
func (c Code) Error() string {
	if i, ok := find(c); ok {
		return table[i].message
	}
	return string(c)
}

// info describes a code.
type info struct {
	code    Code
	message string
	status  uint16
	fatal   bool
}

func find(c Code) (int, bool) {
	return slices.BinarySearchFunc(table[:], c, func(f info, c Code) int { return strings.Compare(string(f.code), string(c)) })
}

// Error is an error of the core, or the core's view of a host's error.
type Error struct {
	Code       Code   // empty for errors without one
	Message    string // complete, without the code
	Handle     int64  // names an error object of the host (> 0) or of the guest (< 0); 0 until it has one
	Name       string // class name of an error without a code, such as "TypeError"
	Status     uint16 // HTTP-like
	Fatal      bool   // a programming error
	Abort      bool   // the host says that it is, or wraps, the reason of an abort
	Details    []byte // an encoded value, nil for none
	Cause      error
	Suppressed []error // later errors that are not reported by themselves
}

// Error returns the code, if there is one, and the message.
func (e *Error) Error() string {
	if e.Code == "" {
		return e.Message
	}
	return string(e.Code) + ": " + e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Is reports whether target is the error's code.
func (e *Error) Is(target error) bool {
	c, ok := target.(Code)
	return ok && c == e.Code && c != ""
}

// StreamSealed is the error of a report on a completed stream. It has neither code nor handle: a host throws it as a
// plain error of its language.
type StreamSealed struct{ Message string }

// Error returns the message.
func (e *StreamSealed) Error() string { return e.Message }

// New makes an error of a code. Details follow the code's static text after a colon, joined by semicolons.
func New(code Code, details ...string) *Error {
	e := &Error{Code: code, Message: string(code), Status: 500}
	if i, ok := find(code); ok {
		e.Message, e.Status, e.Fatal = table[i].message, table[i].status, table[i].fatal
	}
	e.Message = extend(e.Message, strings.Join(details, "; "))
	return e
}

// Wrap makes an error of a code around its cause, whose message follows the static text.
func Wrap(code Code, cause error) *Error {
	e := New(code)
	if cause != nil {
		e.Message = extend(e.Message, MessageOf(cause))
		e.Cause = cause
	}
	return e
}

// extend appends to a static text, in place of its period. An empty or repeated addition changes nothing.
func extend(static, more string) string {
	more = strings.TrimSpace(more)
	if more == "" || more == static {
		return static
	}
	return strings.TrimSuffix(static, ".") + ": " + more
}

// Plain makes an error without a code.
func Plain(message string) *Error {
	return &Error{Name: "Error", Message: message, Status: 500}
}

// MessageOf returns the message of err without its code.
func MessageOf(err error) string {
	if e, ok := err.(*Error); ok {
		return e.Message
	}
	return err.Error()
}

// Is reports whether err or one of its causes has the code.
func Is(err error, code Code) bool { return errors.Is(err, code) }

// IsAbort reports whether err is, or wraps, an error that counts as the abort while its context is aborted: one that
// the host marked, or that of an aborted gate.
func IsAbort(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if e, ok := err.(*Error); ok && (e.Abort || e.Code == TurnGateAborted) {
			return true
		}
	}
	return false
}

// DetailsOf returns the details of the first error in err's chain of causes that has any, an encoded value, or nil.
func DetailsOf(err error) []byte {
	for ; err != nil; err = errors.Unwrap(err) {
		if e, ok := err.(*Error); ok && e.Details != nil {
			return e.Details
		}
	}
	return nil
}
