package engine_test

import (
	"context"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/journal"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/wazero"
)

// greeted opens an instance and sends Hello.
func greeted(b *testing.B, e host.Engine) host.Instance {
	b.Helper()
	inst, err := e.Open(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = inst.Close(context.Background()) })
	if _, err := host.Greet(inst, abi.Hello{Features: abi.FeatureHistory | abi.FeatureDigest}); err != nil {
		b.Fatal(err)
	}
	return inst
}

func BenchmarkEmptyStep(b *testing.B) {
	for _, e := range hosttest.Engines(b) {
		b.Run(e.Name(), func(b *testing.B) {
			inst := greeted(b, e)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := inst.Step(nil, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkEffect measures two steps: a call of host code that the core turns into an effect, and the effect's result,
// which the core turns into the call's reply.
func BenchmarkEffect(b *testing.B) {
	for _, e := range hosttest.Engines(b) {
		b.Run(e.Name(), func(b *testing.B) {
			inst := greeted(b, e)
			setup := [][]byte{
				abi.Append(nil, &abi.OpenRunner{
					Runner: 1, Call: 1, Executor: abi.ExecutorHost, TurnInput: []abi.Middleware{{Kind: abi.MiddlewareHost}},
				}),
				abi.Append(nil, &abi.StartTurn{Turn: 1, Runner: 1, Seed: make([]byte, 16), ID: "t", SystemPrompt: "p"}),
			}
			for _, in := range setup {
				if _, err := inst.Step(nil, in); err != nil {
					b.Fatal(err)
				}
			}
			var call abi.Call
			var result abi.Result
			var in, out []byte
			var err error
			store := abi.StoreArgs{
				Collection: abi.CollectionMemories, Handle: 1,
				Data: abi.Bytes((&abi.Memory{ID: "m", Content: "hello", CreatedAt: 1, UpdatedAt: 1}).Append(nil)),
			}
			method, args := abi.MethodStore, store.Append(nil)
			store.Data = nil // the core knows the record from now on
			known := store.Append(nil)
			n := uint32(1) // effect 1 is the middleware
			b.ReportAllocs()
			for b.Loop() {
				n++
				call = abi.Call{Turn: 1, Call: n, Method: method, Args: args}
				if out, err = inst.Step(out[:0], abi.Append(in[:0], &call)); err != nil {
					b.Fatal(err)
				}
				if op, _, _, err := abi.Next(out, abi.Limits{}); err != nil || op != abi.OpEffect {
					b.Fatalf("%s, %v", journal.AppendJSON(nil, out), err)
				}
				result = abi.Result{Turn: 1, Effect: n}
				if out, err = inst.Step(out[:0], abi.Append(in[:0], &result)); err != nil {
					b.Fatal(err)
				}
				if len(out) == 0 {
					b.Fatal("no reply")
				}
				method, args = abi.MethodMutate, known
			}
		})
	}
}

// BenchmarkTurn measures a whole turn with a tool call, frame by frame, from opening its runner to closing it.
func BenchmarkTurn(b *testing.B) {
	for _, e := range hosttest.Engines(b) {
		b.Run(e.Name(), func(b *testing.B) {
			inst := greeted(b, e)
			frames := hosttest.Conversation()
			b.ReportAllocs()
			for b.Loop() {
				for _, in := range frames {
					if _, err := inst.Step(nil, in); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// again makes another engine of the same kind.
func again(ctx context.Context, e host.Engine) (host.Engine, error) {
	if e.Name() == native.Name {
		return native.New(), nil
	}
	return wazero.Default(ctx)
}

// BenchmarkFirstTurn starts with the module's bytes and a warm compile cache, and ends after one turn.
func BenchmarkFirstTurn(b *testing.B) {
	for _, warm := range hosttest.Engines(b) {
		b.Run(warm.Name(), func(b *testing.B) {
			for b.Loop() {
				e, err := again(context.Background(), warm)
				if err != nil {
					b.Fatal(err)
				}
				inst := greeted(b, e)
				for _, in := range hosttest.Conversation() {
					if _, err := inst.Step(nil, in); err != nil {
						b.Fatal(err)
					}
				}
				_ = e.Close(context.Background())
			}
		})
	}
}
