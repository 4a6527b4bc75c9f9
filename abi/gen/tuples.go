package main

import (
	"bytes"
	"fmt"
	"go/constant"
	"regexp"
	"slices"
	"strings"
)

// The TypeScript codec. A host reads what the module sends and writes what the module reads: only that half of each
// tuple is generated, and a tuple that neither side sends is an error.

// recordFile declares the records.
const recordFile = "record.go"

// alsoRead lists tuples that a host reads although no constant's comment names them.
var alsoRead = []string{
	"ToolDef", // of SyncDefine
}

// alsoWritten lists the payloads of events that host code emits with EmitArgs, and the journal's description of a
// runner.
var alsoWritten = []string{"StreamEvent", "ToolCallEvent", "ToolStartEvent", "ToolEndEvent", "ErrorEvent", "Reply"}

// choices are fields of any type whose tuple depends on another field's value, according to the comments of its
// constants.
var choices = map[string]struct{ field, by, group string }{
	"Event":  {"Payload", "Kind", "EventKind"},
	"Effect": {"Args", "Kind", "EffectKind"},
	"Call":   {"Args", "Method", "Method"},
}

// onlyOf are strings that only one alternative of a choice needs. JavaScript reads them as empty for the others: making
// a string costs more than all else of a small frame.
var onlyOf = map[string]string{"Effect.Path": "Tool"}

// tsCodec holds the data for the TypeScript codec.
type tsCodec struct {
	*source
	read, written map[string]bool
	values        map[string]bool // tuples read from values: results of methods, since a Reply does not name its method
	raw           map[string]bool // tuples that contain, at any depth, a value of any kind
	b             bytes.Buffer
	records       bytes.Buffer // the writers of records
}

var tupleWord = regexp.MustCompile(`\b[A-Z]\w+`)

// named returns the tuples that a comment names, in order.
func (s *source) named(text string) []string {
	var names []string
	for _, word := range tupleWord.FindAllString(text, -1) {
		if s.find(word) != nil {
			names = append(names, word)
		}
	}
	return names
}

// payload returns the tuple that a constant's comment names, empty if there is none.
func (s *source) payload(c enumerator) string {
	args, _, _ := strings.Cut(c.Doc, "→")
	if names := s.named(args); len(names) > 0 {
		return names[0]
	}
	return ""
}

func newTSCodec(s *source) (*tsCodec, error) {
	c := &tsCodec{source: s, read: map[string]bool{}, written: map[string]bool{}, values: map[string]bool{}, raw: map[string]bool{}}
	for _, name := range append(alsoRead, alsoWritten...) {
		if s.find(name) == nil {
			return nil, fmt.Errorf("there is no tuple %s, which the generator names", name)
		}
	}
	mark(s, c.read, alsoRead...)
	mark(s, c.written, alsoWritten...)
	for _, t := range s.types {
		switch {
		case t.Op >= 32:
			mark(s, c.read, t.Name)
		case t.Op > 0:
			mark(s, c.written, t.Name)
		case t.File == recordFile:
			mark(s, c.written, t.Name)
			if t.Fields[0].Name != "Part" {
				mark(s, c.read, t.Name)
			}
		}
	}
	mark(s, c.read, "ErrorValue")
	for _, g := range s.groups {
		for _, k := range g.Consts {
			args, value, _ := strings.Cut(k.Doc, "→")
			switch g.Name {
			case "SessionEffect":
				mark(s, c.read, s.named(args)...)
				mark(s, c.values, s.named(args)...)
			case "Method", "SessionMethod":
				mark(s, c.written, s.named(args)...)
				mark(s, c.read, s.named(value)...)
				mark(s, c.values, s.named(value)...)
			case "EffectKind":
				mark(s, c.read, s.named(args)...)
				mark(s, c.written, s.named(value)...)
			case "EventKind":
				mark(s, c.read, s.named(args)...)
			}
		}
	}
	for _, t := range s.types {
		if !c.read[t.Name] && !c.written[t.Name] {
			return nil, fmt.Errorf("tuple %s is sent by nobody: no frame or record holds it, and no constant's comment names it", t.Name)
		}
	}
	for again := true; again; {
		again = false
		for _, t := range s.types {
			for _, f := range t.Fields {
				base := strings.TrimRight(f.Type, "?[]")
				any := f.Type == "raw" || f.Type == "value" || f.Type == "bin?" || c.raw[base]
				if any && !c.raw[t.Name] {
					c.raw[t.Name], again = true, true
				}
			}
		}
	}
	return c, nil
}

// mark adds tuples and the tuples in them.
func mark(s *source, set map[string]bool, names ...string) {
	for _, name := range names {
		t := s.find(name)
		if t == nil || set[name] {
			continue
		}
		set[name] = true
		for _, f := range t.Fields {
			mark(s, set, strings.TrimRight(f.Type, "?[]"))
		}
	}
}

// tag returns the constant at the start of a tuple, such as Op.Call; empty if there is none.
func (s *source) tag(t *tuple) string {
	if t.Op != 0 {
		return "Op." + t.Name
	}
	if f := t.Fields[0]; f.Name == "Part" && strings.HasPrefix(f.Doc, "Part") {
		return "Part." + strings.TrimPrefix(f.Doc, "Part")
	}
	return ""
}

// tagLiteral is that constant in code that is downloaded: an op as its number, so that pages do not download the names.
func (s *source) tagLiteral(t *tuple) string {
	if t.Op != 0 {
		return fmt.Sprintf("%d /* %s */", t.Op, s.tag(t))
	}
	return s.tag(t)
}

// literal is the number of a constant as TypeScript: bundlers keep the names of groups, but not those in comments.
func (s *source) literal(group, name string) string {
	consts := s.group(group).Consts
	at := slices.IndexFunc(consts, func(e enumerator) bool { return e.Name == name })
	return fmt.Sprintf("%s /* %s.%s */", consts[at].Value, group, name)
}

// generic reports whether a tuple's type depends on the direction: values of any kind are read as data and written by
// functions.
func (c *tsCodec) generic(name string) bool { return c.read[name] && c.written[name] && c.raw[name] }

// tsType is the TypeScript type of a field of the tuple.
func (c *tsCodec) tsType(t *tuple, kind string) string {
	if rest, ok := strings.CutSuffix(kind, "[]"); ok {
		item := c.tsType(t, rest)
		if strings.Contains(item, " ") {
			item = "(" + item + ")"
		}
		return "readonly " + item + "[]"
	}
	if rest, ok := strings.CutSuffix(kind, "?"); ok && kind != "bin?" {
		return c.tsType(t, rest) + " | null"
	}
	switch kind {
	case "u8", "u16", "u32", "u64", "i32", "i64", "f64":
		return "number"
	case "str":
		return "string"
	case "bool":
		return "boolean"
	case "bin":
		if c.written[t.Name] {
			return "Uint8Array"
		}
		return "Uint8Array<ArrayBuffer>"
	case "raw", "value", "bin?":
		plain, write := "unknown", "Write | null"
		if kind == "bin?" {
			plain, write = "Uint8Array<ArrayBuffer> | null", "Uint8Array | Write | null"
		}
		switch {
		case c.generic(t.Name):
			return "Raw"
		case c.read[t.Name]:
			return plain
		}
		return write
	}
	name := c.find(kind).tsName()
	if c.generic(kind) {
		switch {
		case c.generic(t.Name):
			name += "<Raw>"
		case !c.read[t.Name]:
			name += "<Write | null>"
		}
	}
	return name
}

// tuples returns the types, readers and writers of the tuples in TypeScript, and apart from them the writers of
// records: their classes are in programs that load what runs turns later.
func (s *source) tuples() (tuples, records []byte, err error) {
	c, err := newTSCodec(s)
	if err != nil {
		return nil, nil, err
	}
	var written []string
	for _, t := range s.types {
		c.b.WriteString("\n")
		if err := c.declare(t); err != nil {
			return nil, nil, err
		}
		switch {
		case c.values[t.Name]:
			if err := c.valueReader(t); err != nil {
				return nil, nil, err
			}
		case c.read[t.Name]:
			if err := c.reader(t); err != nil {
				return nil, nil, err
			}
		}
		if !c.written[t.Name] {
			continue
		}
		if t.File != recordFile {
			c.writer(&c.b, t)
			continue
		}
		written = append(written, t.Name)
		c.writer(&c.records, t)
	}
	c.frames()
	if err := c.methods(); err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, tsHeader, "the Go types in abi/")
	b.WriteString("import { EffectKind, type EventKind, type Method, type Op } from '../abi/frames.gen.js';\n" +
		"import { CodecError, type Decoder } from './decoder.js';\nimport type { Encoder, Write } from './encoder.js';\nimport { fieldsOf } from './tuple.js';\nimport { tuplesOf } from './tuple-list.js';\n")
	for _, name := range written {
		if bytes.Contains(c.b.Bytes(), []byte("write"+name+"(")) {
			return nil, nil, fmt.Errorf("a frame holds a %s itself, whose writer is elsewhere", name)
		}
	}
	b.Write(c.b.Bytes())
	var r bytes.Buffer
	fmt.Fprintf(&r, tsHeader, "abi/"+recordFile)
	r.WriteString("import { Part } from '../abi/frames.gen.js';\nimport type { Encoder, Write } from './encoder.js';\nimport type {\n")
	slices.Sort(written)
	for _, name := range written {
		fmt.Fprintf(&r, "  %s,\n", s.find(name).tsName())
	}
	r.WriteString("} from './tuples.gen.js';\n")
	r.Write(c.records.Bytes())
	return b.Bytes(), r.Bytes(), nil
}

// declare writes the type of a tuple.
func (c *tsCodec) declare(t *tuple) error {
	name, tag := t.tsName(), c.tag(t)
	params := ""
	choice, chosen := choices[t.Name]
	switch {
	case t.Name == "Call":
		params, chosen = "<M extends keyof MethodArgs>", false
	case chosen:
		params = "<Kind, Payload>"
	case c.generic(t.Name):
		params = "<Raw = unknown>"
	}
	of := name
	if chosen {
		of = t.Name + "Of"
	}
	fmt.Fprintf(&c.b, "/** %s */\nexport interface %s%s {\n", tsDoc(t), of, params)
	for i, f := range t.Fields {
		kind := c.tsType(t, f.Type)
		switch {
		case t.Name == "Call" && f.Name == choice.by:
			kind = "M"
		case t.Name == "Call" && f.Name == choice.field:
			kind = "MethodArgs[M]"
		case i == 0 && tag != "":
			if !c.read[t.Name] {
				continue
			}
			kind = "typeof " + tag
		case chosen && f.Name == choice.field:
			kind = "Payload"
		case chosen && f.Name == choice.by:
			kind = "Kind"
		}
		if f.Doc != "" {
			fmt.Fprintf(&c.b, "  /** %s */\n", f.Doc)
		}
		fmt.Fprintf(&c.b, "  readonly %s: %s;\n", lowerCamel(f.Name), kind)
	}
	c.b.WriteString("}\n")
	if of == name {
		return nil
	}
	fmt.Fprintf(&c.b, "\n/** %s */\nexport type %s =", tsDoc(t), name)
	for _, alt := range c.alternatives(choice.group) {
		payload := "unknown"
		if alt.tuple != "" {
			payload = c.find(alt.tuple).tsName()
		}
		kinds := make([]string, len(alt.kinds))
		for i, k := range alt.kinds {
			kinds[i] = "typeof " + choice.group + "." + k
		}
		fmt.Fprintf(&c.b, "\n  | %s<%s, %s>", of, strings.Join(kinds, " | "), payload)
	}
	c.b.WriteString(";\n")
	return nil
}

// alternative is a tuple with the constants whose comments name it.
type alternative struct {
	tuple string
	kinds []string
}

func (c *tsCodec) alternatives(group string) []alternative {
	var list []alternative
	for _, k := range c.group(group).Consts {
		name := c.payload(k)
		i := slices.IndexFunc(list, func(a alternative) bool { return a.tuple == name })
		if i < 0 {
			i = len(list)
			list = append(list, alternative{tuple: name})
		}
		list[i].kinds = append(list[i].kinds, k.Name)
	}
	return list
}

// reader writes the function that reads a tuple.
func (c *tsCodec) reader(t *tuple) error {
	name := t.tsName()
	fmt.Fprintf(&c.b, "\n/** Reads {@link %s}. @throws CodecError */\nexport function read%s(d: Decoder): %s {\n", name, t.Name, name)
	choice, chosen := choices[t.Name]
	expr := func(i int, f field) (string, error) {
		if of := onlyOf[t.Name+"."+f.Name]; of != "" {
			return fmt.Sprintf("%s === %s.%s ? d.str() : d.skipStr()", lowerCamel(choice.by), choice.group, of), nil
		}
		if tag := c.tagLiteral(t); i == 0 && tag != "" {
			return "d.tag(" + tag + ")", nil
		}
		if chosen && f.Name == choice.field {
			return fmt.Sprintf("read%s%s(d, %s)", t.Name, f.Name, lowerCamel(choice.by)), nil
		}
		return c.tsRead(f)
	}
	if !chosen {
		fmt.Fprintf(&c.b, "  return d.end(d.tuple('%s', %d), {\n", t.Name, len(t.Fields))
		for i, f := range t.Fields {
			x, err := expr(i, f)
			if err != nil {
				return err
			}
			fmt.Fprintf(&c.b, "    %s: %s,\n", lowerCamel(f.Name), x)
		}
		c.b.WriteString("  });\n}\n")
		return nil
	}
	fmt.Fprintf(&c.b, "  const outer = d.tuple('%s', %d);\n", t.Name, len(t.Fields))
	var names []string
	for i, f := range t.Fields {
		x, err := expr(i, f)
		if err != nil {
			return err
		}
		name := lowerCamel(f.Name)
		names = append(names, name)
		fmt.Fprintf(&c.b, "  const %s = %s;\n", name, x)
	}
	fmt.Fprintf(&c.b, "  return d.end(outer, { %s }) as %s;\n}\n", strings.Join(names, ", "), name)
	fmt.Fprintf(&c.b, "\nfunction read%s%s(d: Decoder, %s: number): unknown {\n  switch (%s) {\n", t.Name, choice.field, lowerCamel(choice.by), lowerCamel(choice.by))
	for _, alt := range c.alternatives(choice.group) {
		if alt.tuple == "" {
			continue
		}
		for _, k := range alt.kinds {
			fmt.Fprintf(&c.b, "    case %s:\n", c.literal(choice.group, k))
		}
		fmt.Fprintf(&c.b, "      return read%s(d);\n", alt.tuple)
	}
	c.b.WriteString("    default:\n      return d.value();\n  }\n}\n")
	return nil
}

// valueReader writes the function that converts a value into a tuple.
func (c *tsCodec) valueReader(t *tuple) error {
	name := t.tsName()
	kinds, fields := make([]string, len(t.Fields)), make([]string, len(t.Fields))
	for i, f := range t.Fields {
		item, isList := strings.CutSuffix(f.Type, "[]")
		switch f.Type {
		case "u8", "u16", "u32", "u64", "str", "bool", "value", "raw":
			fields[i] = fmt.Sprintf("    %s: v[%d] as %s,\n", lowerCamel(f.Name), i, c.tsType(t, f.Type))
			kinds[i] = "'" + f.Type + "'"
			continue
		}
		if !isList || !c.values[item] {
			return fmt.Errorf("%s.%s: a value holds no %s", t.Name, f.Name, f.Type)
		}
		kinds[i] = "'list'"
		fields[i] = fmt.Sprintf("    %s: tuplesOf(v[%d], '%s', to%s),\n", lowerCamel(f.Name), i, t.Name, item)
	}
	fmt.Fprintf(&c.b, "\n/** Takes {@link %s} out of a value that came in a frame. @throws CodecError */\n"+
		"export function to%s(value: unknown): %s {\n  const v = fieldsOf(value, '%s', %s);\n  return {\n%s  };\n}\n",
		name, t.Name, name, t.Name, strings.Join(kinds, ", "), strings.Join(fields, ""))
	return nil
}

// tsRead is the expression that reads a field.
func (c *tsCodec) tsRead(f field) (string, error) {
	switch kind := f.Type; kind {
	case "u8", "u16", "u32", "u64", "i32", "i64", "f64", "bool", "str", "bin":
		return "d." + kind + "()", nil
	case "raw", "value":
		return "d.value()", nil
	case "str[]":
		return "d.strs()", nil
	}
	if item, ok := strings.CutSuffix(f.Type, "?"); ok {
		x, err := c.tsRead(field{Type: item})
		return "d.nil() ? null : " + x, err
	}
	if item, ok := strings.CutSuffix(f.Type, "[]"); ok {
		size, most := 1, ""
		if t := c.find(item); t != nil {
			size += len(t.Fields)
		}
		if f.Limit > 0 {
			most = fmt.Sprintf(", %d", f.Limit)
		}
		read := "read" + item
		if !isTuple(item) {
			x, err := c.tsRead(field{Type: item})
			if err != nil {
				return "", err
			}
			read = "() => " + x
		}
		return fmt.Sprintf("d.list(%s, %d%s)", read, size, most), nil
	}
	if isTuple(f.Type) {
		return "read" + f.Type + "(d)", nil
	}
	return "", fmt.Errorf("field %s: nothing reads a %s", f.Name, f.Type)
}

// writer writes the function that writes a tuple.
func (c *tsCodec) writer(b *bytes.Buffer, t *tuple) {
	name, tag := t.tsName(), c.tag(t)
	of := name
	if c.generic(t.Name) {
		of += "<Write | null>"
	}
	if tag != "" && c.read[t.Name] {
		of = fmt.Sprintf("Omit<%s, '%s'>", of, lowerCamel(t.Fields[0].Name))
	}
	params, choice := "", choices[t.Name]
	if t.Name == "Call" {
		params, of = "<M extends keyof MethodArgs>", of+"<M>"
	}
	fmt.Fprintf(b, "\n/** Writes {@link %s}. */\nexport function write%s%s(e: Encoder, x: %s): void {\n  e.arrayHeader(%d);\n", name, t.Name, params, of, len(t.Fields))
	for i, f := range t.Fields {
		if i == 0 && tag != "" {
			fmt.Fprintf(b, "  e.int(%s);\n", c.tagLiteral(t))
			continue
		}
		if t.Name == "Call" && f.Name == choice.field {
			b.WriteString("  writeMethodArgs[x.method](e, x.args);\n")
			continue
		}
		b.WriteString("  " + c.tsWrite("x."+lowerCamel(f.Name), f.Type) + "\n")
	}
	b.WriteString("}\n")
}

// tsWrite is the statement that writes a field.
func (c *tsCodec) tsWrite(x, kind string) string {
	switch kind {
	case "u8", "u16", "u32", "u64", "i32", "i64":
		return "e.int(" + x + ");"
	case "f64":
		return "e.float(" + x + ");"
	case "bool", "str", "bin":
		return "e." + kind + "(" + x + ");"
	case "str[]":
		return "e.strs(" + x + ");"
	case "raw", "value":
		return "e.put(" + x + ");"
	case "bin?":
		return "e.data(" + x + ");"
	}
	if item, ok := strings.CutSuffix(kind, "?"); ok {
		return fmt.Sprintf("if (%s === null) e.nil();\n  else %s", x, c.tsWrite(x, item))
	}
	if item, ok := strings.CutSuffix(kind, "[]"); ok {
		write := "write" + item
		if !isTuple(item) {
			write = "(_, item) => " + strings.TrimSuffix(c.tsWrite("item", item), ";")
		}
		return fmt.Sprintf("e.list(%s, %s);", x, write)
	}
	return "write" + kind + "(e, " + x + ");"
}

// frames writes the reader of all frames that a module sends.
func (c *tsCodec) frames() {
	var names []string
	for _, t := range c.types {
		if t.Op >= 32 {
			names = append(names, t.Name)
		}
	}
	c.b.WriteString("\n/** A frame that a module sends. */\nexport type OutboundFrame =")
	for _, name := range names {
		fmt.Fprintf(&c.b, "\n  | %sFrame", name)
	}
	c.b.WriteString(";\n\n/** Reads a frame that a module sends, the op of which comes next. @throws CodecError */\n" +
		"export function readFrame(d: Decoder): OutboundFrame {\n  const op = d.op();\n  switch (op) {\n")
	for _, name := range names {
		fmt.Fprintf(&c.b, "    case %s:\n      return read%s(d);\n", c.tagLiteral(c.find(name)), name)
	}
	c.b.WriteString("    default:\n      throw new CodecError('frame', d.position, `no module sends a frame of op ${op}`);\n  }\n}\n")
}

// methods writes the arguments of each method.
func (c *tsCodec) methods() error {
	c.b.WriteString("\n/** The arguments of each method. */\nexport interface MethodArgs {\n")
	methods := c.group("Method").Consts
	for _, m := range methods {
		kind := "null"
		if name := c.payload(m); name != "" {
			kind = name
			if c.generic(name) {
				kind += "<Write | null>"
			}
		}
		fmt.Fprintf(&c.b, "  readonly [Method.%s]: %s;\n", m.Name, kind)
	}
	// A list, whose keys bundlers do not keep as names: methods are numbered from 1.
	c.b.WriteString("}\n\n/** Writes the arguments of a method. */\nconst writeMethodArgs: {\n" +
		"  readonly [M in keyof MethodArgs]: (e: Encoder, args: MethodArgs[M]) => void;\n} = [\n  writeNothing,\n")
	for i, m := range methods {
		if number, exact := constant.Int64Val(m.Value); !exact || number != int64(i+1) {
			return fmt.Errorf("method %s is numbered %s, not %d", m.Name, m.Value, i+1)
		}
		write := "writeNothing"
		if name := c.payload(m); name != "" {
			write = "write" + name
		}
		fmt.Fprintf(&c.b, "  %s, // Method.%s\n", write, m.Name)
	}
	c.b.WriteString("] as const;\n\nfunction writeNothing(e: Encoder): void {\n  e.nil();\n}\n")
	return nil
}

// layouts returns the fields of every tuple as a TypeScript table for tests.
func (s *source) layouts() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, tsHeader, "the Go types in abi/")
	b.WriteString(`/**
 * Every tuple's fields in order: u8 to u64 and i32, i64 are integers of that range, in their shortest form; f64 is
 * always a float64, str a string, bool, bin a byte string, value one value of user code's, raw a tuple or value that
 * other fields tell apart; other words name a tuple. A question mark behind means nil or the thing, brackets a list.
 */
export const LAYOUTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
`)
	for _, t := range s.types {
		fmt.Fprintf(&b, "  %s: {\n", t.Name)
		for _, f := range t.Fields {
			fmt.Fprintf(&b, "    %s: '%s',\n", lowerCamel(f.Name), f.Type)
		}
		b.WriteString("  },\n")
	}
	b.WriteString("};\n")
	return b.Bytes()
}
