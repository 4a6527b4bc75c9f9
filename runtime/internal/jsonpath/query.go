// Package jsonpath selects parts of a value by queries of RFC 9535.
//
// A query is read once, by [Parse], and then evaluated directly over encoded values (package value): what it selects are
// parts of the value it was given, in the order the RFC fixes, and nothing is decoded or copied on the way. The functions
// length, count, match, search and value are there. match and search take the patterns of RFC 9485; a pattern that is
// none matches nothing.
//
// Queries and values may both be hostile. A query may nest [MaxNesting] levels of brackets and parentheses; an
// evaluation may nest [MaxDepth] levels, selects at most [MaxNodes] nodes and takes at most as many steps as its value
// allows ([ErrTooManySteps]): beyond these it ends with an error, and never with a part of the answer.
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
	// ErrTooManySteps says that an evaluation took more than four million steps and four for each byte of the value. A
	// step is a look at a node or at 32 bytes of it, a comparison of 32 bytes, or a thread of a pattern at a character.
	ErrTooManySteps = errors.New("jsonpath: the query takes too many steps on this value")
)

// Error tells where a text is no query.
type Error struct {
	Offset int    // bytes before the place
	Reason string // what is wrong there
}

// Error names the reason and the byte offset.
func (e *Error) Error() string {
	return "jsonpath: " + e.Reason + " at byte " + strconv.Itoa(e.Offset)
}

// Query is a query that has been read. It is immutable.
type Query struct{ path path }

// path is a query within a query, or the whole: segments from the root or from the current node.
type path struct {
	segments []segment
	relative bool
}

// singular reports whether a path can select one node at most.
func (p *path) singular() bool {
	for i := range p.segments {
		s := &p.segments[i]
		if s.descends || len(s.selectors) != 1 || s.selectors[0].kind > selectIndex {
			return false
		}
	}
	return true
}

// segment selects children, or what descends from a node.
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
	pattern *pattern.Pattern // of a match or search by a literal, nil when that is not a pattern
}
