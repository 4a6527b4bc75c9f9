// Package program makes random Go programs for tests of what rewrites a compiled module. A program is a reactor whose
// function work prints what it computes, the same each time: numbers of all sizes, texts, slices, maps, structures,
// closures, panics and goroutines.
package program

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// functions are how many a program has, beside those of its prelude. Each calls those before it.
const functions = 16

// Random returns the source of a program, the same for the same seed.
func Random(seed uint64) []byte {
	g := &generator{random: rand.New(rand.NewPCG(seed, 0))}
	g.line("%s", prelude)
	for range functions {
		g.function()
	}
	g.line("//go:wasmexport work\nfunc work() {")
	for i, f := range g.made {
		g.line("fuel = 5_000\nattempt(%d, func() { print%s(f%d(%s)) })", i, f.result, i, g.list(f.params))
	}
	g.line("}\n\nfunc main() {}")
	return []byte(g.out.String())
}

// prelude is the part that all programs share. fuel bounds what a program does. Constants are read from arrays, as the
// compiler would otherwise compute with them, or refuse what overflows.
const prelude = `package main

import (
	"math"
	"runtime"
	"slices"
	"strconv"
)

var (
	fuel    int
	numbers = [...]int64{0, 1, -1, 2, 3, 7, 10, 63, 64, 100, 127, 128, 255, 256, 1000, -129, 32768, 65535, 1 << 31, -1 << 31, 1<<32 - 1, 1 << 40, 1<<53 + 1, 1<<63 - 1, -1 << 63}
	floats  = [...]float64{0, 1, -1, 0.5, 1.5, -2.25, 3.141592653589793, 1e-9, 1e9, -1e18, 1e300, 5e-324}
	texts   = [...]string{"", "a", "word", "two words", "æøå €", "\x00\xff", "0123456789abcdef0123456789abcdef"}
)

type node struct {
	next   *node
	number int64
	text   string
	float  float64
	parts  [3]int32
	flag   bool
}

// odd is copied and zeroed in parts, the last of which is no whole word.
type odd struct {
	bytes   [21]uint8
	numbers [5]int32
}

//go:noinline
func turned(o odd, by int64) odd {
	o.bytes[at(by, len(o.bytes))] ^= uint8(by)
	o.numbers[at(by, len(o.numbers))] += int32(by)
	return o
}

func (o *odd) sum() (sum int64) {
	for _, b := range o.bytes {
		sum = sum*3 + int64(b)
	}
	for _, n := range o.numbers {
		sum = sum*5 + int64(n)
	}
	return sum
}

type shape interface{ area(by int64) int64 }

func (n *node) area(by int64) int64 { return n.number*by + int64(len(n.text)) }

type square int32

func (s square) area(by int64) int64 { return int64(s)*int64(s) - by }

func collect() { runtime.GC() }

func root(v float64) float64 { return math.Sqrt(v) }

func spent() bool { fuel--; return fuel < 0 }

func at(i int64, n int) int { return int(uint64(i) % uint64(n)) }

func cut(s string, i, j int64) string {
	if len(s) == 0 {
		return s
	}
	a, b := at(i, len(s)), at(j, len(s))
	return s[min(a, b):max(a, b)]
}

func short(s string) string { return s[:min(len(s), 200)] }

func deep(n int64, held [6]int64, f func(int64) int64) int64 {
	if n <= 0 || spent() {
		return f(held[0])
	}
	held[at(n, len(held))] += n
	return deep(n-1, held, f) ^ held[at(n*3, len(held))]
}

func keys(m map[int64]string) []int64 {
	var list []int64
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

func attempt(n int, run func()) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			println(n, "panics:", r.Error())
		case string:
			println(n, "panics with", strconv.Quote(r))
		default:
			println(n, "panics")
		}
	}()
	run()
}

func printint(v int64)     { println(v) }
func printuint(v uint64)   { println(v) }
func printbyte(v uint8)    { println(v) }
func printshort(v int32)   { println(v) }
func printword(v uint32)   { println(v) }
func printfloat(v float64) { println(strconv.FormatFloat(v, 'g', -1, 64)) }
func printtext(v string)   { println(strconv.Quote(short(v))) }
func printbool(v bool)     { println(v) }
`

// kind is a type of the values that expressions have, by a name that is a part of functions' names.
type kind string

// The kinds, and Go's names for them.
var goTypes = map[kind]string{
	"int": "int64", "uint": "uint64", "byte": "uint8", "short": "int32", "word": "uint32", "float": "float64", "text": "string", "bool": "bool",
}

var (
	integers = []kind{"int", "uint", "byte", "short", "word"}
	kinds    = append([]kind{"float", "text", "bool", "int", "int"}, integers...)
)

type variable struct {
	name string
	kind kind
}

type signature struct {
	params []kind
	result kind
}

type generator struct {
	random *rand.Rand
	out    strings.Builder
	made   []signature
	scope  []variable
	names  int // how many were given
	depth  int // of statements
}

func (g *generator) line(format string, args ...any) { fmt.Fprintf(&g.out, format+"\n", args...) }

// pick returns one of several.
func pick[T any](g *generator, of []T) T { return of[g.random.IntN(len(of))] }

func (g *generator) name() string {
	g.names++
	return fmt.Sprintf("v%d", g.names)
}

// declare declares a variable.
func (g *generator) declare(k kind, value string) {
	name := g.name()
	g.line("var %s %s = %s", name, goTypes[k], value)
	g.keep(name, k)
}

// keep adds a variable that was declared to the scope. Go wants it to be used.
func (g *generator) keep(name string, k kind) {
	g.line("_ = %s", name)
	g.scope = append(g.scope, variable{name, k})
}

func (g *generator) function() {
	f := signature{result: pick(g, kinds)}
	g.scope = nil
	var params []string
	for range 1 + g.random.IntN(4) {
		k := pick(g, kinds)
		name := g.name()
		f.params = append(f.params, k)
		params = append(params, name+" "+goTypes[k])
		g.scope = append(g.scope, variable{name, k})
	}
	g.line("\n//go:noinline\nfunc f%d(%s) (result %s) {", len(g.made), strings.Join(params, ", "), goTypes[f.result])
	g.line("if spent() {\nreturn\n}")
	g.block(5 + g.random.IntN(6))
	g.line("return %s\n}", g.expr(f.result, 3))
	g.made = append(g.made, f)
}

// block writes statements, whose variables end with it.
func (g *generator) block(n int) {
	outer := len(g.scope)
	g.depth++
	for range n {
		pick(g, statements)(g)
	}
	g.depth--
	// What the outermost block declares is there for the result.
	if g.depth > 0 {
		g.scope = g.scope[:outer]
	}
}

// inner writes statements within others, fewer the deeper they lie.
func (g *generator) inner() { g.block(max(1, 3-g.depth)) }

var statements []func(*generator)

func init() {
	statements = []func(*generator){
		(*generator).variable, (*generator).variable, (*generator).assignment, (*generator).assignment, (*generator).condition,
		(*generator).loop, (*generator).choice, (*generator).slice, (*generator).dictionary, (*generator).structure, (*generator).copies,
		(*generator).closure, (*generator).recovery, (*generator).goroutines, (*generator).dynamic, (*generator).text, (*generator).print,
	}
}

func (g *generator) variable() {
	k := pick(g, kinds)
	g.declare(k, g.expr(k, 3))
}

func (g *generator) assignment() {
	v := pick(g, g.scope)
	g.line("%s = %s", v.name, g.expr(v.kind, 3))
}

func (g *generator) condition() {
	g.line("if %s {", g.expr("bool", 2))
	g.inner()
	g.line("} else {")
	g.inner()
	g.line("}")
}

func (g *generator) loop() {
	i := g.name()
	g.line("for %s := range int64(%d) {\nif spent() {\nbreak\n}", i, 1+g.random.IntN(6))
	g.keep(i, "int")
	g.inner()
	g.scope = g.scope[:len(g.scope)-1]
	g.line("if %s {\n%s\n}\n}", g.expr("bool", 1), pick(g, []string{"break", "continue"}))
}

func (g *generator) choice() {
	g.line("switch at(%s, 5) {", g.expr("int", 2))
	for i := range 1 + g.random.IntN(4) {
		g.line("case %d:", i)
		g.inner()
	}
	g.line("default:")
	g.inner()
	g.line("}")
}

// slice fills a slice, and changes, cuts, sorts and sums it.
func (g *generator) slice() {
	k := pick(g, integers)
	s, i := g.name(), g.name()
	g.line("%s := []%s{%s, %s}", s, goTypes[k], g.expr(k, 1), g.expr(k, 1))
	g.line("for %s := range int64(%d) {\n%s = append(%s, %s+%s)\n}", i, g.random.IntN(40), s, s, g.expr(k, 1), g.convert(k, i, "int"))
	g.line("%s[at(%s, len(%s))] = %s", s, g.expr("int", 1), s, g.expr(k, 2))
	if g.random.IntN(2) == 0 {
		g.line("slices.Sort(%s)", s)
	}
	if g.random.IntN(2) == 0 {
		g.line("%s = append(%s[:at(%s, len(%s))], %s[at(%s, len(%s)):]...)", s, s, g.expr("int", 1), s, s, g.expr("int", 1), s)
	}
	sum := g.name()
	g.line("var %s %s\nfor _, each := range %s {\n%s = %s*31 + each\n}", sum, goTypes[k], s, sum, sum)
	g.keep(sum, k)
}

func (g *generator) dictionary() {
	m, i := g.name(), g.name()
	g.line("%s := map[int64]string{}", m)
	g.line("for %s := range int64(%d) {\n%s[%s*%s] = short(%s)\n}", i, g.random.IntN(30), m, i, g.expr("int", 1), g.expr("text", 2))
	g.line("delete(%s, %s)", m, g.expr("int", 1))
	all := g.name()
	g.line("%s := %s[%s]", all, m, g.expr("int", 1))
	g.line("for _, k := range keys(%s) {\n%s = short(%s + %s[k] + strconv.FormatInt(k, 36))\n}", m, all, all, m)
	g.keep(all, "text")
}

// structure makes a list of nodes and walks it.
func (g *generator) structure() {
	n, i := g.name(), g.name()
	g.line("var %s *node", n)
	g.line("for %s := range int64(%d) {", i, 1+g.random.IntN(20))
	g.line("%s = &node{next: %s, number: %s ^ %s, text: short(%s), float: %s, flag: %s}",
		n, n, i, g.expr("int", 1), g.expr("text", 1), g.expr("float", 1), g.expr("bool", 1))
	g.line("%s.parts[at(%s, 3)] = %s\n}", n, i, g.expr("short", 1))
	if g.random.IntN(3) == 0 {
		g.line("collect()")
	}
	sum := g.name()
	g.line("%s := %s", sum, g.expr("int", 1))
	g.line("for ; %s.next != nil; %s = %s.next {\ncopied := *%s\n%s = %s*17 + copied.area(%s) + int64(copied.parts[1])\n}", n, n, n, n, sum, sum, g.expr("int", 1))
	g.keep(sum, "int")
}

// copies passes structures by value.
func (g *generator) copies() {
	a, b, all := g.name(), g.name(), g.name()
	g.line("var %s odd\n%s := []odd{turned(%s, %s)}", a, all, a, g.expr("int", 1))
	g.line("for i := range int64(%d) {\n%s := turned(%s, %s^i)", 1+g.random.IntN(30), b, a, g.expr("int", 1))
	g.line("%s = append(%s, %s)\n%s[at(%s, len(%s))] = %s", all, all, a, all, g.expr("int", 1), all, b)
	g.line("if %s {\n%s = %s\n} else if i == 7 {\n%s = odd{}\n}\n}", g.expr("bool", 1), a, b, a)
	sum := g.name()
	g.line("%s := %s.sum()\nfor _, each := range %s {\n%s ^= each.sum()\n}", sum, a, all, sum)
	g.keep(sum, "int")
}

// closure makes a function that changes what it holds, and calls it, also at the bottom of a deep stack.
func (g *generator) closure() {
	f, x := g.name(), g.name()
	held := pick(g, g.scope)
	g.line("%s := func(%s int64) int64 {", f, x)
	g.scope = append(g.scope, variable{x, "int"})
	g.line("%s = %s", held.name, g.expr(held.kind, 2))
	g.line("return %s ^ %s\n}", x, g.expr("int", 2))
	g.scope = g.scope[:len(g.scope)-1]
	g.declare("int", fmt.Sprintf("%s(%s) + deep(%d, [6]int64{%s}, %s)", f, g.expr("int", 1), g.random.IntN(300), g.expr("int", 1), f))
}

// recovery runs what may panic, with deferred calls around it.
func (g *generator) recovery() {
	g.line("attempt(%d, func() {", g.random.IntN(100))
	v := pick(g, g.scope)
	g.line("defer func() { %s = %s }()", v.name, g.expr(v.kind, 2))
	g.inner()
	g.line("if %s {", g.expr("bool", 1))
	switch g.random.IntN(5) {
	case 0:
		g.line("panic(short(%s))", g.expr("text", 1))
	case 1:
		g.line("println(numbers[int(%s)])", g.expr("int", 1))
	case 2:
		g.line("var none map[string]int\nnone[%s] = 1", g.expr("text", 1))
	case 3:
		g.line("var none *node\nprintln(none.number)")
	case 4:
		g.line("println(%s / (%s - %s))", g.expr("short", 1), v32(g), v32(g))
	}
	g.line("}\n})")
}

// v32 reads a number that is small enough to meet itself.
func v32(g *generator) string { return fmt.Sprintf("int32(numbers[%d])", g.random.IntN(4)) }

// goroutines sends numbers through a channel, from several at once.
func (g *generator) goroutines() {
	c, sum := g.name(), g.name()
	senders, each := 1+g.random.IntN(4), 1+g.random.IntN(8)
	g.line("%s := make(chan int64, %d)", c, g.random.IntN(4))
	g.line("for sender := range int64(%d) {\ngo func() {\nfor i := range int64(%d) {", senders, each)
	g.line("%s <- deep(sender*20, [6]int64{i}, func(x int64) int64 { return x*sender + i })\n}\n}()\n}", c)
	g.line("var %s int64\nfor range %d {\n%s += <-%s\n}", sum, senders*each, sum, c)
	g.keep(sum, "int")
}

// dynamic looks at the type of a value.
func (g *generator) dynamic() {
	k, other := pick(g, kinds), pick(g, integers)
	v, s := g.name(), g.name()
	g.line("var %s any = %s", v, g.expr(k, 2))
	g.line("if at(%s, 2) == 0 {\n%s = %s\n}", g.expr("int", 1), v, g.expr(other, 1))
	g.line("%s := %s", s, g.expr("int", 1))
	g.line("switch is := %s.(type) {\ncase int64:\n%s += is\ncase string:\n%s += int64(len(is))\ncase float64:\nif is > 0 {\n%s++\n}\ncase uint8:\n%s -= int64(is)\ndefault:\n%s = -%s\n}", v, s, s, s, s, s, s)
	shape := g.name()
	g.line("var %s shape = square(%s)", shape, g.expr("short", 1))
	g.line("if %s {\n%s = &node{number: %s}\n}\n%s += %s.area(%s)", g.expr("bool", 1), shape, g.expr("int", 1), s, shape, g.expr("int", 1))
	g.keep(s, "int")
}

// text takes a text apart and makes another one of it.
func (g *generator) text() {
	t, b := g.name(), g.name()
	g.line("%s := []byte(short(%s))", b, g.expr("text", 2))
	g.line("for i, r := range short(%s) {\n%s = append(%s, byte(r), byte(i))\n}", g.expr("text", 2), b, b)
	g.line("slices.Reverse(%s)", b)
	g.line("%s := string(%s)", t, b)
	g.keep(t, "text")
}

func (g *generator) print() {
	k := pick(g, kinds)
	g.line("print%s(%s)", k, g.expr(k, 2))
}

// list is arguments of kinds.
func (g *generator) list(params []kind) string {
	var args []string
	for _, k := range params {
		args = append(args, g.constant(k))
	}
	return strings.Join(args, ", ")
}

// constant is a value that is known when the program is made, though not to the compiler.
func (g *generator) constant(k kind) string {
	switch k {
	case "float":
		return fmt.Sprintf("floats[%d]", g.random.IntN(12))
	case "text":
		return fmt.Sprintf("texts[%d]", g.random.IntN(7))
	case "bool":
		return fmt.Sprintf("(numbers[%d] > numbers[%d])", g.random.IntN(25), g.random.IntN(25))
	}
	return g.convert(k, fmt.Sprintf("numbers[%d]", g.random.IntN(25)), "int")
}

// convert is a number as one of another kind.
func (g *generator) convert(k kind, expr string, from kind) string {
	if k == from {
		return expr
	}
	return goTypes[k] + "(" + expr + ")"
}

// expr is an expression of a kind, so deep at most.
func (g *generator) expr(k kind, depth int) string {
	if depth <= 0 || g.random.IntN(5) == 0 {
		return g.leaf(k)
	}
	if g.random.IntN(8) == 0 {
		if call := g.call(k, depth); call != "" {
			return call
		}
	}
	sub := func(k kind) string { return g.expr(k, depth-1) }
	switch k {
	case "float":
		switch g.random.IntN(4) {
		case 0:
			return "root(" + sub(k) + ")"
		case 1:
			return "math.Floor(" + sub(k) + ")"
		case 2:
			from := pick(g, integers)
			return "float64(" + sub(from) + ")"
		}
		return "(" + sub(k) + pick(g, []string{" + ", " - ", " * ", " / "}) + sub(k) + ")"
	case "text":
		switch g.random.IntN(3) {
		case 0:
			return "cut(" + sub(k) + ", " + sub("int") + ", " + sub("int") + ")"
		case 1:
			return "strconv.FormatInt(" + sub("int") + ", 10)"
		}
		return "short(" + sub(k) + " + " + sub(k) + ")"
	case "bool":
		switch g.random.IntN(4) {
		case 0:
			return "!" + g.leaf(k)
		case 1:
			return "(" + sub(k) + pick(g, []string{" && ", " || ", " == ", " != "}) + sub(k) + ")"
		}
		of := pick(g, []kind{"int", "uint", "byte", "short", "word", "float", "text"})
		return "(" + sub(of) + pick(g, []string{" < ", " <= ", " == ", " != ", " > ", " >= "}) + sub(of) + ")"
	}
	switch g.random.IntN(6) {
	case 0:
		from := pick(g, integers)
		return g.convert(k, sub(from), from)
	case 1:
		return "(" + sub(k) + pick(g, []string{" << ", " >> "}) + "(uint8(" + sub("int") + ") & 71))"
	case 2:
		return "(" + sub(k) + pick(g, []string{" / ", " % "}) + "(" + sub(k) + " | 1))"
	case 3:
		return pick(g, []string{"-", "^"}) + g.leaf(k)
	}
	return "(" + sub(k) + pick(g, []string{" + ", " - ", " * ", " & ", " | ", " ^ ", " &^ "}) + sub(k) + ")"
}

// call is a call of a function that was made, empty if none has that result.
func (g *generator) call(k kind, depth int) string {
	from := g.random.IntN(len(g.made) + 1)
	for i := range g.made {
		n := (from + i) % len(g.made)
		if f := g.made[n]; f.result == k {
			var args []string
			for _, p := range f.params {
				args = append(args, g.expr(p, min(depth-1, 1)))
			}
			return fmt.Sprintf("f%d(%s)", n, strings.Join(args, ", "))
		}
	}
	return ""
}

// leaf is a variable, or a constant.
func (g *generator) leaf(k kind) string {
	var names []string
	for _, v := range g.scope {
		if v.kind == k {
			names = append(names, v.name)
		}
	}
	if len(names) > 0 && g.random.IntN(4) > 0 {
		return pick(g, names)
	}
	return g.constant(k)
}
