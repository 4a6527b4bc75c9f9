package session

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
)

// info describes a code.
type info struct {
	code    fault.Code
	message string
	status  uint16
	fatal   bool
}

// New makes an error of a code of this package about a field: the field and what is wrong with it follow the code's text,
// and the field is the error's detail. An empty field leaves both to what.
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

// Giver is the host code that has given a value: a hook, of an agent, of a plugin, or of a plugin about an agent.
type Giver struct{ Hook, Agent, Plugin string }

// Error is an error of this package about a value that the host code has given: the field begins with the hook and a path
// from there, and agent and plugin stand in the text and in the details. Other errors stay as they are.
func (g *Giver) Error(err error, path string) error {
	e, ok := err.(*fault.Error)
	if !ok {
		return err
	}
	given := New(e.Code, "", "")
	behind := len(given.Message) + 1 // of the code's text
	if given.Message == "" || len(e.Message) <= behind {
		return err
	}
	where, what := g.Hook+path, e.Message[behind:]
	if field, _ := value.GetString(e.Details, "field"); len(field) > 0 {
		if what = what[len(field)+2:]; field[0] != '[' {
			where += "."
		}
		where += string(field)
	}
	n, who := 1, ""
	var details []byte
	if g.Agent != "" {
		n, who = n+1, "agent \""+g.Agent+"\": "
		details = appendText(details, "agent", g.Agent)
	}
	details = appendText(details, "field", where)
	if g.Plugin != "" {
		n, who = n+1, "plugin \""+g.Plugin+"\": "+who
		details = appendText(details, "plugin", g.Plugin)
	}
	given = New(e.Code, "", who+where+": "+what)
	given.Details = append(value.AppendMapHeader(nil, n), details...)
	return given
}
