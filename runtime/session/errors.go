package session

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
)

// New makes an error of a code of this package about a field: the field and what is wrong with it follow the code's text,
// and the field is the error's detail. An empty field leaves both to what.
func New(code fault.Code, field, what string) *fault.Error {
	e := faults[code]
	detail := what
	if field != "" {
		detail = field + ": " + what
		e.Details = value.AppendString(value.AppendString(value.AppendMapHeader(nil, 1), "field"), field)
	}
	if detail != "" {
		e.Message = e.Message[:len(e.Message)-1] + ": " + detail
	}
	return &e
}
