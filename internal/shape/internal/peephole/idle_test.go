package peephole

import "testing"

func TestWithoutIdle(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"its own value", "get 1; set 1; get 1; end", "get 1; set 1; get 1; end"},
		{"another's value", "get 1; set 2; get 2; end", "get 1; set 2; get 2; end"},
		{"set twice", "get 1; tee 2; set 2; get 2; end", "get 1; set 2; get 2; end"},
		{"its own value, twice", "get 1; tee 1; set 1; get 1; end", "get 1; set 1; get 1; end"},
		{"set again after a call", "get 1; tee 2; global.set 0; call 7; global.get 0; tee 2; drop; get 2; end", "get 1; global.set 0; call 7; global.get 0; tee 2; drop; get 2; end"},
		{"read before that", "get 1; tee 2; global.set 0; get 2; set 2; get 1; set 2; end", "get 1; tee 2; global.set 0; get 2; set 2; get 1; set 2; end"},
		{"the end", "get 1; tee 2; global.set 0; i32.const 0; return; end", "get 1; global.set 0; i32.const 0; return; end"},
		{"a branch", "block; get 1; tee 2; br_if 0; get 1; set 2; end; get 2; end", "block; get 1; tee 2; br_if 0; get 1; set 2; end; get 2; end"},
		{"a loop", "get 1; tee 2; drop; loop; get 1; set 2; end; end", "get 1; tee 2; drop; loop; get 1; set 2; end; end"},
		{"where a branch leads to", "block; get 1; tee 2; drop; end; get 1; set 2; end", "block; get 1; tee 2; drop; end; get 1; set 2; end"},
	} {
		if got := text(withoutIdle(parse(t, c.in))); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestSingleSteps(t *testing.T) {
	const again = "global.set 0; get 1; i32.const 8; i32.add; global.set 0; i32.const 0; return; end"
	for _, c := range []struct{ name, in, want string }{
		{"a frame", "get 1; i32.const 32; i32.add; tee 1; " + again, "get 1; i32.const 40; i32.add; global.set 0; i32.const 0; return; end"},
		{"no frame", "get 1; i32.const 8; i32.add; global.set 0; i32.const 0; return; end", "get 1; i32.const 8; i32.add; global.set 0; i32.const 0; return; end"},
		{"something else than a sum", "get 1; i32.const 32; i32.sub; tee 1; " + again, "get 1; i32.const 32; i32.sub; tee 1; " + again},
		{"another local", "get 1; i32.const 32; i32.add; tee 2; " + again, "get 1; i32.const 32; i32.add; tee 2; " + again},
	} {
		if got := text(singleSteps(parse(t, c.in))); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}
