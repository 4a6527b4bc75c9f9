package peephole

import "testing"

func TestJumps(t *testing.T) {
	// Three places; the table sends 0 to the first, 1 and 2 to the second, everything else to the third.
	const head = "global.get 0; set 1; block; loop; block; block; block; get 0; br_table 0 1 1 2; end; "
	for _, c := range []struct{ name, in, want string }{
		{
			"forward",
			head + "i32.const 3; set 0; br 2; end; drop; end; end; unreachable; end; i32.const 1; end",
			head + "br 1; end; drop; end; end; unreachable; end; i32.const 1; end",
		},
		{
			"to the next place",
			head + "i32.const 2; set 0; br 2; end; drop; end; end; unreachable; end; end",
			head + "br 0; end; drop; end; end; unreachable; end; end",
		},
		{
			"forward out of an if that holds nothing else",
			head + "get 5; if; i32.const 9; set 0; br 3; end; drop; end; end; end; unreachable; end; end",
			head + "get 5; br_if 1; drop; end; end; end; unreachable; end; end",
		},
		{
			"forward out of an if that holds more",
			head + "get 5; if; drop; i32.const 9; set 0; br 3; end; drop; end; end; end; unreachable; end; end",
			head + "get 5; if; drop; br 2; end; drop; end; end; end; unreachable; end; end",
		},
		{
			"one branch of an if",
			head + "get 5; if; i32.const 9; set 0; br 3; else; drop; end; drop; end; end; end; unreachable; end; end",
			head + "get 5; if; br 2; else; drop; end; drop; end; end; end; unreachable; end; end",
		},
		{
			"back",
			head + "end; i32.const 1; set 0; br 1; end; i32.const 0; set 0; br 0; end; unreachable; end; end",
			head + "end; i32.const 1; set 0; br 1; end; i32.const 0; set 0; br 0; end; unreachable; end; end",
		},
		{
			"not to the table",
			head + "i32.const 3; set 0; br 3; end; end; end; unreachable; end; end",
			head + "i32.const 3; set 0; br 3; end; end; end; unreachable; end; end",
		},
		{
			"a function that keeps a target in local 0 for a moment",
			head + "set 0; i32.const 0; get 0; i32.const 3; set 0; br 2; end; end; end; unreachable; end; end",
			head + "set 0; i32.const 0; get 0; br 1; end; end; end; unreachable; end; end",
		},
		{
			"a function that reads local 0",
			head + "get 0; drop; i32.const 3; set 0; br 2; end; end; end; unreachable; end; end",
			head + "get 0; drop; i32.const 3; set 0; br 2; end; end; end; unreachable; end; end",
		},
		{
			"a function without a loop",
			"block; block; get 0; br_table 0 0; end; i32.const 0; set 0; br 0; end; end",
			"block; block; get 0; br_table 0 0; end; i32.const 0; set 0; br 0; end; end",
		},
	} {
		if got := text(directBranches(parse(t, c.in))); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}
