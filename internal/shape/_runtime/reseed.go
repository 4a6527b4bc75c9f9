// The build adds this file to package runtime of Go's library when it bakes a module.

package runtime

import _ "unsafe" // for go:linkname

// turncoreReseed replaces what the runtime draws random numbers from: the seeds of maps, and where a range over a map
// begins. The key of hashes stays: maps that exist are laid out by it.
//
//go:linkname turncoreReseed
func turncoreReseed(seed *[32]byte) {
	lock(&globalRand.lock)
	globalRand.state.Init(*seed)
	unlock(&globalRand.lock)
	mrandinit(getg().m)
}
