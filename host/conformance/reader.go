package conformance

import (
	"context"
	"io"
	"strings"

	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// readerScripts are the scripts of a reader's methods, by name. A method without a script, or whose script returns
// nothing, calls the underlying reader.
type readerScripts struct {
	game    *game
	scripts map[string]Script
}

func scriptsOf(g *game, v any) readerScripts {
	s := readerScripts{game: g}
	decode(v, &s.scripts)
	return s
}

// call runs the script of a method. ctx is the method's context, if it is one of the runner's.
func (s readerScripts) call(name string, ctx context.Context) (any, error) {
	script := s.scripts[name]
	if script == nil {
		return nil, nil
	}
	in, _ := ctx.(turns.Context)
	f := s.game.frame("reader "+name, in)
	f.until, f.calm = ctx, true // a panic would hit the caller: user code calls readers too
	err := f.run(script)
	return f.result, err
}

// byteLength is what the script of that method gives, or else the underlying reader.
func (s readerScripts) byteLength(underlying interface{ ByteLength() (int64, bool) }) (int64, bool) {
	got, err := s.call("byteLength", nil)
	if err != nil {
		panic(err)
	}
	if n, ok := got.(float64); ok {
		return int64(n), true
	}
	return underlying.ByteLength()
}

// spoolReader reads a text, with scripts.
type spoolReader struct {
	record.SpoolReader
	readerScripts
}

func (r spoolReader) Line(ctx context.Context, n int) (string, error) {
	got, err := r.call("line", ctx)
	if got != nil || err != nil {
		text, _ := got.(string)
		return text, err
	}
	return r.SpoolReader.Line(ctx, n)
}

func (r spoolReader) ReadAll(ctx context.Context) (string, error) {
	got, err := r.call("readAll", ctx)
	if got != nil || err != nil {
		text, _ := got.(string)
		return text, err
	}
	return r.SpoolReader.ReadAll(ctx)
}

func (r spoolReader) LineCount(ctx context.Context) (int, error) {
	got, err := r.call("lineCount", ctx)
	if got != nil || err != nil {
		n, _ := got.(float64)
		return int(n), err
	}
	return r.SpoolReader.LineCount(ctx)
}

func (r spoolReader) ByteLength() (int64, bool) { return r.byteLength(r.SpoolReader) }

// mediaReader reads bytes, with scripts.
type mediaReader struct {
	record.MediaReader
	readerScripts
}

func (r mediaReader) Open() (io.ReadCloser, error) {
	got, err := r.call("stream", nil)
	if err != nil {
		return nil, err
	}
	if text, ok := got.(string); ok {
		return io.NopCloser(strings.NewReader(text)), nil
	}
	return r.MediaReader.Open()
}

func (r mediaReader) ByteLength() (int64, bool) { return r.byteLength(r.MediaReader) }

// readMedia calls a method of a medium.
func (g *game) readMedia(arg any) (any, error) {
	a := fieldsOf(arg)
	defer a.end()
	m := g.newMedia(a.any("of"))
	switch call := a.str("call", ""); call {
	case "toJSON":
		return plain(m), nil
	case "asBytes":
		bytes, err := m.Bytes()
		return string(bytes), err
	case "asBase64":
		return m.Base64()
	case "byteLength":
		n, _ := m.ByteLength()
		return n, nil
	default:
		panic(malformed("a medium has no method %q", call))
	}
}
