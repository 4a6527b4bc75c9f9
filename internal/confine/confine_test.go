package confine

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/turncore/turncore/internal/wasmfile"
)

// module puts sections together.
func module(sections ...[]byte) []byte {
	out := []byte(wasmfile.Header)
	for _, s := range sections {
		out = binary.AppendUvarint(append(out, s[0]), uint64(len(s)-1))
		out = append(out, s[1:]...)
	}
	return out
}

// named is a section with the names of functions.
func named(names ...byte) []byte {
	return wasmfile.AppendSized([]byte{wasmfile.Custom, 4, 'n', 'a', 'm', 'e', 1}, names)
}

// sizes of a table and of memories, as flags, minimum and maximum.
func TestModule(t *testing.T) {
	const pages = 100
	same := []byte{wasmfile.Memory, 1, 1, 2, pages}
	for name, c := range map[string]struct {
		in   []byte
		want []byte // nil for the same
		says string
	}{
		"no WebAssembly":               {in: []byte("hello")},
		"nothing":                      {},
		"without memory and table":     {in: module([]byte{10, 0})},
		"bounded already":              {in: module(same)},
		"unbounded memory":             {in: module([]byte{wasmfile.Memory, 1, 0, 2}), want: module(same)},
		"memory bounded too high":      {in: module([]byte{wasmfile.Memory, 1, 1, 2, 0x80, 0x80, 4}), want: module(same)},
		"memory bounded too low":       {in: module([]byte{wasmfile.Memory, 1, 1, 2, 3}), want: module(same)},
		"memory of padded lengths":     {in: append([]byte(wasmfile.Header), wasmfile.Memory, 0x83, 0x80, 0, 1, 0, 2), want: module(same)},
		"table that can grow":          {in: module([]byte{wasmfile.Table, 1, typeFuncRef, 0, 9}), want: module([]byte{wasmfile.Table, 1, typeFuncRef, 1, 9, 9})},
		"what stands around it":        {in: module([]byte{0, 1, 'x'}, []byte{wasmfile.Memory, 1, 0, 2}, []byte{11, 0}), want: module([]byte{0, 1, 'x'}, same, []byte{11, 0})},
		"memory too large":             {in: module([]byte{wasmfile.Memory, 1, 0, pages + 1}), says: "its memory begins with 101 pages, more than 100"},
		"two memories":                 {in: module([]byte{wasmfile.Memory, 2, 0, 1, 0, 1}), says: "it has 2 memories"},
		"shared memory":                {in: module([]byte{wasmfile.Memory, 1, 3, 1, 1}), says: "it has a memory of kind 3"},
		"two tables":                   {in: module([]byte{wasmfile.Table, 2, typeFuncRef, 0, 1, typeFuncRef, 0, 1}), says: "it has 2 tables"},
		"a large table":                {in: module([]byte{wasmfile.Table, 1, typeFuncRef, 0, 0x81, 0x80, 0x10}), says: "it has a table of 262145 entries"},
		"a table of foreign things":    {in: module([]byte{wasmfile.Table, 1, 0x6f, 0, 1}), says: "it has a table of type 0x6f"},
		"many globals":                 {in: module([]byte{wasmfile.Global, 65}), says: "it has 65 globals"},
		"a struct":                     {in: module([]byte{wasmfile.Type, 1, 0x5f, 0}), says: "it has a type of kind 0x5f"},
		"exceptions":                   {in: module([]byte{13, 0}), says: "it has a section of kind 13"},
		"a section that is cut off":    {in: append([]byte(wasmfile.Header), wasmfile.Memory, 9, 1), says: "malformed"},
		"a memory that is cut off":     {in: module([]byte{wasmfile.Memory, 1, 0}), says: "malformed"},
		"a memory with bytes behind":   {in: module([]byte{wasmfile.Memory, 1, 0, 1, 0}), says: "malformed"},
		"a number without an end":      {in: module([]byte{wasmfile.Memory, 0x80, 0x80, 0x80, 0x80, 0x80, 0}), says: "malformed"},
		"a number beyond 32 bits":      {in: module([]byte{wasmfile.Memory, 1, 0, 0xff, 0xff, 0xff, 0xff, 0x7f}), says: "malformed"},
		"functions with their types":   {in: module([]byte{wasmfile.Type, 2, wasmfile.TypeFunction, 1, 0x7f, 0, wasmfile.TypeFunction, 0, 2, 0x7f, 0x7e})},
		"a type that is cut off":       {in: module([]byte{wasmfile.Type, 1, wasmfile.TypeFunction, 3, 0x7f}), says: "malformed"},
		"names":                        {in: module(named(1, 0, 1, 'f'))},
		"names that lie":               {in: module(named(0xff, 0xff, 0xff, 0xff, 7), same), want: module(same)},
		"a custom section that lies":   {in: module([]byte{wasmfile.Custom, 0xff, 0xff, 7}, same), want: module(same)},
		"types that lie":               {in: module([]byte{wasmfile.Type, 0xff, 0xff, 7}), says: "malformed"},
		"imports that lie":             {in: module([]byte{wasmfile.Import, 0xff, 0xff, 7}), says: "malformed"},
		"functions that lie":           {in: module([]byte{wasmfile.Function, 0xff, 0xff, 7}), says: "malformed"},
		"exports that lie":             {in: module([]byte{wasmfile.Export, 0xff, 0xff, 7}), says: "malformed"},
		"elements that lie":            {in: module([]byte{wasmfile.Element, 1, 1, 0, 0xff, 0xff, 7}), says: "malformed"},
		"data that lies":               {in: module([]byte{wasmfile.Data, 1, 1, 0xff, 0xff, 7}), says: "malformed"},
		"code that lies":               {in: module([]byte{wasmfile.Code, 1, 0xff, 0xff, 7}), says: "malformed"},
		"groups of locals that lie":    {in: module([]byte{wasmfile.Code, 1, 3, 0xff, 0xff, 7}), says: "malformed"},
		"locals that lie":              {in: module([]byte{wasmfile.Code, 1, 5, 1, 0xff, 0xff, 7, 0x7f}), says: "131071 locals, more than 50000"},
		"table and memory without any": {in: module([]byte{wasmfile.Table, 0}, []byte{wasmfile.Memory, 0})},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := Module(c.in, pages)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Fatalf("error %v, want %q", err, c.says)
				}
				return
			}
			want := c.want
			if want == nil {
				want = c.in
			}
			if err != nil || !bytes.Equal(out, want) {
				t.Fatalf("%x, %v; want %x", out, err, want)
			}
			again, err := Module(out, pages)
			if err != nil || len(out) > 0 && &again[0] != &out[0] {
				t.Errorf("a confined module was changed: %x, %v", again, err)
			}
		})
	}
}
