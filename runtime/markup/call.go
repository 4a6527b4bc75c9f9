package markup

import (
	"bytes"
	"unicode/utf8"

	"github.com/turncore/turncore/runtime/value"
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

// addCall takes up a call. It copies what it is given.
func (r *Reader) addCall(format Formats, name, args, raw []byte, defect Defect) {
	if len(r.calls) == MaxCalls {
		r.excess++
		return
	}
	c := Call{Format: format, Defect: defect}
	if validName(name) {
		c.Name = string(name)
	} else if defect == None {
		c.Defect = NoName
	}
	if c.Defect != None {
		c.Raw = bytes.Clone(raw)
	} else {
		c.Arguments = bytes.ToValidUTF8(args, []byte("\uFFFD"))
	}
	r.calls = append(r.calls, c)
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
func (r *Reader) objects(format Formats, t []byte) {
	for i := 0; i < len(t); i++ {
		if t[i] != '{' {
			continue
		}
		c := candidate{pos: i}
		if c.nest(t) != yes {
			r.addCall(format, nil, nil, t[i:], CutOff)
			return
		}
		name, args, defect := callObject(t[i:c.pos])
		r.addCall(format, name, args, t[i:c.pos], defect)
		i = c.pos - 1
	}
}

// callObject reads an object that is a call: with its name and arguments in the object itself, or in an object below
// "function". One that is no JSON is read as the literal of a program.
func callObject(t []byte) (name, args []byte, defect Defect) {
	s := value.NewScanner(t)
	name, raw := callMembers(&s)
	if err := s.End(); err != nil {
		var ok bool
		if t, ok = literal(t, 0); !ok {
			return name, nil, deepOr(err, BadArguments)
		}
		s = value.NewScanner(t)
		name, raw = callMembers(&s)
		if err = s.End(); err != nil {
			return name, nil, deepOr(err, BadArguments)
		}
	}
	args, defect = callArguments(raw)
	return name, args, defect
}

func deepOr(err error, other Defect) Defect {
	if e, ok := err.(*value.SyntaxError); ok && e.Is(value.ErrTooDeep) {
		return TooDeep
	}
	return other
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

// callArguments returns the object that arguments are: in JSON, in a string that holds JSON, or left out.
func callArguments(raw []byte) ([]byte, Defect) {
	s := value.NewScanner(raw)
	switch s.Kind() {
	case value.KindMap:
		return raw, None
	case value.KindInvalid, value.KindNil:
		return []byte("{}"), None
	case value.KindString:
		text, _ := s.AppendText(nil)
		if len(bytes.TrimSpace(text)) == 0 {
			return []byte("{}"), None
		}
		s = value.NewScanner(text)
		if s.Kind() == value.KindMap {
			if err := s.End(); err != nil {
				return nil, deepOr(err, BadArguments)
			}
			return text, None
		}
	}
	return nil, BadArguments
}

// namedArguments returns the object that arguments beside a name are.
func namedArguments(t []byte) ([]byte, Defect) {
	t = bytes.TrimSpace(t)
	s := value.NewScanner(t)
	err := s.End()
	if err != nil && len(t) > 0 {
		var ok bool
		if t, ok = literal(t, 0); !ok {
			return nil, deepOr(err, BadArguments)
		}
	}
	return callArguments(t)
}
