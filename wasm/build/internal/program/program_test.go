package program

import (
	"bytes"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"testing"
)

// Programs compile, whatever the seed. Each seed has its own.
func TestRandomProgramsCompile(t *testing.T) {
	files := token.NewFileSet()
	check := types.Config{Importer: importer.ForCompiler(files, "source", nil)}
	made := map[string]uint64{}
	for seed := range uint64(200) {
		source := Random(seed)
		if !bytes.Equal(source, Random(seed)) {
			t.Fatalf("seed %d has two programs", seed)
		}
		if other, taken := made[string(source)]; taken {
			t.Fatalf("seeds %d and %d have one program", seed, other)
		}
		made[string(source)] = seed
		file, err := parser.ParseFile(files, "main.go", source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if _, err := check.Check("main", files, []*ast.File{file}, nil); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}
