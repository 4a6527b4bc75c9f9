// Command release makes the commit and the tag of a release.
//
//	go -C wasm/release run . v1.2.3
//
// The main branch holds no built modules, but a Go program that requires a release must find them in it: the tag points
// at a commit on top of the current one, off every branch, which adds the built modules, sets the npm package's
// version, and has the modules beside the library, such as the command, require those of this version. The branch, the
// index and the working tree stay as they are. Nothing is pushed. It is a module of its own, so that who uses Turncore
// does not get what it needs.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

const (
	modulePath    = "github.com/turncore/turncore"
	commandFolder = "host/cmd/turncore"
)

// ownModules are the folders of the modules that are released beside the library, which they require. Each comes behind
// those that it requires.
var ownModules = []string{"host/store/sqlite", "host/store/postgres", "host/wasmtime", commandFolder}

// moduleFiles are the built modules that a release holds.
var moduleFiles = []string{"wasm/core/turncore.wasm", "wasm/full/turncore-full.wasm"}

// versionFiles hold the npm package's version; npm would take the tag's
// content for another version otherwise.
var versionFiles = []string{"js/package.json", "js/package-lock.json"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: release vX.Y.Z")
		os.Exit(2)
	}
	version := os.Args[1]
	if err := release(ctx, ".", version); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
	fmt.Printf(`These are tagged here and not pushed yet: %[2]s.
  git show --stat %[1]s      shows the release
  git push origin %[2]s      publishes it for Go
  npm publish                in js/ of a checkout of the tag publishes it for JavaScript
`, version, strings.Join(tags(version), " "))
}

// release tags version on a commit that adds the built modules to the current
// one of the repository at dir.
func release(ctx context.Context, dir, version string) error {
	if err := checkVersion(version); err != nil {
		return err
	}
	repo := repository{dir}
	root, err := repo.git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	repo.dir = root
	if changed, err := repo.git(ctx, "status", "--porcelain", "--untracked-files=no"); err != nil {
		return err
	} else if changed != "" {
		return fmt.Errorf("commit these changes first, a release is made from a commit:\n%s", changed)
	}
	for _, name := range tags(version) {
		if tag, err := repo.git(ctx, "tag", "--list", name); err != nil {
			return err
		} else if tag != "" {
			return fmt.Errorf("tag %s exists", name)
		}
	}

	parent, err := os.MkdirTemp("", "turncore-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(parent)
	tree := repository{filepath.Join(parent, "tree")}
	if _, err := repo.git(ctx, "worktree", "add", "--detach", tree.dir, "HEAD"); err != nil {
		return err
	}
	// Not ctx: the worktree is removed after an interrupt too.
	defer repo.git(context.WithoutCancel(ctx), "worktree", "remove", "--force", tree.dir)
	return tree.commitRelease(ctx, version)
}

// tags are the names of a release's tags: the library's, and those of the modules beside it.
func tags(version string) []string {
	list := []string{version}
	for _, folder := range ownModules {
		list = append(list, tagOf(folder, version))
	}
	return list
}

// tagOf is the tag of the module in a folder.
func tagOf(folder, version string) string { return path.Join(folder, version) }

func (r repository) commitRelease(ctx context.Context, version string) error {
	if _, err := r.run(ctx, "go", "run", "./wasm/build", "-sizes=0"); err != nil {
		return err
	}
	if _, err := r.git(ctx, append([]string{"add", "--force"}, moduleFiles...)...); err != nil {
		return err
	}
	for _, file := range versionFiles {
		if err := setVersion(filepath.Join(r.dir, file), version); err != nil {
			return err
		}
		if _, err := r.git(ctx, "add", file); err != nil {
			return err
		}
	}
	message := "Release " + version + ": add the built modules"
	if _, err := r.git(ctx, "commit", "--quiet", "--no-verify", "--message", message); err != nil {
		return err
	}
	// A module's checksum is that of the commit, of which the folders of other modules are no part.
	sums, err := r.checksums(ctx, version, "")
	if err != nil {
		return err
	}
	for _, folder := range ownModules {
		if err := r.requireRelease(version, folder, sums); err != nil {
			return err
		}
		if _, err := r.git(ctx, "add", folder); err != nil {
			return err
		}
		if _, err := r.git(ctx, "commit", "--quiet", "--no-verify", "--amend", "--no-edit"); err != nil {
			return err
		}
		own, err := r.checksums(ctx, version, folder)
		if err != nil {
			return err
		}
		maps.Copy(sums, own)
	}
	for _, name := range tags(version) {
		if _, err := r.git(ctx, "tag", "--annotate", "--message", "Release "+version, name); err != nil {
			return err
		}
	}
	return nil
}

// requireRelease has the module in a folder require modules of this project as they are committed, in place of those
// beside it. sums are the lines of a go.sum about these modules, by their paths.
func (r repository) requireRelease(version, folder string, sums map[string][]string) error {
	name := filepath.Join(r.dir, folder, "go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	file, err := modfile.Parse(name, text, nil)
	if err != nil {
		return err
	}
	var added []string
	for _, required := range slices.Clone(file.Require) {
		of := required.Mod.Path
		if sums[of] == nil {
			continue
		}
		added = append(added, sums[of]...)
		if err := file.DropReplace(of, ""); err != nil {
			return err
		}
		if err := file.AddRequire(of, version); err != nil {
			return err
		}
	}
	file.Cleanup()
	if text, err = file.Format(); err != nil {
		return err
	}
	if err := os.WriteFile(name, text, 0o644); err != nil {
		return err
	}
	name = filepath.Join(r.dir, folder, "go.sum")
	if text, err = os.ReadFile(name); err != nil {
		return err
	}
	lines := append(strings.Split(strings.TrimSpace(string(text)), "\n"), added...)
	slices.Sort(lines)
	return os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}

// checksums are the lines of a go.sum about the module in a folder as it is committed, by the module's path.
func (r repository) checksums(ctx context.Context, version, folder string) (map[string][]string, error) {
	archive, err := os.CreateTemp("", "turncore-release-*.zip")
	if err != nil {
		return nil, err
	}
	defer os.Remove(archive.Name())
	defer archive.Close()
	// Package zip knows no worktrees.
	parent, err := os.MkdirTemp(filepath.Dir(r.dir), "clone-")
	if err != nil {
		return nil, err
	}
	clone := filepath.Join(parent, "clone")
	if _, err := r.git(ctx, "clone", "--quiet", "--no-checkout", "--shared", r.dir, clone); err != nil {
		return nil, err
	}
	name := path.Join(modulePath, folder)
	if err := zip.CreateFromVCS(archive, module.Version{Path: name, Version: version}, clone, "HEAD", folder); err != nil {
		return nil, err
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	all, err := dirhash.HashZip(archive.Name(), dirhash.Hash1)
	if err != nil {
		return nil, err
	}
	// Not what git prints: that is trimmed.
	mod, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return os.Open(filepath.Join(r.dir, folder, "go.mod"))
	})
	if err != nil {
		return nil, err
	}
	return map[string][]string{name: {
		fmt.Sprintf("%s %s %s", name, version, all),
		fmt.Sprintf("%s %s/go.mod %s", name, version, mod),
	}}, nil
}

// checkVersion refuses what the go command would not find as a release of this
// module: no canonical semantic version, or a major that the path lacks.
func checkVersion(version string) error {
	if version == "" || semver.Canonical(version) != version {
		return fmt.Errorf("version %q is not of the form v1.2.3 or v1.2.3-beta.1", version)
	}
	if err := module.Check(modulePath, version); err != nil {
		return fmt.Errorf("version %s does not fit the module path: %w", version, err)
	}
	return nil
}

// ownVersion finds the version that follows the package's own name; in the
// lock file it stands twice, and every dependency has one too.
var ownVersion = regexp.MustCompile(`("name": "turncore",\s*"version": ")[^"]*(")`)

func setVersion(path, version string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !ownVersion.Match(data) {
		return fmt.Errorf("%s: found no version of turncore", path)
	}
	number := strings.TrimPrefix(version, "v")
	return os.WriteFile(path, ownVersion.ReplaceAll(data, []byte("${1}"+number+"${2}")), 0o644)
}

// A repository is a git working tree that commands run in.
type repository struct{ dir string }

func (r repository) git(ctx context.Context, args ...string) (string, error) {
	return r.run(ctx, "git", args...)
}

// run returns what the command wrote to its standard output, trimmed.
func (r repository) run(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = r.dir
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w\n%s", err, bytes.TrimSpace(exit.Stderr))
		}
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
