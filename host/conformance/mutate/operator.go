package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
)

// candidate is a change of a file.
type candidate struct {
	source     *source
	rank       int // among those of its file: what lies further out comes first
	operator   string
	start, end int    // of the text that changes
	changed    string // what takes its place

	// How the text becomes one that holds the change and what was there, chosen by the number that takes the place of
	// %d: open and shut go around it, and inside a token becomes another one.
	open, shut string
	at, until  int // of the token; none if until is 0
	instead    string
}

// line is the candidate's first line in its file.
func (c *candidate) line() int { return 1 + strings.Count(c.source.text[:c.start], "\n") }

// lines are the whole lines that change, before and after, without the space around them.
func (c *candidate) lines() (before, after string) {
	text := c.source.text
	from := strings.LastIndexByte(text[:c.start], '\n') + 1
	to := len(text)
	if i := strings.IndexByte(text[c.end:], '\n'); i >= 0 {
		to = c.end + i
	}
	return strings.TrimSpace(text[from:to]), strings.TrimSpace(text[from:c.start] + c.changed + text[c.end:to])
}

// finder finds the candidates of a file. What lies further out comes first.
type finder struct {
	*source
	found []*candidate
	path  []ast.Node // from the function to the node that is visited
}

// candidates lists all changes of a file's functions. Of changes that mean the same there is one: a condition's
// negation is also the exchange of the branches behind it.
func (s *source) candidates() []*candidate {
	f := &finder{source: s}
	for _, declaration := range s.file.Decls {
		if function, is := declaration.(*ast.FuncDecl); is && function.Body != nil {
			f.path = []ast.Node{function}
			f.walk(function.Body)
		}
	}
	return f.found
}

func (f *finder) walk(root ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			f.path = f.path[:len(f.path)-1]
			return true
		}
		deeper := f.visit(n)
		if deeper {
			f.path = append(f.path, n)
		}
		return deeper
	})
}

// parent is the node n levels out, from 0.
func (f *finder) parent(n int) ast.Node {
	if n >= len(f.path) {
		return nil
	}
	return f.path[len(f.path)-1-n]
}

func (f *finder) visit(n ast.Node) (deeper bool) {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.VAR // constants and types take no expressions that are computed
	case *ast.IfStmt:
		f.negate(n.Cond)
	case *ast.ForStmt:
		f.negate(n.Cond)
	case *ast.CaseClause:
		if _, is := f.parent(1).(*ast.SwitchStmt); is && f.parent(1).(*ast.SwitchStmt).Tag == nil {
			for _, condition := range n.List {
				f.negate(condition)
			}
		}
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.AssignStmt:
		f.remove(n.(ast.Stmt))
	case *ast.BranchStmt:
		f.branch(n)
	case *ast.ReturnStmt:
		f.zero(n)
	case *ast.CallExpr:
		if name, is := n.Fun.(*ast.Ident); is && (name.Name == "make" || name.Name == "panic") {
			return false // capacities are hints, and texts of panics nobody's business
		}
	case *ast.CompositeLit:
		if _, array := n.Type.(*ast.ArrayType); array {
			for _, element := range n.Elts {
				if _, keyed := element.(*ast.KeyValueExpr); keyed {
					return false // its keys must be constants
				}
			}
		}
	case *ast.ArrayType, *ast.FuncType:
		return false
	}
	if e, is := n.(ast.Expr); is {
		if f.info.Types[e].Value != nil {
			f.constant(e)
			return false
		}
		if binary, is := n.(*ast.BinaryExpr); is {
			f.binary(binary)
		}
	}
	return true
}

// around adds a candidate whose text stays, between a call's head and its end.
func (f *finder) around(operator string, n ast.Node, changed, open, shut string) *candidate {
	c := &candidate{
		source: f.source, rank: len(f.found), operator: operator, start: f.offset(n.Pos()), end: f.offset(n.End()),
		changed: changed, open: open, shut: shut,
	}
	f.found = append(f.found, c)
	return c
}

func (f *finder) of(n ast.Node) string { return f.text[f.offset(n.Pos()):f.offset(n.End())] }

// negate takes a condition; == and != are changed where they stand.
func (f *finder) negate(condition ast.Expr) {
	if condition == nil || f.info.Types[condition].Value != nil {
		return
	}
	inner := ast.Unparen(condition)
	if binary, is := inner.(*ast.BinaryExpr); is && (binary.Op == token.EQL || binary.Op == token.NEQ) {
		return
	}
	f.around("negated condition", condition, "!("+f.of(condition)+")", "mutant.Not(%d, ", ")")
}

// operators say what becomes of a binary operator, and the function that does it.
var operators = map[token.Token]struct {
	changed  token.Token
	function string
	name     string
}{
	token.LAND: {token.LOR, "And", "&& to ||"},
	token.LOR:  {token.LAND, "Or", "|| to &&"},
	token.LSS:  {token.LEQ, "Less", "< to <="},
	token.LEQ:  {token.LSS, "LessOrEqual", "<= to <"},
	token.GTR:  {token.GEQ, "Greater", "> to >="},
	token.GEQ:  {token.GTR, "GreaterOrEqual", ">= to >"},
	token.ADD:  {token.SUB, "Sum", "+ to -"},
	token.SUB:  {token.ADD, "Difference", "- to +"},
}

func (f *finder) binary(n *ast.BinaryExpr) {
	at := f.offset(n.OpPos)
	until := at + len(n.Op.String())
	changed := func(op token.Token) string {
		return f.text[f.offset(n.Pos()):at] + op.String() + f.text[until:f.offset(n.End())]
	}
	switch n.Op {
	case token.EQL:
		f.around("== to !=", n, changed(token.NEQ), "mutant.Not(%d, ", ")")
		return
	case token.NEQ:
		f.around("!= to ==", n, changed(token.EQL), "mutant.Not(%d, ", ")")
		return
	}
	o, known := operators[n.Op]
	if !known {
		return
	}
	logical := n.Op == token.LAND || n.Op == token.LOR
	operand := f.info.Types[n.X].Type
	if basic, is := operand.Underlying().(*types.Basic); !is || !logical && basic.Info()&types.IsNumeric == 0 {
		return
	}
	c := f.around(o.name, n, changed(o.changed), "mutant."+o.function+"(%d, ", ")")
	c.at, c.until, c.instead = at, until, ","
	if logical {
		c.instead, c.shut = ", func() bool { return (", ") })"
	}
}

// constant takes an expression that the compiler computes.
func (f *finder) constant(e ast.Expr) {
	literal := false
	ast.Inspect(e, func(n ast.Node) bool {
		if l, is := n.(*ast.BasicLit); is && l.Kind == token.INT {
			literal = true
		}
		return !literal
	})
	is := f.info.Types[e]
	basic, _ := is.Type.Underlying().(*types.Basic)
	name, ok := f.typeName(is.Type)
	if !literal || !ok || basic == nil || basic.Info()&types.IsInteger == 0 || basic.Info()&types.IsUntyped != 0 {
		return
	}
	if kv, keyed := f.parent(0).(*ast.KeyValueExpr); keyed && kv.Key == e {
		return
	}
	if r, returned := f.parent(0).(*ast.ReturnStmt); returned && e != r.Results[len(r.Results)-1] && f.failing(r) {
		return
	}
	f.around("constant + 1", e, "("+f.of(e)+" + 1)", "mutant.Next["+name+"](%d, ", ")")
	if constant.Sign(is.Value) != 0 || basic.Info()&types.IsUnsigned == 0 {
		f.around("constant - 1", e, "("+f.of(e)+" - 1)", "mutant.Previous["+name+"](%d, ", ")")
	}
}

// remove takes a statement that does something and declares nothing.
func (f *finder) remove(n ast.Stmt) {
	switch f.parent(0).(type) {
	case *ast.BlockStmt, *ast.CaseClause:
	default:
		return // the head of a loop or a branch
	}
	switch n := n.(type) {
	case *ast.ExprStmt:
		call, is := n.X.(*ast.CallExpr)
		if !is {
			return
		}
		if name, is := call.Fun.(*ast.Ident); is && name.Name == "panic" {
			return
		}
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			return
		}
		for i, left := range n.Lhs {
			if name, is := left.(*ast.Ident); !is || name.Name != "_" {
				break
			} else if i == len(n.Lhs)-1 {
				if _, called := n.Rhs[0].(*ast.CallExpr); !called {
					return
				}
			}
		}
		if len(n.Rhs) == 1 && strings.HasPrefix(f.of(n.Rhs[0]), "slices.Grow(") {
			return
		}
	}
	f.around("removed statement", n, "", "if !mutant.On(%d) { ", " }")
}

// branch takes a break or a continue of the loop right around it.
func (f *finder) branch(n *ast.BranchStmt) {
	if n.Label != nil || n.Tok != token.BREAK && n.Tok != token.CONTINUE {
		return
	}
	for i := 0; f.parent(i) != nil; i++ {
		switch around := f.parent(i).(type) {
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.FuncLit:
			return
		case *ast.ForStmt:
			if around.Cond == nil {
				return // a loop that only a break ends
			}
		case *ast.RangeStmt:
		default:
			continue
		}
		break
	}
	other := token.CONTINUE
	if n.Tok == token.CONTINUE {
		other = token.BREAK
	}
	f.around(fmt.Sprintf("%s to %s", n.Tok, other), n, other.String(), "if mutant.On(%d) { "+other.String()+" }; ", "")
}

// zero takes what a function returns.
func (f *finder) zero(n *ast.ReturnStmt) {
	var results *types.Tuple
	for i := 0; results == nil && f.parent(i) != nil; i++ {
		switch around := f.parent(i).(type) {
		case *ast.FuncLit:
			results = f.info.Types[around].Type.(*types.Signature).Results()
		case *ast.FuncDecl:
			results = f.info.Defs[around.Name].Type().(*types.Signature).Results()
		}
	}
	if results == nil || len(n.Results) != results.Len() {
		return
	}
	for i, e := range n.Results {
		if i < len(n.Results)-1 && f.failing(n) {
			continue
		}
		t := results.At(i).Type()
		name, ok := f.typeName(t)
		if !ok {
			continue
		}
		value := f.info.Types[e]
		if value.IsNil() {
			continue
		}
		if value.Value != nil {
			switch value.Value.Kind() {
			case constant.Bool:
				changed := "true"
				if constant.BoolVal(value.Value) {
					changed = "false"
				}
				f.around("the other truth", e, changed, "mutant.Not(%d, ", ")")
			case constant.String:
				if constant.StringVal(value.Value) != "" {
					f.around("zero returned", e, `""`, "mutant.Zero["+name+"](%d, ", ")")
				}
			}
			continue // numbers are changed by one
		}
		if literal, is := e.(*ast.CompositeLit); is && len(literal.Elts) == 0 {
			continue
		}
		f.around("zero returned", e, zeroText(t, name), "mutant.Zero["+name+"](%d, ", ")")
	}
}

// failing tells whether a return says by its last result, an error or false, that the others mean nothing.
func (f *finder) failing(n *ast.ReturnStmt) bool {
	last := f.info.Types[n.Results[len(n.Results)-1]]
	if last.Value != nil && last.Value.Kind() == constant.Bool {
		return !constant.BoolVal(last.Value)
	}
	return !last.IsNil() && types.Implements(last.Type, types.Universe.Lookup("error").Type().Underlying().(*types.Interface))
}

// zeroText writes a type's zero value.
func zeroText(t types.Type, name string) string {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsBoolean != 0:
			return "false"
		case u.Info()&types.IsString != 0:
			return `""`
		}
		return "0"
	case *types.Struct, *types.Array:
		return name + "{}"
	}
	return "nil"
}
