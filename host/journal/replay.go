package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
)

// Divergence is the first difference between a journal and its replay.
type Divergence struct {
	Entry int // number of the entry, from 0
	Frame int // number of the outbound frame within the entry, from 0
	// Want and Got are the rests of the two batches from that frame on; empty where one has no more frames.
	Want, Got []byte
}

// Error names the place and shows both frames.
func (d *Divergence) Error() string {
	at := 0
	for at < min(len(d.Want), len(d.Got)) && d.Want[at] == d.Got[at] {
		at++
	}
	return fmt.Sprintf("entry %d, frame %d, byte %d:\n  recorded: %s\n  replayed: %s",
		d.Entry, d.Frame, at, first(d.Want), first(d.Got))
}

// first renders the frame that a batch starts with.
func first(batch []byte) string {
	if len(batch) == 0 {
		return "no frame"
	}
	_, frame, _, err := abi.Next(batch, abi.Limits{})
	if err != nil {
		return fmt.Sprintf("%v in %s", err, hexadecimal(batch))
	}
	return Text(frame)
}

// Replay steps a fresh instance of e through the journal, without running any effect, and compares every byte that comes
// out. It returns the number of entries played.
//
// A difference gives [host.CodeReplayDiverged]; the error wraps a [*Divergence]. An instance that fails gives
// [host.CodeInstanceFailed].
func Replay(ctx context.Context, e host.Engine, r *Reader) (entries int, err error) {
	inst, err := e.Open(ctx)
	if err != nil {
		return 0, err
	}
	defer inst.Close(ctx)
	var out []byte
	for {
		if err := ctx.Err(); err != nil {
			return entries, err
		}
		entry, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return entries, nil
		case err != nil:
			return entries, fmt.Errorf("journal entry %d: %w", entries, err)
		}
		if out, err = inst.Step(out[:0], entry.In); err != nil {
			return entries, fmt.Errorf("journal entry %d: %w", entries, err)
		}
		if !bytes.Equal(out, entry.Out) {
			d := diverge(entries, entry.Out, out)
			return entries, host.NewError(host.CodeReplayDiverged, d.Error(), d)
		}
		entries++
	}
}

// diverge finds the first frame that differs.
func diverge(entry int, want, got []byte) *Divergence {
	d := &Divergence{Entry: entry, Want: want, Got: got}
	for {
		_, a, restWant, err := abi.Next(d.Want, abi.Limits{})
		if err != nil {
			return d
		}
		_, b, restGot, err := abi.Next(d.Got, abi.Limits{})
		if err != nil || !bytes.Equal(a, b) {
			return d
		}
		d.Want, d.Got = restWant, restGot
		d.Frame++
	}
}
