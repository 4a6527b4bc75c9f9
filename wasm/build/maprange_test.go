package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path"
	"slices"
	"testing"
)

// mapRanges reports every range over a map in the files of one package. Go
// draws the order anew each time, and a turn's frames must be a function of
// its inbound frames only.
func mapRanges(fset *token.FileSet, from types.Importer, name string, files []*ast.File) ([]string, error) {
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Importer: from}
	if _, err := config.Check(name, fset, files, info); err != nil {
		return nil, err
	}
	var found []string
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if loop, ok := n.(*ast.RangeStmt); ok {
				if _, isMap := info.TypeOf(loop.X).Underlying().(*types.Map); isMap {
					found = append(found, fset.Position(loop.Pos()).String()+": range over a map: keep the keys in a slice")
				}
			}
			return true
		})
		for _, spec := range file.Imports {
			if spec.Path.Value == `"maps"` {
				found = append(found, fset.Position(spec.Pos()).String()+": imports maps: its iterators have no order")
			}
		}
	}
	return found, nil
}

func TestMapRangesAreFound(t *testing.T) {
	fset := token.NewFileSet()
	source := `package x
type counts map[string]int
func f(c counts, s []int) (n int) {
	for _, v := range s { n += v }
	for range c { n++ }
	return n
}`
	file, err := parser.ParseFile(fset, "x.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	found, err := mapRanges(fset, importer.Default(), "x", []*ast.File{file})
	if err != nil || len(found) != 1 {
		t.Errorf("found %q, %v, want the second loop", found, err)
	}
}

func TestGuestRangesOverNoMap(t *testing.T) {
	root := testRoot(t)
	t.Chdir(root) // the importer looks imports up from here
	fset := token.NewFileSet()
	files, err := parseTree(fset, os.DirFS(root), "runtime", "internal")
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string][]*ast.File{}
	for _, file := range files {
		folder := path.Dir(fset.Position(file.Pos()).Filename)
		if within(modulePath+"/"+folder, "internal/shape") { // runs in the build
			continue
		}
		packages[folder] = append(packages[folder], file)
	}
	from := importer.ForCompiler(fset, "source", nil)
	for _, folder := range slices.Sorted(maps.Keys(packages)) {
		found, err := mapRanges(fset, from, modulePath+"/"+folder, packages[folder])
		if err != nil {
			t.Error(err)
		}
		for _, what := range found {
			t.Error(what)
		}
	}
}
