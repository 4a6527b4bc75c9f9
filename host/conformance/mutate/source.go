package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// source is a file that mutants are made of.
type source struct {
	name    string // below the repository
	text    string
	file    *ast.File
	fset    *token.FileSet
	info    *types.Info
	pkg     *types.Package
	imports map[string]string // what the file calls a package, by its path
}

// offset is where in the text a position is.
func (s *source) offset(at token.Pos) int { return s.fset.Position(at).Offset }

// listed is what `go list` says of a package.
type listed struct {
	ImportPath string
	Dir        string
	Export     string
	GoFiles    []string
	DepOnly    bool
}

// goList returns what `go list` says of packages.
func goList[P any](root string, args ...string) (packages []P, err error) {
	command := exec.Command("go", append([]string{"list"}, args...)...)
	command.Dir, command.Stderr = root, os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p P
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
	return packages, nil
}

// sources reads the files of packages and their types. Files that were generated are left out.
func sources(root string, packages []string) ([]*source, error) {
	args := append([]string{"-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles,DepOnly"}, packages...)
	list, err := goList[listed](root, args...)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	var chosen []listed
	for _, p := range list {
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			chosen = append(chosen, p)
		}
	}
	var all []*source
	for _, p := range chosen {
		found, err := check(root, p, exports)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.ImportPath, err)
		}
		all = append(all, found...)
	}
	return all, nil
}

// check parses a package and finds its types; exports are the files with those of other packages.
func check(root string, p listed, exports map[string]string) ([]*source, error) {
	fset := token.NewFileSet()
	var files []*ast.File
	var all []*source
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
		if ast.IsGenerated(file) {
			continue
		}
		below, err := filepath.Rel(root, path)
		if err != nil {
			return nil, err
		}
		all = append(all, &source{name: filepath.ToSlash(below), text: string(text), file: file, fset: fset})
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{},
		Defs:  map[*ast.Ident]types.Object{},
		Uses:  map[*ast.Ident]types.Object{},
	}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", lookup)}
	pkg, err := config.Check(p.ImportPath, fset, files, info)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		s.info, s.pkg, s.imports = info, pkg, importNames(s.file, pkg)
	}
	return all, nil
}

// importNames are the names under which a file knows packages, by their paths.
func importNames(file *ast.File, pkg *types.Package) map[string]string {
	names := map[string]string{}
	for _, imported := range pkg.Imports() {
		names[imported.Path()] = imported.Name()
	}
	here := map[string]string{}
	for _, spec := range file.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		here[path] = names[path]
		if spec.Name != nil {
			here[path] = spec.Name.Name
		}
	}
	return here
}

// typeName is what a type is called in the file; ok is false if it cannot be named there.
func (s *source) typeName(t types.Type) (name string, ok bool) {
	ok = true
	name = types.TypeString(t, func(p *types.Package) string {
		if p == s.pkg {
			return ""
		}
		if s.imports[p.Path()] == "" || s.imports[p.Path()] == "_" || s.imports[p.Path()] == "." {
			ok = false
		}
		return s.imports[p.Path()]
	})
	return name, ok
}
