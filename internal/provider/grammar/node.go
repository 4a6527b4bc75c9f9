package grammar

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/schema/pointer"
)

// types is a set of the types of JSON.
type types uint8

const (
	isObject types = 1 << iota
	isArray
	isString
	isNumber
	isInteger
	isBoolean
	isNull
	anyType = isObject | isArray | isString | isNumber | isInteger | isBoolean | isNull
)

var typeNames = map[string]types{
	"object": isObject, "array": isArray, "string": isString, "number": isNumber | isInteger, "integer": isInteger,
	"boolean": isBoolean, "null": isNull,
}

// document is what references point into.
type document struct {
	root   []byte
	number int // tells documents apart
}

// property is a declared property of objects, with all schemas that say something about it.
type property struct {
	name     string
	all      [][]byte
	required bool
}

// node is what several schemas, all of which must match, ask for together.
type node struct {
	doc    *document
	path   string
	nested int // inside how many schemas the one is that is being added
	never  bool
	types  types
	typed  bool // a type was named
	values [][]byte
	listed bool // values are all that is allowed

	properties []property
	index      map[string]int // of properties, by name; nil if it is not there
	extras     []extra        // what is said of properties that are not declared
	closed     bool           // unevaluatedProperties: there are no others
	patterned  bool           // patternProperties was given
	members    string         // keyword that bounds objects in ways that no grammar can, empty for none

	items    [][]byte   // schemas of items behind the prefix
	prefix   [][][]byte // schemas of the first items
	itemized bool       // some schema says something about items
	itemsEnd bool       // unevaluatedItems: there are none behind the prefix unless items says so
	minItems int
	maxItems int // -1 for none

	minLength int
	maxLength int // -1 for none
	pattern   string
	format    string

	low, high             float64
	lowOpen, highOpen     bool // the bound itself is excluded
	choices               [][][]byte
	exclusive             []bool // of choices: only one may match
	references            []string
	hasObject, hasArray   bool // keywords of that type were given
	hasString, hasNumeric bool
}

func newNode(doc *document, path string) *node {
	return &node{
		doc: doc, path: path, types: anyType, maxItems: -1, maxLength: -1, low: math.Inf(-1), high: math.Inf(1),
	}
}

// clone copies a node so that schemas can be added to the copy.
func (n *node) clone() *node {
	c := *n
	c.properties, c.index = append([]property(nil), n.properties...), nil
	c.prefix = append([][][]byte(nil), n.prefix...)
	c.choices = append([][][]byte(nil), n.choices...)
	c.exclusive = append([]bool(nil), n.exclusive...)
	c.extras = n.extras[:len(n.extras):len(n.extras)]
	c.items = n.items[:len(n.items):len(n.items)]
	c.references = n.references[:len(n.references):len(n.references)]
	return &c
}

func (n *node) fail(keyword, reason string) error {
	return &Error{Path: n.path, Keyword: keyword, Reason: reason}
}

// add adds what a schema asks for.
func (n *node) add(g *generator, schema []byte) error {
	if err := g.step(n.path); err != nil {
		return err
	}
	switch value.KindOf(schema) {
	case value.KindBool:
		allowed, _ := value.Bool(schema)
		n.never = n.never || !allowed
		return nil
	case value.KindMap:
	default:
		return n.fail("", "a schema is an object or a boolean")
	}
	var err error
	_ = value.Each(schema, func(key, arg []byte) bool { // well-formed: the document was checked
		err = n.keyword(g, string(key), arg)
		return err == nil
	})
	if err != nil {
		return err
	}
	n.addExtra(schema)
	return n.addLists(g, schema)
}

func (n *node) keyword(g *generator, key string, arg []byte) error {
	switch key {
	case "$ref":
		return n.refer(g, arg)
	case "$dynamicRef", "$recursiveRef":
		return n.fail(key, "is not supported")
	case "type":
		return n.restrictTypes(arg)
	case "const":
		n.restrictValues([][]byte{arg})
	case "enum":
		list, ok := items(arg)
		switch {
		case !ok:
			return n.fail(key, "must be a list")
		case n.listed && len(n.values)*len(list) > maxSteps:
			return n.fail(key, "has too many values")
		}
		n.restrictValues(list)
	case "allOf", "anyOf", "oneOf":
		return n.combine(g, key, arg)
	case "properties", "required", "additionalProperties", "patternProperties", "unevaluatedProperties":
		n.hasObject = true
		return n.objectKeyword(g, key, arg)
	case "minProperties", "maxProperties", "propertyNames", "dependentRequired", "dependentSchemas", "dependencies":
		n.members = key
		n.hasObject = n.hasObject || key != "dependencies"
	case "items", "prefixItems", "additionalItems":
		n.hasArray = true
	case "minItems", "maxItems":
		n.hasArray = true
		return n.count(key, arg, &n.minItems, &n.maxItems)
	case "minLength", "maxLength":
		n.hasString = true
		return n.count(key, arg, &n.minLength, &n.maxLength)
	case "pattern":
		text, ok := value.String(arg)
		if !ok {
			return n.fail(key, "must be a string")
		}
		n.hasString = true
		if n.pattern != "" && n.pattern != string(text) {
			g.widen(n.path, key)
		}
		n.pattern = string(text)
	case "format":
		text, _ := value.String(arg)
		n.hasString = true
		if n.format != "" && n.format != string(text) {
			g.widen(n.path, key)
		}
		n.format = string(text)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		n.hasNumeric = true
		return n.bound(key, arg)
	case "multipleOf":
		n.hasNumeric = true
		if f, _ := value.Number(arg); f != 1 {
			g.widen(n.path, key)
		}
	case "not":
		if b, ok := value.Bool(arg); ok {
			n.never = n.never || b
		} else {
			g.widen(n.path, key)
		}
	case "uniqueItems":
		if b, _ := value.Bool(arg); b {
			g.widen(n.path, key)
		}
	case "unevaluatedItems":
		if b, ok := value.Bool(arg); ok && !b {
			n.hasArray = true
			n.itemsEnd = n.itemsEnd || n.nested == 0
		}
		n.evaluate(g, key, arg)
	case "if", "contains":
		g.widen(n.path, key)
	}
	return nil
}

// evaluate takes down whether a keyword binds the grammar that is about what no other keyword has looked at: a false
// one does when all that looks is in the same schema.
func (n *node) evaluate(g *generator, key string, arg []byte) {
	if b, ok := value.Bool(arg); !ok || !b && n.nested > 0 {
		g.widen(n.path, key)
	}
}

// refer adds the schema that a reference points to.
func (n *node) refer(g *generator, arg []byte) error {
	text, ok := value.String(arg)
	if !ok {
		return n.fail("$ref", "must be a string")
	}
	ref := string(text)
	if slices.Contains(n.references, ref) {
		return nil // what it asks for is asked for already
	}
	n.references = append(n.references, ref)
	fragment, inside := strings.CutPrefix(ref, "#")
	fragment, ok = pointer.Unescape(fragment)
	if !inside || !ok || fragment != "" && fragment[0] != '/' {
		return n.fail("$ref", strconv.Quote(ref)+" is not a place in the schema itself")
	}
	target := n.doc.root
	for fragment != "" {
		var token string
		token, fragment = pointer.Next(fragment)
		if target = pointer.Child(target, token); target == nil {
			return n.fail("$ref", strconv.Quote(ref)+" leads nowhere")
		}
	}
	return n.addPart(g, target)
}

// addPart adds what a schema asks for that is a part of another one.
func (n *node) addPart(g *generator, schema []byte) error {
	n.nested++
	err := n.add(g, schema)
	n.nested--
	return err
}

// items are the elements of a list.
func items(v []byte) (list [][]byte, ok bool) {
	err := value.EachItem(v, func(_ int, item []byte) bool {
		list = append(list, item)
		return true
	})
	return list, err == nil
}

func (n *node) restrictTypes(arg []byte) error {
	list, ok := items(arg)
	if !ok {
		list = [][]byte{arg}
	}
	var set types
	for _, item := range list {
		name, _ := value.String(item)
		t, known := typeNames[string(name)]
		if !known {
			return n.fail("type", "is no type of JSON")
		}
		set |= t
	}
	n.types &= set
	n.typed = true
	return nil
}

// restrictValues leaves the values that are in the list.
func (n *node) restrictValues(list [][]byte) {
	if !n.listed {
		n.values, n.listed = list, true
		return
	}
	var both [][]byte
	for _, a := range n.values {
		for _, b := range list {
			if value.Equal(a, b) {
				both = append(both, a)
				break
			}
		}
	}
	n.values = both
}

func (n *node) combine(g *generator, key string, arg []byte) error {
	list, ok := items(arg)
	if !ok {
		return n.fail(key, "must be a list")
	}
	if key != "allOf" {
		n.choices = append(n.choices, list)
		n.exclusive = append(n.exclusive, key == "oneOf")
		return nil
	}
	for _, schema := range list {
		if err := n.addPart(g, schema); err != nil {
			return err
		}
	}
	return nil
}

// count takes a bound on a number of things, a least or a greatest one.
func (n *node) count(key string, arg []byte, least, most *int) error {
	f, ok := value.Number(arg)
	if !ok || f < 0 {
		return n.fail(key, "must be a number that is not negative")
	}
	count := int(min(f, 1<<30))
	if strings.HasPrefix(key, "min") {
		*least = max(*least, count)
	} else if *most < 0 || count < *most {
		*most = count
	}
	return nil
}

// addLists adds what a schema asks of the items of lists.
func (n *node) addLists(g *generator, schema []byte) error {
	first, _ := value.Get(schema, "prefixItems")
	rest, hasRest := value.Get(schema, "items")
	if value.KindOf(rest) == value.KindList { // draft 7 and before
		first = rest
		rest, hasRest = value.Get(schema, "additionalItems")
	}
	var prefix [][]byte
	if first != nil {
		list, ok := items(first)
		if !ok {
			return n.fail("prefixItems", "must be a list")
		}
		prefix = list
	}
	if prefix == nil && !hasRest {
		return nil
	}
	if n.itemized && len(prefix) != len(n.prefix) {
		g.widen(n.path, "items") // which item is behind whose prefix is not followed
	}
	n.itemized = true
	for i, item := range prefix {
		if i == len(n.prefix) {
			n.prefix = append(n.prefix, nil)
		}
		n.prefix[i] = append(n.prefix[i][:len(n.prefix[i]):len(n.prefix[i])], item)
	}
	if hasRest {
		n.items = append(n.items, rest)
	}
	return nil
}

func (n *node) bound(key string, arg []byte) error {
	f, ok := value.Number(arg)
	if !ok {
		return n.fail(key, "must be a number")
	}
	open := key == "exclusiveMinimum" || key == "exclusiveMaximum"
	if key == "minimum" || key == "exclusiveMinimum" {
		if f > n.low || f == n.low && open {
			n.low, n.lowOpen = f, open
		}
	} else if f < n.high || f == n.high && open {
		n.high, n.highOpen = f, open
	}
	return nil
}

// key tells schemas apart.
func (d *document) key(all [][]byte) string {
	return strconv.Itoa(d.number) + " " + string(bytes.Join(all, nil))
}
