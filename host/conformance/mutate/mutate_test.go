package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const sample = `package sample

import "errors"

type level uint8

var table = []int{1, 2, 3}

func f(n int, list []int, l level) (ok bool, err error) {
	const limit = 3
	buffer := make([]int, 0, 64)
	for i := 0; i < len(list); i++ {
		if list[i] == n && n > 2 {
			break
		}
		buffer = append(buffer, list[i]+1)
	}
	switch {
	case !ok:
		table[0]--
	}
	if l == 7 {
		panic("seven")
	}
	if len(buffer) > limit {
		return true, errors.New("many")
	}
	return n >= 0, nil
}
`

// read checks a text as a package of its own.
func read(t *testing.T, text string) *source {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "sample.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
	}
	config := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	pkg, err := config.Check("sample", fset, []*ast.File{file}, info)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return &source{
		name: "sample.go", text: text, file: file, fset: fset, info: info, pkg: pkg, imports: importNames(file, pkg),
	}
}

func TestCandidates(t *testing.T) {
	var got []string
	for _, c := range read(t, sample).candidates() {
		_, after := c.lines()
		got = append(got, c.operator+": "+after)
	}
	want := []string{
		"negated condition: for i := 0; !(i < len(list)); i++ {",
		"constant + 1: for i := (0 + 1); i < len(list); i++ {",
		"constant - 1: for i := (0 - 1); i < len(list); i++ {",
		"< to <=: for i := 0; i <= len(list); i++ {",
		"negated condition: if !(list[i] == n && n > 2) {",
		"&& to ||: if list[i] == n || n > 2 {",
		"== to !=: if list[i] != n && n > 2 {",
		"> to >=: if list[i] == n && n >= 2 {",
		"constant + 1: if list[i] == n && n > (2 + 1) {",
		"constant - 1: if list[i] == n && n > (2 - 1) {",
		"break to continue: continue",
		"removed statement: ",
		"+ to -: buffer = append(buffer, list[i]-1)",
		"constant + 1: buffer = append(buffer, list[i]+(1 + 1))",
		"constant - 1: buffer = append(buffer, list[i]+(1 - 1))",
		"negated condition: case !(!ok):",
		"removed statement: ",
		"constant + 1: table[(0 + 1)]--",
		"constant - 1: table[(0 - 1)]--",
		"== to !=: if l != 7 {",
		"constant + 1: if l == (7 + 1) {",
		"constant - 1: if l == (7 - 1) {",
		"negated condition: if !(len(buffer) > limit) {",
		"> to >=: if len(buffer) >= limit {",
		"zero returned: return true, nil",
		"zero returned: return false, nil",
		">= to >: return n > 0, nil",
		"constant + 1: return n >= (0 + 1), nil",
		"constant - 1: return n >= (0 - 1), nil",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// All candidates of a file fit into it together: it compiles, and its lines stay where they are.
func TestRewrite(t *testing.T) {
	s := read(t, sample)
	chosen := map[int]*candidate{}
	for i, c := range s.candidates() {
		chosen[i+1] = c
	}
	text := s.rewrite(chosen)
	if a, b := strings.Count(sample, "\n"), strings.Count(text, "\n"); a != b {
		t.Errorf("%d lines became %d", a, b)
	}
	switches, err := os.ReadFile("mutant/mutant.go")
	if err != nil {
		t.Fatal(err)
	}
	// What stands for a change is in the same package here.
	body := string(switches)
	own := strings.ReplaceAll(strings.Replace(text, `; import mutant "`+mutantPackage+`"`, "", 1), "mutant.", "")
	fset := token.NewFileSet()
	var files []*ast.File
	for name, text := range map[string]string{"a.go": own, "b.go": strings.Replace(body, "package mutant", "package sample", 1)} {
		file, err := parser.ParseFile(fset, name, text, 0)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		files = append(files, file)
	}
	config := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	if _, err := config.Check("sample", fset, files, nil); err != nil {
		t.Errorf("%v\n%s", err, own)
	}
}

// One seed draws one sample, another one another.
func TestDraw(t *testing.T) {
	all := read(t, sample).candidates()
	if a, b := draw(all, 1, 5), draw(all, 1, 5); len(a) != 5 || !slices.Equal(a, b) {
		t.Error("the same seed draws another sample")
	}
	if a, b := draw(all, 1, 5), draw(all, 2, 5); slices.Equal(a, b) {
		t.Error("another seed draws the same sample")
	}
	if n := len(draw(all, 1, 1000)); n != len(all) {
		t.Errorf("%d of %d drawn", n, len(all))
	}
}

// Every survivor that is listed still has its place in the code.
func TestSurvivors(t *testing.T) {
	known, err := survivors()
	if err != nil {
		t.Fatal(err)
	}
	root := "../../.."
	for s := range known {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(s.File)))
		if err != nil {
			t.Error(err)
		} else if !strings.Contains(string(text), s.Before) {
			t.Errorf("%s does not hold %q", s.File, s.Before)
		}
	}
}

// What a run has found is read again, also when its last line was cut off.
func TestVerdicts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results")
	text := `{"source":"a","file":"x.go","start":1,"operator":"o"}
{"source":"a","file":"x.go","start":1,"operator":"o","corpus":"turn/ack"}
{"source":"b","fi`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readVerdicts(file)
	if v := got[verdict{Source: "a", File: "x.go", Start: 1, Operator: "o"}]; err != nil || len(got) != 1 || v.Corpus != "turn/ack" {
		t.Errorf("%v %v", got, err)
	}
	if got, err := readVerdicts(file + "2"); len(got) != 0 || err != nil {
		t.Errorf("%v %v", got, err)
	}
}
