package wazero

import "github.com/turncore/turncore/host"

// Memory returns the linear memory of an instance of this package, as it is.
func Memory(i host.Instance) []byte {
	in := i.(*instance)
	in.mu.Lock()
	defer in.mu.Unlock()
	bytes, _ := in.memory.Read(0, in.memory.Size())
	return bytes
}
