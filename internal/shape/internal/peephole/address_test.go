package peephole

import "testing"

func TestAddresses(t *testing.T) {
	// Local 1 is the stack pointer, 2 and 3 are pointers, 4 is none; new locals are from 5 on.
	types := []byte{typeI32, typeI32, typeI64, typeI64, typeI32}
	const head = "global.get 0; set 1; "
	for _, c := range []struct{ name, in, want string }{
		{
			"a pointer's fields, the last one first",
			"get 2; wrap; i64.load 24; drop; get 2; wrap; i64.load 8; drop; end",
			"get 2; wrap; tee 5; i64.load 24; drop; get 5; i64.load 8; drop; end",
		},
		{
			"a pointer's fields, the first one first",
			"get 2; wrap; i64.load 8; drop; get 2; wrap; i32.load 24; drop; end",
			"get 2; wrap; tee 5; i32.load8 27; drop; get 5; i64.load 8; drop; get 5; i32.load 24; drop; end",
		},
		{
			"a field loaded to be stored",
			"get 2; wrap; get 2; wrap; i64.load; i64.const 1; i64.add; i64.store; end",
			"get 2; wrap; tee 5; get 5; i64.load 0; i64.const 1; i64.add; i64.store 0; end",
		},
		{
			"no farther than what surely follows",
			"get 2; wrap; i64.load 8; drop; get 4; br_if 0; get 2; wrap; i64.load 16; drop; end",
			"get 2; wrap; tee 5; i64.load 8; drop; get 4; br_if 0; get 5; i64.load 16; drop; end",
		},
		{
			"another value in the local",
			"get 2; wrap; i64.load 8; set 2; get 2; wrap; i64.load 16; set 2; end",
			"get 2; wrap; i64.load 8; set 2; get 2; wrap; i64.load 16; set 2; end",
		},
		{
			"two pointers",
			"get 2; wrap; i64.load; drop; get 3; wrap; i64.load; drop; get 3; wrap; i64.load; drop; get 2; wrap; i64.load; drop; end",
			"get 2; wrap; tee 5; i64.load 0; drop; get 3; wrap; tee 6; i64.load 0; drop; get 6; i64.load 0; drop; get 5; i64.load 0; drop; end",
		},
		{
			"a block's end may be reached from elsewhere",
			"get 2; wrap; i64.load; drop; block; end; get 2; wrap; i64.load; drop; end",
			"get 2; wrap; i64.load 0; drop; block; end; get 2; wrap; i64.load 0; drop; end",
		},
		{
			"so may an if's",
			"get 2; wrap; i64.load; drop; get 4; if; drop; end; get 2; wrap; i64.load; drop; end",
			"get 2; wrap; i64.load 0; drop; get 4; if; drop; end; get 2; wrap; i64.load 0; drop; end",
		},
		{
			"but not when the if ends with a branch",
			"get 2; wrap; i64.load; drop; get 4; if; get 2; wrap; i64.load; set 2; br 1; end; get 2; wrap; i64.load; drop; end",
			"get 2; wrap; tee 5; i64.load 0; drop; get 4; if; get 2; wrap; i64.load 0; set 2; br 1; end; get 5; i64.load 0; drop; end",
		},
		{
			"unless another branch in it goes to its end",
			"get 2; wrap; i64.load; drop; get 4; if; get 3; set 2; get 4; br_if 0; br 1; end; get 2; wrap; i64.load; drop; end",
			"get 2; wrap; i64.load 0; drop; get 4; if; get 3; set 2; get 4; br_if 0; br 1; end; get 2; wrap; i64.load 0; drop; end",
		},
		{
			"with an else it is reached from within",
			"get 2; wrap; i64.load; drop; get 4; if; set 2; else; br 1; end; get 2; wrap; i64.load; drop; end",
			"get 2; wrap; i64.load 0; drop; get 4; if; set 2; else; br 1; end; get 2; wrap; i64.load 0; drop; end",
		},
		{
			"data",
			"i64.const 4096; wrap; i64.load 8; drop; i32.const 4000; i64.const 7; i64.store; end",
			"get 5; i64.load 4104; drop; get 5; i64.const 7; i64.store 4000; end",
		},
		{
			"a frame",
			head + "get 1; i64.load 8; drop; get 4; br_if 0; get 1; extend; i64.const 32; i64.add; wrap; i64.load 8; drop; end",
			head + "get 1; i32.load8 47; drop; get 1; i64.load 8; drop; get 4; br_if 0; get 1; i64.load 40; drop; end",
		},
		{
			"a frame and a call",
			head + "get 1; i64.load 8; drop; get 1; i32.const 8; i32.sub; tee 1; global.set 0; get 1; i64.const 99; i64.store; i32.const 0; call 7; global.get 0; set 1; get 1; i64.load 8; drop; end",
			head + "get 1; i32.const 8; i32.sub; tee 2; i64.load 16; drop; get 2; tee 1; global.set 0; get 2; i64.const 99; i64.store 0; i32.const 0; call 7; global.get 0; set 1; get 1; i64.load 8; drop; end",
		},
		{
			"an address that something else was done to",
			"get 2; wrap; i32.const 1; i32.add; i64.load; drop; get 2; wrap; eqz; drop; get 2; i64.const 1; i64.add; wrap; i64.load; drop; end",
			"get 2; wrap; i32.const 1; i32.add; i64.load 0; drop; get 2; wrap; eqz; drop; get 2; i64.const 1; i64.add; wrap; i64.load 0; drop; end",
		},
		{
			"constants that are no addresses",
			"i32.const -8; i64.load 8; drop; i32.const -8; i64.load 8; drop; end",
			"i32.const -8; i64.load 8; drop; i32.const -8; i64.load 8; drop; end",
		},
	} {
		got, after := shareAddresses(parse(t, c.in), types)
		if text(got) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, text(got), c.want)
		}
		if fresh := text(got) != text(parse(t, c.in)); fresh && c.name != "a frame" && len(after) == len(types) {
			t.Errorf("%s: no local for it", c.name)
		}
	}
}
