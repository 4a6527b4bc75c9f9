package grammar_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"unicode/utf8"
)

// gbnf is a grammar as llama.cpp reads it, for tests: it tells whether a text matches, and makes texts.
type gbnf struct {
	rules map[string]expression
	cost  map[string]int // runes of the shortest text of a rule
	memo  map[place]map[int]bool
}

type place struct {
	rule string
	at   int
}

type expression interface{}

type (
	alternatives []expression
	sequence     []expression
	text         []rune
	reference    string
	class        struct {
		spans  [][2]rune
		negate bool
	}
	repetition struct {
		of        expression
		low, high int // high < 0: no bound
	}
)

// endless stands for a text that never ends.
const endless = 1 << 40

func parseGBNF(source string) (g *gbnf, err error) {
	defer func() {
		if r := recover(); r != nil {
			g, err = nil, fmt.Errorf("%v in %s", r, source)
		}
	}()
	g = &gbnf{rules: map[string]expression{}, cost: map[string]int{}}
	for line := range strings.Lines(source) {
		name, body, found := strings.Cut(strings.TrimSuffix(line, "\n"), " ::= ")
		if !found || strings.ContainsFunc(name, func(r rune) bool { return !wordRune(r) }) {
			panic("no rule: " + line)
		}
		if g.rules[name] != nil {
			panic("two rules " + name)
		}
		p := &gbnfParser{src: body}
		g.rules[name] = p.alternatives()
		if p.src != "" {
			panic("left over: " + p.src)
		}
	}
	if g.rules["root"] == nil {
		panic("no root")
	}
	for name := range g.rules {
		g.cost[name] = endless
	}
	for changed := true; changed; {
		changed = false
		for name, rule := range g.rules {
			if c := g.shortest(rule); c < g.cost[name] {
				g.cost[name], changed = c, true
			}
		}
	}
	for name := range g.rules {
		g.checkRecursion(name, map[string]bool{})
	}
	return g, nil
}

func wordRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-'
}

// checkRecursion panics when a rule can begin with itself, which llama.cpp refuses.
func (g *gbnf) checkRecursion(name string, active map[string]bool) {
	if active[name] {
		panic("left recursion of " + name)
	}
	active[name] = true
	for _, other := range g.starts(g.rules[name]) {
		g.checkRecursion(other, active)
	}
	delete(active, name)
}

// starts are the rules that an expression can begin with.
func (g *gbnf) starts(e expression) (list []string) {
	switch e := e.(type) {
	case alternatives:
		for _, a := range e {
			list = append(list, g.starts(a)...)
		}
	case sequence:
		for _, a := range e {
			list = append(list, g.starts(a)...)
			if g.shortest(a) > 0 {
				break
			}
		}
	case repetition:
		return g.starts(e.of)
	case reference:
		if g.rules[string(e)] == nil {
			panic("no rule " + string(e))
		}
		return []string{string(e)}
	}
	return list
}

func (g *gbnf) shortest(e expression) int {
	switch e := e.(type) {
	case alternatives:
		best := endless
		for _, a := range e {
			best = min(best, g.shortest(a))
		}
		return best
	case sequence:
		sum := 0
		for _, a := range e {
			sum = min(sum+g.shortest(a), endless)
		}
		return sum
	case repetition:
		if e.low == 0 {
			return 0
		}
		return min(e.low*g.shortest(e.of), endless)
	case text:
		return len(e)
	case reference:
		return g.cost[string(e)]
	}
	return 1
}

// matches tells whether the whole text is one of the grammar.
func (g *gbnf) matches(s string) bool {
	g.memo = map[place]map[int]bool{}
	return g.ends(reference("root"), []rune(s), 0)[len([]rune(s))]
}

// ends are the places where an expression that begins at one can end.
func (g *gbnf) ends(e expression, s []rune, at int) map[int]bool {
	out := map[int]bool{}
	switch e := e.(type) {
	case alternatives:
		for _, a := range e {
			for end := range g.ends(a, s, at) {
				out[end] = true
			}
		}
	case sequence:
		out[at] = true
		for _, a := range e {
			next := map[int]bool{}
			for from := range out {
				for end := range g.ends(a, s, from) {
					next[end] = true
				}
			}
			out = next
		}
	case repetition:
		level := map[int]bool{at: true}
		if e.low == 0 {
			out[at] = true
		}
		for n := 1; len(level) > 0 && (e.high < 0 || n <= e.high); n++ {
			next := map[int]bool{}
			for from := range level {
				for end := range g.ends(e.of, s, from) {
					if n >= e.low && out[end] {
						continue
					}
					next[end] = true
					if n >= e.low {
						out[end] = true
					}
				}
			}
			level = next
		}
	case text:
		if len(s)-at >= len(e) && string(s[at:at+len(e)]) == string(e) {
			out[at+len(e)] = true
		}
	case class:
		if at < len(s) && e.has(s[at]) {
			out[at+1] = true
		}
	case reference:
		key := place{string(e), at}
		if known, ok := g.memo[key]; ok {
			return known
		}
		out = g.ends(g.rules[string(e)], s, at)
		g.memo[key] = out
	}
	return out
}

func (c class) has(r rune) bool {
	for _, s := range c.spans {
		if s[0] <= r && r <= s[1] {
			return !c.negate
		}
	}
	return c.negate
}

// sample makes a text. When it has become long it comes to an end soon.
func (g *gbnf) sample(random *rand.Rand) string {
	var b strings.Builder
	g.make(&b, reference("root"), random, 0)
	return b.String()
}

func (g *gbnf) make(b *strings.Builder, e expression, random *rand.Rand, depth int) {
	hurry := depth > 60 || b.Len() > 400
	switch e := e.(type) {
	case alternatives:
		choice := e[random.IntN(len(e))]
		if hurry || g.shortest(choice) == endless {
			for _, a := range e {
				if g.shortest(a) < g.shortest(choice) {
					choice = a
				}
			}
		}
		g.make(b, choice, random, depth+1)
	case sequence:
		for _, a := range e {
			g.make(b, a, random, depth+1)
		}
	case repetition:
		count := e.low
		if !hurry {
			most := e.low + 3
			if e.high >= 0 {
				most = min(most, e.high)
				if random.IntN(4) == 0 {
					most = min(e.high, e.low+40)
				}
			}
			count += random.IntN(most - e.low + 1)
		}
		for range count {
			g.make(b, e.of, random, depth+1)
		}
	case text:
		b.WriteString(string(e))
	case class:
		b.WriteRune(e.pick(random))
	case reference:
		g.make(b, g.rules[string(e)], random, depth+1)
	}
}

func (c class) pick(random *rand.Rand) rune {
	if !c.negate {
		s := c.spans[random.IntN(len(c.spans))]
		return s[0] + random.Int32N(s[1]-s[0]+1)
	}
	for _, r := range []rune{random.Int32N(0x7f), random.Int32N(0x7f), 'é', '中', '😀', 'q', 'Z', '~'} {
		if c.has(r) {
			return r
		}
	}
	panic("an empty class")
}

// gbnfParser reads what stands behind ::= of a rule.
type gbnfParser struct{ src string }

func (p *gbnfParser) skip() { p.src = strings.TrimLeft(p.src, " ") }

func (p *gbnfParser) take(s string) bool {
	rest, found := strings.CutPrefix(p.src, s)
	p.src = rest
	return found
}

func (p *gbnfParser) alternatives() expression {
	list := alternatives{p.sequence()}
	for p.take("|") {
		list = append(list, p.sequence())
	}
	if len(list) == 1 {
		return list[0]
	}
	return list
}

func (p *gbnfParser) sequence() expression {
	var list sequence
	for {
		p.skip()
		if p.src == "" || p.src[0] == '|' || p.src[0] == ')' {
			if len(list) == 0 {
				panic("an empty alternative")
			}
			return list
		}
		list = append(list, p.repeated(p.atom()))
	}
}

func (p *gbnfParser) repeated(e expression) expression {
	switch {
	case p.take("*"):
		return repetition{e, 0, -1}
	case p.take("+"):
		return repetition{e, 1, -1}
	case p.take("?"):
		return repetition{e, 0, 1}
	case p.take("{"):
		counts, rest, found := strings.Cut(p.src, "}")
		if !found {
			panic("no }")
		}
		p.src = rest
		first, second, comma := strings.Cut(counts, ",")
		r := repetition{of: e, low: number(first)}
		switch {
		case !comma:
			r.high = r.low
		case second == "":
			r.high = -1
		default:
			r.high = number(second)
		}
		if r.low > 2000 || r.high > 2000 || r.high >= 0 && r.high < r.low {
			panic("counts " + counts)
		}
		return r
	}
	return e
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

func (p *gbnfParser) atom() expression {
	switch {
	case p.take("("):
		e := p.alternatives()
		if !p.take(")") {
			panic("no )")
		}
		return e
	case p.take(`"`):
		out := text{}
		for !p.take(`"`) {
			out = append(out, p.char())
		}
		return out
	case p.take("["):
		c := class{negate: p.take("^")}
		for !p.take("]") {
			first := p.char()
			last := first
			if strings.HasPrefix(p.src, "-") && !strings.HasPrefix(p.src, "-]") {
				p.take("-")
				last = p.char()
			}
			if last < first {
				panic("a range that goes down")
			}
			c.spans = append(c.spans, [2]rune{first, last})
		}
		if len(c.spans) == 0 {
			panic("an empty class")
		}
		return c
	}
	n := 0
	for n < len(p.src) && wordRune(rune(p.src[n])) {
		n++
	}
	if n == 0 {
		panic("no atom: " + p.src)
	}
	name := p.src[:n]
	p.src = p.src[n:]
	return reference(name)
}

// char reads a character of a literal or a class, with the escapes that llama.cpp knows.
func (p *gbnfParser) char() rune {
	if p.src == "" {
		panic("a literal or a class without an end")
	}
	if !p.take(`\`) {
		r, n := utf8.DecodeRuneInString(p.src)
		p.src = p.src[n:]
		return r
	}
	c := p.src[0]
	p.src = p.src[1:]
	digits := 0
	switch c {
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'n':
		return '\n'
	case '"', '\\', '[', ']':
		return rune(c)
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		panic("the escape " + string(c))
	}
	n, err := strconv.ParseUint(p.src[:digits], 16, 32)
	if err != nil {
		panic(err)
	}
	p.src = p.src[digits:]
	return rune(n)
}
