package runtime

import (
	"testing"
	"unsafe"
)

// Thousands of turns wait in an instance. Go allocates in classes of sizes, with a word of its own in front of what is
// larger than 512 bytes: a field that does not fit costs each turn 128 bytes.
func TestTurnsFitTheirClassOfSizes(t *testing.T) {
	const class, header = 1024, 8
	for name, size := range map[string]uintptr{
		"Turn": unsafe.Sizeof(Turn{}), "Dispatch": unsafe.Sizeof(Dispatch{}),
	} {
		if size > class-header {
			t.Errorf("a %s takes %d bytes, more than %d", name, size, class-header)
		}
	}
}
