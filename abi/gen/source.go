package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// source holds the declarations of package abi.
type source struct {
	major, minor constant.Value
	groups       []*group
	types        []*tuple
}

// group is a block of constants of one family, such as the ops.
type group struct {
	Name   string
	Doc    string
	Consts []enumerator
}

// enumerator is a constant of a group.
type enumerator struct {
	Name  string // without the family's prefix
	Value constant.Value
	Doc   string
}

// tuple is a frame, payload or record.
type tuple struct {
	Name   string
	Doc    string
	File   string
	Op     int // of a frame; 0 for others
	Fields []field
}

// field is an element of a tuple.
type field struct {
	Name  string
	Type  string // as in layouts: u8, u16, u32, u64, i32, i64, f64, str, bin, bool, raw, value, T, followed by ? or []
	Doc   string
	Limit int  // maximum length of a list, from a tag such as `limit:"64"`; 0 for the general limit
	Owned bool // a Text in Go, which decodes itself
}

// families are the groups of constants: the prefix of their Go names, their name and their doc. Of overlapping prefixes
// the longer one comes first.
var families = []struct{ prefix, name, doc string }{
	{"Op", "Op", "First element of a frame. 1 to 31 travel from host to guest, 33 to 63 from guest to host."},
	{"Feature", "Feature", "Feature bits of Hello and Welcome."},
	{"Export", "Export", "Names of the exports of a module."},
	{"Executor", "ExecutorKind", "Who runs the executor."},
	{"Callback", "Callback", "Bits of OpenRunner's callbacks."},
	{"Middleware", "MiddlewareKind", "Kinds of middleware."},
	{"Tool", "ToolFlag", "Bits of a tool's flags."},
	{"Collision", "Collision", "What happens when a tool's name is taken."},
	{"Edit", "EditKind", "Kinds of edit."},
	{"Collection", "Collection", "Collections of a context."},
	{"Scope", "Scope", "Bits of an event's scope."},
	{"Sync", "SyncKind", "Kinds of sync."},
	{"Signal", "Signal", "How a dispatch was signalled."},
	{"Status", "Status", "How something ended."},
	{"Method", "Method", "Methods of Call."},
	{"Level", "Level", "Levels of the structured log."},
	{"Stream", "Stream", "Streams of ReportArgs."},
	{"Effect", "EffectKind", "Kinds of effect."},
	{"Pipeline", "Pipeline", "Pipelines of MiddlewareArgs."},
	{"Write", "Write", "Kinds of write in a Delta."},
	{"Event", "EventKind", "Kinds of event."},
	{"Results", "Results", "Where the results of a tool call event are."},
	{"Settle", "Settle", "Ways to settle a gate."},
	{"Gate", "GateResult", "How a gate was settled."},
	{"Redirect", "Redirect", "What becomes of a redirect."},
	{"Read", "Read", "Ways to read an artifact."},
	{"Part", "Part", "First elements of parts."},
	{"Agent", "AgentKind", "Kinds of agent."},
	{"Hook", "Hook", "Hooks of host code in an invocation."},
	{"SessionEffect", "SessionEffect", "Kinds of effect in an invocation."},
	{"SessionMethod", "SessionMethod", "Methods of Call about sessions and in an invocation."},
}

// sourceFiles are read in this order, which determines the order of all generated code.
var sourceFiles = []string{"abi.go", "inbound.go", "outbound.go", "call.go", "effect.go", "event.go", "record.go", "session.go"}

func loadSource(dir string) (*source, error) {
	s := &source{}
	values := map[string]constant.Value{}
	fset := token.NewFileSet()
	for _, name := range sourceFiles {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			d, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					err = s.addConst(spec, values)
				case *ast.TypeSpec:
					err = s.addType(spec, d, name)
				}
				if err != nil {
					return nil, fmt.Errorf("%s: %w", fset.Position(spec.Pos()), err)
				}
			}
		}
	}
	for _, t := range s.types {
		if len(t.Fields) > 0 && t.Fields[0].Name == "Op" {
			op, ok := values["Op"+t.Name]
			if !ok {
				return nil, fmt.Errorf("frame %s has no op", t.Name)
			}
			n, _ := constant.Int64Val(op)
			t.Op = int(n)
		}
	}
	return s, nil
}

func (s *source) addConst(spec *ast.ValueSpec, values map[string]constant.Value) error {
	if len(spec.Names) != 1 || len(spec.Values) != 1 {
		return fmt.Errorf("a constant needs a name and a value of its own")
	}
	name := spec.Names[0].Name
	value, err := eval(spec.Values[0], values)
	if err != nil {
		return err
	}
	values[name] = value
	for _, f := range families {
		rest, ok := strings.CutPrefix(name, f.prefix)
		if !ok || rest == "" {
			continue
		}
		g := s.group(f.name)
		if g == nil {
			g = &group{Name: f.name, Doc: f.doc}
			s.groups = append(s.groups, g)
		}
		g.Consts = append(g.Consts, enumerator{rest, value, oneLine(spec.Comment)})
		return nil
	}
	switch name {
	case "Major":
		s.major = value
	case "Minor":
		s.minor = value
	case "Version":
	default:
		return fmt.Errorf("constant %s belongs to no family", name)
	}
	return nil
}

func (s *source) group(name string) *group {
	for _, g := range s.groups {
		if g.Name == name {
			return g
		}
	}
	return nil
}

// eval computes a constant expression over literals and constants seen before.
func eval(e ast.Expr, values map[string]constant.Value) (constant.Value, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0), nil
	case *ast.Ident:
		if v, ok := values[e.Name]; ok {
			return v, nil
		}
	case *ast.ParenExpr:
		return eval(e.X, values)
	case *ast.BinaryExpr:
		x, err := eval(e.X, values)
		if err != nil {
			return nil, err
		}
		y, err := eval(e.Y, values)
		if err != nil {
			return nil, err
		}
		if e.Op == token.SHL {
			n, _ := constant.Uint64Val(y)
			return constant.Shift(x, e.Op, uint(n)), nil
		}
		return constant.BinaryOp(x, e.Op, y), nil
	}
	return nil, fmt.Errorf("constant expression %T is not supported", e)
}

func (s *source) addType(spec *ast.TypeSpec, d *ast.GenDecl, file string) error {
	st, ok := spec.Type.(*ast.StructType)
	if !ok {
		return nil
	}
	doc := spec.Doc
	if doc == nil {
		doc = d.Doc
	}
	t := &tuple{Name: spec.Name.Name, Doc: oneLine(doc), File: file}
	for _, f := range st.Fields.List {
		for _, name := range f.Names {
			kind, err := fieldType(name.Name, f.Type)
			if err != nil {
				return err
			}
			limit := 0
			if f.Tag != nil {
				tag, err := strconv.Unquote(f.Tag.Value)
				if err != nil {
					return err
				}
				if limit, err = strconv.Atoi(reflect.StructTag(tag).Get("limit")); err != nil {
					return fmt.Errorf("field %s: %w", name.Name, err)
				}
			}
			t.Fields = append(t.Fields, field{name.Name, kind, oneLine(f.Comment), limit, isText(f.Type)})
		}
	}
	s.types = append(s.types, t)
	return nil
}

var basic = map[string]string{
	"uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "int32": "i32", "int64": "i64",
	"float64": "f64", "string": "str", "bool": "bool",
}

// fieldType names the type of a field in the notation of layouts.
func fieldType(name string, e ast.Expr) (string, error) {
	switch e := e.(type) {
	case *ast.Ident:
		if t, ok := basic[e.Name]; ok {
			return t, nil
		}
		if e.Name == "Value" {
			return "value", nil
		}
		if isText(e) {
			return "str", nil
		}
		if e.Name != "Raw" {
			return e.Name, nil
		}
		if name == "Data" || name == "Block" || name == "Body" {
			return "bin?", nil
		}
		return "raw", nil
	case *ast.StarExpr:
		t, err := fieldType("", e.X)
		return t + "?", err
	case *ast.ArrayType:
		if id, ok := e.Elt.(*ast.Ident); ok && id.Name == "byte" {
			return "bin", nil
		}
		t, err := fieldType("", e.Elt)
		return t + "[]", err
	}
	return "", fmt.Errorf("field %s has a type that frames do not have", name)
}

// isText reports whether a type is Text.
func isText(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "Text"
}

// oneLine joins a comment's text into one line.
func oneLine(c *ast.CommentGroup) string {
	return strings.Join(strings.Fields(c.Text()), " ")
}
