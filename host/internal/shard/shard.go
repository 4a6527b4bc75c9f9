// Package shard divides long lists of test cases: a run takes one shard, and other runs the others.
package shard

import (
	"fmt"
	"os"
	"testing"
)

// Shard is one of so many parts of a list. Each has cases from everywhere in it: of four, the second is every fourth
// case from the second on.
type Shard struct{ which, of int }

// Whole is the only shard of one.
var Whole = Shard{0, 1}

// FromEnv returns the shard that an environment variable names, such as 2/4 for the second of four, and the whole when
// it is not set or empty. Other words fail the test.
func FromEnv(t testing.TB, variable string) Shard {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return Whole
	}
	s, err := Parse(text)
	if err != nil {
		t.Fatalf("%s is %v", variable, err)
	}
	return s
}

// Parse reads a shard: 2/4 is the second of four.
func Parse(text string) (Shard, error) {
	var s Shard
	var rest string
	n, _ := fmt.Sscanf(text, "%d/%d%s", &s.which, &s.of, &rest)
	if n != 2 || s.which < 1 || s.which > s.of {
		return s, fmt.Errorf("%q, which is no shard: write it as 2/5", text)
	}
	s.which--
	return s, nil
}

// IsWhole tells whether every case is in the shard.
func (s Shard) IsWhole() bool { return s.of == 1 }

// After is the shard that follows after n others. The first follows the last.
func (s Shard) After(n int) Shard { return Shard{(s.which + n) % s.of, s.of} }

// Has tells whether the case with the index is in the shard.
func (s Shard) Has(index int) bool { return index%s.of == s.which }
