package form

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
)

// Type is what a member holds.
type Type string

// Types of members.
const (
	Text     Type = "text"
	Truth    Type = "truth"
	Count    Type = "count"  // an integer from 0
	Number   Type = "number" // a float64
	Time     Type = "time"
	Free     Type = "free"
	Speaker  Type = "identity"
	Contents Type = "content"
	MediaSet Type = "media" // a list
)

// Member is a member of a form.
type Member struct {
	Name     string
	Type     Type
	Required bool
}

// Table lists the members of a form, in their order.
type Table []Member

// Tables of the forms.
var (
	IdentityTable    = tableOf[Identity]()
	ArtifactTable    = tableOf[Artifact]()
	MediaTable       = tableOf[Media]()
	InstructionTable = tableOf[Instruction]()
	MemoryTable      = tableOf[Memory]()
	RetrievableTable = tableOf[Retrievable]()
	MessageTable     = tableOf[Message]()
	ThoughtTable     = tableOf[Thought]()
	ToolCallTable    = tableOf[ToolCall]()
)

var typesOf = map[reflect.Type]Type{
	reflect.TypeFor[string](): Text, reflect.TypeFor[Optional](): Text, reflect.TypeFor[bool](): Truth, reflect.TypeFor[uint8](): Count, reflect.TypeFor[*uint64](): Count,
	reflect.TypeFor[float64](): Number, reflect.TypeFor[*float64](): Number, reflect.TypeFor[Millis](): Time, reflect.TypeFor[Value](): Free,
	reflect.TypeFor[*Identity](): Speaker, reflect.TypeFor[Content](): Contents, reflect.TypeFor[[]Media](): MediaSet,
}

func tableOf[T any]() (t Table) {
	of := reflect.TypeFor[T]()
	for i := range of.NumField() {
		f := of.Field(i)
		name, omitted, _ := strings.Cut(f.Tag.Get("msg"), ",")
		t = append(t, Member{Name: name, Type: typesOf[f.Type], Required: omitted == ""})
	}
	return t
}

// Error says which member of a stored record is wrong, and how.
type Error struct {
	Field  string // "" for the whole
	Reason string
}

// Error returns the field and the reason.
func (e *Error) Error() string {
	if e.Field == "" {
		return e.Reason
	}
	return e.Field + ": " + e.Reason
}

// find returns the place of a member, -1 for none. It looks first at the place where the last search ended.
func (t Table) find(name []byte, from int) int {
	for i := from; i < len(t); i++ {
		if t[i].Name == string(name) {
			return i
		}
	}
	for i := range from {
		if t[i].Name == string(name) {
			return i
		}
	}
	return -1
}

// Check returns an *Error unless body is a map that has every required member of the table and none but its members,
// each once, within the limits of a frame. What it holds is then safe to decode.
func (t Table) Check(body []byte) error {
	if !value.Fits(body, abi.MaxDepth, abi.MaxArray) {
		return &Error{"", "it is malformed, or larger than a frame may hold"}
	}
	if value.KindOf(body) != value.KindMap {
		return &Error{"", "it is not a map"}
	}
	if v, ok := value.Get(body, "v"); ok {
		if n, whole := value.Int(v); !whole || n < 1 {
			return &Error{"v", "it is no version"}
		} else if n > Version {
			return &Error{"v", "version " + strconv.FormatInt(n, 10) + ": a record of a later version"}
		}
	}
	return t.check(body, "")
}

func (t Table) check(m []byte, path string) (wrong error) {
	if value.KindOf(m) != value.KindMap {
		return &Error{strings.TrimSuffix(path, "."), "it is not a map"}
	}
	seen, next := uint32(0), 0
	err := value.Each(m, func(key, val []byte) bool {
		i := t.find(key, next)
		switch {
		case i < 0:
			wrong = &Error{path + value.UTF8(string(key)), "it is no member of such a record"}
		case seen&(1<<i) != 0:
			wrong = &Error{path + t[i].Name, "it is there twice"}
		default:
			seen, next = seen|1<<i, i+1
			wrong = t[i].check(val, path)
		}
		return wrong == nil
	})
	if wrong == nil && err != nil {
		wrong = &Error{strings.TrimSuffix(path, "."), err.Error()}
	}
	for i := range t {
		if wrong == nil && t[i].Required && seen&(1<<i) == 0 {
			wrong = &Error{path + t[i].Name, "it is missing"}
		}
	}
	return wrong
}

func (m *Member) check(val []byte, path string) error {
	ok, kind := false, value.KindOf(val)
	switch m.Type {
	case Text:
		ok = kind == value.KindString
	case Truth:
		ok = kind == value.KindBool
	case Count:
		n, whole := value.Int(val)
		ok = whole && n >= 0
	case Number:
		ok = kind == value.KindFloat || kind == value.KindInt
	case Time:
		n, whole := value.Int(val)
		ok = whole && n <= maxTime && n >= -maxTime
	case Free:
		ok = kind != value.KindNil
	case Speaker:
		return IdentityTable.check(val, path+m.Name+".")
	case MediaSet:
		if ok = kind == value.KindList; ok {
			return eachPart(val, path+m.Name, MediaTable)
		}
	case Contents:
		switch kind {
		case value.KindString:
			ok = true
		case value.KindMap:
			return partTable(val).check(val, path+m.Name+".")
		case value.KindList:
			first := []byte(nil)
			if err := value.EachItem(val, func(_ int, part []byte) bool { first = part; return false }); err == nil && first != nil {
				return eachPart(val, path+m.Name, partTable(first))
			}
		}
	}
	if !ok {
		return &Error{path + m.Name, "it is not " + nouns[m.Type]}
	}
	return nil
}

// maxTime is the latest time, in ms since the Unix epoch: that of an ECMAScript Date.
const maxTime = 8_640_000_000_000_000

var nouns = map[Type]string{
	Text: "a text", Truth: "true or false", Count: "an integer from 0", Number: "a number", Time: "a time", Free: "a value",
	MediaSet: "a list of media", Contents: "a text, artifacts or media",
}

// partTable is the table of an artifact or of a medium, whichever an encoded part is.
func partTable(part []byte) Table {
	if isArtifact(part) {
		return ArtifactTable
	}
	return MediaTable
}

func eachPart(list []byte, path string, t Table) (wrong error) {
	err := value.EachItem(list, func(i int, part []byte) bool {
		wrong = t.check(part, path+"["+strconv.Itoa(i)+"].")
		return wrong == nil
	})
	if wrong == nil {
		wrong = err
	}
	return wrong
}
