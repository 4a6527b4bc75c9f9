package schema

import (
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/pattern"
)

// compiler turns the schemas of one or more documents into nodes.
type compiler struct {
	config    Config
	nodes     map[*byte]*node // by where the schema lies in its document
	resources map[string]*resource
	refs      []reference
	places    map[string]*node // that references have named so far
	path      []step
	defaults  bool
	work      int // bytes read to resolve references
	program   int // instructions of all patterns
	err       *Error
}

// What a schema may ask for at most, so that a hostile one of a few kilobytes cannot take the memory of the instance.
const (
	maxNodes       = 1 << 16
	maxWork        = 1 << 28
	maxAllPatterns = 1 << 17
)

// fail records the first error; compiling goes on to its end without effect.
//
// It is not inlined: its many callers would grow the module by kilobytes.
//
//go:noinline
func (k *compiler) fail(keyword, reason string) {
	if k.err == nil {
		var path []byte
		for _, s := range k.path {
			path = appendStep(path, s)
		}
		k.err = &Error{Path: string(path), Keyword: keyword, Reason: reason}
	}
}

func (k *compiler) unsupported(keyword, reason string) {
	if k.err == nil {
		k.fail(keyword, reason+" is not supported")
		k.err.Unsupported = true
	}
}

// at compiles the schema val, found below the current one.
func (k *compiler) at(keyword string, val []byte, res *resource) *node {
	k.path = append(k.path, step{key: []byte(keyword)})
	n := k.schema(val, res)
	k.path = k.path[:len(k.path)-1]
	return n
}

// schema compiles one schema and all below it.
func (k *compiler) schema(val []byte, res *resource) *node {
	if n := k.nodes[&val[0]]; n != nil {
		return n
	}
	n := &node{res: res}
	if k.err != nil {
		return n
	}
	if k.nodes[&val[0]] = n; len(k.nodes) > maxNodes {
		k.unsupported("", "a schema that large")
		return n
	}
	switch value.KindOf(val) {
	case value.KindBool:
		b, _ := value.Bool(val)
		n.never = !b
		return n
	case value.KindMap:
	default:
		k.fail("", "a schema is an object or a boolean")
		return n
	}
	k.identify(n, val)
	if ref, ok := value.Get(val, "$ref"); ok && n.res.ignoresSiblings {
		k.reference(n, "$ref", ref)
		return n
	}
	_ = value.Each(val, func(key, arg []byte) bool {
		k.keyword(n, string(key), arg, val)
		return k.err == nil
	})
	return n
}

// keyword compiles one member of the schema object whole. Members that are no keyword are annotations.
func (k *compiler) keyword(n *node, key string, arg, whole []byte) {
	res := n.res
	switch key {
	case "$ref", "$dynamicRef":
		k.reference(n, key, arg)
	case "$recursiveRef":
		k.unsupported(key, "$recursiveRef of draft 2019-09")
	case "$defs", "definitions":
		k.each(key, arg, func(_ []byte, val []byte) { k.schema(val, res) })
	case "default":
		n.def = arg
		k.defaults = true
	case "allOf":
		n.allOf = append(n.allOf, k.list(key, arg, res)...)
	case "anyOf":
		n.anyOf = k.list(key, arg, res)
	case "oneOf":
		n.oneOf = k.list(key, arg, res)
	case "not":
		n.not = k.at(key, arg, res)
	case "if":
		n.cond = k.at(key, arg, res)
	case "then":
		n.then = k.at(key, arg, res)
	case "else":
		n.other = k.at(key, arg, res)
	case "format":
		if name, ok := value.String(arg); !ok {
			k.fail(key, "is not a string")
		} else if check := formats[string(name)]; check != nil && (!k.config.AnnotateFormat || res.assertsFormat) {
			r := rules(&n.str)
			r.format, r.formatAs = check, string(name)
		}
	case "properties", "patternProperties", "additionalProperties", "propertyNames", "dependentSchemas", "dependencies",
		"unevaluatedProperties":
		k.objectKeyword(rules(&n.object), key, arg, res)
	case "prefixItems", "items", "additionalItems", "contains", "unevaluatedItems":
		k.listKeyword(n.lists(), key, arg, whole, res)
	default:
		if !res.annotatesValidation {
			k.assertion(n, key, arg)
		}
	}
}

// rules returns rules of a node, which has them from then on.
func rules[T any](of **T) *T {
	if *of == nil {
		*of = new(T)
	}
	return *of
}

func (n *node) lists() *listRules {
	if n.list == nil {
		n.list = &listRules{matches: sizes{min: 1, hasMin: true}}
	}
	return n.list
}

func (k *compiler) objectKeyword(o *objectRules, key string, arg []byte, res *resource) {
	switch key {
	case "properties":
		k.each(key, arg, func(name, val []byte) {
			i, n := o.add(name), k.schema(val, res)
			o.properties[i].node = n
		})
	case "patternProperties":
		k.each(key, arg, func(source, val []byte) {
			o.patterns = append(o.patterns, patternProperty{k.pattern("", string(source)), k.schema(val, res)})
		})
	case "additionalProperties":
		o.additional = k.at(key, arg, res)
	case "propertyNames":
		o.names = k.at(key, arg, res)
	case "unevaluatedProperties":
		o.unevaluated = k.at(key, arg, res)
	default: // dependencies is what drafts before 2019-09 called both dependentSchemas and dependentRequired
		k.each(key, arg, func(name, val []byte) {
			d := dependent{name: string(name)}
			if key == "dependencies" && value.KindOf(val) == value.KindList {
				d.required = k.names("", val)
			} else {
				d.node = k.schema(val, res)
			}
			o.dependents = append(o.dependents, d)
		})
	}
}

func (k *compiler) listKeyword(l *listRules, key string, arg, whole []byte, res *resource) {
	switch key {
	case "prefixItems":
		l.prefix = k.list(key, arg, res)
	case "contains":
		l.contains = k.at(key, arg, res)
	case "unevaluatedItems":
		l.unevaluated = k.at(key, arg, res)
	case "items":
		switch {
		case value.KindOf(arg) != value.KindList:
			l.items = k.at(key, arg, res)
		case res.older:
			if value.Len(arg) > 0 {
				l.prefix = k.list(key, arg, res)
			}
		default:
			k.fail(key, "is a list: in draft 2020-12 that is prefixItems")
		}
	case "additionalItems": // once items for what a list of items left over
		if items, ok := value.Get(whole, "items"); ok && res.older && value.KindOf(items) == value.KindList {
			l.items = k.at(key, arg, res)
		}
	}
}

// assertion compiles a keyword of the validation vocabulary.
func (k *compiler) assertion(n *node, key string, arg []byte) {
	switch key {
	case "type":
		if value.KindOf(arg) == value.KindString {
			n.types = k.typeName(arg)
			return
		}
		if err := value.EachItem(arg, func(_ int, val []byte) bool {
			n.types |= k.typeName(val)
			return true
		}); err != nil || n.types == 0 {
			k.fail(key, "is neither a type nor a list of types")
		}
	case "const":
		n.constant = arg
	case "enum":
		n.enum = [][]byte{}
		if value.EachItem(arg, func(_ int, val []byte) bool {
			n.enum = append(n.enum, val)
			return true
		}) != nil {
			k.fail(key, "is not a list")
		}
	case "multipleOf":
		f, ok := value.Number(arg)
		if !ok || f <= 0 {
			k.fail(key, "is not a number above 0")
		}
		rules(&n.num).multipleOf = f
	case "minimum":
		k.limit(n, key, arg, "at least", false, false)
	case "exclusiveMinimum":
		k.limit(n, key, arg, "more than", false, true)
	case "maximum":
		k.limit(n, key, arg, "at most", true, false)
	case "exclusiveMaximum":
		k.limit(n, key, arg, "less than", true, true)
	case "minLength", "maxLength":
		k.size(&rules(&n.str).size, key, arg)
	case "minItems", "maxItems":
		k.size(&n.lists().size, key, arg)
	case "minContains", "maxContains":
		k.size(&n.lists().matches, key, arg)
	case "minProperties", "maxProperties":
		k.size(&rules(&n.object).size, key, arg)
	case "pattern":
		source, ok := value.String(arg)
		if !ok {
			k.fail(key, "is not a string")
			return
		}
		r := rules(&n.str)
		r.pattern, r.source = k.pattern(key, string(source)), string(source)
	case "uniqueItems":
		b, ok := value.Bool(arg)
		if !ok {
			k.fail(key, "is not a boolean")
		}
		n.lists().unique = b
	case "required":
		o := rules(&n.object)
		for _, name := range k.names(key, arg) {
			p := &o.properties[o.add([]byte(name))]
			if !p.required {
				p.required = true
				o.required++
			}
		}
	case "dependentRequired":
		o := rules(&n.object)
		k.each(key, arg, func(name, val []byte) {
			o.dependents = append(o.dependents, dependent{name: string(name), required: k.names("", val)})
		})
	}
}

func (k *compiler) typeName(val []byte) types {
	name, _ := value.String(val)
	for i, s := range typeNames {
		if s == string(name) {
			if 1<<i == typeNumber {
				return typeNumber | typeInteger
			}
			return 1 << i
		}
	}
	k.fail("type", "names an unknown type "+quote(string(name)))
	return 0
}

func (k *compiler) limit(n *node, key string, arg []byte, words string, upper, strict bool) {
	f, ok := value.Number(arg)
	if !ok {
		k.fail(key, "is not a number")
		return
	}
	text, _ := value.AppendJSON(nil, arg)
	r := rules(&n.num)
	r.limits = append(r.limits, limit{key, words, f, string(text), upper, strict})
}

func (k *compiler) size(s *sizes, key string, arg []byte) {
	n, ok := value.Int(arg)
	if !ok || n < 0 {
		k.fail(key, "is not an integer of 0 or more")
	}
	if strings.HasPrefix(key, "min") {
		s.min, s.hasMin = int(n), true
	} else {
		s.max, s.hasMax = int(n), true
	}
}

func (k *compiler) pattern(key, source string) *pattern.Pattern {
	p, err := pattern.ECMA(source)
	if err != nil {
		bad := err.(*pattern.Error)
		if reason := "pattern " + quote(source) + ": " + bad.Reason; bad.Unsupported {
			k.unsupported(key, reason)
		} else {
			k.fail(key, reason)
		}
		return nil
	}
	if k.program += p.Size(); k.program > maxAllPatterns {
		k.unsupported(key, "a schema with patterns that large")
	}
	return p
}

// each calls fn for the members of an object of schemas, with the path set to each.
func (k *compiler) each(key string, arg []byte, fn func(name, val []byte)) {
	k.path = append(k.path, step{key: []byte(key)}, step{})
	top := len(k.path) - 1
	err := value.Each(arg, func(name, val []byte) bool {
		k.path[top].key = name
		fn(name, val)
		return k.err == nil
	})
	k.path = k.path[:top-1]
	if err != nil {
		k.fail(key, "is not an object")
	}
}

// list compiles a list of schemas.
func (k *compiler) list(key string, arg []byte, res *resource) []*node {
	var out []*node
	k.path = append(k.path, step{key: []byte(key)}, step{})
	top := len(k.path) - 1
	err := value.EachItem(arg, func(i int, val []byte) bool {
		k.path[top].index = i
		out = append(out, k.schema(val, res))
		return k.err == nil
	})
	k.path = k.path[:top-1]
	if err != nil || out == nil {
		k.fail(key, "is not a list of at least one schema")
	}
	return out
}

// names reads a list of strings.
func (k *compiler) names(key string, arg []byte) []string {
	var out []string
	ok := true
	err := value.EachItem(arg, func(_ int, val []byte) bool {
		name, isString := value.String(val)
		out = append(out, string(name))
		ok = ok && isString
		return ok
	})
	if err != nil || !ok {
		k.fail(key, "is not a list of strings")
	}
	return out
}
