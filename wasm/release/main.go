// Command release makes the commit and the tag of a release.
//
//	go run ./wasm/release v1.2.3
//
// The main branch holds no built modules, but a Go program that requires a
// release must find them in it: the tag points at a commit on top of the current
// one, off every branch, which adds the built modules and sets the npm
// package's version. The branch, the index and the working tree stay as they
// are. Nothing is pushed.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

const (
	modulePath = "github.com/turncore/turncore"
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
	fmt.Printf(`%[1]s is tagged here and not pushed yet.
  git show --stat %[1]s    shows it
  git push origin %[1]s    publishes it for Go
  npm publish              in js/ of a checkout of the tag publishes it for JavaScript
`, version)
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
	if tag, err := repo.git(ctx, "tag", "--list", version); err != nil {
		return err
	} else if tag != "" {
		return fmt.Errorf("tag %s exists", version)
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
	_, err := r.git(ctx, "tag", "--annotate", "--message", "Release "+version, version)
	return err
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
