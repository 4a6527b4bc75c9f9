// Command toolgen writes what the tools of an agent module need of their Go types: package
// [github.com/turncore/turncore/host/toolgen] says what. It runs in the folder of the package:
//
//	//go:generate go run github.com/turncore/turncore/host/cmd/toolgen -type SearchArgs,SearchResult
//
// The types must be in files that are compiled for the system at hand too, not for WebAssembly alone.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "toolgen:", err)
		}
		os.Exit(2)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("toolgen", flag.ContinueOnError)
	names := flags.String("type", "", "names of the types, separated by commas")
	out := flags.String("o", "tool_types_gen.go", "file to write")
	if err := flags.Parse(args); err != nil {
		return flag.ErrHelp // flags has said why
	}
	types := strings.Split(*names, ",")
	for _, name := range types {
		if !token.IsIdentifier(name) {
			return fmt.Errorf("-type: %q is no name of a type", name)
		}
	}
	file, err := filepath.Abs(*out)
	if err != nil {
		return err
	}
	code, err := generate(filepath.Dir(file), filepath.Base(file), types)
	if err != nil {
		return err
	}
	return os.WriteFile(file, code, 0o644)
}

// program is the test that writes the file. It is in the package, which it sees as it is: with the types of a main
// package, and those that are not exported.
var program = template.Must(template.New("program").Parse(`package {{.Package}}

import (
	"os"
	"reflect"
	"testing"

	"github.com/turncore/turncore/host/toolgen"
)

func TestToolgen(t *testing.T) {
	code, err := toolgen.Generate("{{.Package}}"{{range .Types}}, reflect.TypeFor[{{.}}](){{end}})
	if err == nil {
		err = os.WriteFile(os.Getenv("TURNCORE_TOOLGEN"), code, 0o600)
	}
	if err != nil {
		t.Fatalf("toolgen: %v", err)
	}
}
`))

// stubs stand for the methods before they are there, so that a package that uses them compiles.
var stubs = template.Must(template.New("stubs").Parse(`package {{.Package}}
{{range .Types}}
func (*{{.}}) Schema() string                        { return "{}" }
func (*{{.}}) DecodeValue([]byte) error              { return nil }
func (*{{.}}) AppendValue(b []byte) ([]byte, error)  { return b, nil }
{{end}}`))

// generate runs the program in the package of a folder, with the files that it needs laid over it: nothing is written
// there.
func generate(folder, name string, types []string) ([]byte, error) {
	work, err := os.MkdirTemp("", "toolgen")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	pkg, err := command(folder, "go", "list", "-f", "{{.Name}}", ".")
	if err != nil {
		return nil, err
	}
	data := struct {
		Package string
		Types   []string
	}{strings.TrimSpace(string(pkg)), types}
	overlay := struct{ Replace map[string]string }{make(map[string]string)}
	for as, t := range map[string]*template.Template{name: stubs, "zz_toolgen_test.go": program} {
		var text bytes.Buffer
		if err := t.Execute(&text, data); err != nil {
			return nil, err
		}
		file := filepath.Join(work, as)
		if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
			return nil, err
		}
		overlay.Replace[filepath.Join(folder, as)] = file
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		return nil, err
	}
	list := filepath.Join(work, "overlay.json")
	if err := os.WriteFile(list, text, 0o600); err != nil {
		return nil, err
	}
	out := filepath.Join(work, "out.go")
	if err := os.Setenv("TURNCORE_TOOLGEN", out); err != nil {
		return nil, err
	}
	if _, err := command(folder, "go", "test", "-overlay", list, "-vet=off", "-count=1", "-run=^TestToolgen$", "."); err != nil {
		return nil, err
	}
	code, err := os.ReadFile(out)
	if err != nil {
		return nil, fmt.Errorf("the package has no test that could write the code: %w", err)
	}
	return code, nil
}

// command runs a command for this system, whatever the environment says to build for. Its error is what the command
// said.
func command(folder string, words ...string) ([]byte, error) {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = folder
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GOOS=") && !strings.HasPrefix(v, "GOARCH=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", strings.Join(words[:2], " "), err, out, said.Bytes())
	}
	return out, nil
}
