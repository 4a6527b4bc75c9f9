// Package schema validates values against JSON Schema, draft 2020-12.
//
// A schema and what it validates are values in the encoding of package value; nothing is decoded on the way. Compile
// refuses and names what it cannot apply, so that a schema that compiles is applied in full. It refuses references to
// missing documents, unknown meta-schemas, and in ECMA-262 patterns look-around, back references and Unicode properties
// other than categories and scripts. Schemas that declare draft 6, draft 7 or 2019-09 are read with
// those drafts' items, additionalItems and dependencies.
//
// The format keyword asserts for date, date-time, time, duration, email, hostname, ipv4, ipv6, uri, uri-reference,
// uuid, json-pointer, relative-json-pointer and regex. Every other format is an annotation, as the draft has it.
//
// Schemas and data may both be hostile: recursion stops at [value.MaxDepth] levels, patterns run in time proportional
// to pattern times text, and one validation may do only so many steps for the size of its data.
package schema

import (
	"bytes"

	"github.com/turncore/turncore/abi/value"
)

// MaxViolations is how many violations one validation reports at most.
const MaxViolations = 100

// KeywordLimit is the Keyword of a violation that says that validation was given up: the data is malformed or nested
// deeper than [value.MaxDepth], or schema and data together ask for too many steps.
const KeywordLimit = "limit"

// Schema is a compiled schema. It is immutable and may be used by several validations at once.
type Schema struct {
	root     *node
	defaults bool // a default occurs somewhere
}

// Config says how a schema is compiled. The zero Config is what [Compile] uses.
type Config struct {
	// AnnotateFormat makes format an annotation, which never fails.
	AnnotateFormat bool
	// Documents are the schemas that references may name beside the one compiled, encoded, by their absolute URI
	// without a fragment. A meta-schema named by $schema may be among them. Nothing is ever fetched.
	Documents map[string][]byte
}

// Error says why a schema cannot be used.
type Error struct {
	Path        string // JSON Pointer to the schema that holds the keyword
	Keyword     string // empty when a schema is none at all
	Reason      string // what is wrong, without the place
	Unsupported bool   // the schema may be valid; this package does not support it
	deep        bool
}

// Error names the place, the keyword and the reason.
func (e *Error) Error() string {
	place := e.Path
	if e.Keyword != "" {
		place += "/" + e.Keyword
	}
	if place == "" {
		place = "/"
	}
	return "schema: " + place + ": " + e.Reason
}

// Is makes a schema nested deeper than [value.MaxDepth] a [value.ErrTooDeep].
func (e *Error) Is(target error) bool { return e.deep && target == value.ErrTooDeep }

// Violation is one way in which a value is not what a schema asks for.
type Violation struct {
	Path    string // JSON Pointer to the part of the value
	Keyword string // the keyword that is violated
	Message string // one short sentence that names the part
}

// Compile checks an encoded schema and readies it for use. It copies what it needs. The error is an [*Error].
func Compile(schema []byte) (*Schema, error) { return Config{}.Compile(schema) }

// Compile is [Compile] with the choices of a Config.
func (c Config) Compile(schema []byte) (*Schema, error) {
	k := compiler{config: c, nodes: map[*byte]*node{}, resources: map[string]*resource{}, places: map[string]*node{}}
	if err := value.Check(schema); err != nil {
		return nil, &Error{Reason: err.Error(), deep: err == value.ErrTooDeep}
	}
	root := k.document("", bytes.Clone(schema))
	k.link()
	if k.err != nil {
		return nil, k.err
	}
	return &Schema{root: root, defaults: k.defaults}, nil
}

// Validate holds args against the schema. violations is nil when they are valid, and holds every violation found, up to
// [MaxViolations], when they are not. Of valid args, out is args with the defaults of missing object members filled in,
// at any depth; when there are none to fill in it is args itself, the same slice. Nothing else is changed or converted.
//
// What is checked is args as they came: a default is no substitute for a required member, as the draft has it, and is
// not checked itself. A default is taken from the schemas of properties that apply to an object, those behind $ref,
// allOf, the first matching branch of anyOf and oneOf, and the chosen branch of if included.
func (s *Schema) Validate(args []byte) (out []byte, violations []Violation) {
	v := validator{budget: 1<<24 + 256*len(args)}
	if err := value.Check(args); err != nil {
		v.giveUp("is not a value that can be checked (" + err.Error() + ")")
		return args, v.violations
	}
	if v.eval(s.root, args, nil); !s.defaults || v.violations != nil {
		return args, v.violations
	}
	v.quiet++
	if out = v.fill(s.root, args); v.spent {
		return args, v.violations
	}
	return out, nil
}

// quote returns text as a JSON string, cut when it is long.
func quote(text string) string {
	if len(text) > 80 {
		text = text[:77] + "..."
	}
	return string(value.AppendJSONString(nil, text))
}
