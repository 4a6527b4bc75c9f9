package peephole

import "testing"

func TestPlainBlocks(t *testing.T) {
	types := []byte{typeI32, typeI64}
	for _, c := range []struct{ name, in, want string }{
		{"nil", "get 1; i64.eqz; if; unreachable; end; end", "get 1; i64.const 0; i64.ne; set 2; block; get 2; br_if 0; unreachable; end; end"},
		{"a comparison", "get 1; get 1; i64.lt_s; if; drop; end; end", "get 1; get 1; i64.ge_s; set 2; block; get 2; br_if 0; drop; end; end"},
		{"a negation", "get 0; eqz; if; drop; end; end", "get 0; set 2; block; get 2; br_if 0; drop; end; end"},
		{"anything", "get 0; if; drop; end; end", "get 0; eqz; set 2; block; get 2; br_if 0; drop; end; end"},
		{"an else", "get 0; if; drop; else; drop; end; end", "get 0; if; drop; else; drop; end; end"},
		{"one in another", "get 0; if; get 0; if; drop; end; else; end; end", "get 0; if; get 0; eqz; set 2; block; get 2; br_if 0; drop; end; else; end; end"},
	} {
		got, after := plainBlocks(parse(t, c.in), types)
		if text(got) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, text(got), c.want)
		}
		if more := len(after) - len(types); more > 1 || (more == 0) != (c.in == c.want) {
			t.Errorf("%s: %d more locals", c.name, more)
		}
	}
}
