package peephole

import (
	"strings"
	"testing"
)

func TestShorten(t *testing.T) {
	// Local 1 is the stack pointer, 2 and 3 are pointers; new locals are from 4 on.
	types := []byte{typeI32, typeI32, typeI64, typeI64}
	const head = "global.get 0; set 1; "
	for _, c := range []struct{ name, in, want string }{
		{
			"what does nothing",
			"get 2; nop; nop; drop; end",
			"get 2; drop; end",
		},
		{
			"zeroes behind a pointer, the last ones first",
			"get 2; wrap; i32.const 0; i32.const 20; fill; end",
			"get 2; wrap; i64.const 0; i64.store 12; get 2; wrap; i64.const 0; i64.store 8; get 2; wrap; i64.const 0; i64.store 0; end",
		},
		{
			"zeroes in a frame",
			head + "get 1; extend; i64.const 16; i64.add; wrap; i32.const 0; i32.const 8; fill; end",
			head + "get 1; extend; i64.const 16; i64.add; wrap; i64.const 0; i64.store 0; end",
		},
		{
			"zeroes anywhere",
			"get 2; i64.const 1; i64.add; wrap; i32.const 0; i32.const 6; fill; end",
			"get 2; i64.const 1; i64.add; wrap; set 4; get 4; i64.const 0; i64.store32 2; get 4; i64.const 0; i64.store32 0; end",
		},
		{
			"something else than zeroes",
			"get 2; wrap; i32.const 1; i32.const 20; fill; end",
			"get 2; wrap; i32.const 1; i32.const 20; fill; end",
		},
		{
			"too many zeroes",
			"get 2; wrap; i32.const 0; i32.const 129; fill; end",
			"get 2; wrap; i32.const 0; i32.const 129; fill; end",
		},
		{
			"a copy, loaded as a whole before it is stored",
			"get 2; wrap; get 3; wrap; i32.const 16; copy; end",
			"get 3; wrap; i64.load 8; drop; get 2; wrap; get 3; wrap; i64.load 0; get 2; wrap; get 3; wrap; i64.load 8; i64.store 8; i64.store 0; end",
		},
		{
			"a copy from anywhere",
			"get 2; wrap; get 2; i64.load; wrap; i32.const 8; copy; end",
			"get 2; wrap; get 2; i64.load 0; wrap; set 4; set 5; get 4; i64.load 0; drop; get 5; get 4; i64.load 0; i64.store 0; end",
		},
		{
			"a copy of a size that is not known",
			"get 2; wrap; get 3; wrap; get 2; wrap; copy; end",
			"get 2; wrap; get 3; wrap; get 2; wrap; copy; end",
		},
		{
			"a truth value that is compared with zero twice",
			"get 2; i64.eqz; extend; i64.eqz; eqz; if; end; end",
			"get 2; i64.eqz; if; end; end",
		},
		{
			"a comparison that is negated",
			"get 2; get 3; i64.lt_s; extend; i64.eqz; if; end; end",
			"get 2; get 3; i64.ge_s; if; end; end",
		},
		{
			"a truth value that is kept",
			"get 2; i64.eqz; extend; set 3; get 2; i64.eqz; extend; wrap; drop; end",
			"get 2; i64.eqz; extend; set 3; get 2; i64.eqz; drop; end",
		},
		{
			"what is negated twice to become a truth value",
			"get 2; i64.load; wrap; eqz; eqz; extend; set 3; end",
			"get 2; i64.load 0; wrap; eqz; eqz; extend; set 3; end",
		},
		{
			"a panic",
			head + "block; get 2; i64.eqz; if; i32.const 0; call 7; global.get 0; set 1; br_if 1; end; drop; end; end",
			head + "block; get 2; i64.eqz; if; i32.const 0; call 7; return; end; drop; end; end",
		},
		{
			"a call that may return",
			head + "block; block; i32.const 0; call 7; global.get 0; set 1; br_if 1; end; end; end",
			head + "block; block; i32.const 0; call 7; global.get 0; set 1; br_if 1; end; end; end",
		},
		{
			"a call that must not give up the processor",
			head + "get 4; if; i32.const 0; call 7; global.get 0; set 1; if; unreachable; end; end; end",
			head + "get 4; if; i32.const 0; call 7; global.get 0; set 1; if; unreachable; end; end; end",
		},
	} {
		got, after := shorten(parse(t, c.in), types)
		if text(got) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, text(got), c.want)
		}
		if more := strings.Count(c.want, "set 4") + strings.Count(c.want, "set 5"); len(after) != len(types)+more {
			t.Errorf("%s: %d locals", c.name, len(after))
		}
	}
}

func TestWordsCoverTheSize(t *testing.T) {
	for size := int64(1); size <= maxWords*8; size++ {
		var touched [maxWords * 8]bool
		end := uint32(0)
		for _, w := range words(size) {
			load, store := instruction{op: w.load}, instruction{op: w.store}
			if load.size() != store.size() {
				t.Fatalf("%d: loads %d bytes and stores %d", size, load.size(), store.size())
			}
			for at := w.offset; at < w.offset+load.size(); at++ {
				touched[at] = true
			}
			if end = w.offset + load.size(); int64(end) > size {
				t.Errorf("%d: a word ends at %d", size, end)
			}
		}
		for at := range size {
			if !touched[at] {
				t.Errorf("%d: byte %d is left out", size, at)
			}
		}
		if int64(end) != size {
			t.Errorf("%d: the last word is not the one that goes farthest", size)
		}
	}
	if words(0) != nil || words(maxWords*8+1) != nil {
		t.Error("sizes that are none, or too large")
	}
}
