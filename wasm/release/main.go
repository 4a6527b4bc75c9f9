// Command release makes the commit and the tag of a release.
//
//	go -C wasm/release run . v1.2.3
//
// The main branch holds no built modules, but a Go program that requires a release must find them in it: the tag points
// at a commit on top of the current one, off every branch, which adds the built modules, sets the npm package's
// version, and has the command require the library of this version. The branch, the index and the working tree stay as
// they are. Nothing is pushed. It is a module of its own, so that who uses Turncore does not get what it needs.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
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
	modulePath = "github.com/turncore/turncore"
	// commandFolder holds the module of the command, which requires that of the library.
	commandFolder = "host/cmd/turncore"
)

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
	fmt.Printf(`%[1]s and %[2]s are tagged here and not pushed yet.
  git show --stat %[1]s           shows it
  git push origin %[1]s %[2]s     publishes it for Go
  npm publish                     in js/ of a checkout of the tag publishes it for JavaScript
`, version, commandTag(version))
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
	for _, name := range []string{version, commandTag(version)} {
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

// commandTag is the tag of the command's module.
func commandTag(version string) string { return commandFolder + "/" + version }

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
	// The library's checksum is that of the commit, of which the command's folder is no part.
	if err := r.requireRelease(ctx, version); err != nil {
		return err
	}
	if _, err := r.git(ctx, "add", commandFolder); err != nil {
		return err
	}
	if _, err := r.git(ctx, "commit", "--quiet", "--no-verify", "--amend", "--no-edit"); err != nil {
		return err
	}
	for _, name := range []string{version, commandTag(version)} {
		if _, err := r.git(ctx, "tag", "--annotate", "--message", "Release "+version, name); err != nil {
			return err
		}
	}
	return nil
}

// requireRelease has the command require the library as it is committed, in place of the one beside it.
func (r repository) requireRelease(ctx context.Context, version string) error {
	path := filepath.Join(r.dir, commandFolder, "go.mod")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	file, err := modfile.Parse(path, text, nil)
	if err != nil {
		return err
	}
	if err := file.DropReplace(modulePath, ""); err != nil {
		return err
	}
	if err := file.AddRequire(modulePath, version); err != nil {
		return err
	}
	file.Cleanup()
	if text, err = file.Format(); err != nil {
		return err
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return err
	}
	sums, err := r.checksums(ctx, version)
	if err != nil {
		return err
	}
	path = filepath.Join(r.dir, commandFolder, "go.sum")
	if text, err = os.ReadFile(path); err != nil {
		return err
	}
	lines := append(strings.Split(strings.TrimSpace(string(text)), "\n"), sums...)
	slices.Sort(lines)
	return os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}

// checksums are the lines of a go.sum about the library as it is committed.
func (r repository) checksums(ctx context.Context, version string) ([]string, error) {
	archive, err := os.CreateTemp("", "turncore-release-*.zip")
	if err != nil {
		return nil, err
	}
	defer os.Remove(archive.Name())
	defer archive.Close()
	// Package zip knows no worktrees.
	clone := filepath.Join(filepath.Dir(r.dir), "clone")
	if _, err := r.git(ctx, "clone", "--quiet", "--no-checkout", "--shared", r.dir, clone); err != nil {
		return nil, err
	}
	if err := zip.CreateFromVCS(archive, module.Version{Path: modulePath, Version: version}, clone, "HEAD", ""); err != nil {
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
		return os.Open(filepath.Join(r.dir, "go.mod"))
	})
	if err != nil {
		return nil, err
	}
	return []string{
		fmt.Sprintf("%s %s %s", modulePath, version, all),
		fmt.Sprintf("%s %s/go.mod %s", modulePath, version, mod),
	}, nil
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
