package wasmtime

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	wt "github.com/bytecodealliance/wasmtime-go/v39"

	"github.com/turncore/turncore/host"
)

// compiled returns the compiled module: that of the cache, if there is one. Wasmtime refuses code of another version of
// its own, of another kind of machine or of other settings, which is then compiled anew.
func (e *Engine) compiled(module []byte) (*wt.Module, error) {
	if e.config.cache == "" {
		return e.compile(module)
	}
	if err := os.MkdirAll(e.config.cache, 0o700); err != nil {
		return e.withoutCache(module, err)
	}
	key := sha256.Sum256(module)
	name := hex.EncodeToString(key[:])
	if e.config.timeout > 0 {
		name += "-epochs"
	}
	file := filepath.Join(e.config.cache, name)
	if code := cachedCode(file); code != nil {
		if m, err := wt.NewModuleDeserialize(e.engine, code); err == nil {
			return m, nil
		}
	}
	m, err := e.compile(module)
	if err != nil {
		return nil, err
	}
	if err := keepCode(file, m); err != nil {
		if e.config.chosen {
			m.Close()
			return nil, cacheError(err)
		}
		noteCache(e.config.cache, err)
	}
	return m, nil
}

// withoutCache compiles the module, unless the user has chosen the folder that cannot be used.
func (e *Engine) withoutCache(module []byte, err error) (*wt.Module, error) {
	if e.config.chosen {
		return nil, cacheError(err)
	}
	noteCache(e.config.cache, err)
	return e.compile(module)
}

func (e *Engine) compile(module []byte) (*wt.Module, error) {
	m, err := wt.NewModule(e.engine, module)
	if err != nil {
		why := flat(err)
		first, _, _ := strings.Cut(why.Error(), "\n")
		return nil, host.NewError(host.CodeInvalidModule, "it does not compile: "+first, why)
	}
	return m, nil
}

func cacheError(err error) error { return fmt.Errorf("compile cache: %w", err) }

func noteCache(dir string, err error) {
	slog.Debug("turncore: compiling without the cache", "dir", dir, "error", err)
}

// cachedCode is the code in a file of the cache, nil for none. Wasmtime trusts the bytes that it is given, so the file
// begins with their SHA-256.
func cachedCode(file string) []byte {
	content, err := os.ReadFile(file)
	if err != nil || len(content) < sha256.Size {
		return nil
	}
	sum, code := content[:sha256.Size], content[sha256.Size:]
	if have := sha256.Sum256(code); !bytes.Equal(have[:], sum) {
		return nil
	}
	return code
}

// keepCode writes a file of the cache, whole or not at all.
func keepCode(file string, m *wt.Module) error {
	code, err := m.Serialize()
	if err != nil {
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(file), "new-*")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name()) // fails once it has its name
	sum := sha256.Sum256(code)
	_, err = out.Write(sum[:])
	if err == nil {
		_, err = out.Write(code)
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), file)
}
