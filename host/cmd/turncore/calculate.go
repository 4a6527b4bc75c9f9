package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxParentheses bounds how deep an expression may nest.
const maxParentheses = 100

// calculate evaluates an arithmetic expression: decimal numbers, + - * /, signs and parentheses, with the usual
// precedence. Numbers are float64, the result is written as JavaScript does.
func calculate(expression string) (string, error) {
	p := arithmetic{rest: expression}
	n, err := p.sum()
	if err == nil && p.next() != 0 {
		err = p.unexpected()
	}
	switch {
	case err != nil:
		return "", err
	case math.IsInf(n, 0) || math.IsNaN(n):
		return "", errors.New("the result is not a finite number")
	case n == 0:
		n = 0 // not minus zero
	}
	text, err := json.Marshal(n) // which writes numbers as JavaScript does
	return string(text), err
}

// arithmetic is an expression that is being read.
type arithmetic struct {
	rest  string
	depth int
}

// next returns the next character that is not a space, 0 at the end.
func (p *arithmetic) next() byte {
	p.rest = strings.TrimLeft(p.rest, " \t\r\n")
	if p.rest == "" {
		return 0
	}
	return p.rest[0]
}

func (p *arithmetic) unexpected() error {
	if p.next() == 0 {
		return errors.New("the expression ends too early")
	}
	for _, r := range p.rest {
		return fmt.Errorf("unexpected %q", string(r))
	}
	return nil
}

func (p *arithmetic) sum() (float64, error) {
	n, err := p.product()
	for err == nil {
		op := p.next()
		if op != '+' && op != '-' {
			break
		}
		p.rest = p.rest[1:]
		var m float64
		if m, err = p.product(); op == '-' {
			m = -m
		}
		n += m
	}
	return n, err
}

func (p *arithmetic) product() (float64, error) {
	n, err := p.factor()
	for err == nil {
		op := p.next()
		if op != '*' && op != '/' {
			break
		}
		p.rest = p.rest[1:]
		var m float64
		m, err = p.factor()
		switch {
		case op == '*':
			n *= m
		case err == nil && m == 0:
			err = errors.New("division by zero")
		default:
			n /= m
		}
	}
	return n, err
}

func (p *arithmetic) factor() (float64, error) {
	sign := 1.0
	for p.next() == '-' || p.next() == '+' {
		if p.rest[0] == '-' {
			sign = -sign
		}
		p.rest = p.rest[1:]
	}
	if p.next() == '(' {
		if p.depth++; p.depth > maxParentheses {
			return 0, fmt.Errorf("parentheses nest deeper than %d", maxParentheses)
		}
		p.rest = p.rest[1:]
		n, err := p.sum()
		if err == nil && p.next() != ')' {
			err = p.unexpected()
		}
		if err != nil {
			return 0, err
		}
		p.depth--
		p.rest = p.rest[1:]
		return sign * n, nil
	}
	n, err := p.number()
	return sign * n, err
}

func (p *arithmetic) number() (float64, error) {
	end := 0
	for end < len(p.rest) && (p.rest[end] >= '0' && p.rest[end] <= '9' || p.rest[end] == '.') {
		end++
	}
	n, err := strconv.ParseFloat(p.rest[:end], 64)
	if err != nil {
		if end == 0 {
			return 0, p.unexpected()
		}
		return 0, fmt.Errorf("%q is no number", p.rest[:end])
	}
	p.rest = p.rest[end:]
	return n, nil
}
