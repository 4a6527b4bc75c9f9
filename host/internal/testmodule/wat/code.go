package wat

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/turncore/turncore/internal/wasmfile"
)

// Kinds of operands.
const (
	none = iota
	ofBlock
	ofLabel
	ofTable // of labels
	ofFunction
	ofType
	ofLocal
	ofGlobal
	ofMemory // align and offset
	ofI32
	ofI64
	zero  // one byte 0
	zeros // two
)

type instruction struct {
	code    []byte
	operand int
}

var instructions = map[string]instruction{
	"block": {[]byte{0x02}, ofBlock}, "loop": {[]byte{0x03}, ofBlock}, "if": {[]byte{0x04}, ofBlock},
	"br": {[]byte{0x0c}, ofLabel}, "br_if": {[]byte{0x0d}, ofLabel}, "br_table": {[]byte{0x0e}, ofTable},
	"call": {[]byte{0x10}, ofFunction}, "return_call": {[]byte{0x12}, ofFunction}, "ref.func": {[]byte{0xd2}, ofFunction},
	"call_indirect": {[]byte{0x11}, ofType},
	"local.get":     {[]byte{0x20}, ofLocal}, "local.set": {[]byte{0x21}, ofLocal}, "local.tee": {[]byte{0x22}, ofLocal},
	"global.get": {[]byte{0x23}, ofGlobal}, "global.set": {[]byte{0x24}, ofGlobal},
	"i32.const": {[]byte{0x41}, ofI32}, "i64.const": {[]byte{0x42}, ofI64},
	"memory.size": {[]byte{0x3f}, zero}, "memory.grow": {[]byte{0x40}, zero},
	"memory.copy": {[]byte{0xfc, 10}, zeros}, "memory.fill": {[]byte{0xfc, 11}, zero},
	"table.get": {[]byte{0x25}, zero}, "table.set": {[]byte{0x26}, zero}, "table.copy": {[]byte{0xfc, 14}, zeros},
	"table.grow": {[]byte{0xfc, 15}, zero}, "table.size": {[]byte{0xfc, 16}, zero}, "table.fill": {[]byte{0xfc, 17}, zero},
	"ref.null": {[]byte{0xd0, typeFuncRef}, none},
}

func init() {
	for name, code := range map[string]byte{
		"unreachable": 0x00, "nop": 0x01, "else": 0x05, "end": 0x0b, "return": 0x0f, "drop": 0x1a, "select": 0x1b,
		"i32.eqz": 0x45, "i32.eq": 0x46, "i32.ne": 0x47, "i32.lt_u": 0x49, "i32.gt_u": 0x4b, "i32.ge_u": 0x4f, "i64.eqz": 0x50,
		"i32.add": 0x6a, "i32.sub": 0x6b, "i32.mul": 0x6c, "i32.and": 0x71, "i32.or": 0x72, "i32.xor": 0x73, "i32.shl": 0x74,
		"i32.shr_u": 0x76, "i64.add": 0x7c, "i64.mul": 0x7e, "i64.div_u": 0x80, "i64.or": 0x84, "i64.xor": 0x85, "i64.shl": 0x86,
		"i32.wrap_i64": 0xa7, "i64.extend_i32_u": 0xad, "f64.sqrt": 0x9f, "f64.div": 0xa3, "f64.convert_i32_u": 0xb8,
		"i32.trunc_f64_u": 0xab,
	} {
		instructions[name] = instruction{[]byte{code}, none}
	}
	for name, code := range map[string]byte{
		"i32.load": 0x28, "i64.load": 0x29, "i32.load8_u": 0x2d, "i32.store": 0x36, "i64.store": 0x37, "i32.store8": 0x3a,
	} {
		instructions[name] = instruction{[]byte{code}, ofMemory}
	}
}

// code is the code of one function, or a constant expression.
type code struct {
	*assembler
	locals map[string]uint64
	labels []string // from outside
	out    []byte
}

// sequence writes instructions, which may be folded.
func (c *code) sequence(list []node) {
	for len(list) > 0 {
		n := list[0]
		if n.kind == 'l' {
			if len(n.list) == 0 {
				n.fail("an instruction is empty")
			}
			c.folded(n.list)
			list = list[1:]
			continue
		}
		i, operands, rest := c.instruction(list)
		c.write(i, operands)
		list = rest
	}
}

// instruction splits a list into an instruction, its operands, and what follows.
func (c *code) instruction(list []node) (i instruction, operands, rest []node) {
	i, ok := instructions[list[0].word]
	if !ok {
		list[0].fail("the instruction %q is unknown", list[0].word)
	}
	n := 1
	switch i.operand {
	case ofLabel, ofFunction, ofLocal, ofGlobal, ofI32, ofI64:
		n = min(2, len(list))
	case ofBlock:
		for n < len(list) && (list[n].kind == 'w' && list[n].word[0] == '$' || list[n].head() == "result") {
			n++
		}
	case ofType:
		for n < len(list) && (list[n].head() == "param" || list[n].head() == "result") {
			n++
		}
	case ofTable:
		for n < len(list) && list[n].kind == 'w' && (list[n].word[0] == '$' || list[n].word[0] >= '0' && list[n].word[0] <= '9') {
			n++
		}
	case ofMemory:
		for n < len(list) && list[n].kind == 'w' && strings.Contains(list[n].word, "=") {
			n++
		}
	}
	return i, list[:n], list[n:]
}

// folded writes an instruction whose operands are instructions in front of it, or a block with what is in it.
func (c *code) folded(list []node) {
	i, operands, rest := c.instruction(list)
	if i.operand != ofBlock {
		c.sequence(rest)
		c.write(i, operands)
		return
	}
	if list[0].word == "if" {
		for len(rest) > 0 && rest[0].head() != "then" {
			c.sequence(rest[:1])
			rest = rest[1:]
		}
	}
	c.write(i, operands)
	for _, n := range rest {
		switch n.head() {
		case "then":
			c.sequence(n.list[1:])
		case "else":
			c.out = append(c.out, 0x05)
			c.sequence(n.list[1:])
		default:
			c.sequence([]node{n})
		}
	}
	c.write(instructions["end"], []node{{kind: 'w', word: "end"}})
}

// write writes an instruction with its operands; list begins with its name.
func (c *code) write(i instruction, list []node) {
	c.out = append(c.out, i.code...)
	if len(list) < 2 && (i.operand >= ofLabel && i.operand <= ofGlobal && i.operand != ofType || i.operand == ofI32 || i.operand == ofI64) {
		list[0].fail("%s has no operand", list[0].word)
	}
	switch i.operand {
	case none:
		if list[0].word == "end" && len(c.labels) > 0 {
			c.labels = c.labels[:len(c.labels)-1]
		}
	case ofBlock:
		label, result := "", byte(0x40)
		for _, n := range list[1:] {
			if n.kind == 'w' {
				label = n.word
			} else {
				result = typeOf(n.list[1])
			}
		}
		c.labels = append(c.labels, label)
		c.out = append(c.out, result)
	case ofLabel:
		c.uint(c.label(list[1]))
	case ofTable:
		c.uint(uint64(len(list) - 2))
		for _, n := range list[1:] {
			c.uint(c.label(n))
		}
	case ofFunction:
		c.uint(find(c.functions, list[1]))
	case ofType:
		params, results, _, _ := signature(list[1:])
		c.uint(c.typeIndex(params, results))
		c.uint(0)
	case ofLocal:
		c.uint(find(c.locals, list[1]))
	case ofGlobal:
		c.uint(find(c.globals, list[1]))
	case ofMemory:
		offset := uint64(0)
		for _, n := range list[1:] {
			if text, ok := strings.CutPrefix(n.word, "offset="); ok {
				offset = number(n, text)
			}
		}
		c.uint(0)
		c.uint(offset)
	case ofI32:
		c.out = wasmfile.AppendInt(c.out, int64(int32(uint32(c.constantOf(list[1])))))
	case ofI64:
		c.out = wasmfile.AppendInt(c.out, int64(c.constantOf(list[1])))
	case zero:
		c.out = append(c.out, 0)
	case zeros:
		c.out = append(c.out, 0, 0)
	}
}

func (c *code) uint(n uint64) { c.out = binary.AppendUvarint(c.out, n) }

// label is the depth of a label.
func (c *code) label(n node) uint64 {
	for depth := range c.labels {
		if l := c.labels[len(c.labels)-1-depth]; l != "" && l == n.word {
			return uint64(depth)
		}
	}
	return number(n, n.word)
}

// find is the index of something with a name, or of a number.
func find(names map[string]uint64, n node) uint64 {
	if i, ok := names[n.word]; ok {
		return i
	}
	return number(n, n.word)
}

// number reads a number, also a negative one.
func number(n node, text string) uint64 {
	text = strings.ReplaceAll(text, "_", "")
	if v, err := strconv.ParseInt(text, 0, 64); err == nil {
		return uint64(v)
	}
	v, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		n.fail("%q is no number, and nothing has that name", text)
	}
	return v
}

// constantOf is a number, or size:name for the size of the bytes with that name.
func (c *code) constantOf(n node) uint64 {
	if name, ok := strings.CutPrefix(n.word, "size:"); ok {
		return uint64(len(c.named[name]))
	}
	return number(n, n.word)
}
