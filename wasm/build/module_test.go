package main

import (
	"bytes"
	"context"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/internal/size"
)

var update = flag.Bool("update", false, "rewrite the lists in testdata")

// buildDir holds the files, built once for all tests of this package.
var buildDir string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "turncore-build-test-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		buildDir = dir
		return m.Run()
	}())
}

// built compiles t's file on first use and returns its bytes.
func built(t *testing.T, which target) []byte {
	t.Helper()
	path := filepath.Join(buildDir, which.file)
	if _, err := os.Stat(path); err != nil {
		if err := compile(t.Context(), testRoot(t), which, path, shipped); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The same sources in another folder, compiled with an empty build cache, give
// the same bytes. The module for Go's own loader, which needs everything once
// more for another system, is compiled with TURNCORE_LONG.
func TestBuildIsReproducible(t *testing.T) {
	root, copied := testRoot(t), filepath.Join(t.TempDir(), "elsewhere")
	copySources(t, root, copied)
	t.Setenv("GOCACHE", t.TempDir())
	dir := t.TempDir()
	place := func(which target) string { return filepath.Join(dir, which.file) }
	for _, which := range targets {
		if which.goos == "js" && os.Getenv("TURNCORE_LONG") == "" {
			continue
		}
		if err := compile(t.Context(), copied, which, place(which), shipped); err != nil {
			t.Fatal(err)
		}
		again, err := os.ReadFile(place(which))
		if err != nil {
			t.Fatal(err)
		}
		if first := built(t, which); !bytes.Equal(first, again) {
			t.Errorf("%s: %d and %d bytes, first difference at %d", which.file, len(first), len(again), firstDifference(first, again))
		}
	}
}

func TestInterfaceIsFrozen(t *testing.T) {
	cases := []struct {
		which        target
		importModule string
	}{
		{wasip1Target, "wasi_snapshot_preview1."},
		{fullTarget, "wasi_snapshot_preview1."},
		{jsTarget, "gojs."},
	}
	for _, c := range cases {
		t.Run(c.which.file, func(t *testing.T) {
			info, err := inspect(built(t, c.which))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range info.imports {
				if !strings.HasPrefix(name, c.importModule) {
					t.Errorf("%s imports %s", c.which.file, name)
				}
			}
			compareGolden(t, "imports-"+c.which.goos+".txt", info.imports)
			compareGolden(t, "exports-"+c.which.goos+".txt", info.exports)
		})
	}
}

func TestModulesFitTheirBudgets(t *testing.T) {
	for _, which := range targets {
		budget, ok := size.Of(which.file)
		if !ok {
			continue
		}
		built(t, which)
		weights, err := size.Weigh(t.Context(), testRoot(t), filepath.Join(buildDir, which.file))
		if err != nil {
			t.Fatal(err)
		}
		weight := weights[0].Brotli
		t.Logf("%s: %d bytes brotli 11 of %d", which.file, weight, budget)
		if weight > budget {
			t.Errorf("%s: %d bytes brotli 11, %d allowed", which.file, weight, budget)
		}
		if told := toldSize(t, which.file); max(told-weight, weight-told) > weight/50 {
			t.Errorf("%s: js/README.md says %d bytes brotli 11, it has %d", which.file, told, weight)
		}
	}
}

// toldSize is the size of a module in the npm package's README.
func toldSize(t *testing.T, file string) int {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(testRoot(t), "js", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `" + regexp.QuoteMeta(file) + "`.*\\| +([0-9,]+) \\|$").FindSubmatch(page)
	if row == nil {
		t.Fatalf("js/README.md has no size of %s", file)
	}
	told, err := strconv.Atoi(strings.ReplaceAll(string(row[1]), ",", ""))
	if err != nil {
		t.Fatal(err)
	}
	return told
}

// agentBudget is what an agent that does nothing may add to the core module, in bytes: as it is, and after brotli 11.
// The latter differs by 2,000 with any change of the core: brotli finds other places to begin a block.
var agentBudget = size.Weight{Raw: 60_000, Brotli: 10_000}

func TestAnAgentAddsLittle(t *testing.T) {
	core := filepath.Join(buildDir, wasip1Target.file)
	built(t, wasip1Target)
	agent := filepath.Join(t.TempDir(), "agent.wasm")
	source := target{file: "agent.wasm", goos: "wasip1", mode: reactor, source: "./wasm/agent/testdata/empty"}
	if err := compile(t.Context(), testRoot(t), source, agent, shipped); err != nil {
		t.Fatal(err)
	}
	weights, err := size.Weigh(t.Context(), testRoot(t), core, agent)
	if err != nil {
		t.Fatal(err)
	}
	raw, brotli := weights[1].Raw-weights[0].Raw, weights[1].Brotli-weights[0].Brotli
	t.Logf("%d bytes of %d, %d bytes brotli 11 of %d", raw, agentBudget.Raw, brotli, agentBudget.Brotli)
	if raw > agentBudget.Raw || brotli > agentBudget.Brotli {
		t.Errorf("an agent adds %d bytes, %d bytes brotli 11, %d and %d allowed", raw, brotli, agentBudget.Raw, agentBudget.Brotli)
	}
}

// The core module has one provider, and nothing of the others' code or data.
func TestCoreHoldsOneProvider(t *testing.T) {
	first := provider.All[0].Protocol().BaseURL
	checked := 0
	for _, p := range provider.All {
		address := p.Protocol().BaseURL
		if address == "" {
			continue // the provider of the host's engines has none
		}
		if !bytes.Contains(built(t, fullTarget), []byte(address)) {
			t.Errorf("%s does not hold %s", fullTarget.file, address)
		}
		if address != first && bytes.Contains(built(t, wasip1Target), []byte(address)) {
			t.Errorf("%s holds %s", wasip1Target.file, address)
		}
		if address != first {
			checked++
		}
	}
	if checked == 0 {
		t.Error("all providers have one address")
	}
}

func TestSharesAddUpToTheFile(t *testing.T) {
	shares, err := packageShares(t.Context(), testRoot(t))
	if err != nil {
		t.Fatal(err)
	}
	total, own := 0, 0
	for _, s := range shares {
		total += s.size
		if strings.HasPrefix(s.name, modulePath) {
			own += s.size
		}
	}
	file := len(built(t, fullTarget))
	// Type, import and function sections belong to nobody; they are small.
	if total > file || total < file*9/10 {
		t.Errorf("packages and data are %d bytes, the file is %d", total, file)
	}
	if own == 0 {
		t.Error("no code is attributed to this module's packages")
	}
}

func TestAFailedBuildKeepsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), wasip1Target.file)
	if err := os.WriteFile(path, []byte("previous"), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := compile(ctx, testRoot(t), wasip1Target, path, shipped); err == nil {
		t.Fatal("a cancelled build reported success")
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || string(data) != "previous" || len(left) != 1 {
		t.Errorf("after a failed build the folder holds %v, the file %q, %v", left, data, err)
	}
}

// copySources copies what the module is compiled from.
func copySources(t *testing.T, root, to string) {
	t.Helper()
	for _, dir := range []string{"abi", "internal", "runtime", "wasm"} {
		if err := os.CopyFS(filepath.Join(to, dir), withoutModules{os.DirFS(filepath.Join(root, dir))}); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, file), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// withoutModules hides built modules, which are not sources.
type withoutModules struct{ fs.FS }

func (f withoutModules) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(f.FS, name)
	kept := entries[:0]
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".wasm") && !strings.HasPrefix(e.Name(), ".") {
			kept = append(kept, e)
		}
	}
	return kept, err
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// SPEC.md names the functions of WASI that the module links, and no others.
func TestSpecHasTheImports(t *testing.T) {
	text, err := os.ReadFile("testdata/imports-wasip1.txt")
	if err != nil {
		t.Fatal(err)
	}
	spec, err := os.ReadFile("../../abi/SPEC.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(spec), "### What the embedding provides")
	table, _, _ = strings.Cut(table, "\n- ")
	var want, got []string
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(line, " ")
		want = append(want, strings.TrimPrefix(name, "wasi_snapshot_preview1."))
	}
	for _, m := range regexp.MustCompile("`([a-z]+_[a-z_]+)`").FindAllStringSubmatch(table, -1) {
		if m[1] != "wasi_snapshot_preview1" {
			got = append(got, m[1])
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("SPEC.md has %q, the module imports %q", got, want)
	}
}
