package wasmtime_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	wt "github.com/bytecodealliance/wasmtime-go/v39"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
)

// Addresses in the memory of the module caller.
const (
	input  = 1024 // which function, its four arguments, and what they point to
	output = 512  // its result, and what it writes
	cell   = output + 4
	events = output + 8
	after  = input + 20
)

// caller is a module whose step calls fd_write (0) or poll_oneoff (1) with the arguments of its input.
func caller(t *testing.T) []byte {
	t.Helper()
	module, err := wt.Wat2Wasm(fmt.Sprintf(`(module
		(type $call (func (param i32 i32 i32 i32) (result i32)))
		(import "wasi_snapshot_preview1" "fd_write" (func $write (type $call)))
		(import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (type $call)))
		(memory (export "memory") 1)
		(table 2 funcref)
		(elem (i32.const 0) $write $poll)
		(func (export "_initialize"))
		(func (export "turncore_abi") (result i32) i32.const %d)
		(func (export "turncore_inbox") (param i32) (result i32) i32.const 1024)
		(func (export "turncore_step") (param $size i32) (result i64)
			(i32.store (i32.const 512) (call_indirect (type $call)
				(i32.load (i32.const 1028)) (i32.load (i32.const 1032)) (i32.load (i32.const 1036)) (i32.load (i32.const 1040))
				(i32.load (i32.const 1024))))
			(i32.store8 (i32.add (i32.const 1024) (local.get $size)) (i32.const 0))
			(i64.or (i64.shl (i64.const 512) (i64.const 32)) (i64.const 128))))`, abi.Version))
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// words are numbers of 32 bits.
func words(list ...uint32) (out []byte) {
	for _, word := range list {
		out = binary.LittleEndian.AppendUint32(out, word)
	}
	return out
}

// word is a number of an answer, by its address.
func word(out []byte, at int) uint32 { return binary.LittleEndian.Uint32(out[at-output:]) }

func TestWrite(t *testing.T) {
	e := newEngine(t, caller(t))
	for name, c := range map[string]struct {
		fd, vectors, count, written uint32
		list                        []byte
		result, sum                 uint32
	}{
		"two pieces":          {1, after, 2, cell, append(words(after+16, 2, after+18, 3), "hello"...), 0, 5},
		"nothing":             {2, after, 0, cell, nil, 0, 0},
		"stdin":               {0, after, 0, cell, nil, 8, 0},
		"another file":        {3, after, 0, cell, nil, 8, 0},
		"too many pieces":     {1, 0, 1<<32 - 1, cell, nil, 21, 0},
		"a list outside":      {1, 1<<16 - 4, 1, cell, nil, 21, 0},
		"a piece outside":     {1, after, 1, cell, words(1<<16-4, 5), 21, 0},
		"a piece far outside": {1, after, 1, cell, words(1<<32-1, 1<<32-1), 21, 0},
		"a result outside":    {1, after, 0, 1<<16 - 3, nil, 21, 0},
	} {
		t.Run(name, func(t *testing.T) {
			i := open(t, e)
			out, err := i.Step(nil, append(words(0, c.fd, c.vectors, c.count, c.written), c.list...))
			if err != nil {
				t.Fatal(err)
			}
			if word(out, output) != c.result || word(out, cell) != c.sum {
				t.Errorf("%d, %d written; want %d, %d", word(out, output), word(out, cell), c.result, c.sum)
			}
			if said := i.Retire(errors.New("enough")).Error(); strings.Contains(said, "hello") != (c.sum > 0) {
				t.Errorf("the end says %q", said)
			}
		})
	}
}

// subscription asks for a time, if its kind is 0, or for a file.
func subscription(name byte, kind byte, time uint64, flags uint16) []byte {
	s := make([]byte, 48)
	s[0], s[8] = name, kind
	binary.LittleEndian.PutUint64(s[24:], time)
	binary.LittleEndian.PutUint16(s[40:], flags)
	return s
}

func TestPoll(t *testing.T) {
	e := newEngine(t, caller(t))
	nap, long := subscription('n', 0, 1000, 0), subscription('l', 0, 1<<62, 0)
	file, until := subscription('f', 1, 0, 0), subscription('u', 0, 1000, 1)
	for name, c := range map[string]struct {
		subscriptions, events, count, happened uint32
		list                                   [][]byte
		result                                 uint32
		says                                   string // names of subscriptions with their results
	}{
		"a nap":                {after, events, 1, cell, [][]byte{nap}, 0, "n0"},
		"the first of two":     {after, events, 2, cell, [][]byte{long, nap}, 0, "l0n0"},
		"a file":               {after, events, 1, cell, [][]byte{file}, 0, "f8"},
		"a file or a time":     {after, events, 2, cell, [][]byte{file, nap}, 0, "f8n0"},
		"until a time":         {after, events, 1, cell, [][]byte{until}, 28, ""},
		"nothing":              {after, events, 0, cell, nil, 28, ""},
		"too much":             {after, events, 1<<32 - 1, cell, nil, 21, ""},
		"outside":              {1<<16 - 47, events, 1, cell, nil, 21, ""},
		"events outside":       {after, 1<<16 - 31, 1, cell, nil, 21, ""},
		"their number outside": {after, events, 1, 1<<16 - 3, nil, 21, ""},
		"in one place":         {after, after, 1, cell, [][]byte{nap}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := words(1, c.subscriptions, c.events, c.count, c.happened)
			for _, s := range c.list {
				in = append(in, s...)
			}
			out, err := open(t, e).Step(nil, in)
			if err != nil {
				t.Fatal(err)
			}
			says := ""
			for n := range int(word(out, cell)) {
				if event := out[events-output+32*n:]; c.events == events {
					says += fmt.Sprintf("%c%d", event[0], binary.LittleEndian.Uint16(event[8:]))
				}
			}
			if word(out, output) != c.result || says != c.says {
				t.Errorf("%d, %q; want %d, %q", word(out, output), says, c.result, c.says)
			}
		})
	}
	t.Run("a long sleep", func(t *testing.T) {
		_, err := open(t, e).Step(nil, append(words(1, after, events, 1, cell), long...))
		if !errors.Is(err, host.CodeInstanceFailed) || !errors.Is(err, engine.ErrSleep) {
			t.Errorf("%v", err)
		}
	})
}
