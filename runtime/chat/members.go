package chat

import (
	"strconv"
	"strings"

	"github.com/turncore/turncore/runtime/value"
)

// shape is a set of kinds of value.
type shape uint8

const (
	shapeNumber shape = 1 << iota
	shapeInteger
	shapeText
	shapeBoolean
	shapeList
	shapeObject
)

var shapeNames = [...]string{"a number", "an integer", "a string", "a boolean", "a list", "an object"}

func (s shape) has(v []byte) bool {
	switch value.KindOf(v) {
	case value.KindInt:
		return s&(shapeNumber|shapeInteger) != 0
	case value.KindFloat:
		return s&shapeNumber != 0
	case value.KindString:
		return s&shapeText != 0
	case value.KindBool:
		return s&shapeBoolean != 0
	case value.KindList:
		return s&shapeList != 0
	case value.KindMap:
		return s&shapeObject != 0
	}
	return false
}

func (s shape) String() string {
	var names []string
	for i, name := range shapeNames {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

// member is a member of the request that options may set by its own name. Any other goes into the option body.
type member struct {
	name     string
	shape    shape
	bounded  bool
	min, max float64
}

const unbounded = value.MaxInt

var members = []member{
	{"frequency_penalty", shapeNumber, true, -2, 2},
	{"logit_bias", shapeObject, false, 0, 0},
	{"logprobs", shapeBoolean, false, 0, 0},
	{"max_completion_tokens", shapeInteger, true, 1, unbounded},
	{"max_tokens", shapeInteger, true, 1, unbounded},
	{"metadata", shapeObject, false, 0, 0},
	{"n", shapeInteger, true, 1, 1}, // the executor reads one choice
	{"parallel_tool_calls", shapeBoolean, false, 0, 0},
	{"prediction", shapeObject, false, 0, 0},
	{"presence_penalty", shapeNumber, true, -2, 2},
	{"prompt_cache_key", shapeText, false, 0, 0},
	{"prompt_cache_retention", shapeText, false, 0, 0},
	{"reasoning", shapeObject, false, 0, 0},
	{"reasoning_effort", shapeText, false, 0, 0},
	{"response_format", shapeObject, false, 0, 0},
	{"safety_identifier", shapeText, false, 0, 0},
	{"seed", shapeInteger, false, 0, 0},
	{"service_tier", shapeText, false, 0, 0},
	{"stop", shapeText | shapeList, false, 0, 0},
	{"store", shapeBoolean, false, 0, 0},
	{"stream_options", shapeObject, false, 0, 0},
	{"temperature", shapeNumber, true, 0, 2},
	{"tool_choice", shapeText | shapeObject, false, 0, 0},
	{"top_logprobs", shapeInteger, true, 0, 20},
	{"top_p", shapeNumber, true, 0, 1},
	{"user", shapeText, false, 0, 0},
	{"verbosity", shapeText, false, 0, 0},
	{"web_search_options", shapeObject, false, 0, 0},
}

// member takes an option that is a member of the request.
func (p *parser) member(name string, v []byte) {
	for i := range members {
		m := &members[i]
		if m.name != name {
			continue
		}
		switch n, _ := value.Number(v); {
		case !m.shape.has(v):
			p.fail(name, "must be "+m.shape.String())
		case m.bounded && !(n >= m.min && n <= m.max):
			p.fail(name, m.bounds())
		default:
			p.pass(name, name, v)
		}
		return
	}
	p.fail(name, "is not a known option; other members of the request belong into `body`")
}

func (m *member) bounds() string {
	low := strconv.Itoa(int(m.min))
	switch {
	case m.max == unbounded:
		return "must be at least " + low
	case m.min == m.max:
		return "must be " + low
	}
	return "must be between " + low + " and " + strconv.Itoa(int(m.max))
}
