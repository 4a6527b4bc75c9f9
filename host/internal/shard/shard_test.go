package shard

import (
	"slices"
	"testing"
)

func TestShard(t *testing.T) {
	t.Setenv("SOME_SHARD", "2/4")
	s := FromEnv(t, "SOME_SHARD")
	var has, after []int
	for i := range 9 {
		if s.Has(i) {
			has = append(has, i)
		}
		if s.After(3).Has(i) {
			after = append(after, i)
		}
	}
	if !slices.Equal(has, []int{1, 5}) || !slices.Equal(after, []int{0, 4, 8}) {
		t.Errorf("2/4 has %v, and the third after it %v", has, after)
	}
	t.Setenv("SOME_SHARD", "")
	if s := FromEnv(t, "SOME_SHARD"); !s.IsWhole() {
		t.Errorf("without a name: %v", s)
	}
}

func TestNoShard(t *testing.T) {
	for _, text := range []string{"2", "0/4", "5/4", "-1/4", "a/b", "2/4x", "2/4 1", "/"} {
		if s, err := Parse(text); err == nil {
			t.Errorf("%q is %v", text, s)
		}
	}
}
