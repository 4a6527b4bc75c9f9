package image

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/turncore/turncore/internal/wasmfile"
)

// module puts sections together, each of a kind and a body.
func module(sections ...[]byte) []byte {
	out := []byte(wasmfile.Header)
	for _, s := range sections {
		out = wasmfile.AppendSized(append(out, s[0]), s[1:])
	}
	return out
}

// segmentOf is a segment of memory 0.
func segmentOf(at int64, text string) []byte {
	s := wasmfile.AppendInt([]byte{flagsActive, opI32Const}, at)
	return wasmfile.AppendSized(append(s, opEnd), []byte(text))
}

// dataSection is a section of segments.
func dataSection(segments ...[]byte) []byte {
	return append(binary.AppendUvarint([]byte{wasmfile.Data}, uint64(len(segments))), bytes.Join(segments, nil)...)
}

func TestSplit(t *testing.T) {
	memory := []byte{wasmfile.Memory, 1, 0, 3}
	code := []byte{wasmfile.Code, 0}
	counted := []byte{wasmfile.DataCount, 2}
	image := func(pages int, texts map[int]string) []byte {
		out := make([]byte, pages*pageSize)
		for at, text := range texts {
			copy(out[at:], text)
		}
		return out
	}
	for name, c := range map[string]struct {
		in     []byte
		bare   []byte // nil for a module that is not split
		memory []byte
	}{
		"one segment":              {module(memory, code, dataSection(segmentOf(5, "abc"))), module(memory, code), image(1, map[int]string{5: "abc"})},
		"in a later page":          {module(memory, dataSection(segmentOf(pageSize, "x"))), module(memory), image(2, map[int]string{pageSize: "x"})},
		"up to the end":            {module(memory, dataSection(segmentOf(3*pageSize-2, "yz"))), module(memory), image(3, map[int]string{3*pageSize - 2: "yz"})},
		"the later one counts":     {module(memory, dataSection(segmentOf(1, "abc"), segmentOf(2, "z"))), module(memory), image(1, map[int]string{1: "azc"})},
		"an empty one":             {module(memory, dataSection(segmentOf(1, "a"), segmentOf(3*pageSize, ""))), module(memory), image(1, map[int]string{1: "a"})},
		"segments with names":      {module(memory, counted, code, dataSection(segmentOf(1, "a"), segmentOf(9, "b"))), module(memory, counted, code, dataSection(segmentOf(1, ""), segmentOf(9, ""))), image(1, map[int]string{1: "a", 9: "b"})},
		"beyond the memory":        {in: module(memory, dataSection(segmentOf(3*pageSize-1, "yz")))},
		"an empty one beyond":      {in: module(memory, dataSection(segmentOf(1, "a"), segmentOf(3*pageSize+1, "")))},
		"at a negative place":      {in: module(memory, dataSection(segmentOf(-1, "a")))},
		"at a place of a global":   {in: module(memory, dataSection([]byte{flagsActive, 0x23, 0, opEnd, 1, 'a'}))},
		"at a sum":                 {in: module(memory, dataSection([]byte{flagsActive, opI32Const, 1, opI32Const, 1, 0x6a, opEnd, 1, 'a'}))},
		"a passive segment":        {in: module(memory, counted, dataSection([]byte{1, 1, 'a'}, segmentOf(1, "a")))},
		"of a named memory":        {in: module(memory, dataSection([]byte{2, 0, opI32Const, 1, opEnd, 1, 'a'}))},
		"an imported memory":       {in: module(dataSection(segmentOf(1, "a")))},
		"two memories":             {in: module([]byte{wasmfile.Memory, 2, 0, 3, 0, 3}, dataSection(segmentOf(1, "a")))},
		"shared memory":            {in: module([]byte{wasmfile.Memory, 1, 3, 3, 3}, dataSection(segmentOf(1, "a")))},
		"custom sections behind":   {module(memory, dataSection(segmentOf(1, "a")), []byte{wasmfile.Custom, 1, 'x'}), module(memory), image(1, map[int]string{1: "a"})},
		"code behind the data":     {in: module(memory, dataSection(segmentOf(1, "a")), code)},
		"data twice":               {in: module(memory, dataSection(segmentOf(1, "a")), dataSection(segmentOf(1, "a")))},
		"without data":             {in: module(memory, code)},
		"a segment that is cut":    {in: module(memory, append(dataSection(), 1, flagsActive, opI32Const, 1, opEnd, 9, 'a'))},
		"bytes behind the data":    {in: module(memory, append(dataSection(segmentOf(1, "a")), 0))},
		"a section that is cut":    {in: append(module(memory), wasmfile.Data, 99)},
		"a memory that is cut":     {in: module([]byte{wasmfile.Memory, 1}, dataSection(segmentOf(1, "a")))},
		"no WebAssembly":           {in: []byte("hello, hello")},
		"data as large as nothing": {in: module([]byte{wasmfile.Memory, 1, 0, 0xff, 0xff, 3}, dataSection(segmentOf(1<<30, "a")))},
	} {
		t.Run(name, func(t *testing.T) {
			in := bytes.Clone(c.in)
			bare, image := Split(c.in)
			if (image != nil) != (c.bare != nil) || !bytes.Equal(bare, c.bare) {
				t.Fatalf("%v: %x, want %x", image != nil, bare, c.bare)
			}
			if !bytes.Equal(c.in, in) {
				t.Error("the module was changed")
			}
			if image == nil {
				return
			}
			memory := make([]byte, image.Size)
			if image.Fill(memory); !bytes.Equal(memory, c.memory) {
				t.Errorf("%d bytes of memory, want %d", len(memory), len(c.memory))
			}
		})
	}
}

// Whatever the file says, splitting takes no more memory than the file or the bound, and what is split can be split no
// further.
func FuzzSplit(f *testing.F) {
	f.Add(module([]byte{wasmfile.Memory, 1, 0, 3}, []byte{wasmfile.DataCount, 2}, dataSection(segmentOf(1, "a"), segmentOf(9, "b"))))
	f.Add(module([]byte{wasmfile.Memory, 1, 0, 3}, dataSection(segmentOf(70000, "abc"))))
	f.Fuzz(func(t *testing.T, file []byte) {
		bare, image := Split(file)
		if image == nil {
			return
		}
		if image.Size == 0 || image.Size > maxBytes || image.Size%pageSize != 0 {
			t.Errorf("%d bytes of memory", image.Size)
		}
		image.Fill(make([]byte, image.Size))
		if _, again := Split(bare); again != nil {
			t.Error("it has data still")
		}
	})
}
