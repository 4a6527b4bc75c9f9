package markup

import (
	"bytes"
	"unicode/utf8"

	"github.com/turncore/turncore/abi/value"
)

// MaxCalls is the number of calls that one answer can hold.
const MaxCalls = 256

const (
	maxName = 256     // bytes of a tool's name
	maxHead = 1 << 10 // bytes of a call that is too long that are kept to show
)

// Call is a tool call that a model wrote into its text.
type Call struct {
	Format Formats // the one that it was recognised as
	Name   string  // as written; the tool need not be among the offered ones. Empty if there is none to read
	// Arguments are a JSON object, as the model wrote it where it wrote JSON. Nil if Defect is set.
	Arguments []byte
	// Defect tells why the call cannot be run.
	Defect Defect
	// Raw is the text of a call with a defect, only the start of it if the defect is TooLong.
	Raw []byte
}

// Defect is what is wrong with a call. Its text is made for the model to read.
type Defect uint8

// The defects. None is that of a call that can be run.
const (
	None Defect = iota
	CutOff
	Unclosed
	NoName
	BadArguments
	TooDeep
	TooLong
)

// String says what is wrong, in a half sentence.
func (d Defect) String() string {
	return [...]string{
		None:         "",
		CutOff:       "the text ends inside the call",
		Unclosed:     "the marker that closes the call is missing",
		NoName:       "the call does not name a tool",
		BadArguments: "the arguments cannot be read as an object",
		TooDeep:      "the arguments are nested too deeply",
		TooLong:      "the call is too long",
	}[min(d, TooLong)]
}

// addCall takes up a call of the form that is read. It copies what it is given. Without raw, a defect is one of the
// form.
func (r *Reader) addCall(c *candidate, name, args, raw []byte, defect Defect) {
	call := Call{Format: c.form.format}
	if validName(name) {
		call.Name = string(name)
	} else if defect == None {
		defect = NoName
	}
	if defect == None && !utf8.Valid(args) {
		defect = BadArguments
	}
	switch {
	case len(r.calls) == MaxCalls:
		r.excess++
		return
	case defect == None && args == nil:
		call.Arguments = []byte("{}")
	case defect == None:
		call.Arguments = bytes.Clone(args)
	case raw == nil:
		c.defect = max(c.defect, defect)
		return
	default:
		call.Raw, call.Defect = bytes.Clone(raw), defect
	}
	r.calls = append(r.calls, call)
}

func validName(name []byte) bool {
	if len(name) == 0 || len(name) > maxName || !utf8.Valid(name) {
		return false
	}
	for _, c := range name {
		if c < ' ' || c == 0x7f {
			return false
		}
	}
	return true
}

// objects takes up the calls that the JSON objects of t are, in an array or one behind the other.
func (r *Reader) objects(c *candidate, t []byte) {
	for i := 0; i < len(t); i++ {
		if t[i] != '{' {
			continue
		}
		o := scan{pos: i}
		if o.nest(t) < 0 {
			return // the bracket that closes the array is an object's
		}
		text := t[i:o.pos]
		name, args, defect := callObject(text)
		r.addCall(c, name, args, text, defect)
		i = o.pos - 1
	}
}

// named takes up the call whose name has come, and whose arguments are a part of t.
func (r *Reader) named(c *candidate, t []byte, from, to int) {
	args, defect := callArguments(t[from:to])
	r.addCall(c, c.name.of(t), args, nil, defect)
}

// nest reads a value of JSON that begins with a bracket or a quote, whatever is inside, and tells where it ends.
func (c *scan) nest(t []byte) int {
	for c.pos < len(t) {
		b := t[c.pos]
		c.pos++
		if c.quote != 0 {
			switch {
			case c.escaped:
				c.escaped = false
			case b == '\\':
				c.escaped = true
			case b == '"':
				if c.quote = 0; c.depth == 0 {
					return 0
				}
			}
			continue
		}
		switch b {
		case '"':
			c.quote = 1
		case '{', '[':
			c.depth++
		case '}', ']':
			if c.depth--; c.depth <= 0 {
				return 0
			}
		}
	}
	return more
}

// jsonOf returns a text that is JSON, or that can be read as a literal of a program, as JSON.
func jsonOf(t []byte) ([]byte, Defect) {
	s := value.NewScanner(t)
	err := s.End()
	if err == nil {
		return t, None
	}
	if e, ok := err.(*value.SyntaxError); ok && e.Is(value.ErrTooDeep) {
		return t, TooDeep
	}
	l := literals{t: t}
	l.whole()
	return l.out, l.defect
}

// callObject reads an object that is a call: with its name and arguments in the object itself, or in an object below
// "function". The arguments are nil if there are none.
func callObject(t []byte) (name, args []byte, defect Defect) {
	json, defect := jsonOf(t)
	if defect != None {
		json = t // for the name
	}
	s := value.NewScanner(json)
	name, args = callMembers(&s)
	if defect == None && args != nil {
		args, defect = callArguments(args)
	}
	return name, args, defect
}

func callMembers(s *value.Scanner) (name, args []byte) {
	for key := range s.Members() {
		switch string(key) {
		case "name":
			name, _ = s.AppendText(nil)
		case "function":
			if s.Kind() == value.KindMap {
				name, args = callMembers(s)
			} else {
				name, _ = s.AppendText(nil)
			}
		case "arguments", "parameters":
			args = s.Raw()
		}
	}
	return name, args
}

// callArguments returns the object that arguments are: itself, or in a string that holds JSON. Nothing and null are no
// arguments.
func callArguments(t []byte) ([]byte, Defect) {
	t = bytes.TrimSpace(t)
	if len(t) == 0 || string(t) == "null" {
		return nil, None
	}
	t, defect := jsonOf(t)
	if defect == None && t[0] != '{' {
		s := value.NewScanner(t)
		text, _ := s.AppendText(nil)
		switch text = bytes.TrimSpace(text); {
		case t[0] == '"' && len(text) == 0:
			return nil, None
		case len(text) == 0 || text[0] != '{':
			return nil, BadArguments
		}
		t, defect = jsonOf(text)
	}
	return t, defect
}

// unwrapped returns the arguments inside of an object that has only them.
func unwrapped(object []byte) []byte {
	for _, prefix := range [...]string{`{"arguments":{`, `{"args":{`, `{"parameters":{`} {
		if n := begins(object, prefix); n > 0 {
			inner := scan{pos: n - 1}
			if inner.nest(object); inner.pos == len(object)-1 {
				return object[n-1 : inner.pos]
			}
		}
	}
	return object
}
