//go:build baked

package reactor

import _ "unsafe" // for go:linkname

// The module was started when it was built, with random bytes that everybody knows.
var reseed = func(seed []byte) {
	var whole [32]byte
	for n := range whole {
		whole[n] = seed[n%len(seed)]
	}
	runtimeReseed(&whole)
}

// runtimeReseed is in a file that the build adds to the runtime: internal/shape/_runtime.
//
//go:linkname runtimeReseed runtime.turncoreReseed
func runtimeReseed(seed *[32]byte)
