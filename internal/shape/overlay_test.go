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

func TestFindByHalves(t *testing.T) {
	const (
		head   = "func findfunc(pc uintptr) funcInfo {\n"
		body   = "\tpcOff, ok := datap.textOff(pc)\n"
		lookup = "\tx := uintptr(pcOff) + datap.text - datap.minpc // as in Go\n\tffb := 0\n\tidx := ffb.idx + uint32(ffb.subbuckets[i])\n"
		loop   = "\tfor datap.ftab[idx+1].entryoff <= pcOff {\n"
	)
	got, err := findByHalves(head + findLimit + body + lookup + loop)
	want := head + body + "\tidx, end := uint32(0), uint32(len(datap.ftab)-1)\n\tfor end-idx > 1 {\n" +
		"\t\tif middle := (idx + end) / 2; datap.ftab[middle].entryoff <= pcOff {\n\t\t\tidx = middle\n" +
		"\t\t} else {\n\t\t\tend = middle\n\t\t}\n\t}\n" + loop
	if err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
	for _, source := range []string{"", head + body + lookup + loop, head + findLimit + body + loop, head + findLimit + lookup + lookup} {
		if got, err := findByHalves(source); err == nil {
			t.Errorf("%q became %q", source, got)
		}
	}
}

func TestReplaceOnce(t *testing.T) {
	without := replaceOnce("b", "x")
	if got, err := without("abc"); err != nil || got != "axc" {
		t.Errorf("%q, %v", got, err)
	}
	for _, source := range []string{"", "ac", "bb"} {
		if got, err := without(source); err == nil {
			t.Errorf("%q became %q", source, got)
		}
	}
}
