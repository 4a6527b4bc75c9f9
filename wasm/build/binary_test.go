package main

import (
	"encoding/binary"
	"slices"
	"testing"
)

// module puts sections, each an id and its bytes, behind the file's header.
func module(sections ...[]byte) []byte {
	file := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range sections {
		file = append(file, s[0])
		file = binary.AppendUvarint(file, uint64(len(s)-1))
		file = append(file, s[1:]...)
	}
	return file
}

func TestInspect(t *testing.T) {
	file := module(
		[]byte("\x02\x02\x01m\x01f\x00\x00\x01m\x03mem\x02\x01\x01\x02"),
		[]byte("\x07\x01\x03run\x00\x01"),
		[]byte("\x0a\x02\x02\x00\x0b\x04\x00\x01\x01\x0b"),
		[]byte("\x0bdata!"),
		[]byte("\x00\x04name\x01\x0e\x02\x01\x03p.a\x02\x06p_q.bb"),
	)
	info, err := inspect(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"m.f func", "m.mem memory"}; !slices.Equal(info.imports, want) {
		t.Errorf("imports %q, want %q", info.imports, want)
	}
	if want := []string{"run func"}; !slices.Equal(info.exports, want) {
		t.Errorf("exports %q, want %q", info.exports, want)
	}
	if want := []functionSize{{"p.a", 2}, {"p_q.bb", 4}}; !slices.Equal(info.functions, want) {
		t.Errorf("functions %v, want %v", info.functions, want)
	}
	want := []share{{"(data: strings, type descriptions, tables for stack traces)", 5}, {"p", 2}, {"p/q", 4}}
	if got := attribute(info, []string{"p", "p/q"}); !slices.Equal(got, want) {
		t.Errorf("shares %v, want %v", got, want)
	}
}

func TestInspectRefusesWhatIsNoModule(t *testing.T) {
	whole := module([]byte("\x02\x01\x01m\x01f\x00\x00"), []byte("\x07\x01\x03run\x00\x01"))
	if _, err := inspect(whole); err != nil {
		t.Fatal(err)
	}
	for _, file := range [][]byte{nil, []byte("text"), whole[:9], whole[:len(whole)-1], module([]byte("\x07\xff\xff\xff\xff\x0f"))} {
		if _, err := inspect(file); err == nil {
			t.Errorf("inspect took %q", file)
		}
	}
}
