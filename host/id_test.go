package host_test

import (
	"encoding/hex"
	"slices"
	"testing"

	"github.com/turncore/turncore/host"
)

// The vectors hold for every host: a seed, the ten bytes of a turn's id, the sixteen of its seed, and the id.
func TestSeededEntropyAndTurnID(t *testing.T) {
	tests := []struct {
		seed               uint32
		ten, sixteen, uuid string
	}{
		{0, "62b43444379c1500085b", "04816d25d4cba2773156888b5f1d819d", "1f0e6a4d-0c3c-6000-a2b4-3544379c1500"},
		{1, "f3ea87a0c949b300ebc4", "fd2726fb2b9de7f73066f647f001e39c", "1f0e6a4d-0c3c-6000-b3ea-87a0c949b300"},
		{1<<32 - 1, "d3f37be5a4a581309003", "04e9adf12f6a61d83714058a8d1935ae", "1f0e6a4d-0c3c-6000-93f3-7be5a4a58130"},
	}
	for _, test := range tests {
		entropy := host.SeededEntropy(test.seed)
		ten, sixteen := make([]byte, 10), make([]byte, 16)
		entropy(ten)
		entropy(sixteen)
		if hex.EncodeToString(ten) != test.ten || hex.EncodeToString(sixteen) != test.sixteen {
			t.Errorf("seed %d: %x, %x", test.seed, ten, sixteen)
		}
		id := host.NewTurnID(host.FixedClock(host.FixedTime), host.SeededEntropy(test.seed))
		if id != test.uuid {
			t.Errorf("seed %d: id %s, want %s", test.seed, id, test.uuid)
		}
	}
}

func TestTurnIDsSortByTime(t *testing.T) {
	entropy := host.SystemEntropy()
	var ids []string
	for ms := int64(0); ms < 1<<42; ms = ms*3 + 1 {
		ids = append(ids, host.NewTurnID(host.FixedClock(ms), entropy))
	}
	if !slices.IsSorted(ids) {
		t.Fatal(ids)
	}
}

func TestSystemClockAndEntropy(t *testing.T) {
	if now := host.SystemClock()(); now < host.FixedTime/2 {
		t.Fatalf("now is %d", now)
	}
	a, b := make([]byte, 16), make([]byte, 16)
	entropy := host.SystemEntropy()
	entropy(a)
	entropy(b)
	if slices.Equal(a, b) {
		t.Fatal("two draws are equal")
	}
}
