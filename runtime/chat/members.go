package chat

import (
	"slices"
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/suggestion"
)

// Shape is a set of kinds of value.
type Shape uint8

// Kinds of value.
const (
	ShapeNumber Shape = 1 << iota
	ShapeInteger
	ShapeText
	ShapeBoolean
	ShapeList
	ShapeObject
)

var shapeNames = [...]string{"a number", "an integer", "a string", "a boolean", "a list", "an object"}

func (s Shape) has(v []byte) bool {
	switch value.KindOf(v) {
	case value.KindInt:
		return s&(ShapeNumber|ShapeInteger) != 0
	case value.KindFloat:
		return s&ShapeNumber != 0
	case value.KindString:
		return s&ShapeText != 0
	case value.KindBool:
		return s&ShapeBoolean != 0
	case value.KindList:
		return s&ShapeList != 0
	case value.KindMap:
		return s&ShapeObject != 0
	}
	return false
}

func (s Shape) String() string {
	var names []string
	for i, name := range shapeNames {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

// Member is a member of the request that options may set by its own name. All others belong in the option body.
type Member struct {
	Name     string
	Shape    Shape
	Bounded  bool // a number between Min and Max
	Min, Max float64
}

// Unbounded is the Max of a number without an upper bound.
const Unbounded = value.MaxInt

// known returns the protocol's description of a member, nil for an unknown one.
func (p *parser) known(name string) *Member {
	for i := range p.protocol.Members {
		if m := &p.protocol.Members[i]; m.Name == name {
			return m
		}
	}
	return nil
}

// member handles an option that is a member of the request.
func (p *parser) member(name string, v []byte) {
	m := p.known(name)
	if m == nil {
		p.fail(name, suggestion.Unknown(name, p.names(), "; other members of the request belong in `body`"))
		return
	}
	if problem := m.problem(v); problem != "" {
		p.fail(name, problem)
		return
	}
	p.pass(name, name, v)
}

// names lists the valid option names.
func (p *parser) names() []string {
	names := append(slices.DeleteFunc(strings.Fields(optionNames), p.isOfOthers), "provider")
	if p.engine != nil {
		names = append(names, strings.Fields(engineNames)...)
	}
	for i := range p.protocol.Members {
		names = append(names, p.protocol.Members[i].Name)
	}
	return names
}

// problem describes the fault of a value; "" for none.
func (m *Member) problem(v []byte) string {
	n, _ := value.Number(v)
	switch {
	case !m.Shape.has(v):
		return "must be " + m.Shape.String()
	case m.Bounded && !(n >= m.Min && n <= m.Max):
		return m.bounds()
	}
	return ""
}

func (m *Member) bounds() string {
	low := strconv.Itoa(int(m.Min))
	switch {
	case m.Max == Unbounded:
		return "must be at least " + low
	case m.Min == m.Max:
		return "must be " + low
	}
	return "must be between " + low + " and " + strconv.Itoa(int(m.Max))
}
