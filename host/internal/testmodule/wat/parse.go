// Package wat assembles a part of WebAssembly's text format, enough for small modules that do what no compiler makes.
// Beside the format there are
//
//	(repeat 1000 block)   the forms behind the number, so many times, wherever forms may stand
//	(bytes name)          in place of a string: the bytes that the caller has under that name
//	size:name             in place of a number: how many they are
package wat

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// node is a form: a word, a string or a list.
type node struct {
	word string
	text []byte // of a string
	kind byte   // 'w', 's' or 'l'
	list []node
	line int
}

// head is the word that a list begins with, "" for other forms.
func (n node) head() string {
	if n.kind == 'l' && len(n.list) > 0 && n.list[0].kind == 'w' {
		return n.list[0].word
	}
	return ""
}

// fault is what the parser and the assembler panic with.
type fault struct{ error }

func (n node) fail(format string, a ...any) {
	panic(fault{fmt.Errorf("line %d: %s", n.line, fmt.Sprintf(format, a...))})
}

type parser struct {
	rest  string
	line  int
	bytes map[string][]byte
}

// forms reads up to a closing parenthesis or the end.
func (p *parser) forms(open bool) (list []node) {
	for {
		p.rest = strings.TrimLeftFunc(p.rest, func(r rune) bool {
			if r == '\n' {
				p.line++
			}
			return r == ' ' || r == '\n' || r == '\t'
		})
		n := node{line: p.line}
		switch {
		case p.rest == "":
			if open {
				n.fail("a parenthesis is not closed")
			}
			return list
		case strings.HasPrefix(p.rest, ";;"):
			_, after, _ := strings.Cut(p.rest, "\n")
			p.rest = "\n" + after
		case p.rest[0] == ')':
			if !open {
				n.fail("a parenthesis is not open")
			}
			p.rest = p.rest[1:]
			return list
		case p.rest[0] == '(':
			p.rest = p.rest[1:]
			n.kind, n.list = 'l', p.forms(true)
			list = append(list, p.expand(n)...)
		case p.rest[0] == '"':
			n.kind, n.text = 's', p.text(n)
			list = append(list, n)
		default:
			size := strings.IndexAny(p.rest+" ", " \n\t()\"")
			n.kind, n.word, p.rest = 'w', p.rest[:size], p.rest[size:]
			list = append(list, n)
		}
	}
}

// expand returns what a list stands for.
func (p *parser) expand(n node) []node {
	switch n.head() {
	case "repeat":
		times, err := strconv.Atoi(n.list[1].word)
		if err != nil {
			n.fail("%v", err)
		}
		list := make([]node, 0, times*(len(n.list)-2))
		for range times {
			list = append(list, n.list[2:]...)
		}
		return list
	case "bytes":
		data, ok := p.bytes[n.list[1].word]
		if !ok {
			n.fail("no bytes are named %s", n.list[1].word)
		}
		return []node{{kind: 's', text: data, line: n.line}}
	}
	return []node{n}
}

// text reads a string.
func (p *parser) text(n node) (out []byte) {
	for p.rest = p.rest[1:]; p.rest != "" && p.rest[0] != '"'; {
		if p.rest[0] != '\\' {
			out, p.rest = append(out, p.rest[0]), p.rest[1:]
			continue
		}
		b, err := hex.DecodeString(p.rest[1:min(3, len(p.rest))])
		if err != nil || len(b) == 0 {
			n.fail("a string has the escape %.3q", p.rest)
		}
		out, p.rest = append(out, b[0]), p.rest[3:]
	}
	if p.rest == "" {
		n.fail("a string is not closed")
	}
	p.rest = p.rest[1:]
	return out
}
