package runtime

import "testing"

// The random numbers of a turn derive from its seed, and differ.
func TestRandom(t *testing.T) {
	numbers := func(seed string) (list [3]uint64) {
		turn, err := NewTurn(&Config{}, Input{Seed: []byte(seed)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			list[i] = turn.Random()
		}
		return list
	}
	a := numbers("0123456789abcdef")
	if a != numbers("0123456789abcdef") || a == numbers("0123456789abcdeg") || a[0] == a[1] || a[1] == a[2] {
		t.Errorf("numbers %x", a)
	}
	if none := numbers(""); none[0] == none[1] {
		t.Errorf("numbers without a seed %x", none)
	}
}
