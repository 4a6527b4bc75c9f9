package abi

import (
	"encoding/hex"
	"runtime"
	"testing"
)

// FuzzDecodeFrame decodes a batch of frames of either direction. Whatever the bytes, nothing panics, the decoder
// allocates no more than 1 MiB and 64 bytes for each of them, and encoding and decoding again does not change the
// meaning of accepted frames.
func FuzzDecodeFrame(f *testing.F) {
	for _, frame := range hostile() {
		if len(frame) < 4096 { // the fuzzer is slow with long inputs; TestHostileFrames covers these
			f.Add(frame)
		}
	}
	var vectors []frameVector
	readVectors(f, "frames.json", &vectors)
	for _, v := range vectors {
		frame, err := hex.DecodeString(v.Hex)
		if err != nil {
			f.Fatal(err)
		}
		if v.Op != 0 {
			f.Add(frame)
		}
	}
	f.Add(Append(Append(nil, sampleCall()), &Tick{Turn: 1}))
	f.Fuzz(func(t *testing.T, batch []byte) {
		// Other goroutines of the fuzzing worker allocate, too: only what repeats is the decoder's.
		budget := uint64(1<<20 + 64*len(batch))
		var got uint64
		for range 3 {
			if got = decoding(batch); got <= budget {
				break
			}
		}
		if got > budget {
			t.Errorf("%d bytes make the decoder allocate %d, more than %d", len(batch), got, budget)
		}
		if err := decodeAll(batch); err != nil {
			if _, ok := err.(*FrameError); !ok {
				t.Errorf("error %T: %v", err, err)
			}
		}
	})
}

// decoding returns how many bytes decoding a batch allocates.
func decoding(batch []byte) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for len(batch) > 0 {
		op, frame, rest, err := Next(batch, Limits{})
		if err != nil {
			break
		}
		for _, e := range registry {
			if e.op == op {
				e.decode(frame)
			}
		}
		batch = rest
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
