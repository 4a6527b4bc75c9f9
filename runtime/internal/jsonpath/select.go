package jsonpath

import (
	"unicode/utf8"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/pattern"
)

// Budget bounds an evaluation, or several that share it.
type Budget struct {
	Nodes int // nodes left to select
	Steps int // steps left to take
}

// BudgetFor returns the budget for values of a total size: [MaxNodes] nodes and the steps of [ErrTooManySteps].
func BudgetFor(bytes int) *Budget { return &Budget{Nodes: MaxNodes, Steps: 4<<20 + 4*bytes} }

// Select returns the nodes that the query selects from a value, as parts of it. The error is one of this package's
// limits, or one of package value when root is malformed.
func (q *Query) Select(root []byte) ([][]byte, error) {
	var nodes [][]byte
	err := q.Each(root, BudgetFor(len(root)), func(node []byte) bool {
		nodes = append(nodes, node)
		return true
	})
	if err != nil {
		return nil, err
	}
	return nodes, nil
}

// Each calls fn for each node that the query selects from a value, in order, until fn returns false. It consumes the
// budget. Errors are those of [Query.Select], and may come after calls of fn.
func (q *Query) Each(root []byte, budget *Budget, fn func(node []byte) bool) error {
	e := evaluation{root: root, budget: budget}
	e.walk(q.path.segments, root, func(node []byte) bool {
		if budget.Nodes--; budget.Nodes < 0 {
			e.err = ErrTooManyNodes
			return false
		}
		return fn(node)
	})
	e.spend(0) // a pattern may have exhausted the steps
	return e.err
}

// evaluation evaluates a query. It visits nodes depth first through the segments, which yields the order of the RFC
// without a list per segment.
type evaluation struct {
	root   []byte
	budget *Budget
	depth  int
	err    error

	source  string // of the last compiled pattern
	pattern *pattern.Pattern
}

// spend counts a visit to n bytes; false if the budget is exhausted.
func (e *evaluation) spend(n int) bool {
	if e.budget.Steps -= 1 + n>>5; e.budget.Steps < 0 && e.err == nil {
		e.err = ErrTooManySteps
	}
	return e.err == nil
}

// walk calls fn for the nodes that the segments select until fn returns false, and reports whether fn never did.
func (e *evaluation) walk(segments []segment, node []byte, fn func([]byte) bool) bool {
	if len(segments) == 0 {
		return fn(node)
	}
	if e.depth++; e.depth > MaxDepth {
		e.err = ErrTooDeep
		return false
	}
	s := &segments[0]
	more := true
	for i := 0; i < len(s.selectors) && more; i++ {
		more = e.apply(&s.selectors[i], node, func(child []byte) bool {
			return e.walk(segments[1:], child, fn)
		})
	}
	if more && s.descends {
		more = e.children(node, func(child []byte) bool {
			if kind := value.KindOf(child); kind != value.KindList && kind != value.KindMap {
				return true
			}
			return e.walk(segments, child, fn)
		})
	}
	e.depth--
	return more
}

// children calls fn for the elements of a list or the values of a map, as walk does.
func (e *evaluation) children(node []byte, fn func([]byte) bool) bool {
	kind := value.KindOf(node)
	if kind != value.KindList && kind != value.KindMap {
		return true
	}
	more := true
	var err error
	if kind == value.KindList {
		err = value.EachItem(node, func(_ int, child []byte) bool {
			more = e.spend(len(child)) && fn(child)
			return more
		})
	} else {
		err = value.Each(node, func(_, child []byte) bool {
			more = e.spend(len(child)) && fn(child)
			return more
		})
	}
	return e.fine(err) && more
}

// fine keeps the first error, and reports whether there is none so far.
func (e *evaluation) fine(err error) bool {
	if err != nil && e.err == nil {
		e.err = err
	}
	return e.err == nil
}

// member calls fn for the member of a map with the name, as walk does.
func (e *evaluation) member(node []byte, name string, fn func([]byte) bool) bool {
	if value.KindOf(node) != value.KindMap {
		return true
	}
	var found []byte
	err := value.Each(node, func(key, child []byte) bool {
		if string(key) == name {
			found = child
		}
		return e.spend(len(child)) && found == nil
	})
	return e.fine(err) && (found == nil || fn(found))
}

// apply calls fn for the nodes that a selector selects, as walk does.
func (e *evaluation) apply(s *selector, node []byte, fn func([]byte) bool) bool {
	switch s.kind {
	case selectName:
		return e.member(node, s.name, fn)
	case selectAll:
		return e.children(node, fn)
	case selectFilter:
		return e.children(node, func(child []byte) bool {
			chosen := e.test(s.filter, child)
			return e.err == nil && (!chosen || fn(child))
		})
	}
	if value.KindOf(node) != value.KindList {
		return true
	}
	n := value.Len(node)
	if s.kind == selectIndex {
		at := s.start
		if at < 0 {
			at += n
		}
		return e.slice(node, at, at, 1, fn)
	}
	return e.sliceOf(s, node, n, fn)
}

// sliceOf calls fn for the elements that a slice selects, as walk does.
func (e *evaluation) sliceOf(s *selector, node []byte, n int, fn func([]byte) bool) bool {
	if s.step == 0 {
		return true
	}
	bound := func(at int, given bool, otherwise, low, high int) int {
		if !given {
			return otherwise
		}
		if at < 0 {
			at += n
		}
		return min(max(at, low), high)
	}
	if s.step > 0 {
		start := bound(s.start, s.hasStart, 0, 0, n)
		end := bound(s.end, s.hasEnd, n, 0, n)
		return e.slice(node, start, end-1, s.step, fn)
	}
	start := bound(s.start, s.hasStart, n-1, -1, n-1)
	end := bound(s.end, s.hasEnd, -1, -1, n-1)
	if start <= end {
		return true
	}
	// Elements can only be read forwards: collect them from the lowest, pass them on from the highest.
	var found [][]byte
	lowest := start - (start-end-1)/-s.step*-s.step
	if !e.slice(node, lowest, start, -s.step, func(child []byte) bool {
		if len(found) == MaxNodes {
			e.err = ErrTooManyNodes
			return false
		}
		found = append(found, child)
		return true
	}) {
		return false
	}
	for i := len(found) - 1; i >= 0; i-- {
		if !fn(found[i]) {
			return false
		}
	}
	return true
}

// slice calls fn for every step-th element of a list from first to last, as walk does.
func (e *evaluation) slice(list []byte, first, last, step int, fn func([]byte) bool) bool {
	if first < 0 || last < first {
		return true
	}
	more := true
	err := value.EachItem(list, func(i int, child []byte) bool {
		if more = e.spend(len(child)); more && i >= first && (i-first)%step == 0 {
			more = fn(child)
		}
		return more && i < last
	})
	return e.fine(err) && more
}

// test evaluates a logical expression for a node.
func (e *evaluation) test(x *expression, node []byte) bool {
	switch x.op {
	case opOr, opAnd:
		for i := range x.args {
			if e.test(&x.args[i], node) == (x.op == opOr) {
				return x.op == opOr
			}
		}
		return x.op == opAnd
	case opNot:
		return !e.test(&x.args[0], node)
	case opPath:
		found := false
		e.each(&x.path, node, func([]byte) bool {
			found = true
			return false
		})
		return found
	case opMatch, opSearch:
		return e.matches(x, node)
	}
	left, right := e.value(&x.args[0], node), e.value(&x.args[1], node)
	switch x.op {
	case opEqual:
		return e.equal(left, right)
	case opUnequal:
		return !e.equal(left, right)
	case opLess:
		return e.less(left, right)
	case opGreater:
		return e.less(right, left)
	case opLessEqual:
		return e.less(left, right) || e.equal(left, right)
	}
	return e.less(right, left) || e.equal(left, right)
}

// each calls fn for the nodes that a path in a filter selects.
func (e *evaluation) each(p *path, node []byte, fn func([]byte) bool) {
	if !p.relative {
		node = e.root
	}
	depth := e.depth
	e.walk(p.segments, node, fn)
	e.depth = depth // if fn stopped the walk, it left depth where it was
}

// value returns the value of an operand for a node, nil if there is none.
func (e *evaluation) value(x *expression, node []byte) []byte {
	var out []byte
	switch x.op {
	case opLiteral:
		return x.literal
	case opLength:
		arg := e.value(&x.args[0], node)
		switch value.KindOf(arg) {
		case value.KindString:
			text, _ := value.String(arg)
			if !e.spend(len(text)) {
				return nil
			}
			return value.AppendInt(nil, int64(utf8.RuneCount(text)))
		case value.KindList, value.KindMap:
			return value.AppendInt(nil, int64(value.Len(arg)))
		}
		return nil
	case opCount:
		n := int64(0)
		e.each(&x.args[0].path, node, func([]byte) bool {
			n++
			return true
		})
		return value.AppendInt(nil, n)
	case opValue:
		x = &x.args[0]
	}
	n := 0
	e.each(&x.path, node, func(found []byte) bool {
		n++
		out = found
		return n < 2
	})
	if n != 1 {
		return nil
	}
	return out
}

func (e *evaluation) equal(a, b []byte) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return e.spend(min(len(a), len(b))) && value.Equal(a, b)
}

// less compares two numbers, or two strings by their characters.
func (e *evaluation) less(a, b []byte) bool {
	if m, ok := value.Number(a); ok {
		n, ok := value.Number(b)
		return ok && m < n
	}
	s, ok := value.String(a)
	t, ok2 := value.String(b)
	return ok && ok2 && e.spend(min(len(s), len(t))) && string(s) < string(t)
}

// matches evaluates match and search.
func (e *evaluation) matches(x *expression, node []byte) bool {
	text, ok := value.String(e.value(&x.args[0], node))
	if !ok {
		return false
	}
	p := x.pattern
	if x.args[1].op != opLiteral {
		source, ok := value.String(e.value(&x.args[1], node))
		if !ok {
			return false
		}
		// A pattern taken from the value is usually the same for all nodes.
		key := string(rune(x.op)) + string(source)
		if key != e.source {
			e.source = key
			e.pattern, _ = pattern.IRegexp(key[1:], x.op == opMatch, &e.budget.Steps)
		}
		p = e.pattern
	}
	found := p != nil && p.Match(text, &e.budget.Steps)
	return e.spend(0) && found
}
