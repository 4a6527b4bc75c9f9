package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestRulesFindWhatTheyForbid(t *testing.T) {
	cases := []struct{ source, want string }{
		{"func f() { go g() }", "go statement"},
		{"func f() { select {} }", "select"},
		{"var c chan int", "channel type"},
		{"func f() { var c = make(chan struct{}); _ = c }", "channel type"},
		{"func f(c T) { c <- 1 }", "channel send"},
		{"func f(c T) { <-c }", "channel receive"},
		{`import "sync"; var m sync.Mutex`, "imports sync"},
		{`import clock "time"; var t clock.Time`, "imports time"},
		{`import "fmt"; var p = fmt.Sprint`, "imports fmt"},
		{"func f(a, b int) bool { return a < -b }", ""},
	}
	for _, c := range cases {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "x.go", "package x; "+c.source, 0)
		if err != nil {
			t.Fatalf("%s: %v", c.source, err)
		}
		found := strings.Join(append(blockingSyntax(fset, file), forbiddenImports(fset, file)...), "\n")
		if c.want == "" && found != "" || !strings.Contains(found, c.want) {
			t.Errorf("%s: found %q, want %q", c.source, found, c.want)
		}
	}
}

func TestRuntimeNeverBlocks(t *testing.T) {
	fset, core := coreFiles(t)
	guest, err := parseTree(fset, os.DirFS(testRoot(t)), "internal/guest")
	if err != nil || len(guest) == 0 {
		t.Fatalf("internal/guest holds %d Go files, %v", len(guest), err)
	}
	for _, file := range slices.Concat(core, guest) {
		for _, what := range blockingSyntax(fset, file) {
			t.Error(what)
		}
	}
	for _, file := range core {
		for _, what := range forbiddenImports(fset, file) {
			t.Error(what)
		}
	}
}

// A package that runtime imports is bytes that every page downloads, so a
// further one is a decision: run this test with -update and commit the list.
func TestRuntimeImportListIsFrozen(t *testing.T) {
	imports := map[string]bool{}
	_, core := coreFiles(t)
	for _, file := range core {
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if !within(name, "abi/value") && !within(name, "runtime") && !within(name, "internal") {
				imports[name] = true
			}
		}
	}
	var list []string
	for name := range imports {
		list = append(list, name)
	}
	compareGolden(t, "runtime-imports.txt", list)
}

// Each face knows only what the design lets it know. The encoding of values is everybody's, and knows nobody.
func TestPackagesKnowOnlyWhatTheyMay(t *testing.T) {
	rules := []struct {
		packages string   // pattern under the module
		goos     string   // listed for GOOS/wasm, or for this machine when empty
		never    []string // folders that no dependency may lie in
	}{
		{"runtime", "wasip1", []string{"abi", "wasm", "host", "examples", "internal/guest"}},
		{"abi", "wasip1", []string{"runtime", "wasm", "host", "examples", "internal"}},
		{"abi/value", "wasip1", []string{"abi", "runtime", "wasm", "host", "examples", "internal"}},
		{"internal/guest", "wasip1", []string{"host", "wasm/core", "wasm/full", "wasm/build", "examples"}},
		{"wasm/module", "wasip1", []string{"host", "wasm/core", "wasm/full", "wasm/build", "examples"}},
		{"wasm/core", "", []string{"abi", "runtime", "host", "examples"}},
		{"wasm/full", "", []string{"abi", "runtime", "host", "examples"}},
	}
	root := testRoot(t)
	for _, rule := range rules {
		t.Run(rule.packages, func(t *testing.T) {
			deps := goList(t, root, rule.goos, "-deps", "./"+rule.packages+"/...")
			own := 0
			for _, dep := range deps {
				if within(dep, rule.packages) {
					own++
				}
				for _, folder := range rule.never {
					if within(dep, folder) && !within(dep, rule.packages) && !within(dep, "abi/value") {
						t.Errorf("%s depends on %s", rule.packages, dep)
					}
				}
			}
			if own == 0 {
				t.Errorf("no package matches %s", rule.packages)
			}
		})
	}
}

// The rooms of the host's API know one another in one direction: records, then stores, events and models, then turns.
// So do those of its machinery: what many turns share, the core that runs them, a turn, and its API on top.
func TestRoomsOfTheHostPointOneWay(t *testing.T) {
	never := map[string][]string{
		"host/record": {"host/store", "host/event", "host/model", "host/turns"},
		"host/store":  {"host/event", "host/model", "host/turns"},
		"host/event":  {"host/model", "host/turns"},
		"host/model":  {"host/store", "host/event", "host/turns"},

		"host/internal/bus":         {"host/internal/collections", "host/internal/core", "host/internal/turn", "host/turns"},
		"host/internal/collections": {"host/internal/bus", "host/internal/core", "host/internal/turn", "host/turns"},
		"host/internal/exchange":    {"host/internal/core", "host/internal/turn", "host/turns"},
		"host/internal/stash":       {"host/internal/core", "host/internal/turn", "host/turns"},
		"host/internal/core":        {"host/internal/bus", "host/internal/turn", "host/turns"},
		"host/internal/turn":        {"host/internal/exchange", "host/turns"},
	}
	root := testRoot(t)
	for room, later := range never {
		deps := goList(t, root, "", "-deps", "./"+room)
		if !slices.ContainsFunc(deps, func(dep string) bool { return within(dep, room) }) {
			t.Errorf("no package matches %s", room)
		}
		for _, dep := range deps {
			for _, folder := range append(later, "host/wazero", "host/native", "host/engine") {
				if within(dep, folder) {
					t.Errorf("%s depends on %s", room, dep)
				}
			}
		}
	}
}

// A reader can take in the API of turns: what is one topic of it is a package beside it.
func TestTurnsHaveFewNames(t *testing.T) {
	const most = 70
	cmd := exec.Command("go", "doc", "-short", "./host/turns")
	cmd.Dir = testRoot(t)
	list, err := cmd.Output()
	if err != nil {
		t.Fatalf("go doc: %v", err)
	}
	names := strings.Count(string(list), "\n")
	if names < most/2 {
		t.Fatalf("go doc lists %d names:\n%s", names, list)
	}
	if names > most {
		t.Errorf("host/turns has %d names, at most %d are wanted", names, most)
	}
}

// A program links the module that it imports, and the core's Go code only if it imports the native engine.
func TestTurnsCarryNoModule(t *testing.T) {
	deps := goList(t, testRoot(t), "", "-deps", "./host/turns")
	if !slices.ContainsFunc(deps, func(dep string) bool { return within(dep, "host/wazero") }) {
		t.Errorf("host/turns knows no engine: %v", deps)
	}
	for _, dep := range deps {
		for _, folder := range []string{"wasm", "host/native", "internal/guest", "internal/provider"} {
			if within(dep, folder) {
				t.Errorf("host/turns depends on %s", dep)
			}
		}
	}
}

// The host API talks to the core in frames. Only the engine that runs the core
// in process may know how the core works, and what builds agents, which are
// compiled with the core and have their schemas checked as the core would.
func TestHostsKnowFramesOnly(t *testing.T) {
	root := testRoot(t)
	hosts := 0
	// What hosts do with the module's file, and what a misspelled name is taken for.
	shared := []string{
		"internal/callees", "internal/carried", "internal/confine", "internal/image", "internal/metering", "internal/shape", "internal/size",
		"internal/suggestion", "internal/wasmfile",
	}
	for _, line := range goList(t, root, "", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./host/...") {
		fields := strings.Fields(line)
		if within(fields[0], "host/native") || within(fields[0], "host/agents/build") {
			continue
		}
		hosts++
		for _, dep := range fields[1:] {
			for _, folder := range []string{"runtime", "internal", "wasm/module"} {
				if within(dep, folder) && !slices.ContainsFunc(shared, func(own string) bool { return within(dep, own) }) {
					t.Errorf("%s imports %s", fields[0], dep)
				}
			}
		}
	}
	if hosts == 0 {
		t.Error("no package matches host")
	}
}

func TestTopLevel(t *testing.T) {
	allowed := []string{
		".ci", ".editorconfig", ".gitattributes", ".gitignore", "LICENSE", "Makefile", "README.md", "RATIONALE.md",
		"CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
		"abi", "docs", "examples", "go.mod", "go.sum", "host", "internal", "js", "runtime", "staticcheck.conf", "wasm",
	}
	for _, file := range trackedFiles(t) {
		top, _, _ := strings.Cut(file, "/")
		if !slices.Contains(allowed, top) {
			t.Errorf("%s: the design has no %s at the top level", file, top)
		}
		if rest, in := strings.CutPrefix(file, "examples/"); in &&
			!slices.Contains([]string{"agents", "browser", "edge", "page", "service"}, strings.Split(rest, "/")[0]) {
			t.Errorf("%s: examples are agents, browser, edge, page and service", file)
		}
		if strings.HasSuffix(file, ".wasm") {
			t.Errorf("%s: what is built is not kept", file)
		}
	}
}

// Names that say nothing invite everything.
func TestFilesAreNamedByTopic(t *testing.T) {
	for _, file := range trackedFiles(t) {
		for _, part := range strings.Split(file, "/") {
			switch name, _, _ := strings.Cut(part, "."); name {
			case "util", "utils", "common", "types", "misc":
				t.Errorf("%s: name the topic", file)
			}
		}
	}
}

// within reports whether an import path lies in a folder of this module.
func within(importPath, folder string) bool {
	own := modulePath + "/" + folder
	return importPath == own || strings.HasPrefix(importPath, own+"/")
}

// coreFiles returns the files of the core: the encoding of values, runtime and the packages of internal, without the
// guest that runs them, what hosts and the build share, and the build itself.
func coreFiles(t *testing.T) (*token.FileSet, []*ast.File) {
	t.Helper()
	fset := token.NewFileSet()
	files, err := parseTree(fset, os.DirFS(testRoot(t)), "abi/value", "runtime", "internal")
	if err != nil || len(files) == 0 {
		t.Fatalf("the core holds %d Go files, %v", len(files), err)
	}
	files = slices.DeleteFunc(files, func(file *ast.File) bool {
		name := fset.Position(file.Pos()).Filename
		return slices.ContainsFunc([]string{"guest", "callees", "confine", "image", "metering", "shape", "size", "wasmfile"}, func(folder string) bool {
			return strings.HasPrefix(name, "internal/"+folder+"/")
		})
	})
	return fset, files
}

func testRoot(t *testing.T) string {
	t.Helper()
	root, err := moduleRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// trackedFiles returns the committed files, as slash paths from the root.
func trackedFiles(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("git", "ls-files")
	cmd.Dir = testRoot(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	files := strings.Fields(string(out))
	if len(files) == 0 {
		t.Fatal("git lists no files")
	}
	return files
}

// goList runs `go list` and returns its lines.
func goList(t *testing.T, root, goos string, args ...string) []string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = root
	cmd.Env = os.Environ()
	if goos != "" {
		cmd.Env = append(cmd.Env, "GOOS="+goos, "GOARCH=wasm")
	}
	out, err := cmd.Output()
	if err != nil {
		var stderr []byte
		if exit, ok := err.(*exec.ExitError); ok {
			stderr = exit.Stderr
		}
		t.Fatalf("go list %s: %v\n%s", strings.Join(args, " "), err, stderr)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// compareGolden compares a list, sorted and without doubles, with a committed
// file, which -update writes.
func compareGolden(t *testing.T, name string, list []string) {
	t.Helper()
	list = slices.Clone(list)
	slices.Sort(list)
	list = slices.Compact(list)
	got := strings.Join(list, "\n") + "\n"
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(data)), "\n")
	for _, line := range list {
		if !slices.Contains(want, line) {
			t.Errorf("%s does not list %s", name, line)
		}
	}
	for _, line := range want {
		if !slices.Contains(list, line) {
			t.Errorf("%s lists %s, which is gone", name, line)
		}
	}
	if t.Failed() {
		t.Log("if the change is wanted, run `go test ./wasm/build -update` and commit the list")
	}
}
