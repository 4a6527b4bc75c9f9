package schema

import "github.com/turncore/turncore/abi/value"

// fillCost is what filling in one default costs: schemas that call for defaults inside defaults without end are
// stopped by the budget.
const fillCost = 1 << 8

// fill returns val with the defaults that n gives to missing members, and val itself when there are none.
func (v *validator) fill(n *node, val []byte) []byte {
	kind := value.KindOf(val)
	if n.never || kind != value.KindMap && kind != value.KindList || !v.spend(evalCost) {
		return val
	}
	if v.depth++; v.depth > value.MaxDepth {
		v.giveUp("nests too deeply for its schema")
		return val
	}
	scope := v.enter(n.res)
	given := val // which branches apply is a matter of what was given
	if n.object != nil && kind == value.KindMap {
		val = v.fillMembers(n.object, val)
		for i := range n.object.dependents {
			if d := &n.object.dependents[i]; d.node != nil {
				if _, there := value.Get(given, d.name); there {
					val = v.fill(d.node, val)
				}
			}
		}
	}
	if n.list != nil && kind == value.KindList && (n.list.prefix != nil || n.list.items != nil) {
		val = v.fillItems(n.list, val)
	}
	if n.ref != nil {
		val = v.fill(v.target(n), val)
	}
	for _, sub := range n.allOf {
		val = v.fill(sub, val)
	}
	for _, branches := range [...][]*node{n.anyOf, n.oneOf} {
		for _, sub := range branches {
			if v.test(sub, given, nil) {
				val = v.fill(sub, val)
				break
			}
		}
	}
	if n.cond != nil {
		branch := n.other
		if v.test(n.cond, given, nil) {
			branch = n.then
		}
		if branch != nil {
			val = v.fill(branch, val)
		}
	}
	v.scope.n = scope
	v.depth--
	return val
}

// same tells whether a is b, the very slice.
func same(a, b []byte) bool { return len(a) == len(b) && &a[0] == &b[0] }

func (v *validator) fillMembers(o *objectRules, val []byte) []byte {
	var body []byte // of the members so far, once one has changed
	var present marks
	i := -1
	_ = value.Each(val, func(key, member []byte) bool {
		i++
		filled, known := member, false
		if place := o.find(key); place >= 0 {
			present.set(place)
			if n := o.properties[place].node; n != nil {
				known = true
				filled = v.fill(n, filled)
			}
		}
		for _, p := range o.patterns {
			if v.matches(p.pattern, key) {
				known = true
				filled = v.fill(p.node, filled)
			}
		}
		if !known && o.additional != nil {
			filled = v.fill(o.additional, filled)
		}
		if body == nil && !same(filled, member) {
			body = appendMembers(make([]byte, 0, len(val)+len(filled)), val, i)
		}
		if body != nil {
			body = append(value.AppendText(body, key), filled...)
		}
		return !v.spent
	})
	count := value.Len(val)
	for place := range o.properties {
		p := &o.properties[place]
		if present.has(place) || p.node == nil {
			continue
		}
		def := p.node.fallback()
		if def == nil || !v.spend(fillCost+len(def)) {
			continue
		}
		if body == nil {
			body = appendMembers(make([]byte, 0, len(val)+64), val, count)
		}
		body = append(value.AppendString(body, p.name), v.fill(p.node, def)...)
		count++
	}
	if body == nil || v.spent {
		return val
	}
	out := value.AppendMapHeader(make([]byte, 0, len(body)+5), count)
	return value.OrderMap(append(out, body...), 0)
}

// appendMembers appends the first n members of a map, without a head.
func appendMembers(dst, m []byte, n int) []byte {
	_ = value.Each(m, func(key, val []byte) bool {
		if n--; n >= 0 {
			dst = append(value.AppendText(dst, key), val...)
		}
		return n > 0
	})
	return dst
}

// fallback returns the default of a schema, or of the one it refers to.
func (n *node) fallback() []byte {
	for range value.MaxDepth {
		if n.def != nil || n.ref == nil {
			return n.def
		}
		n = n.ref
	}
	return nil
}

func (v *validator) fillItems(l *listRules, val []byte) []byte {
	var body []byte
	_ = value.EachItem(val, func(i int, item []byte) bool {
		n := l.items
		if i < len(l.prefix) {
			n = l.prefix[i]
		}
		filled := item
		if n != nil {
			filled = v.fill(n, item)
		}
		if body == nil && !same(filled, item) {
			body = make([]byte, 0, len(val)+len(filled))
			_ = value.EachItem(val, func(j int, before []byte) bool {
				if j < i {
					body = append(body, before...)
				}
				return j < i
			})
		}
		if body != nil {
			body = append(body, filled...)
		}
		return !v.spent
	})
	if body == nil || v.spent {
		return val
	}
	return append(value.AppendListHeader(make([]byte, 0, len(body)+5), value.Len(val)), body...)
}
