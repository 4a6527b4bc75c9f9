package abi

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// sampleCall is a call as an executor makes it, with a record body of a few hundred bytes.
func sampleCall() *Call {
	text := strings.Repeat("text ", 40)
	body := (&Message{ID: "m1", Role: "assistant", Content: &text, CreatedAt: 1767225600000, UpdatedAt: 1767225600000}).Append(nil)
	args := (&StoreArgs{Collection: CollectionMessages, Handle: 7, Data: Bytes(body)}).Append(nil)
	return &Call{Turn: 3, Call: 12, Elapsed: 250, Context: 1, Method: MethodStore, Args: args}
}

func TestNextSplitsABatch(t *testing.T) {
	batch := Append(nil, sampleCall())
	first := len(batch)
	batch = Append(batch, &Tick{Turn: 3, Elapsed: 300})
	op, frame, rest, err := Next(batch, Limits{})
	if err != nil || op != OpCall || len(frame) != first {
		t.Fatalf("op %d, %d bytes, %v", op, len(frame), err)
	}
	call, err := Decode[Call](frame)
	if err != nil {
		t.Fatal(err)
	}
	args, err := Decode[StoreArgs](call.Args)
	if err != nil {
		t.Fatal(err)
	}
	body, err := BytesOf(args.Data)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := Decode[Message](body); err != nil || m.ID != "m1" || call.Call != 12 {
		t.Fatalf("%+v, %v", m, err)
	}
	op, frame, rest, err = Next(rest, Limits{})
	if err != nil || op != OpTick || len(rest) != 0 {
		t.Fatalf("op %d, rest %d, %v", op, len(rest), err)
	}
	if tick, err := Decode[Tick](frame); err != nil || tick.Elapsed != 300 {
		t.Fatalf("%+v, %v", tick, err)
	}
}

// hostile are frames that must be rejected, or decoded with memory in proportion to their size.
func hostile() map[string][]byte {
	deep := func(n int, b ...byte) []byte { return bytes.Repeat(b, n) }
	manyNil := append([]byte{0xdc, 0x20, 0x00}, deep(8192, 0xc0)...)
	// An error whose suppressed errors nest: every level but the last is valid up to its own list.
	head := []byte{0x9a, 0x00, 0xa0, 0xa0, 0xa0, 0x00, 0xc2, 0xc2, 0xc0, 0xc0}
	nest := func(levels int, listHead []byte, siblings int) []byte {
		var b []byte
		for range levels {
			b = append(append(b, head...), listHead...)
		}
		return append(b, deep(levels*siblings, 0xc0)...)
	}
	suppressed := func(open []byte) []byte {
		frame := append([]byte{0x95, OpEnd, 0x01, 0x00, 0x00}, open...)
		return frame
	}
	return map[string][]byte{
		"empty":                {},
		"nil":                  {0xc0},
		"not an array":         {0x01},
		"empty array":          {0x90},
		"map":                  {0x81, 0xa1, 'a', 0x01},
		"long array":           {0xdd, 0x7f, 0xff, 0xff, 0xff, OpCall},
		"array without end":    {0x92, OpTick, 0xdd, 0x00, 0x00, 0x20, 0x00},
		"huge array":           {0x92, OpTick, 0xdd, 0x7f, 0xff, 0xff, 0xff},
		"huge map":             {0x92, OpTick, 0xdf, 0x7f, 0xff, 0xff, 0xff},
		"huge string":          {0x92, OpTick, 0xdb, 0xff, 0xff, 0xff, 0xff},
		"huge bytes":           {0x92, OpTick, 0xc6, 0xff, 0xff, 0xff, 0xff},
		"truncated number":     {0x92, OpTick, 0xcf, 0x00},
		"truncated length":     {0x92, OpTick, 0xdc, 0x00},
		"extension":            {0x92, OpTick, 0xd4, 0x00, 0x00},
		"timestamp":            {0x92, OpTick, 0xc7, 0x00, 0x05},
		"float32":              {0x92, OpTick, 0xca, 0, 0, 0, 0},
		"reserved byte":        {0x92, OpTick, 0xc1},
		"op 0":                 {0x91, 0x00},
		"op 64":                {0x91, 0x40},
		"op is a string":       {0x91, 0xa1, 'x'},
		"wide op":              {0x93, 0xcc, OpTick, 0x01, 0x01},
		"key is a number":      {0x92, OpTick, 0x81, 0x01, 0x01},
		"key is missing":       {0x92, OpTick, 0x81},
		"2^53":                 {0x92, OpTick, 0xcf, 0x00, 0x20, 0, 0, 0, 0, 0, 0},
		"-2^53":                {0x92, OpTick, 0xd3, 0xff, 0xe0, 0, 0, 0, 0, 0, 0},
		"deep arrays":          append([]byte{0x92, OpTick}, deep(100000, 0x91)...),
		"deep maps":            append([]byte{0x92, OpTick}, deep(100000, 0x81, 0xa0)...),
		"too few fields":       {0x91, OpTick},
		"too many fields":      {0x94, OpTick, 0x01, 0x01, 0x01},
		"wrong field":          {0x93, OpTick, 0xa1, 'x', 0x01},
		"negative count":       {0x93, OpTick, 0xff, 0x01},
		"count too large":      {0x93, OpTick, 0xcf, 0, 0, 0, 1, 0, 0, 0, 0, 0x01},
		"nil tools":            append(append([]byte{0x9b, OpOpenRunner, 1, 1, 0, 0xc0}, manyNil...), 0x90, 0x90, 0x90, 0x90, 0x00),
		"nil middleware":       append(append([]byte{0x9b, OpOpenRunner, 1, 1, 0, 0xc0, 0x90}, manyNil...), 0x90, 0x90, 0x90, 0x00),
		"nested suppressed":    suppressed(nest(20, []byte{0xdc, 0x20, 0x00}, 8191)),
		"nested suppressed 64": suppressed(nest(29, []byte{0xdc, 0x00, 64}, 63)),
		"nested causes":        suppressed(append(bytes.Repeat([]byte{0x9a, 0x00, 0xa0, 0xa0, 0xa0, 0x00, 0xc2, 0xc2, 0xc0}, 60), 0xc0)),
		"suppressed too many":  suppressed(append(append([]byte{}, head...), manyNil...)),
		"headers of nothing":   append(append([]byte{0x97, OpChunk, 1, 1, 1, 0}, manyNil...), 0xc0),
		"headers of empties":   append(append([]byte{0x97, OpChunk, 1, 1, 1, 0}, append([]byte{0xdc, 0x20, 0x00}, deep(8192, 0x90)...)...), 0xc0),
	}
}

func TestHostileFrames(t *testing.T) {
	for name, frame := range hostile() {
		t.Run(name, func(t *testing.T) {
			if err := decodeAll(frame); err == nil && name != "headers of empties" {
				t.Error("accepted")
			} else if e := (*FrameError)(nil); err != nil && (!errors.As(err, &e) || e.Offset < 0 || e.Offset > len(frame)) {
				t.Errorf("error %v", err)
			}
			if got, budget := decoding(frame), uint64(1<<20+64*len(frame)); got > budget {
				t.Errorf("%d bytes make the decoder allocate %d, more than %d", len(frame), got, budget)
			}
		})
	}
}

// decodeAll decodes every frame of a batch by its op and encodes it again.
func decodeAll(batch []byte) error {
	for {
		op, frame, rest, err := Next(batch, Limits{})
		if err != nil {
			return err
		}
		if err := decodeFrame(op, frame); err != nil {
			return err
		}
		if batch = rest; len(batch) == 0 {
			return nil
		}
	}
}

// decodeFrame decodes a frame; encoding and decoding it again must not change its meaning.
func decodeFrame(op Op, frame []byte) error {
	for _, e := range registry {
		if e.op == op {
			_, err := e.roundTrip(frame)
			return err
		}
	}
	return &FrameError{CodeABIUnknownFrame, 1, "unknown op"}
}

func TestScanDoesNotAllocate(t *testing.T) {
	frame := Append(nil, sampleCall())
	if n := testing.AllocsPerRun(100, func() {
		if _, _, _, err := Next(frame, Limits{}); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("Next allocates %v times", n)
	}
}

func TestLimits(t *testing.T) {
	text := strings.Repeat("x", 1000)
	reply := func(value []byte) []byte { return Append(nil, &Reply{Turn: 1, Call: 1, Value: value}) }
	str := Append(nil, &Fault{Turn: 1, Message: text})
	list := append([]byte{0xdc, 0x00, 100}, bytes.Repeat([]byte{0x01}, 100)...)
	pairs := append([]byte{0xde, 0x00, 100}, bytes.Repeat([]byte{0xa0, 0x01}, 100)...)
	nest := append(bytes.Repeat([]byte{0x91}, 19), 0x90)
	for _, tt := range []struct {
		name  string
		frame []byte
		set   func(*Limits, uint32)
		fits  uint32
	}{
		{"frame", str, func(l *Limits, n uint32) { l.Frame = n }, uint32(len(str))},
		{"string", str, func(l *Limits, n uint32) { l.String = n }, 1000},
		{"array", reply(list), func(l *Limits, n uint32) { l.Array = n }, 100},
		{"map", reply(pairs), func(l *Limits, n uint32) { l.Array = n }, 100},
		{"depth", reply(nest), func(l *Limits, n uint32) { l.Depth = n }, 21},
	} {
		var lim Limits
		tt.set(&lim, tt.fits)
		if _, _, _, err := Next(tt.frame, lim); err != nil {
			t.Errorf("%s: a limit of %d refuses a value that just fits: %v", tt.name, tt.fits, err)
		}
		tt.set(&lim, tt.fits-1)
		_, _, _, err := Next(tt.frame, lim)
		if e := (*FrameError)(nil); !errors.As(err, &e) || e.Code != CodeABILimitExceeded {
			t.Errorf("%s: a limit of %d gives %v", tt.name, tt.fits-1, err)
		}
	}
	if got := (Limits{Frame: 1 << 30, Depth: 7}).Effective(); got.Frame != 16<<20 || got.Depth != 7 || got.Array != 8192 {
		t.Errorf("effective limits %+v", got)
	}
}

func BenchmarkNextAndDecodeCall(b *testing.B) {
	frame := Append(nil, sampleCall())
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	var call Call
	for b.Loop() {
		_, f, _, err := Next(frame, Limits{})
		if err == nil {
			err = DecodeTo(f, &call)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendCall(b *testing.B) {
	call := sampleCall()
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = Append(buf[:0], call)
	}
}
