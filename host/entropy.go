package host

import (
	"crypto/rand"
	"encoding/binary"
	"sync"
)

// Entropy fills p with random bytes. It may be called from many goroutines at once.
type Entropy func(p []byte)

// SystemEntropy is the machine's source of randomness.
func SystemEntropy() Entropy {
	return func(p []byte) {
		_, _ = rand.Read(p) // never fails: it ends the program instead
	}
}

// SeededEntropy is a stream for reproducible runs that depends only on the seed: the outputs of the mulberry32
// generator as four little-endian bytes each. Every call starts with a fresh output, so its bytes do not depend on
// how much of the last output the previous call used.
//
// The bytes are easy to guess: never use them for ids or secrets in production.
func SeededEntropy(seed uint32) Entropy {
	var mu sync.Mutex
	state := seed
	next := func() uint32 {
		state += 0x6d2b79f5
		t := (state ^ state>>15) * (1 | state)
		t = (t + (t^t>>7)*(61|t)) ^ t
		return t ^ t>>14
	}
	return func(p []byte) {
		mu.Lock()
		defer mu.Unlock()
		for len(p) > 0 {
			var word [4]byte
			binary.LittleEndian.PutUint32(word[:], next())
			p = p[copy(p, word[:]):]
		}
	}
}
