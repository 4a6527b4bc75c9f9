package grammar

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/turncore/turncore/abi/value"
)

func (n *node) objectKeyword(g *generator, key string, arg []byte) error {
	switch key {
	case "properties":
		if value.KindOf(arg) != value.KindMap {
			return n.fail(key, "must be an object")
		}
		_ = value.Each(arg, func(name, schema []byte) bool {
			p := n.property(string(name))
			p.all = append(p.all[:len(p.all):len(p.all)], schema)
			return true
		})
	case "required":
		list, ok := items(arg)
		if !ok {
			return n.fail(key, "must be a list")
		}
		for _, item := range list {
			name, ok := value.String(item)
			if !ok {
				return n.fail(key, "must hold strings only")
			}
			n.property(string(name)).required = true
		}
	case "patternProperties":
		n.patterned = true
		if value.Len(arg) > 0 {
			g.widen(n.path, key)
		}
	case "unevaluatedProperties":
		if allowed, ok := value.Bool(arg); ok && !allowed {
			n.closed = n.closed || n.nested == 0
		}
		n.evaluate(g, key, arg)
	}
	return nil
}

// extra is the additionalProperties of a schema, and the properties that this schema declares.
type extra struct {
	schema    []byte
	declared  []byte
	patterned bool // it has patternProperties, too
}

// addExtra takes down what a schema says of properties that it does not declare.
func (n *node) addExtra(schema []byte) {
	e := extra{}
	var said bool
	if e.schema, said = value.Get(schema, "additionalProperties"); !said {
		return
	}
	e.declared, _ = value.Get(schema, "properties")
	patterns, _ := value.Get(schema, "patternProperties")
	e.patterned = value.Len(patterns) > 0
	n.extras = append(n.extras, e)
}

// undeclared returns the schemas of a property that is not declared, by what the schemas say that do not declare it.
func (n *node) undeclared(name string, all [][]byte) [][]byte {
	all = all[:len(all):len(all)]
	for _, e := range n.extras {
		if _, own := value.Get(e.declared, name); !own && !e.patterned {
			all = append(all, e.schema)
		}
	}
	return all
}

// property returns the property of a name. A property that is required only is one, too.
func (n *node) property(name string) *property {
	if n.index == nil {
		n.index = make(map[string]int, len(n.properties))
		for i := range n.properties {
			n.index[n.properties[i].name] = i
		}
	}
	i, known := n.index[name]
	if !known {
		i = len(n.properties)
		n.index[name] = i
		n.properties = append(n.properties, property{name: name})
	}
	return &n.properties[i]
}

// object returns an expression for objects.
func (g *generator) object(n *node) (string, error) {
	if n.members != "" {
		g.widen(n.path, n.members)
	}
	var list []part
	for _, p := range n.properties {
		schemas := n.undeclared(p.name, p.all)
		if n.closed && p.all == nil { // required, and nowhere declared
			return "", n.fail("required", strconv.Quote(p.name)+" is required and not allowed")
		}
		expression, err := g.schema(n.doc, schemas, n.path+"."+p.name)
		if err != nil {
			if isNever(err) && !p.required {
				continue
			}
			return "", err
		}
		list = append(list, part{literal(jsonString([]byte(p.name))+":") + " " + g.use("ws") + " " + expression, p.required})
	}
	open := !n.closed && (len(n.extras) > 0 && !n.patterned || len(n.properties) == 0)
	if !open {
		return g.members(list, ""), nil
	}
	var others [][]byte
	for _, e := range n.extras {
		others = append(others, e.schema)
	}
	if len(n.properties) == 0 && len(others) == 0 {
		return g.use("object"), nil
	}
	expression, err := g.schema(n.doc, others, n.path+".*")
	if err != nil {
		if isNever(err) {
			return g.members(list, ""), nil
		}
		return "", err
	}
	name := g.use("string")
	if len(n.properties) > 0 {
		name = g.otherKey(n.properties)
	}
	return g.members(list, g.define(name+` ":" `+g.use("ws")+" "+expression)), nil
}

// part is what stands for a property between the braces.
type part struct {
	expression string
	required   bool
}

// members returns an expression for an object of these properties in their order, and of any number of extra ones
// behind them, unless that is empty. The grammar grows with the number of properties, not with that of their
// combinations.
func (g *generator) members(list []part, extra string) string {
	if len(list) == 0 && extra == "" {
		return `"{}"`
	}
	// rest[i] is what may follow when something stands before the i-th property.
	rest := make([]string, len(list)+1)
	if extra != "" {
		rest[len(list)] = `("," ` + g.use("ws") + " " + extra + ")*"
	}
	for i := len(list) - 1; i >= 0; i-- {
		body := `"," ` + g.use("ws") + " " + list[i].expression
		if !list[i].required {
			body = "(" + body + ")?"
		}
		rest[i] = g.define(join(body, rest[i+1]))
	}
	var first []string
	empty := true
	for i, p := range list {
		first = append(first, join(p.expression, rest[i+1]))
		if p.required {
			empty = false
			break
		}
	}
	if empty && extra != "" {
		first = append(first, join(extra, rest[len(list)]))
	}
	inner := "(" + either(first) + ")"
	if empty {
		inner += "?"
	}
	return `"{" ` + inner + ` "}"`
}

// join puts two expressions one behind the other.
func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + " " + b
}

// otherKey returns an expression for keys without escapes that are none of the declared ones.
func (g *generator) otherKey(declared []property) string {
	names := make([]string, len(declared))
	for i, p := range declared {
		names[i] = p.name
	}
	slices.Sort(names)
	return g.define(`"\"" ` + g.otherThan(names, 0) + ` "\""`)
}

// maxPrefix is how many characters of a declared name others may share.
const maxPrefix = 100

// otherThan returns an expression for texts that are none of the sorted names, behind so many characters that they
// share.
func (g *generator) otherThan(names []string, shared int) string {
	const plain = `[^"\\\x00-\x1F]`
	var alternatives []string
	var spans []span
	for i := 0; i < len(names); {
		if names[i] == "" {
			i++
			continue
		}
		first, size := utf8.DecodeRuneInString(names[i])
		var tails []string
		for ; i < len(names) && strings.HasPrefix(names[i], string(first)); i++ {
			tails = append(tails, names[i][size:])
		}
		spans = append(spans, span{first, first})
		if shared < maxPrefix && first != '"' && first != '\\' && first >= ' ' { // such keys are not made anyway
			alternatives = append(alternatives, classOf([]span{{first, first}}, false)+" "+g.otherThan(tails, shared+1))
		}
	}
	if len(spans) == 0 {
		if len(names) > 0 { // only the empty text is excluded
			return plain + " " + plain + "*"
		}
		return plain + "*"
	}
	other := append([]span{{'"', '"'}, {'\\', '\\'}, {0, 0x1f}}, spans...)
	alternatives = append([]string{classOf(other, true) + " " + plain + "*"}, alternatives...)
	body := "(" + either(alternatives) + ")"
	if names[0] != "" {
		body += "?"
	}
	return g.define(body)
}
