package turns_test

import (
	"errors"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/turns"
)

// A result that is not there, and a stream that is that of no turn, give errors.
func TestNothing(t *testing.T) {
	wrong := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, host.CodeInvalidValue) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := turns.Object[int](nil)
	wrong("Object of nil", err)
	for _, s := range []*turns.Stream{nil, {}} {
		s.Keep(1)
		s.Abort()
		_, err := s.Result()
		wrong("Result", err)
		seen := 0
		for ev, err := range s.Events() {
			if seen++; ev != nil {
				t.Error(ev)
			}
			wrong("Events", err)
		}
		for _, err := range turns.PartialObjects[int](s) {
			seen++
			wrong("PartialObjects", err)
		}
		if seen != 2 {
			t.Errorf("%d pairs came", seen)
		}
	}
}
