package schema

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/pattern"
)

// node is one compiled schema object, or a boolean schema. Rules for one kind of instance are kept together, so that
// an instance meets only those of its kind.
type node struct {
	never bool // the boolean schema false
	res   *resource
	def   []byte // its default, nil when it has none

	types    types
	enum     [][]byte // nil when there is no enum
	constant []byte
	num      *numberRules
	str      *stringRules
	list     *listRules
	object   *objectRules

	ref               *node
	dynamic           string // the dynamic anchor that ref was found by, when it is to be looked up in the dynamic scope
	allOf             []*node
	anyOf             []*node
	oneOf             []*node
	not               *node
	cond, then, other *node // if, then, else
}

type numberRules struct {
	limits     []limit
	multipleOf float64 // 0 when there is none
}

// limit is one of minimum, maximum, exclusiveMinimum and exclusiveMaximum.
type limit struct {
	keyword string
	words   string
	bound   float64
	text    string
	upper   bool
	strict  bool
}

type stringRules struct {
	size     sizes
	pattern  *pattern.Pattern
	source   string // of pattern
	format   func([]byte) bool
	formatAs string
}

type listRules struct {
	size        sizes
	prefix      []*node
	items       *node
	contains    *node
	matches     sizes // minContains, maxContains
	unique      bool
	unevaluated *node
}

type objectRules struct {
	size        sizes
	properties  []property
	index       map[string]int // of properties by name, when they are many
	required    int            // how many of properties are required
	patterns    []patternProperty
	additional  *node
	names       *node
	dependents  []dependent
	unevaluated *node
}

// sizes are a least and a greatest number of something.
type sizes struct {
	min, max       int
	hasMin, hasMax bool
}

// property is a name that properties or required mention.
type property struct {
	name     string
	node     *node // nil when only required mentions it
	required bool
}

type patternProperty struct {
	pattern *pattern.Pattern
	node    *node
}

// dependent is what the presence of a member asks for: other members, or a schema.
type dependent struct {
	name     string
	required []string
	node     *node
}

// find returns the place of a name among the properties, and -1 when it is not there.
func (o *objectRules) find(name []byte) int {
	if o.index != nil {
		if i, ok := o.index[string(name)]; ok {
			return i
		}
		return -1
	}
	for i := range o.properties {
		if o.properties[i].name == string(name) {
			return i
		}
	}
	return -1
}

// add returns the place of a name among the properties and puts it there when needed.
func (o *objectRules) add(name []byte) int {
	i := o.find(name)
	if i < 0 {
		i = len(o.properties)
		o.properties = append(o.properties, property{name: string(name)})
		if o.index != nil {
			o.index[string(name)] = i
		} else if i == 8 {
			o.index = make(map[string]int)
			for j := range o.properties {
				o.index[o.properties[j].name] = j
			}
		}
	}
	return i
}

// types is a set of JSON types.
type types uint8

const (
	typeNull types = 1 << iota
	typeBoolean
	typeInteger
	typeNumber
	typeString
	typeArray
	typeObject
)

var typeNames = [...]string{"null", "boolean", "integer", "number", "string", "array", "object"}

// typesOf returns the types that a value has: an integral number has two. Bytes have none, as JSON has no word for
// them.
func typesOf(v []byte) types {
	switch value.KindOf(v) {
	case value.KindNil:
		return typeNull
	case value.KindBool:
		return typeBoolean
	case value.KindInt:
		return typeInteger | typeNumber
	case value.KindFloat:
		if f, _ := value.Number(v); isIntegral(f) {
			return typeInteger | typeNumber
		}
		return typeNumber
	case value.KindString:
		return typeString
	case value.KindList:
		return typeArray
	case value.KindMap:
		return typeObject
	}
	return 0
}

// names lists the types, the last after "or".
func (t types) names() string {
	if t&typeNumber != 0 {
		t &^= typeInteger
	}
	out := ""
	for i, name := range typeNames {
		if t&(1<<i) == 0 {
			continue
		}
		t &^= 1 << i
		switch {
		case out == "":
			out = name
		case t == 0:
			out += " or " + name
		default:
			out += ", " + name
		}
	}
	if out == "" {
		return "bytes"
	}
	return out
}
