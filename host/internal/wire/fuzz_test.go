package wire

import (
	"bytes"
	"encoding/hex"
	"runtime"
	"strings"
	"testing"
)

// hostile are bytes that claim much, nest deep or repeat keys.
func hostile() map[string][]byte {
	head := []byte{0xdc, 0x20, 0x00}
	claims := bytes.Repeat(head, 60)
	return map[string][]byte{
		"lists that claim what follows": append(claims, bytes.Repeat([]byte{0xc0}, 8192)...),
		"maps that claim what follows":  append(bytes.Repeat([]byte{0xde, 0x20, 0x00, 0xa0}, 60), bytes.Repeat([]byte{0xc0}, 16384)...),
		"list of empty lists":           append(head, bytes.Repeat([]byte{0x90}, 8192)...),
		"list of empty maps":            append(head, bytes.Repeat([]byte{0x80}, 8192)...),
		"list of nils":                  append(head, bytes.Repeat([]byte{0xc0}, 8192)...),
		"one key again and again":       append([]byte{0xde, 0x20, 0x00}, bytes.Repeat([]byte{0xa0, 0xc0}, 8192)...),
		"indexes in the wrong order":    append([]byte{0xde, 0x02, 0x00}, bytes.Repeat([]byte{0xa1, '1', 0xc0, 0xa1, '0', 0xc0}, 256)...),
		"list of maps of one member":    append(head, bytes.Repeat([]byte{0x81, 0xa0, 0xc0}, 8192)...),
		"one-letter strings":            append(head, bytes.Repeat([]byte{0xa1, 'x'}, 8192)...),
		"lists of lists of lists":       append(head, bytes.Repeat([]byte{0x91, 0x91, 0x90}, 8192)...),
	}
}

// reading returns how many bytes Read allocates.
func reading(b []byte) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _ = Read(b)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// budget is what Read may allocate: a map of one member takes Go 336 bytes, three of the encoding.
func budget(b []byte) uint64 { return uint64(1<<20 + 128*len(b)) }

func TestReadIsFrugal(t *testing.T) {
	for name, b := range hostile() {
		if got, budget := reading(b), budget(b); got > budget {
			t.Errorf("%s: %d bytes make Read allocate %d, more than %d", name, len(b), got, budget)
		}
	}
}

// FuzzRead reads any bytes: nothing panics or allocates beyond the budget, and what is read can be written and read
// again.
func FuzzRead(f *testing.F) {
	for _, b := range hostile() {
		if len(b) < 4096 {
			f.Add(b)
		}
	}
	for s := range strings.FieldsSeq("c0 c3 05 d0df cb3fe0000000000000 a161 c40100 93 01a161c0 82a13102a16201 81a16181a16281a16390 cf001fffffffffffff") {
		b, err := hex.DecodeString(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		budget := budget(b)
		for try := 0; reading(b) > budget; try++ { // other goroutines of the fuzzer allocate too
			if try == 3 {
				t.Fatalf("%d bytes make Read allocate more than %d", len(b), budget)
			}
		}
		v, err := Read(b)
		if err != nil {
			return
		}
		once, err := Append(nil, v, "v")
		if err != nil {
			if _, ok := err.(*Error); !ok {
				t.Fatalf("error %T: %v", err, err)
			}
			return // a value may hold what a writer refuses: NaN, or 61 levels
		}
		again, err := Read(once)
		if err != nil {
			t.Fatalf("%x became %x, which is refused: %v", b, once, err)
		}
		if twice, err := Append(nil, again, "v"); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%x becomes %x becomes %x, %v", b, once, twice, err)
		}
	})
}
