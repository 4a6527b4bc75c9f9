package grammar

import (
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi/value"
)

// never is the reason of the error for schemas that nothing matches.
const never = "nothing can match it"

func isNever(err error) bool {
	e, ok := err.(*Error)
	return ok && e.Reason == never
}

// schema returns an expression for the values that match all of the schemas: the name of a rule, or one that needs no
// parentheses. Equal schemas share a rule, and so a schema may refer to itself.
func (g *generator) schema(doc *document, all [][]byte, path string) (string, error) {
	if err := g.step(path); err != nil {
		return "", err
	}
	if len(all) == 0 {
		return g.use("value"), nil
	}
	key := doc.key(all)
	if name, ok := g.known[key]; ok {
		if name == "" {
			return "", &Error{Path: path, Reason: never}
		}
		return name, nil
	}
	name := g.name()
	g.known[key] = name
	n := newNode(doc, path)
	if len(all) > 1 {
		n.nested = 1
	}
	for _, schema := range all {
		if err := n.add(g, schema); err != nil {
			return "", err
		}
	}
	body, err := g.node(n)
	if err != nil {
		if isNever(err) {
			g.known[key] = ""
		}
		return "", err
	}
	if _, base := baseRules[body]; base {
		g.known[key] = body // and nothing refers to the name, for the rule has no part of itself
		return body, nil
	}
	g.write(name, body)
	return name, nil
}

// node returns an expression for the values that a node allows.
func (g *generator) node(n *node) (string, error) {
	if err := g.step(n.path); err != nil {
		return "", err
	}
	if n.never || n.types == 0 {
		return "", n.fail("", never)
	}
	if len(n.choices) > 0 {
		return g.choice(n)
	}
	if n.listed {
		return g.enumeration(n)
	}
	n.infer()
	if n.types == anyType && n.members == "" && !n.hasObject && !n.hasArray && !n.hasString && !n.hasNumeric {
		return g.use("value"), nil
	}
	var alternatives []string
	var impossible error
	add := func(expression string, err error) error {
		switch {
		case err == nil:
			alternatives = append(alternatives, expression)
		case isNever(err):
			impossible = err
		default:
			return err
		}
		return nil
	}
	for _, kind := range [...]struct {
		types types
		make  func(*node) (string, error)
	}{
		{isObject, g.object},
		{isArray, g.array},
		{isString, g.string},
		{isNumber | isInteger, g.number},
		{isBoolean, func(*node) (string, error) { return g.use("boolean"), nil }},
		{isNull, func(*node) (string, error) { return g.use("null"), nil }},
	} {
		if n.types&kind.types == 0 {
			continue
		}
		if err := add(kind.make(n)); err != nil {
			return "", err
		}
	}
	if len(alternatives) == 0 {
		return "", impossible
	}
	return either(alternatives), nil
}

// infer narrows the types of a schema that names none to those that its keywords are about.
func (n *node) infer() {
	if n.typed {
		return
	}
	var set types
	if n.hasObject {
		set |= isObject
	}
	if n.hasArray {
		set |= isArray
	}
	if n.hasString {
		set |= isString
	}
	if n.hasNumeric {
		set |= isNumber | isInteger
	}
	if set != 0 {
		n.types &= set
	}
}

// choice returns an expression for a node with alternatives: what it asks for itself is asked for in each of them.
func (g *generator) choice(n *node) (string, error) {
	list, exclusive := n.choices[0], n.exclusive[0]
	var alternatives []string
	var branches []*node
	for _, schema := range list {
		branch := n.clone()
		branch.choices, branch.exclusive = branch.choices[1:], branch.exclusive[1:]
		if err := branch.addPart(g, schema); err != nil {
			return "", err
		}
		expression, err := g.node(branch)
		if err != nil {
			if isNever(err) {
				continue
			}
			return "", err
		}
		alternatives = append(alternatives, expression)
		branches = append(branches, branch)
	}
	if len(alternatives) == 0 {
		return "", n.fail("", never)
	}
	if exclusive && !apart(branches) {
		g.widen(n.path, "oneOf")
	}
	return either(alternatives), nil
}

// maxApart is how many nodes are compared with each other, and how many values of two.
const maxApart = 256

// apart tells whether no value matches two of the nodes, as far as it shows: in their types, their values, or in the
// values of a property that all of them require.
func apart(list []*node) bool {
	if len(list) > maxApart {
		return false
	}
	for i, a := range list {
		for _, b := range list[:i] {
			if !differ(a, b) && !differInProperty(a, b) {
				return false
			}
		}
	}
	return true
}

func differ(a, b *node) bool {
	if a.types&b.types == 0 {
		return true
	}
	if !a.listed || !b.listed || len(a.values) > maxApart || len(b.values) > maxApart {
		return false
	}
	for _, v := range a.values {
		for _, w := range b.values {
			if value.Equal(v, w) {
				return false
			}
		}
	}
	return true
}

func differInProperty(a, b *node) bool {
	if a.types != isObject || b.types != isObject {
		return false
	}
	for i := range a.properties {
		p := &a.properties[i]
		for j := range b.properties {
			q := &b.properties[j]
			if p.name == q.name && p.required && q.required && differ(a.sketch(p), b.sketch(q)) {
				return true
			}
		}
	}
	return false
}

// sketch is what a property says of its own types and values.
func (n *node) sketch(p *property) *node {
	s := newNode(n.doc, "")
	for _, schema := range p.all {
		_ = value.Each(schema, func(key, arg []byte) bool {
			switch string(key) {
			case "type":
				_ = s.restrictTypes(arg) // a wrong one has been refused
			case "const":
				s.restrictValues([][]byte{arg})
			case "enum":
				list, _ := items(arg)
				s.restrictValues(list)
			}
			return true
		})
	}
	return s
}

// enumeration returns an expression for a node that lists its values.
func (g *generator) enumeration(n *node) (string, error) {
	if n.members != "" || n.hasObject || n.hasArray || n.hasString || n.hasNumeric {
		g.widen(n.path, "enum")
	}
	var alternatives []string
	for _, v := range n.values {
		if n.types&typeOf(v) == 0 {
			continue
		}
		text, err := value.AppendJSON(nil, v)
		if err != nil {
			return "", n.fail("enum", err.Error())
		}
		alternatives = append(alternatives, literal(string(text)))
	}
	if len(alternatives) == 0 {
		return "", n.fail("", never)
	}
	return either(alternatives), nil
}

func typeOf(v []byte) types {
	switch value.KindOf(v) {
	case value.KindMap:
		return isObject
	case value.KindList:
		return isArray
	case value.KindString:
		return isString
	case value.KindInt:
		return isNumber | isInteger
	case value.KindFloat:
		return isNumber
	case value.KindBool:
		return isBoolean
	case value.KindNil:
		return isNull
	}
	return 0
}

// array returns an expression for lists.
func (g *generator) array(n *node) (string, error) {
	ws := g.use("ws")
	low, high := n.minItems, n.maxItems
	var prefix []string
	for i, all := range n.prefix {
		if high >= 0 && i >= high {
			break
		}
		expression, err := g.schema(n.doc, all, n.path+"["+strconv.Itoa(i)+"]")
		if err != nil {
			if !isNever(err) || i < low {
				return "", err
			}
			high = i // a list ends before an item that cannot be
			break
		}
		prefix = append(prefix, expression)
	}
	if n.itemsEnd && len(n.items) == 0 && (high < 0 || high > len(prefix)) {
		high = len(prefix)
	}
	var item string
	if high < 0 || high > len(prefix) {
		expression, err := g.schema(n.doc, n.items, n.path+"[]")
		switch {
		case err == nil:
			item = expression
		case !isNever(err):
			return "", err
		default:
			high = len(prefix)
		}
	}
	if high >= 0 && low > high {
		return "", n.fail("", never)
	}
	if low-len(prefix) > maxRepeat {
		g.widen(n.path, "minItems")
		low = len(prefix) + maxRepeat
	}
	if high-len(prefix) > maxRepeat {
		g.widen(n.path, "maxItems")
		high = -1
	}
	// From the last item to the first: what may follow the i-th one.
	rest := ""
	if item != "" {
		rest = repeat(`"," `+ws+" "+item, max(low-max(len(prefix), 1), 0), over(high, max(len(prefix), 1)))
	}
	if len(prefix) == 0 {
		if item == "" || high == 0 {
			return `"[]"`, nil
		}
		inner := join(item, rest)
		if low == 0 {
			return `"[" (` + inner + `)? "]"`, nil
		}
		return `"[" ` + inner + ` "]"`, nil
	}
	for i := len(prefix) - 1; i > 0; i-- {
		rest = join(`"," `+ws+" "+prefix[i], rest)
		if i >= low {
			rest = "(" + rest + ")?"
		}
	}
	inner := join(prefix[0], rest)
	if low == 0 {
		inner = "(" + inner + ")?"
	}
	return `"[" ` + inner + ` "]"`, nil
}

// over is how many of at most high are left behind the first n; -1 for no bound.
func over(high, n int) int {
	if high < 0 {
		return -1
	}
	return max(high-n, 0)
}

// repeat returns an expression for low to high times, without a bound if high is negative. It is empty for none.
func repeat(expression string, low, high int) string {
	expression = group(expression)
	switch {
	case high == 0:
		return ""
	case low == 0 && high < 0:
		return expression + "*"
	case low == 1 && high < 0:
		return expression + "+"
	case low == 0 && high == 1:
		return expression + "?"
	case low == 1 && high == 1:
		return expression
	case high < 0:
		return expression + "{" + strconv.Itoa(low) + ",}"
	case low == high:
		return expression + "{" + strconv.Itoa(low) + "}"
	}
	return expression + "{" + strconv.Itoa(low) + "," + strconv.Itoa(high) + "}"
}

// string returns an expression for strings.
func (g *generator) string(n *node) (string, error) {
	if n.maxLength >= 0 && n.minLength > n.maxLength {
		return "", n.fail("", never)
	}
	bounded := n.minLength > 0 || n.maxLength >= 0
	if n.pattern != "" {
		if body, ok := g.pattern(n.pattern); ok {
			if bounded {
				g.widen(n.path, "minLength, maxLength")
			}
			if n.format != "" {
				g.widen(n.path, "format")
			}
			return `"\"" ` + body + ` "\""`, nil
		}
		g.widen(n.path, "pattern")
	}
	if body := g.format(n.format); body != "" {
		if bounded {
			g.widen(n.path, "minLength, maxLength")
		}
		return `"\"" ` + body + ` "\""`, nil
	}
	if asserted[n.format] {
		g.widen(n.path, "format")
	}
	if !bounded {
		return g.use("string"), nil
	}
	low, high := n.minLength, n.maxLength
	if low > maxRepeat {
		g.widen(n.path, "minLength")
		low = maxRepeat
	}
	if high > maxRepeat {
		g.widen(n.path, "maxLength")
		high = -1
	}
	return strings.Join(strings.Fields(`"\"" `+repeat(g.use("char"), low, high)+` "\""`), " "), nil
}

// asserted are the formats that validation checks and no grammar here holds texts to.
var asserted = map[string]bool{
	"duration": true, "email": true, "hostname": true, "ipv6": true, "uri": true, "uri-reference": true,
	"json-pointer": true, "relative-json-pointer": true, "regex": true,
}

// format returns an expression for what is between the quotes, empty if the format has none.
func (g *generator) format(name string) string {
	switch name {
	case "date", "time", "uuid":
		return g.use(name)
	case "date-time":
		return g.use("date") + ` "T" ` + g.use("time")
	case "ipv4":
		octet := g.use("octet")
		return octet + ` ("." ` + octet + "){3}"
	}
	return ""
}
