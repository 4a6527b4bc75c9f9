package shape

import "testing"

func TestInlineAtomics(t *testing.T) {
	const (
		load  = "//go:nosplit\n//go:noinline\nfunc Load(ptr *uint32) uint32 {\n\treturn *ptr\n}\n"
		casp1 = "//go:nosplit\n//go:noinline\nfunc Casp1(ptr *unsafe.Pointer, old, new unsafe.Pointer) bool {\n"
	)
	got, err := inlineAtomics(load + casp1)
	if want := "//go:nosplit\nfunc Load(ptr *uint32) uint32 {\n\treturn *ptr\n}\n" + casp1; err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
	for _, source := range []string{"", load, casp1, load + casp1 + casp1, load + casp1 + "//go:noinline\nvar x int\n"} {
		if got, err := inlineAtomics(source); err == nil {
			t.Errorf("%q became %q", source, got)
		}
	}
}
