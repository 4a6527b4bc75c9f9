package session

import "github.com/turncore/turncore/runtime/fault"

// info describes a code.
type info struct {
	code    fault.Code
	message string
	status  uint16
	fatal   bool
}

// New makes an error of a code of this package about a field: the field and what is wrong with it follow the code's
// text, and the field is the error's detail. An empty field leaves both to what.
func New(code fault.Code, field, what string) *fault.Error {
	e := &fault.Error{Code: code}
	for i := range table {
		if f := &table[i]; f.code == code {
			e.Message, e.Status, e.Fatal = f.message, f.status, f.fatal
		}
	}
	if field != "" {
		e.Details = appendText([]byte{0x81}, "field", field)
		what = field + ": " + what
	}
	if what != "" {
		e.Message = e.Message[:len(e.Message)-1] + ": " + what
	}
	return e
}
