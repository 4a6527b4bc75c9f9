// Package jsonpath selects parts of a value by queries of RFC 9535.
//
// A query is parsed once, by [Parse], and then evaluated directly on encoded values (package value): it selects parts
// of its input, in the order the RFC fixes, without decoding or copying. The functions are length, count, match, search
// and value. match and search take the patterns of RFC 9485; an invalid pattern matches nothing.
//
// Queries and values may both be hostile. A query may nest [MaxNesting] levels of brackets and parentheses; an
// evaluation may nest [MaxDepth] levels, select [MaxNodes] nodes, and take a number of steps that depends on its value
// ([ErrTooManySteps]). Beyond these limits it fails, and never returns a partial answer.
package jsonpath

import (
	"errors"
	"strconv"

	"github.com/turncore/turncore/internal/pattern"
)

const (
	// MaxNesting is how deep the brackets and parentheses of a query may nest.
	MaxNesting = 100
	// MaxDepth is how deep an evaluation may go: the levels of the value that a query descends, its segments, and the
	// queries within its filters.
	MaxDepth = 512
	// MaxNodes is the number of nodes that a query may select.
	MaxNodes = 1 << 18
)

// The limits of an evaluation.
var (
	// ErrTooDeep says that an evaluation went deeper than [MaxDepth].
	ErrTooDeep = errors.New("jsonpath: the query goes too deep into the value")
	// ErrTooManyNodes says that a query selects more than [MaxNodes] nodes.
	ErrTooManyNodes = errors.New("jsonpath: the query selects too many nodes")
	// ErrTooManySteps says that an evaluation took more than four million steps plus four for each byte of the value. A
	// step visits a node or 32 bytes of it, compares 32 bytes, or advances one thread of a pattern by a character.
	ErrTooManySteps = errors.New("jsonpath: the query takes too many steps on this value")
)

// Error says where a query is invalid.
type Error struct {
	Offset int    // byte offset of the fault
	Reason string // description of the fault
}

// Error names the reason and the byte offset.
func (e *Error) Error() string {
	return "jsonpath: " + e.Reason + " at byte " + strconv.Itoa(e.Offset)
}

// Query is a parsed query. It is immutable.
type Query struct{ path path }

// path is a query, or a query within one: segments from the root or from the current node.
type path struct {
	segments []segment
	relative bool
}

// singular reports whether a path can select at most one node.
func (p *path) singular() bool {
	for i := range p.segments {
		s := &p.segments[i]
		if s.descends || len(s.selectors) != 1 || s.selectors[0].kind > selectIndex {
			return false
		}
	}
	return true
}

// segment selects children or descendants of a node.
type segment struct {
	descends  bool
	selectors []selector
}

type selectorKind uint8

const (
	selectName selectorKind = iota
	selectIndex
	selectAll
	selectSlice
	selectFilter
)

type selector struct {
	kind             selectorKind
	hasStart, hasEnd bool
	start, end, step int // an index is start
	name             string
	filter           *expression
}

type operator uint8

const (
	opOr operator = iota
	opAnd
	opNot
	opEqual
	opUnequal
	opLess
	opLessEqual
	opGreater
	opGreaterEqual
	opLiteral
	opPath
	opLength
	opCount
	opValue
	opMatch
	opSearch
)

// expression is a logical expression, or an operand of one.
type expression struct {
	op      operator
	args    []expression
	literal []byte // encoded
	path    path
	pattern *pattern.Pattern // of a match or search with a literal; nil if the pattern is invalid
}
