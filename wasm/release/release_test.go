package main

import (
	"archive/zip"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
)

const testVersion = "v0.99.0"

// An empty Go project that asks for the latest release gets one that holds the
// module, from a proxy as the go command knows it.
func TestReleaseRunsAtOnceInAnEmptyProject(t *testing.T) {
	repo := cloneProject(t)
	head := repo.must(t, "rev-parse", "HEAD")
	if err := release(t.Context(), repo.dir, testVersion); err != nil {
		t.Fatal(err)
	}

	t.Run("branch stays", func(t *testing.T) {
		if now := repo.must(t, "rev-parse", "HEAD"); now != head {
			t.Errorf("HEAD moved from %s to %s", head, now)
		}
		if dirty := repo.must(t, "status", "--porcelain", "--ignored"); dirty != "" {
			t.Errorf("the working tree holds\n%s", dirty)
		}
		if trees := repo.must(t, "worktree", "list"); strings.Contains(trees, "\n") {
			t.Errorf("a worktree is left:\n%s", trees)
		}
		if branches := repo.must(t, "branch", "--contains", testVersion); branches != "" {
			t.Errorf("the release is on a branch: %s", branches)
		}
	})
	t.Run("commit", func(t *testing.T) {
		if parent := repo.must(t, "rev-parse", testVersion+"^{commit}^"); parent != head {
			t.Errorf("the release's parent is %s, want %s", parent, head)
		}
		changed := strings.Fields(repo.must(t, "diff", "--name-only", "HEAD", testVersion))
		want := append([]string{"js/package-lock.json", "js/package.json"}, moduleFiles...)
		for _, folder := range ownModules {
			want = append(want, folder+"/go.mod", folder+"/go.sum")
		}
		slices.Sort(want)
		if !slices.Equal(changed, want) {
			t.Errorf("the release changes %q, want %q", changed, want)
		}
		if diff := repo.must(t, "diff", "HEAD", testVersion, "--", "js"); strings.Count(diff, `+  "version": "0.99.0"`) != 2 {
			t.Errorf("versions:\n%s", diff)
		}
	})

	t.Run("all modules", func(t *testing.T) {
		library := repo.must(t, "rev-parse", testVersion+"^{commit}")
		for _, folder := range ownModules {
			if own := repo.must(t, "rev-parse", tagOf(folder, testVersion)+"^{commit}"); own != library {
				t.Errorf("the library is %s, %s is %s", library, folder, own)
			}
			mod := repo.must(t, "show", testVersion+":"+folder+"/go.mod")
			if !strings.Contains(mod, modulePath+" "+testVersion) || strings.Contains(mod, "replace") || strings.Contains(mod, "v0.0.0\n") {
				t.Errorf("the go.mod of %s is\n%s", folder, mod)
			}
		}
	})

	project := emptyProject(t, serveRelease(t, repo))
	t.Run("go get", func(t *testing.T) {
		project.mustRun(t, "go", "get", modulePath+"@latest")
		if got := project.mustRun(t, "go", "list", "-m", modulePath); got != modulePath+" "+testVersion {
			t.Fatalf("go get took %s, want %s", got, testVersion)
		}
		if got := project.mustRun(t, "go", "run", "."); got != "\"\\x00asm\"\n\"\\x00asm\"" {
			t.Errorf("the program says %s", got)
		}
	})
	t.Run("a service", func(t *testing.T) {
		source, err := os.ReadFile("../../examples/service/main.go")
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.Join(project.dir, "service")
		if err := errors.Join(os.Mkdir(folder, 0o755), os.WriteFile(filepath.Join(folder, "main.go"), source, 0o644)); err != nil {
			t.Fatal(err)
		}
		binary := filepath.Join(t.TempDir(), "service")
		project.mustRun(t, "go", "build", "-o", binary, "./service")
		playService(t, binary)
	})
	t.Run("dependencies of the command and of the build stay away", func(t *testing.T) {
		all := project.mustRun(t, "go", "list", "-m", "all")
		for _, path := range []string{"briandowns/spinner", "fatih/color", "golang.org/x/term", "andybalholm/brotli", "modernc.org", "jackc/pgx", "bytecodealliance"} {
			if strings.Contains(all, path) {
				t.Errorf("a user of the library gets %s:\n%s", path, all)
			}
		}
	})
	t.Run("checkout", func(t *testing.T) {
		checkout := repository{filepath.Join(t.TempDir(), "checkout")}
		repo.must(t, "worktree", "add", "--quiet", "--detach", checkout.dir, testVersion)
		defer repo.must(t, "worktree", "remove", "--force", checkout.dir)
		for _, folder := range ownModules {
			own := repository{filepath.Join(checkout.dir, folder)}
			own.mustRun(t, "go", "list", "-mod=readonly", "-deps", ".") // go.sum is whole and right
		}
	})
	t.Run("stores of databases", func(t *testing.T) {
		folder := filepath.Join(project.dir, "stores")
		file := filepath.Join(folder, "main.go")
		if err := errors.Join(os.Mkdir(folder, 0o755), os.WriteFile(file, []byte(storesProgram), 0o644)); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"sqlite", "postgres"} {
			project.mustRun(t, "go", "get", modulePath+"/host/store/"+name+"@latest")
		}
		if got := project.mustRun(t, "go", "run", "./stores", filepath.Join(t.TempDir(), "a.db")); got != "hello\nE_STORE_FAILED" {
			t.Errorf("the program says %q", got)
		}
	})
	t.Run("engine on Wasmtime", func(t *testing.T) {
		folder := filepath.Join(project.dir, "engine")
		file := filepath.Join(folder, "main.go")
		if err := errors.Join(os.Mkdir(folder, 0o755), os.WriteFile(file, []byte(engineProgram), 0o644)); err != nil {
			t.Fatal(err)
		}
		t.Setenv("CGO_ENABLED", "1")
		project.mustRun(t, "go", "get", modulePath+"/host/wasmtime@latest")
		if got := project.mustRun(t, "go", "run", "./engine"); got != "a turn on wasmtime" {
			t.Errorf("the program says %q", got)
		}
	})
	t.Run("an agent, as its page says", func(t *testing.T) { followAgents(t) })
	t.Run("command", func(t *testing.T) {
		out := project.mustRun(t, "go", "run", modulePath+"/host/cmd/turncore@"+testVersion, "run", "--engine", "wazero", "--json", "hello")
		lines := strings.Split(out, "\n")
		if last := lines[len(lines)-1]; !strings.Contains(last, `"status":"ack"`) {
			t.Errorf("the turn ended with %s", last)
		}
	})
}

// storesProgram keeps a conversation in SQLite, and looks for a server of PostgreSQL that is not there.
const storesProgram = `package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/store/postgres"
	"github.com/turncore/turncore/host/store/sqlite"
)

func main() {
	ctx := context.Background()
	for range 2 {
		s, err := sqlite.Open(ctx, os.Args[1], sqlite.Options{})
		if err != nil {
			panic(err)
		}
		c, err := s.Load(ctx, "s", "")
		if err != nil {
			panic(err)
		}
		for _, m := range c.Messages {
			fmt.Println(m.Content)
		}
		write := store.Delta{Op: store.OpStore, Kind: "message", ID: "m", Record: record.NewMessage("m", record.User, "hello", time.Now())}
		if _, err := s.Commit(ctx, "s", store.Commit{Deltas: []store.Delta{write}}); err != nil {
			panic(err)
		}
		if err := s.Close(); err != nil {
			panic(err)
		}
	}
	_, err := postgres.Open(ctx, "host=/nowhere", postgres.Options{})
	var failed *host.Error
	if errors.As(err, &failed) {
		fmt.Println(failed.Code)
	}
}
`

// engineProgram has a turn on Wasmtime.
const engineProgram = `package main

import (
	"context"
	"fmt"

	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/wasmtime"
	_ "github.com/turncore/turncore/wasm/core"
)

func main() {
	ctx := context.Background()
	e, err := wasmtime.Default(ctx)
	if err != nil {
		panic(err)
	}
	defer e.Close(ctx)
	runner, err := turns.New(ctx, turns.Config{
		Engine: e,
		Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			fmt.Println("a turn on", e.Name())
			return ctx.Ack()
		},
	})
	if err != nil {
		panic(err)
	}
	defer runner.Close()
	if _, err := runner.Run(ctx, turns.Input{Message: "hello"}); err != nil {
		panic(err)
	}
}
`

func TestReleaseRefuses(t *testing.T) {
	repo := cloneProject(t)
	before := repo.must(t, "show-ref")
	refused := func(version, want string) {
		t.Helper()
		if err := release(t.Context(), repo.dir, version); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("release %q: %v, want %q", version, err, want)
		}
	}
	refused("", "not of the form")
	refused("1.2.3", "not of the form")
	refused("v1.2", "not of the form")
	refused("v1.2.3+build", "not of the form")
	refused("v2.0.0", "does not fit the module path")

	if err := os.WriteFile(filepath.Join(repo.dir, "LICENSE"), []byte("none"), 0o644); err != nil {
		t.Fatal(err)
	}
	refused(testVersion, "commit these changes first")
	repo.must(t, "checkout", "--", "LICENSE")

	if after := repo.must(t, "show-ref"); after != before {
		t.Errorf("a refused release left\n%s", after)
	}
	repo.must(t, "tag", testVersion)
	refused(testVersion, "exists")
}

// cloneProject clones the current commit of this repository, so that a test
// makes its tags somewhere else.
func cloneProject(t *testing.T) repository {
	t.Helper()
	here := repository{"."}
	root := here.must(t, "rev-parse", "--show-toplevel")
	clone := repository{filepath.Join(t.TempDir(), "clone")}
	here.must(t, "clone", "--quiet", "--no-tags", "file://"+root, clone.dir)
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+who+"_NAME", "Release test")
		t.Setenv("GIT_"+who+"_EMAIL", "release-test@localhost")
	}
	return clone
}

// serveRelease writes the files of a module proxy for the release and returns
// its URL.
func serveRelease(t *testing.T, repo repository) string {
	t.Helper()
	proxy := t.TempDir()
	checkZip(t, serveModule(t, repo, proxy, ""))
	for _, folder := range ownModules {
		serveModule(t, repo, proxy, folder)
	}
	return "file://" + proxy
}

// serveModule serves the module in a folder and returns its archive.
func serveModule(t *testing.T, repo repository, proxy, folder string) string {
	t.Helper()
	modPath := path.Join(modulePath, folder)
	dir := filepath.Join(proxy, filepath.FromSlash(modPath), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	archive, err := os.Create(filepath.Join(dir, testVersion+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	if err := modzip.CreateFromVCS(archive, module.Version{Path: modPath, Version: testVersion}, repo.dir, testVersion, folder); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"list":                testVersion + "\n",
		testVersion + ".info": `{"Version":"` + testVersion + `","Time":"2024-01-01T00:00:00Z"}`,
		testVersion + ".mod":  repo.must(t, "show", testVersion+":"+path.Join(folder, "go.mod")) + "\n",
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return archive.Name()
}

func checkZip(t *testing.T, path string) {
	t.Helper()
	r, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, file := range moduleFiles {
		want := modulePath + "@" + testVersion + "/" + file
		if !slices.ContainsFunc(r.File, func(f *zip.File) bool { return f.Name == want }) {
			t.Fatalf("the release's archive lacks %s", want)
		}
	}
}

// emptyProject makes a Go project with one file that looks for the module. It
// takes releases from proxy, and what those require from this machine's module
// cache or else from where the go command is set to look.
func emptyProject(t *testing.T, proxy string) repository {
	t.Helper()
	project := repository{t.TempDir()}
	env := strings.Fields(project.mustRun(t, "go", "env", "GOMODCACHE", "GOPROXY"))
	t.Setenv("GOPROXY", proxy+",file://"+env[0]+"/cache/download,"+env[1])
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GONOSUMDB", modulePath)
	t.Setenv("GOFLAGS", "-mod=mod -modcacherw -trimpath") // without paths, what is compiled of the same sources is found again
	program := `package main

import (
	"fmt"

	"` + modulePath + `/wasm/core"
	"` + modulePath + `/wasm/full"
)

func main() {
	for _, load := range []func() ([]byte, bool){core.Module, full.Module} {
		module, ok := load()
		if !ok {
			panic("no module")
		}
		fmt.Printf("%q\n", module[:4])
	}
}
`
	project.mustRun(t, "go", "mod", "init", "example.com/empty")
	if err := os.WriteFile(filepath.Join(project.dir, "main.go"), []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	return project
}

func (r repository) must(t *testing.T, args ...string) string {
	t.Helper()
	return r.mustRun(t, "git", args...)
}

func (r repository) mustRun(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := r.run(t.Context(), name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
