package catalogue

import (
	"math"
	"strconv"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
)

// maxNesting is how deep an expression may nest.
const maxNesting = 100

func calculator(_ runtime.Task, _ *runtime.Dispatch, args []byte) ([]byte, error) {
	f, err := calculate(runtime.TextArgument(args, "expression"))
	if err != nil {
		return nil, err
	}
	return value.AppendNumber(nil, f), nil
}

// calculate evaluates an expression over 64-bit floating-point numbers. % and ^ are remainder and power; ^ binds
// tightest and to the right. Errors are E_TOOL_CALCULATION and name the character that they are about, from 1.
func calculate(expression string) (float64, error) {
	p := parser{text: expression}
	f := p.sum()
	if p.err == nil && p.peek() != 0 {
		p.fail("unexpected " + p.found())
	}
	if p.err == nil && (math.IsNaN(f) || math.IsInf(f, 0)) {
		p.at = 0
		p.fail("the result is not a finite number")
	}
	return f, p.err
}

// parser is an expression that is being read.
type parser struct {
	text  string
	at    int
	depth int
	err   error
}

func (p *parser) fail(what string) {
	if p.err == nil {
		p.err = fault.New(fault.ToolCalculation, what+" at character "+strconv.Itoa(p.at+1))
	}
}

// peek returns the next byte that is not a space, 0 at the end and after an error.
func (p *parser) peek() byte {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] >= '\t' && p.text[p.at] <= '\r') {
		p.at++
	}
	if p.at == len(p.text) || p.err != nil {
		return 0
	}
	return p.text[p.at]
}

// found describes what comes next.
func (p *parser) found() string {
	if p.at >= len(p.text) {
		return "end"
	}
	for _, r := range p.text[p.at:] {
		return strconv.Quote(string(r))
	}
	return ""
}

func (p *parser) enter() bool {
	if p.depth++; p.depth > maxNesting {
		p.fail("more than " + strconv.Itoa(maxNesting) + " levels")
		return false
	}
	return true
}

func (p *parser) sum() float64 {
	f := p.product()
	for {
		switch p.peek() {
		case '+':
			p.at++
			f += p.product()
		case '-':
			p.at++
			f -= p.product()
		default:
			return f
		}
	}
}

func (p *parser) product() float64 {
	f := p.signed()
	for {
		c := p.peek()
		if c != '*' && c != '/' && c != '%' {
			return f
		}
		p.at++
		start := p.at
		// The conversion keeps engines from fusing it with the sum around, which rounds differently.
		switch g := p.signed(); {
		case c == '*':
			f = float64(f * g)
		case g == 0 && p.err == nil:
			p.at = start - 1
			p.fail("division by zero")
		case c == '/':
			f /= g
		default:
			f = math.Mod(f, g)
		}
	}
}

func (p *parser) signed() float64 {
	c := p.peek()
	if c != '-' && c != '+' {
		return p.power()
	}
	if !p.enter() {
		return 0
	}
	p.at++
	f := p.signed()
	p.depth--
	if c == '-' {
		return -f
	}
	return f
}

func (p *parser) power() float64 {
	base := p.operand()
	if p.peek() != '^' || !p.enter() {
		return base
	}
	p.at++
	exponent := p.signed()
	p.depth--
	return math.Pow(base, exponent)
}

func (p *parser) operand() float64 {
	switch c := p.peek(); {
	case c == '(':
		return p.parentheses(1)[0]
	case c >= '0' && c <= '9' || c == '.':
		return p.literal()
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		return p.function()
	}
	p.fail("a number is missing, not " + p.found())
	return 0
}

// parentheses reads a list in parentheses, of so many values at most. There is always a first one.
func (p *parser) parentheses(most int) []float64 {
	list := []float64{0}
	if p.peek() != '(' {
		p.fail("( is missing, not " + p.found())
	}
	if !p.enter() || p.err != nil {
		return list
	}
	p.at++
	list[0] = p.sum()
	for p.peek() == ',' && len(list) < most {
		p.at++
		list = append(list, p.sum())
	}
	if p.peek() != ')' {
		p.fail(") is missing, not " + p.found())
	}
	p.at++
	p.depth--
	return list
}

func (p *parser) literal() float64 {
	start := p.at
	digits := func() {
		for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
			p.at++
		}
	}
	digits()
	if p.at < len(p.text) && p.text[p.at] == '.' {
		p.at++
		digits()
	}
	if p.at < len(p.text) && p.text[p.at]|0x20 == 'e' {
		p.at++
		if p.at < len(p.text) && (p.text[p.at] == '-' || p.text[p.at] == '+') {
			p.at++
		}
		digits()
	}
	f, err := strconv.ParseFloat(p.text[start:p.at], 64)
	if err != nil {
		number := p.text[start:p.at]
		p.at = start
		p.fail(strconv.Quote(number) + " is no number")
	}
	return f
}

func (p *parser) function() float64 {
	start := p.at
	for p.at < len(p.text) && p.text[p.at]|0x20 >= 'a' && p.text[p.at]|0x20 <= 'z' {
		p.at++
	}
	name := p.text[start:p.at]
	unary := map[string]func(float64) float64{
		"abs": math.Abs, "ceil": math.Ceil, "floor": math.Floor, "round": math.Round, "sqrt": math.Sqrt,
	}[name]
	switch {
	case unary != nil:
		f := p.parentheses(1)[0]
		if name == "sqrt" && f < 0 {
			p.at = start
			p.fail("the square root of a negative number")
		}
		return unary(f)
	case name == "max" || name == "min":
		list := p.parentheses(64)
		best := list[0]
		for _, f := range list[1:] {
			if (f > best) == (name == "max") {
				best = f
			}
		}
		return best
	}
	p.at = start
	p.fail("there is no function " + strconv.Quote(name))
	return 0
}
