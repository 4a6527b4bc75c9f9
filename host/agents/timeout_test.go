package agents

import (
	"errors"
	"testing"
	"time"

	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/internal/testmodule/wat"
)

// An agent's time is bounded, too, not its fuel alone.
func TestStepTimeout(t *testing.T) {
	module, err := wat.Assemble(`(module
  (func (export "turncore_step") (param i32) (result i64) (loop $l (br $l)) (i64.const 0))
  (func (export "turncore_inbox") (param i32) (result i32) (i32.const 0x10000)))`, `(module
  (memory (export "memory") 32)
  (func (export "_initialize"))
  (func (export "turncore_abi") (result i32) (i32.const 0x20000)))`, nil)
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
