package peephole

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

var names = map[byte]string{
	opUnreachable: "unreachable", opNop: "nop", opBlock: "block", opLoop: "loop", opIf: "if", opElse: "else", opEnd: "end",
	opBr: "br", opBrIf: "br_if", opBrTable: "br_table", opReturn: "return", opCall: "call", opDrop: "drop",
	opLocalGet: "get", opLocalSet: "set", opLocalTee: "tee", opGlobalGet: "global.get", opGlobalSet: "global.set",
	opI32Load: "i32.load", opI32Load8U: "i32.load8", opI64Load: "i64.load", opI64Store: "i64.store",
	opI64Store32: "i64.store32", opI64Ne: "i64.ne", opI32Ne: "i32.ne", opI32Or: "i32.or", opI32LtU: "i32.lt_u", opI32GeU: "i32.ge_u", opSelect: "select", opI64Eqz: "i64.eqz", 0x53: "i64.lt_s", 0x59: "i64.ge_s", opPrefixFC: "copy", 0xfd: "fill",
	opI32Const: "i32.const", opI64Const: "i64.const", opI32Eqz: "eqz", opI32Add: "i32.add", opI32Sub: "i32.sub", opI64Add: "i64.add",
	opI32Xor: "i32.xor", opI64Shl: "i64.shl", opI64Popcnt: "i64.popcnt", opI32WrapI64: "wrap", opI64ExtendI32: "extend",
}

// parse reads instructions written as in text, separated by semicolons.
func parse(t *testing.T, source string) []instruction {
	t.Helper()
	var list []instruction
	for _, words := range strings.Split(source, ";") {
		word := strings.Fields(words)
		i := instruction{op: 0xff}
		for _, op := range slices.Sorted(maps.Keys(names)) {
			if names[op] == word[0] {
				i.op = op
			}
		}
		if i.op == 0xff {
			t.Fatalf("there is no %q", word[0])
		}
		for _, operand := range word[1:] {
			var n int64
			if _, err := fmt.Sscan(operand, &n); err != nil {
				t.Fatal(err)
			}
			switch {
			case i.isLoad() || i.isStore():
				i.offset = uint32(n)
			case i.op == opBrTable:
				i.table = append(i.table, uint32(n))
			default:
				i.x = n
			}
		}
		switch i.op {
		case 0xfd:
			i.op, i.x = opPrefixFC, 11
		case opPrefixFC:
			i.x = 10
		}
		if i.op == opBlock || i.op == opLoop || i.op == opIf {
			i.x = noResult
		}
		list = append(list, i)
	}
	return list
}

func text(list []instruction) string {
	var out []string
	for _, i := range list {
		s := names[i.op]
		switch {
		case i.op == opPrefixFC && i.x == 11:
			s = "fill"
		case i.isLoad() || i.isStore():
			s += fmt.Sprint(" ", i.offset)
		case i.op == opBrTable:
			s += strings.Trim(fmt.Sprint(" ", i.table), "[]")
			s = strings.ReplaceAll(s, "[", "")
		case i.op >= opBr && i.op <= opBrIf, i.op == opCall, i.op >= opLocalGet && i.op <= opGlobalSet, i.op == opI32Const, i.op == opI64Const:
			s += fmt.Sprint(" ", i.x)
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func TestNumbers(t *testing.T) {
	for _, v := range []int64{0, 1, 63, 64, -1, -64, -65, 127, 128, 1 << 31, -1 << 31, 1<<63 - 1, -1 << 63, 0x18170004} {
		for _, op := range []byte{opI32Const, opI64Const} {
			made := encode(nil, []instruction{{op: op, x: v}})
			list, err := decode(made)
			if err != nil || len(list) != 1 || list[0].x != v || !bytes.Equal(list[0].raw, made) {
				t.Errorf("%d became %x and %v, %v", v, made, list, err)
			}
		}
	}
}

func TestInstructionsSurvive(t *testing.T) {
	code := []byte("\x02\x40\x03\x40\x20\x00\x0e\x02\x00\x01\x00\x0b\x41\x7f\x04\x7f\x42\x80\x7f\xa7\x05\x41\x80\x01\x0b\x1a" +
		"\x43\x00\x00\x80\x3f\x1a\x44\x00\x00\x00\x00\x00\x00\xf0\x3f\xfc\x06\x1a\x20\x83\x01\x28\x02\x90\x08\x36\x02\x00" +
		"\x3f\x00\x40\x00\x1a\xfc\x0a\x00\x00\xfc\x0b\x00\x10\x81\x02\x11\x03\x00\x0c\x00\x0b\x00\x0b")
	list, err := decode(code)
	if err != nil {
		t.Fatal(err)
	}
	if got := encode(nil, list); !bytes.Equal(got, code) {
		t.Errorf("%x became %x", code, got)
	}
	for k := range list {
		if list[k].op >= opLocalGet && list[k].op <= opI64Const {
			list[k].raw = nil // spelled anew, as changed ones are
			list[k].table = nil
		}
	}
	list = slices.DeleteFunc(list, func(i instruction) bool { return i.op == opMemorySize || i.op == opMemoryGrow })
	got := encode(nil, list)
	if again, err := decode(got); err != nil || text(again) != text(list) {
		t.Errorf("%s became %s, %v", text(list), text(again), err)
	}
}
