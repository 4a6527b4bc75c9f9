package collections_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/collections"
)

// The bodies of a history cross in as few frames as a block's limit allows, however they came to it.
func TestHistoryFrames(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var bodies [][]byte
	for n := range 3000 {
		size := random.IntN(2000)
		switch {
		case n == 2000:
			size = 2 * collections.MaxBlock
		case n%300 == 0:
			size = random.IntN(collections.MaxBlock / 2)
		}
		body := make([]byte, size)
		for i := range body {
			body[i] = byte(n + i)
		}
		bodies = append(bodies, body)
	}
	h := collections.NewHistory(abi.CollectionEvents, 0)
	for n := 0; n < len(bodies); {
		some := min(1+random.IntN(5), len(bodies)-n)
		if !h.ExtendBodies(n, bodies[n:n+some]) {
			t.Fatalf("bodies from %d on are refused", n)
		}
		n += some
	}
	for i, body := range bodies {
		if !bytes.Equal(h.Body(i), body) {
			t.Fatalf("body %d has changed", i)
		}
	}
	if h.Body(len(bodies)) != nil {
		t.Error("there is a body behind the last one")
	}
	if h.ExtendBodies(1000, [][]byte{bodies[1000], {1}}) || !h.ExtendBodies(1000, bodies[1000:]) {
		t.Error("what follows a body is not told apart")
	}

	// Frames end where a block of the whole history would be too large, or where what is asked for ends.
	ends, size := []int{}, 0
	for n, body := range bodies {
		if n > 0 && size+len(body) > collections.MaxBlock {
			ends, size = append(ends, n), 0
		}
		size += len(body)
	}
	for range 50 {
		sent := random.IntN(len(bodies))
		upTo := sent + random.IntN(len(bodies)-sent+1)
		want := []int{}
		for _, end := range append(ends, upTo) {
			if end > sent && end < upTo || end == upTo && sent < upTo && (len(want) == 0 || want[len(want)-1] != upTo) {
				want = append(want, end)
			}
		}
		frames := h.Frames(7, sent, upTo)
		if len(frames) != len(want) {
			t.Fatalf("bodies %d to %d: %d frames, want %d", sent, upTo, len(frames), len(want))
		}
		for i, f := range frames {
			wanted := abi.Append(nil, &abi.History{
				History: 7, Collection: abi.CollectionEvents, Count: uint32(want[i] - sent), Block: abi.Bytes(bytes.Join(bodies[sent:want[i]], nil)),
			})
			if f.UpTo != want[i] || !bytes.Equal(f.Bytes, wanted) {
				t.Fatalf("bodies %d to %d: frame %d ends at %d, want %d", sent, upTo, i, f.UpTo, want[i])
			}
			sent = want[i]
		}
	}
}
