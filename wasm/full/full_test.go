package full_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/turncore/turncore/wasm/full"
)

func TestModuleTellsWhetherItWasBuilt(t *testing.T) {
	onDisk, err := os.ReadFile(full.Name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	built := err == nil

	module, ok := full.Module()
	if ok != built {
		t.Fatalf("Module reports %v, the folder says %v", ok, built)
	}
	if !bytes.Equal(module, onDisk) {
		t.Fatalf("Module returned %d bytes that differ from the %d on disk", len(module), len(onDisk))
	}
}

func TestModuleReturnsACopy(t *testing.T) {
	first, ok := full.Module()
	if !ok {
		if first != nil {
			t.Fatalf("Module returned %d bytes and said there is no module", len(first))
		}
		return
	}
	first[0] ^= 0xff
	second, _ := full.Module()
	if first[0] == second[0] {
		t.Fatal("a caller's change to the module shows in the next copy")
	}
}
