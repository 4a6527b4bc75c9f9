// Package grammar translates JSON Schemas to GBNF, the notation of llama.cpp for grammars. An engine that takes a
// grammar gives nothing but text that matches.
//
// What a grammar lets through is JSON without white space, but for at most one space behind a colon or a comma.
// Properties come in the order in which the schema declares them. A grammar may say less than its schema allows (it is
// narrower):
//
//   - A property that is not declared does not occur, unless additionalProperties says that it may, or no property is
//     declared at all. Beside patternProperties it does not.
//   - A schema without a type that has properties is one of objects, one with items of lists, and so on.
//   - Numbers have at most 15 digits before and behind the point, and 2 in the exponent. Keys that are not declared
//     have no escapes.
//   - Dates have no February 29, UUIDs are in lower case, and so on: of a format or a pattern the plain forms.
//
// These keywords are honoured: type, enum, const, properties, required, additionalProperties, items, prefixItems,
// additionalItems, minItems, maxItems, minLength, maxLength, pattern, format (date, time, date-time, uuid, ipv4),
// minimum, maximum, exclusiveMinimum, exclusiveMaximum, allOf, anyOf, oneOf, $ref to a place in the document, $defs and
// definitions.
//
// Others, and some of these in some combinations, do not bind the grammar: it is wider than the schema, and what comes
// must be validated. [Grammar].Widened names them. References to other documents, to anchors and dynamic ones, schemas
// that nothing can match, and schemas whose grammar would be too large are errors.
package grammar

import (
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi/value"
)

// Grammar is a grammar in GBNF. Its first rule is root.
type Grammar struct {
	Text string
	// Widened are the keywords that the grammar does not hold texts to, each as its place in the value and its name, like
	// "args.price: multipleOf". Empty if every text of the grammar is valid.
	Widened []string
}

// Error says why there is no grammar.
type Error struct {
	Path    string // of the part of the value, like "args.price"
	Keyword string // empty if there is none to blame
	Reason  string
}

// Error names the place, the keyword and the reason.
func (e *Error) Error() string {
	place := e.Path
	if e.Keyword != "" {
		place += ": " + e.Keyword
	}
	return "grammar: " + place + ": " + e.Reason
}

// What a grammar may come to. Engines parse it for each answer.
const (
	maxBytes  = 256 << 10
	maxSteps  = 1 << 16
	maxRepeat = 512 // engines unroll what is repeated
)

// Schema returns the grammar of the JSON texts that match a schema, an encoded value. name is what errors call the
// whole value.
func Schema(schema []byte, name string) (*Grammar, error) {
	g := newGenerator()
	root, err := g.document(schema, name)
	if err != nil {
		return nil, err
	}
	return g.finish(root)
}

// generator makes the rules of one grammar.
type generator struct {
	text    strings.Builder
	known   map[string]string // names of rules, by the schemas that they are of
	base    map[string]bool   // base rules that have been written
	rules   int
	steps   int
	widened []string
	seen    map[string]bool // in widened
}

func newGenerator() *generator {
	return &generator{known: map[string]string{}, base: map[string]bool{}, seen: map[string]bool{}}
}

// document returns an expression for the values that match a schema of its own.
func (g *generator) document(root []byte, name string) (string, error) {
	if err := value.Check(root); err != nil {
		return "", &Error{Path: name, Reason: err.Error()}
	}
	return g.schema(&document{root: root, number: len(g.known)}, [][]byte{root}, name)
}

// finish puts the grammar together.
func (g *generator) finish(root string) (*Grammar, error) {
	text := "root ::= " + root + "\n" + g.text.String()
	if len(text) > maxBytes {
		return nil, &Error{Path: "schema", Reason: "its grammar is longer than " + strconv.Itoa(maxBytes) + " bytes"}
	}
	return &Grammar{Text: text, Widened: g.widened}, nil
}

// define writes a rule and returns its name.
func (g *generator) define(body string) string {
	name := g.name()
	g.write(name, body)
	return name
}

func (g *generator) name() string {
	g.rules++
	return "r" + strconv.Itoa(g.rules)
}

func (g *generator) write(name, body string) {
	if g.text.Len() <= maxBytes {
		g.text.WriteString(name + " ::= " + body + "\n")
	}
}

// widen takes down that a keyword does not bind the grammar.
func (g *generator) widen(path, keyword string) {
	if note := path + ": " + keyword; !g.seen[note] {
		g.seen[note] = true
		g.widened = append(g.widened, note)
	}
}

// step counts work, which schemas can make grow fast.
func (g *generator) step(path string) error {
	if g.steps++; g.steps > maxSteps || g.text.Len() > maxBytes {
		return &Error{Path: path, Reason: "the schema is too large for a grammar"}
	}
	return nil
}

// baseRules are rules that many schemas use, with those that they use.
var baseRules = map[string]struct {
	body string
	uses []string
}{
	"ws":      {`" "?`, nil},
	"char":    {`[^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" ([0-9a-cA-CefEF] [0-9a-fA-F]{3} | [dD] [0-7] [0-9a-fA-F]{2}))`, nil},
	"string":  {`"\"" char* "\""`, []string{"char"}},
	"digits":  {`"0" | [1-9] [0-9]{0,14}`, nil},
	"integer": {`"-"? digits`, []string{"digits"}},
	"number":  {`"-"? digits ("." [0-9]{1,15})? ([eE] ("+" | "-")? [0-9]{1,2})?`, []string{"digits"}},
	"boolean": {`"true" | "false"`, nil},
	"null":    {`"null"`, nil},
	"array":   {`"[" (value ("," ws value)*)? "]"`, []string{"ws", "value"}},
	"object":  {`"{" (member ("," ws member)*)? "}"`, []string{"ws", "member"}},
	"member":  {`string ":" ws value`, []string{"string", "ws", "value"}},
	"value":   {`object | array | string | number | boolean | null`, []string{"object", "array", "string", "number", "boolean", "null"}},
	"date": {`[0-9]{4} "-" (("0" [13578] | "1" [02]) "-" ("0" [1-9] | [12] [0-9] | "3" [01]) | ("0" [469] | "11") "-" ` +
		`("0" [1-9] | [12] [0-9] | "30") | "02-" ("0" [1-9] | "1" [0-9] | "2" [0-8]))`, nil},
	"hour":  {`[01] [0-9] | "2" [0-3]`, nil},
	"time":  {`hour ":" [0-5] [0-9] ":" [0-5] [0-9] ("." [0-9]{1,6})? ("Z" | ("+" | "-") hour ":" [0-5] [0-9])`, []string{"hour"}},
	"uuid":  {`[0-9a-f]{8} "-" [0-9a-f]{4} "-" [0-9a-f]{4} "-" [0-9a-f]{4} "-" [0-9a-f]{12}`, nil},
	"octet": {`"25" [0-5] | "2" [0-4] [0-9] | "1" [0-9] [0-9] | [1-9]? [0-9]`, nil},
}

// use writes a base rule unless it is there, and returns its name.
func (g *generator) use(name string) string {
	if g.base[name] {
		return name
	}
	g.base[name] = true
	rule := baseRules[name]
	g.write(name, rule.body)
	for _, other := range rule.uses {
		g.use(other)
	}
	return name
}
