package agents

import (
	"errors"
	"testing"
	"time"

	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/internal/carried"
)

// An agent's time is bounded, too, not its fuel alone.
func TestStepTimeout(t *testing.T) {
	module, err := carried.Module()
	if err != nil {
		t.Fatal(err)
	}
	file, err := WithManifest(module, &Manifest{Name: "a", Version: "1.0.0", Description: "d"})
	if err != nil {
		t.Fatal(err)
	}
	defer func(was time.Duration) { stepTimeout = was }(stepTimeout)
	stepTimeout = time.Nanosecond
	opened, err := Open(t.Context(), file, ModuleOptions{})
	if err == nil {
		_ = opened.Close(t.Context())
	}
	var late *engine.TimeoutError
	if !errors.As(err, &late) || late.Timeout != time.Nanosecond {
		t.Errorf("the error is %v", err)
	}
}
