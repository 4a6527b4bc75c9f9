package schema

import (
	"strconv"
	"unicode/utf8"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/pattern"
)

// validator is one validation.
type validator struct {
	violations []Violation
	path       stack[step]      // to the value at hand
	scope      stack[*resource] // entered on the way to the schema at hand, for $dynamicRef
	quiet      int              // above 0 only the answer counts: nothing is recorded and the first failure ends it
	depth      int
	budget     int
	spent      bool
	name       []byte // a key as a value, for propertyNames
}

// stack keeps its first entries in place, so that an ordinary validation allocates none.
type stack[T any] struct {
	few  [16]T
	more []T
	n    int
}

func (s *stack[T]) push(x T) {
	if s.n < len(s.few) {
		s.few[s.n] = x
	} else {
		s.more = append(s.more[:s.n-len(s.few)], x)
	}
	s.n++
}

func (s *stack[T]) at(i int) T {
	if i < len(s.few) {
		return s.few[i]
	}
	return s.more[i-len(s.few)]
}

// What steps cost: a schema applied to a value; a thread of a pattern that reads a character costs 1.
const evalCost = 16

// giveUp ends the validation.
func (v *validator) giveUp(why string) {
	v.spent = true
	v.violations = append(v.violations, Violation{v.pointer(), KeywordLimit, v.field() + " " + why})
}

// spend takes steps off the budget and tells whether there are more.
func (v *validator) spend(steps int) bool {
	if v.budget -= steps; v.budget < 0 && !v.spent {
		v.giveUp("takes too many steps to check")
	}
	return !v.spent
}

// fail records a violation about the value at hand, whose name the message starts with. It is always false.
//
// It is not inlined: its many callers would grow the module by kilobytes.
//
//go:noinline
func (v *validator) fail(keyword string, words ...string) bool {
	if v.quiet == 0 && len(v.violations) < MaxViolations {
		message := v.field()
		for _, word := range words {
			message += " " + word
		}
		v.violations = append(v.violations, Violation{v.pointer(), keyword, message})
	}
	return false
}

// stop tells whether nothing more can be learned once something has failed.
func (v *validator) stop() bool {
	return v.quiet > 0 || v.spent || len(v.violations) >= MaxViolations
}

// enter puts a resource on the dynamic scope and returns the length to set it back to.
func (v *validator) enter(res *resource) int {
	scope := v.scope.n
	if scope == 0 || v.scope.at(scope-1) != res {
		v.scope.push(res)
	}
	return scope
}

// test tells whether val is valid, without recording why not.
func (v *validator) test(n *node, val []byte, seen *marks) bool {
	v.quiet++
	ok := v.eval(n, val, seen)
	v.quiet--
	return ok
}

// marks are the places of those children of a value, members or elements, that some schema has evaluated.
type marks struct {
	all   bool
	first uint64
	rest  []uint64
}

func (m *marks) set(i int) {
	if i < 64 {
		m.first |= 1 << i
		return
	}
	for len(m.rest) < i>>6 {
		m.rest = append(m.rest, 0)
	}
	m.rest[i>>6-1] |= 1 << (i & 63)
}

func (m *marks) has(i int) bool {
	if m.all || i < 64 {
		return m.all || m.first>>i&1 != 0
	}
	return i>>6 <= len(m.rest) && m.rest[i>>6-1]>>(i&63)&1 != 0
}

func (m *marks) merge(o *marks) {
	m.all = m.all || o.all
	m.first |= o.first
	for i, bits := range o.rest {
		if i < len(m.rest) {
			m.rest[i] |= bits
		} else {
			m.rest = append(m.rest, bits)
		}
	}
}

// eval tells whether val is valid against n and records why not. seen, unless nil, is told which children n evaluates;
// what it holds means something only when val is valid.
func (v *validator) eval(n *node, val []byte, seen *marks) bool {
	if n.never {
		return v.fail("false schema", "is not allowed")
	}
	if !v.spend(evalCost) {
		return false
	}
	if v.depth++; v.depth > value.MaxDepth {
		v.giveUp("nests too deeply for its schema")
		return false
	}
	scope := v.enter(n.res)
	// Unevaluated children are those that this schema, not its neighbours, has left alone.
	var own marks
	outer := seen
	if n.list != nil && n.list.unevaluated != nil || n.object != nil && n.object.unevaluated != nil {
		seen = &own
	}
	ok := v.assert(n, val)
	if ok || !v.stop() {
		ok = v.inPlace(n, val, seen) && ok
	}
	if ok || !v.stop() {
		switch {
		case n.list != nil && value.KindOf(val) == value.KindList:
			ok = v.items(n.list, val, seen, ok) && ok
		case n.object != nil && value.KindOf(val) == value.KindMap:
			ok = v.members(n.object, val, seen, ok) && ok
		}
	}
	if seen != outer && outer != nil && ok {
		outer.merge(seen)
	}
	v.scope.n = scope
	v.depth--
	return ok && !v.spent
}

// assert checks what concerns the value itself.
func (v *validator) assert(n *node, val []byte) bool {
	ok := true
	if n.types != 0 && n.types&typesOf(val) == 0 {
		if v.quiet > 0 {
			return false
		}
		// Other rules would say nothing about this type, or only what the type says already.
		return v.fail("type", "must be", n.types.names()+",", "not", typesOf(val).names())
	}
	if n.constant != nil && !value.Equal(n.constant, val) {
		if ok = false; v.quiet > 0 {
			return false
		}
		v.fail("const", "must be", show(n.constant))
	}
	if n.enum != nil && v.spend(len(n.enum)) && !contains(n.enum, val) {
		if ok = false; v.quiet > 0 {
			return false
		}
		v.fail("enum", "must be one of", choices(n.enum))
	}
	if n.num != nil {
		if f, isNumber := value.Number(val); isNumber {
			ok = v.number(n.num, f) && ok
		}
	}
	if n.str != nil {
		if text, isString := value.String(val); isString {
			ok = v.text(n.str, text) && ok
		}
	}
	return ok
}

func contains(options [][]byte, val []byte) bool {
	for _, option := range options {
		if value.Equal(option, val) {
			return true
		}
	}
	return false
}

func (v *validator) number(r *numberRules, f float64) bool {
	ok := true
	for i := range r.limits {
		l := &r.limits[i]
		beyond := f < l.bound
		if l.upper {
			beyond = f > l.bound
		}
		if beyond || l.strict && f == l.bound {
			ok = v.fail(l.keyword, "must be", l.words, l.text)
		}
	}
	if r.multipleOf != 0 && !isMultiple(f, r.multipleOf) {
		if ok = false; v.quiet == 0 {
			v.fail("multipleOf", "must be a multiple of", show(value.AppendNumber(nil, r.multipleOf)))
		}
	}
	return ok
}

func (v *validator) text(r *stringRules, text []byte) bool {
	ok := true
	if r.size.hasMin || r.size.hasMax {
		ok = v.size(&r.size, "Length", utf8.RuneCount(text), "character")
	}
	if r.pattern != nil && !v.matches(r.pattern, text) {
		ok = v.fail("pattern", "must match the pattern", r.source)
	}
	if r.format != nil && !r.format(text) {
		ok = v.fail("format", "must be in the format", r.formatAs)
	}
	return ok
}

func (v *validator) matches(p *pattern.Pattern, text []byte) bool {
	ok := p.Match(text, &v.budget)
	return v.spend(0) && ok
}

// size checks a number of things against limits whose keywords end in suffix.
func (v *validator) size(s *sizes, suffix string, n int, thing string) bool {
	least := s.hasMin && n < s.min
	if !least && !(s.hasMax && n > s.max) {
		return true
	}
	if v.quiet > 0 {
		return false
	}
	keyword, words, bound := "max"+suffix, "must have at most", s.max
	if least {
		keyword, words, bound = "min"+suffix, "must have at least", s.min
	}
	if bound != 1 {
		thing += "s"
	}
	return v.fail(keyword, words, strconv.Itoa(bound), thing)
}

// inPlace applies the schemas that are about the same value.
func (v *validator) inPlace(n *node, val []byte, seen *marks) bool {
	ok := true
	if n.ref != nil {
		ok = v.eval(v.target(n), val, seen)
	}
	for _, sub := range n.allOf {
		if !ok && v.stop() {
			return false
		}
		ok = v.eval(sub, val, seen) && ok
	}
	if n.anyOf != nil && (ok || !v.stop()) {
		ok = v.branches("anyOf", n.anyOf, val, seen) && ok
	}
	if n.oneOf != nil && (ok || !v.stop()) {
		ok = v.branches("oneOf", n.oneOf, val, seen) && ok
	}
	if n.not != nil && (ok || !v.stop()) && v.test(n.not, val, nil) {
		ok = v.fail("not", "must not be what its schema excludes")
	}
	if n.cond != nil && (ok || !v.stop()) {
		branch := n.other
		if v.branch(n.cond, val, seen) {
			branch = n.then
		}
		if branch != nil {
			ok = v.eval(branch, val, seen) && ok
		}
	}
	return ok
}

// target returns the schema that a reference leads to from here.
func (v *validator) target(n *node) *node {
	if n.dynamic != "" {
		for i := range v.scope.n { // outermost first
			if to := v.scope.at(i).dynamicAnchor(n.dynamic); to != nil {
				return to
			}
		}
	}
	return n.ref
}

// branch tests a schema that val need not satisfy, and tells seen what it evaluates when val does.
func (v *validator) branch(n *node, val []byte, seen *marks) bool {
	if seen == nil {
		return v.test(n, val, nil)
	}
	var own marks
	ok := v.test(n, val, &own)
	if ok {
		seen.merge(&own)
	}
	return ok
}

// branches applies anyOf or oneOf.
func (v *validator) branches(keyword string, subs []*node, val []byte, seen *marks) bool {
	matched := 0
	any := keyword == "anyOf"
	for _, sub := range subs {
		if v.branch(sub, val, seen) {
			if matched++; any && seen == nil || !any && matched > 1 && v.quiet > 0 {
				break
			}
		}
	}
	if matched == 1 || any && matched > 0 {
		return true
	}
	if v.quiet > 0 || v.spent {
		return false
	}
	if matched > 1 {
		return v.fail(keyword, "must match exactly one of", strconv.Itoa(len(subs)), "alternatives, not", strconv.Itoa(matched))
	}
	// When only one alternative is meant for this type, its own violations say more.
	var meant *node
	count := 0
	for _, sub := range subs {
		if sub.accepts(typesOf(val)) {
			meant = sub
			count++
		}
	}
	if count == 1 {
		return v.eval(meant, val, nil)
	}
	return v.fail(keyword, "must match one of", strconv.Itoa(len(subs)), "alternatives")
}

// accepts tells whether a schema, as far as it is seen at once, allows one of some types.
func (n *node) accepts(t types) bool {
	for range value.MaxDepth {
		if n.never || n.types != 0 && n.types&t == 0 || n.constant != nil && typesOf(n.constant)&t == 0 {
			return false
		}
		if n.ref == nil || n.dynamic != "" {
			break
		}
		n = n.ref
	}
	return true
}

// show returns a value as JSON text, cut when it is long.
func show(val []byte) string {
	text, _ := value.AppendJSON(nil, val)
	if len(text) > 60 {
		text = append(text[:57], "..."...)
	}
	return string(text)
}

// choices lists the options of an enum.
func choices(options [][]byte) string {
	text := ""
	for i, option := range options {
		if i > 0 {
			text += ", "
		}
		if len(text) > 200 {
			return text + "..."
		}
		text += show(option)
	}
	return text
}
