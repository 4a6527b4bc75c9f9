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

// Error names the place and shows its surroundings in both frames, decoded.
func (d *Divergence) Error() string {
	want, _ := next(d.Want)
	got, _ := next(d.Got)
	place := fmt.Sprintf("entry %d, frame %d, byte %d:", d.Entry, d.Frame, common(want, got))
	if len(want) == 0 || len(got) == 0 {
		return place + aside("recorded", excerpt(frameText(want))) + aside("replayed", excerpt(frameText(got)))
	}
	a, b := frameText(want), frameText(got)
	if string(a) == string(b) { // encoded in two ways
		a, b = []rune(fmt.Sprintf("%x", want)), []rune(fmt.Sprintf("%x", got))
	}
	at := common(a, b)
	before := string(a[max(0, at-shownBefore):at])
	if at > shownBefore {
		before = "…" + before
	}
	return place + aside("both", before) + aside("recorded", excerpt(a[at:])) + aside("replayed", excerpt(b[at:]))
}

// Number of characters shown around a difference.
const (
	shownBefore = 80
	shownAfter  = 120
)

// common is the length of the common prefix of two lists.
func common[T comparable](a, b []T) int {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	return at
}

func aside(name, text string) string { return fmt.Sprintf("\n  %-9s %s", name+":", text) }

// excerpt is the beginning of a text.
func excerpt(text []rune) string {
	if len(text) > shownAfter {
		return string(text[:shownAfter]) + "…"
	}
	return string(text)
}

// frameText is a frame, decoded.
func frameText(frame []byte) []rune {
	if len(frame) == 0 {
		return []rune("no frame")
	}
	return []rune(string(appendFrame(nil, frame)))
}

// Replay steps a fresh instance of e through the journal, without running any effect, and compares every outbound
// byte. It returns the number of entries played.
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
			return entries, err
		}
		if out, err = inst.Step(out[:0], entry.In); err != nil {
			return entries, fmt.Errorf("journal entry %d: %w", entries, err)
		}
		if !bytes.Equal(out, entry.Out) {
			if d := diverge(entries, entry.Out, out); d != nil {
				return entries, host.NewError(host.CodeReplayDiverged, d.Error(), d)
			}
		}
		entries++
	}
}

// diverge finds the first frame that differs; nil if none does.
func diverge(entry int, want, got []byte) *Divergence {
	d := &Divergence{Entry: entry, Want: want, Got: got}
	for len(d.Want) > 0 || len(d.Got) > 0 {
		op, a, restWant, err := abi.Next(d.Want, abi.Limits{})
		if err != nil {
			return d
		}
		_, b, restGot, err := abi.Next(d.Got, abi.Limits{})
		if err != nil || !bytes.Equal(a, b) && (op != abi.OpWelcome || !sameWelcome(a, b)) {
			return d
		}
		d.Want, d.Got = restWant, restGot
		d.Frame++
	}
	return nil
}

// sameWelcome reports whether two modules agreed to the same terms. Their providers and builds may differ, and one may
// have sessions: a journal of the core module plays on the full one.
func sameWelcome(a, b []byte) bool {
	v, err := abi.Decode[abi.Welcome](a)
	w, err2 := abi.Decode[abi.Welcome](b)
	if err != nil || err2 != nil {
		return false
	}
	v.Build, v.Providers = w.Build, w.Providers
	v.Features |= w.Features & abi.FeatureSessions
	w.Features |= v.Features & abi.FeatureSessions
	return bytes.Equal(abi.Append(nil, &v), abi.Append(nil, &w))
}
