package turn

import (
	"testing"
	"unsafe"
)

// Thousands of turns wait in a program. Go allocates in classes of sizes, with a word of its own in front of what is
// larger than 512 bytes: a field that does not fit costs each turn 256 bytes, or 32.
func TestTurnsFitTheirClassOfSizes(t *testing.T) {
	for _, test := range []struct {
		name       string
		size, most uintptr
	}{
		{"Turn", unsafe.Sizeof(Turn{}), 1792 - 8},
		{"Context", unsafe.Sizeof(Context{}), 480},
	} {
		if test.size > test.most {
			t.Errorf("a %s takes %d bytes, more than %d", test.name, test.size, test.most)
		}
	}
}
