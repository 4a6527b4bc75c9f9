package peephole

import (
	"strings"
	"testing"
)

const (
	framed = "global.get 0; set 1; block; loop; block; block; get 0; br_table 0 0 1; end; " +
		"get 1; i32.const 32; i32.sub; tee 1; global.set 0; "
	calling = "get 1; i32.const 8; i32.sub; tee 1; global.set 0; get 1; i64.const 65538; i64.store; i32.const 0; call 7; global.get 0; set 1; br_if 2; end; "
	leaving = "get 1; i32.const 32; i32.add; tee 1; global.set 0; i32.const 0; return; end; unreachable; end; i32.const 1; end"
)

func TestFrame(t *testing.T) {
	code, types := shareAddresses(parse(t, framed+"get 1; i64.load 16; drop; "+calling+"get 1; i64.load 24; drop; "+leaving), []byte{typeI32, typeI32})
	want := "global.get 0; set 1; block; loop; block; block; " +
		// The base, 8 below the frame, which the first place has yet to make.
		"get 1; i32.const 40; i32.const 8; get 0; i32.const 2; i32.lt_u; select; i32.sub; tee 2; i32.load8 39; drop; " +
		// The function's number, for return addresses.
		"i64.const 65536; set 4; " +
		// The first place, and the only other one.
		"get 0; i32.const 2; i32.lt_u; br_if 0; br 1; end; " +
		"get 1; i32.const 32; i32.sub; tee 1; global.set 0; get 2; i64.load 24; drop; " +
		"get 2; tee 1; global.set 0; get 2; get 4; i64.const 2; i64.add; i64.store 0; i32.const 0; call 7; " +
		"global.get 0; tee 1; get 2; i32.sub; i32.const 8; i32.ne; i32.or; br_if 2; end; get 2; set 2; " +
		"get 2; i64.load 32; drop; " + leaving
	if got := text(code); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	// The stack pointer, the base, the address that this function does not have, its number.
	if got := string(types); got != string([]byte{typeI32, typeI32, typeI32, typeI32, typeI64}) {
		t.Errorf("locals of the types %x", got)
	}
}

func TestBranchTo(t *testing.T) {
	const count = "get 0; i32.const -1; i32.xor; extend; i64.shl; i64.popcnt; wrap; set 0; "
	var many []place
	for n := range int64(9) {
		many = append(many, place{n, n})
	}
	for _, c := range []struct {
		name   string
		places []place
		want   string
	}{
		{"one", []place{{70, 3}}, "br 3"},
		{"one of several numbers", []place{{4, 3}, {5, 3}}, "br 3"},
		{"two", []place{{1, 1}, {5, 2}}, "i64.const 34; " + count + "get 0; i32.const 2; i32.lt_u; br_if 1; br 2"},
		{
			"three, the second one of two numbers",
			[]place{{2, 1}, {5, 2}, {6, 2}, {7, 4}},
			"i64.const 164; " + count + "get 0; i32.const 2; i32.lt_u; br_if 1; get 0; i32.const 3; i32.lt_u; br_if 2; br 4",
		},
		{
			"two windows",
			[]place{{1, 1}, {64, 2}, {127, 3}},
			"block; get 0; i32.const 64; i32.ge_u; br_if 0; br 2; end; " +
				"i64.const -9223372036854775807; " + count + "get 0; i32.const 2; i32.lt_u; br_if 2; br 3",
		},
		{
			"more than a few", many,
			"i64.const 511; " + count + "block; get 0; i32.const 9; i32.ge_u; br_if 0; " +
				"get 0; i32.const 2; i32.lt_u; br_if 1; get 0; i32.const 3; i32.lt_u; br_if 2; get 0; i32.const 4; i32.lt_u; br_if 3; " +
				"get 0; i32.const 5; i32.lt_u; br_if 4; get 0; i32.const 6; i32.lt_u; br_if 5; get 0; i32.const 7; i32.lt_u; br_if 6; " +
				"get 0; i32.const 8; i32.lt_u; br_if 7; br 8; end; br 8",
		},
	} {
		if got := text(branchTo(nil, c.places)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// What wazero needs to know a base again is still there after the passes that follow.
func TestFrameKeepsItsBaseWhereBlocksMeet(t *testing.T) {
	code, _ := improve(parse(t, framed+"get 1; i64.load 16; drop; "+calling+"get 1; i64.load 24; drop; "+leaving), []byte{typeI32, typeI32})
	if got := text(code); !strings.Contains(got, "br_if 2; end; get 2; set 2; get 2; i64.load 32; ") {
		t.Errorf("got %s", got)
	}
}

func TestFramesThatAreLeftAlone(t *testing.T) {
	for name, source := range map[string]string{
		"the stack pointer is set":          framed + "i32.const 4; tee 1; global.set 0; " + calling + leaving,
		"it is lowered twice":               framed + "get 1; i32.const 32; i32.sub; tee 1; global.set 0; " + calling + leaving,
		"it is taken from elsewhere":        framed + "global.get 0; set 1; drop; drop; drop; " + calling + leaving,
		"a call within an if may return":    framed + "get 0; if; " + strings.TrimSuffix(calling, "end; ") + "end; end; " + leaving,
		"the function does not keep it":     strings.TrimPrefix(framed, "global.get 0; set 1; ") + calling + leaving,
		"the function has no loop":          strings.Replace(framed, "loop; ", "", 1) + calling + leaving,
		"local 0 is read besides the table": framed + "get 0; drop; " + calling + leaving,
	} {
		if f := findFrame(parse(t, source)); f != nil {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
