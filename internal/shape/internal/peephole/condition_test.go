package peephole

import "testing"

func TestPlainBlocks(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nil", "get 1; i64.eqz; if; unreachable; end; end", "block; get 1; i64.const 0; i64.ne; br_if 0; unreachable; end; end"},
		{"a comparison", "get 1; get 1; i64.lt_s; if; drop; end; end", "block; get 1; get 1; i64.ge_s; br_if 0; drop; end; end"},
		{"a negation", "get 0; eqz; if; drop; end; end", "block; get 0; br_if 0; drop; end; end"},
		{"anything", "get 0; if; drop; end; end", "block; get 0; eqz; br_if 0; drop; end; end"},
		{"behind other values", "get 1; get 0; i32.const 3; i32.sub; if; end; drop; end", "get 1; block; get 0; i32.const 3; i32.sub; eqz; br_if 0; end; drop; end"},
		{"what is kept, too", "get 1; tee 1; i64.eqz; if; end; end", "block; get 1; tee 1; i64.const 0; i64.ne; br_if 0; end; end"},
		{"an else", "get 0; if; drop; else; drop; end; end", "get 0; if; drop; else; drop; end; end"},
		{"one in another", "get 0; if; get 0; if; drop; end; else; end; end", "get 0; if; block; get 0; eqz; br_if 0; drop; end; else; end; end"},
		{"what a call says", "call 2; if; drop; end; end", "call 2; if; drop; end; end"},
	} {
		if got := text(plainBlocks(parse(t, c.in))); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}
