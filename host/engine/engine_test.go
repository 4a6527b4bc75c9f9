package engine_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/journal"
	"github.com/turncore/turncore/host/native"
)

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
