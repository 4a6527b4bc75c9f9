package file

import (
	"errors"
	"io/fs"
	"strconv"
	"syscall"

	"github.com/turncore/turncore/host"
)

var errClosed = errors.New("the store is closed")

// failure is the error of a call about a session, "" for none, that the disk has failed. Errors with a code stay as
// they are.
func failure(session string, err error) error {
	var coded *host.Error
	if err == nil || errors.As(err, &coded) {
		return err
	}
	return failed(session, reason(err), err)
}

func reason(err error) string {
	switch {
	case errors.Is(err, errClosed):
		return "it is closed"
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return "the disk is full"
	case errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission):
		return "the folder cannot be written"
	}
	return err.Error()
}

// failed is an E_STORE_FAILED.
func failed(session, why string, cause error) error {
	detail, details := why, map[string]any{"reason": why}
	if session != "" {
		detail, details["session"] = "session "+strconv.Quote(session)+": "+why, session
	}
	e := host.NewError(host.CodeStoreFailed, detail, cause)
	e.Details = details
	return e
}

// damaged is the E_STORED_RECORD_INVALID of what cannot be read of a session.
func damaged(session, why string, cause error) error {
	e := host.NewError(host.CodeStoredRecordInvalid, "session "+strconv.Quote(session)+": "+why, cause)
	e.Details = map[string]any{"session": session}
	return e
}
