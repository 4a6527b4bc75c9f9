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
		// The first place, and the only other one.
		"get 0; i32.const 2; i32.lt_u; br_if 0; br 1; end; " +
		"get 1; i32.const 32; i32.sub; tee 1; global.set 0; get 2; i64.load 24; drop; " +
		"get 2; tee 1; global.set 0; get 2; i64.const 65538; i64.store 0; i32.const 0; call 7; " +
		"global.get 0; tee 1; get 2; i32.sub; i32.const 8; i32.ne; i32.or; br_if 2; end; get 2; set 2; " +
		"get 2; i64.load 32; drop; " + leaving
	if got := text(code); got != want || len(types) != 3 {
		t.Errorf("%d locals\n got %s\nwant %s", len(types), got, want)
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
