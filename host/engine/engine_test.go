package engine_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/journal"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/wasm/full"
)

// captureLog collects what is logged while the test runs.
func captureLog(t *testing.T) *bytes.Buffer {
	t.Helper()
	var text bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&text, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	return &text
}

func TestDefault(t *testing.T) {
	logged := captureLog(t)
	e, err := engine.Default(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background())
	if _, ok := full.Module(); ok {
		if e.Name() != "wazero" || logged.Len() != 0 {
			t.Fatalf("%s, logged %q", e.Name(), logged)
		}
		return
	}
	if e.Name() != "native" || strings.Count(logged.String(), "\n") != 1 || !strings.Contains(logged.String(), "make wasm") {
		t.Fatalf("%s, logged %q", e.Name(), logged)
	}
}

func TestNamed(t *testing.T) {
	for _, name := range engine.Names {
		e, err := engine.Named(context.Background(), name)
		if _, ok := full.Module(); !ok && name == "wazero" {
			if !errors.Is(err, host.CodeInvalidModule) || !strings.Contains(err.Error(), "make wasm") {
				t.Errorf("without a module: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Name() != name {
			t.Errorf("%s gave %s", name, e.Name())
		}
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
	if _, err := engine.Named(context.Background(), "steam"); err == nil || !strings.Contains(err.Error(), "[wazero native]") {
		t.Errorf("an unknown engine: %v", err)
	}
}

// A conversation recorded on the native engine replays on every engine to the same bytes.
func TestEnginesAgree(t *testing.T) {
	ctx := context.Background()
	e := native.New()
	defer e.Close(ctx)
	inst, err := e.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	g, err := host.Greet(inst, abi.Hello{Features: abi.FeatureChat | abi.FeatureHistory | abi.FeatureTimers | abi.FeatureDigest})
	if err != nil {
		t.Fatal(err)
	}
	var recorded bytes.Buffer
	w, err := journal.NewWriter(&recorded, journal.Header{ABI: abi.Version, Features: g.Features, Module: e.ModuleHash(), Engine: e.Name(), Turn: 1})
	if err != nil {
		t.Fatal(err)
	}
	entries := []journal.Entry{{In: g.In, Out: g.Out}}
	bad := [][]byte{{0xc1}, {0x92, 5}, {0x91, 30}, abi.Append(nil, &abi.Hello{Major: 1}), nil}
	for _, in := range append(hosttest.Conversation(), bad...) {
		out, err := inst.Step(nil, in)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, journal.Entry{In: in, Out: out})
	}
	for _, entry := range entries {
		if err := w.Write(entry); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range hosttest.Engines(t) {
		t.Run(e.Name(), func(t *testing.T) {
			r, err := journal.NewReader(bytes.NewReader(recorded.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			if n, err := journal.Replay(ctx, e, r); n != len(entries) || err != nil {
				t.Fatalf("%d of %d entries, %v", n, len(entries), err)
			}
		})
	}
}
