package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// blockingImports are the standard packages that code which waits through
// tasks must not import: they block, read a clock, do I/O or draw randomness,
// or cost far more bytes in the module than they give.
var blockingImports = map[string]string{
	"context":      "a turn is cancelled by its task",
	"crypto/rand":  "entropy comes in with frames",
	"fmt":          "use errors and strconv: fmt costs 100 KB in the module",
	"io/fs":        "the core does no I/O",
	"log":          "the core does no I/O",
	"log/slog":     "the core does no I/O",
	"math/rand":    "entropy comes in with frames",
	"math/rand/v2": "entropy comes in with frames",
	"net":          "the core does no I/O",
	"net/http":     "the core does no I/O",
	"os":           "the core does no I/O",
	"reflect":      "decode field by field",
	"runtime":      "one blocked coroutine kills the instance",
	"sync":         "one blocked coroutine kills the instance",
	"sync/atomic":  "one task runs at a time",
	"syscall":      "the core does no I/O",
	"time":         "time comes in with frames",
}

// blockingSyntax reports what in a file could block the instance: go
// statements, select, channel types, sends and receives.
func blockingSyntax(fset *token.FileSet, file *ast.File) []string {
	var found []string
	report := func(at token.Pos, what string) {
		found = append(found, fset.Position(at).String()+": "+what)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			report(n.Pos(), "go statement: spawn a task")
		case *ast.SelectStmt:
			report(n.Pos(), "select: await an effect")
		case *ast.ChanType:
			report(n.Pos(), "channel type: await an effect")
		case *ast.SendStmt:
			report(n.Pos(), "channel send: await an effect")
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				report(n.Pos(), "channel receive: await an effect")
			}
		}
		return true
	})
	return found
}

// forbiddenImports reports the imports of a file that blockingImports lists.
func forbiddenImports(fset *token.FileSet, file *ast.File) []string {
	var found []string
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if why, bad := blockingImports[name]; bad {
			found = append(found, fmt.Sprintf("%s: imports %s: %s", fset.Position(spec.Pos()), name, why))
		}
	}
	return found
}

// parseTree parses every Go file under dirs of fsys that is compiled into a
// program: tests and testdata are left out.
func parseTree(fset *token.FileSet, fsys fs.FS, dirs ...string) ([]*ast.File, error) {
	var files []*ast.File
	walk := func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if path.Base(name) == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, file)
		return nil
	}
	for _, dir := range dirs {
		if err := fs.WalkDir(fsys, dir, walk); err != nil {
			return nil, err
		}
	}
	return files, nil
}
