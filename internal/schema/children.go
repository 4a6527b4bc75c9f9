package schema

import (
	"strconv"

	"github.com/turncore/turncore/abi/value"
)

// child evaluates n on a part of the value at hand.
func (v *validator) child(at step, n *node, val []byte) bool {
	v.path.push(at)
	ok := v.eval(n, val, nil)
	v.path.n--
	return ok
}

// refuse records a violation about a part of the value at hand.
func (v *validator) refuse(at step, keyword, words string) bool {
	v.path.push(at)
	v.fail(keyword, words)
	v.path.n--
	return false
}

// extra applies a schema for parts that no other keyword knows. The schema false says so in its own words.
func (v *validator) extra(at step, keyword string, n *node, val []byte) bool {
	if n.never {
		return v.refuse(at, keyword, "is not allowed")
	}
	return v.child(at, n, val)
}

// members checks an object. sound tells whether it is valid so far.
func (v *validator) members(o *objectRules, val []byte, seen *marks, sound bool) bool {
	ok := v.size(&o.size, "Properties", value.Len(val), "member")
	if o.properties != nil || o.patterns != nil || o.additional != nil || o.names != nil {
		ok = v.eachMember(o, val, seen) && ok
	}
	for i := range o.dependents {
		d := &o.dependents[i]
		if !v.spend(value.Len(val)) || !ok && v.stop() {
			return false
		}
		if _, there := value.Get(val, d.name); !there {
			continue
		}
		if d.node != nil {
			ok = v.eval(d.node, val, seen) && ok
		}
		for _, name := range d.required {
			if _, there := value.Get(val, name); !there {
				ok = v.missing("dependentRequired", name, ", as "+quote(d.name)+" is there")
			}
		}
	}
	if o.unevaluated == nil || !ok || !sound {
		return ok
	}
	i := -1
	_ = value.Each(val, func(key, member []byte) bool {
		if i++; !seen.has(i) {
			ok = v.extra(step{key: key}, "unevaluatedProperties", o.unevaluated, member) && ok
		}
		return ok || !v.stop()
	})
	seen.all = true
	return ok
}

// missing records that a member is required.
func (v *validator) missing(keyword, name, why string) bool {
	if v.quiet == 0 && len(v.violations) < MaxViolations {
		at := v.pointer()
		v.path.push(step{key: []byte(name)})
		v.violations = append(v.violations, Violation{at, keyword, v.field() + " is required" + why})
		v.path.n--
	}
	return false
}

func (v *validator) eachMember(o *objectRules, val []byte, seen *marks) bool {
	ok, i, required := true, -1, 0
	var present marks // of o.properties
	_ = value.Each(val, func(key, member []byte) bool {
		i++
		at, known := step{key: key}, false
		if place := o.find(key); place >= 0 {
			p := &o.properties[place]
			if p.required {
				required++
				present.set(place)
			}
			if p.node != nil {
				known = true
				if p.node.never {
					ok = v.refuse(at, "properties", "is not allowed")
				} else {
					ok = v.child(at, p.node, member) && ok
				}
			}
		}
		for _, p := range o.patterns {
			if (ok || !v.stop()) && v.matches(p.pattern, key) {
				known = true
				ok = v.extra(at, "patternProperties", p.node, member) && ok
			}
		}
		if !known && o.additional != nil && (ok || !v.stop()) {
			known = true
			ok = v.extra(at, "additionalProperties", o.additional, member) && ok
		}
		if known && seen != nil {
			seen.set(i)
		}
		if o.names != nil && (ok || !v.stop()) {
			ok = v.memberName(o.names, key) && ok
		}
		return ok || !v.stop()
	})
	if required == o.required || !ok && v.stop() || !v.spend(len(o.properties)) {
		return ok
	}
	for place := range o.properties {
		if p := &o.properties[place]; p.required && !present.has(place) {
			ok = v.missing("required", p.name, "")
		}
	}
	return ok
}

// memberName applies propertyNames to a key.
func (v *validator) memberName(n *node, key []byte) bool {
	v.name = value.AppendText(v.name[:0], key)
	return v.test(n, v.name, nil) || v.refuse(step{key: key}, "propertyNames", "has a name that is not allowed")
}

// items checks an array. sound tells whether it is valid so far.
func (v *validator) items(l *listRules, val []byte, seen *marks, sound bool) bool {
	ok := v.size(&l.size, "Items", value.Len(val), "item")
	if l.prefix != nil || l.items != nil || l.contains != nil {
		ok = v.eachItem(l, val, seen) && ok
	}
	if l.unique && (ok || !v.stop()) {
		if i, j := v.repeated(val); j > 0 {
			ok = v.fail("uniqueItems", "must not repeat an item:", strconv.Itoa(i), "and", strconv.Itoa(j), "are equal")
		}
	}
	if l.unevaluated == nil || !ok || !sound {
		return ok
	}
	_ = value.EachItem(val, func(i int, item []byte) bool {
		if !seen.has(i) {
			ok = v.extra(step{index: i}, "unevaluatedItems", l.unevaluated, item) && ok
		}
		return ok || !v.stop()
	})
	seen.all = true
	return ok
}

func (v *validator) eachItem(l *listRules, val []byte, seen *marks) bool {
	ok, matches := true, 0
	_ = value.EachItem(val, func(i int, item []byte) bool {
		n, keyword := l.items, "items"
		if i < len(l.prefix) {
			n, keyword = l.prefix[i], "prefixItems"
		}
		if n != nil {
			ok = v.extra(step{index: i}, keyword, n, item) && ok
			if seen != nil {
				seen.set(i)
			}
		}
		if l.contains != nil && (ok || !v.stop()) && v.test(l.contains, item, nil) {
			matches++
			if seen != nil {
				seen.set(i)
			}
		}
		return ok || !v.stop()
	})
	if l.contains == nil || !ok && v.stop() {
		return ok
	}
	keyword, words, bound := "contains", "must hold at least", l.matches.min
	switch {
	case matches < bound && bound > 1:
		keyword = "minContains"
	case matches < bound:
	case l.matches.hasMax && matches > l.matches.max:
		keyword, words, bound = "maxContains", "must hold at most", l.matches.max
	default:
		return ok
	}
	return v.fail(keyword, words, strconv.Itoa(bound), "of the items asked for, not", strconv.Itoa(matches))
}

// repeated returns the places of two equal items, and 0, 0 when there are none.
func (v *validator) repeated(val []byte) (first, second int) {
	var few [8][]byte
	items := few[:0]
	_ = value.EachItem(val, func(_ int, item []byte) bool {
		items = append(items, item)
		return true
	})
	if len(items) <= len(few) {
		for j := 1; j < len(items); j++ {
			for i := range j {
				if value.Equal(items[i], items[j]) {
					return i, j
				}
			}
		}
		return 0, 0
	}
	// Equal items have the same canonical text; the reverse fails only for bytes and their base64.
	places := make(map[string]int, len(items))
	var text []byte
	for j, item := range items {
		text, _ = value.AppendCanonical(text[:0], item)
		if i, again := places[string(text)]; again && value.Equal(items[i], item) {
			return i, j
		}
		places[string(text)] = j
	}
	return 0, 0
}
