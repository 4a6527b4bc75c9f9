package host_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
)

// scripted is an instance that answers its one step with what the test gave.
type scripted struct {
	answer  func(hello abi.Hello) []byte
	failure error
	retired error
}

func (s *scripted) Step(dst, in []byte) ([]byte, error) {
	if s.failure != nil {
		return dst, s.failure
	}
	hello, err := abi.Decode[abi.Hello](in)
	if err != nil {
		return dst, err
	}
	return append(dst, s.answer(hello)...), nil
}

func (s *scripted) Retire(cause error) error {
	s.retired = host.NewError(host.CodeInstanceFailed, cause.Error(), cause)
	return s.retired
}

func (s *scripted) MemoryBytes() uint64 { return 0 }

func (s *scripted) Close(context.Context) error { return nil }

// welcome is what a proper core answers.
func welcome(hello abi.Hello) *abi.Welcome {
	return &abi.Welcome{
		Major: abi.Major, Minor: abi.Minor + 1, Features: hello.Features & abi.FeatureChat,
		Limits: hello.Limits, Quota: hello.Quota, Build: "test", Providers: []string{"openai"},
	}
}

func TestGreet(t *testing.T) {
	var got abi.Hello
	s := &scripted{answer: func(hello abi.Hello) []byte {
		got = hello
		w := welcome(hello)
		w.Limits.Array = 100
		return abi.Append(nil, w)
	}}
	g, err := host.Greet(s, abi.Hello{Features: abi.FeatureChat | abi.FeatureTimers, Limits: abi.Limits{Depth: 32, Frame: 1 << 30}, Quota: abi.Quota{Turn: 1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	asked := abi.DefaultLimits()
	asked.Depth = 32
	if got.Major != abi.Major || got.Minor != abi.Minor || got.Limits != asked {
		t.Errorf("hello was %+v", got)
	}
	asked.Array = 100
	if g.Features != abi.FeatureChat || g.Limits != asked || g.Build != "test" {
		t.Errorf("greeting is %+v", g)
	}
	if op, _, rest, err := abi.Next(g.In, asked); op != abi.OpHello || len(rest) != 0 || err != nil {
		t.Errorf("In is %x", g.In)
	}
	if op, _, rest, err := abi.Next(g.Out, asked); op != abi.OpWelcome || len(rest) != 0 || err != nil {
		t.Errorf("Out is %x", g.Out)
	}
	if s.retired != nil {
		t.Errorf("retired: %v", s.retired)
	}
}

func TestGreetRefuses(t *testing.T) {
	change := func(change func(*abi.Welcome)) func(abi.Hello) []byte {
		return func(hello abi.Hello) []byte {
			w := welcome(hello)
			change(w)
			return abi.Append(nil, w)
		}
	}
	tests := map[string]struct {
		answer func(abi.Hello) []byte
		code   host.Code
		says   string
	}{
		"silence":       {func(abi.Hello) []byte { return nil }, host.CodeInstanceFailed, "nothing came"},
		"garbage":       {func(abi.Hello) []byte { return []byte{0xc1} }, host.CodeInstanceFailed, "answer to Hello"},
		"another frame": {func(abi.Hello) []byte { return abi.Append(nil, &abi.End{Turn: 1}) }, host.CodeInstanceFailed, "frame 40"},
		"a short frame": {func(abi.Hello) []byte { return []byte{0x91, abi.OpWelcome} }, host.CodeInstanceFailed, "answer to Hello"},
		"too much": {func(h abi.Hello) []byte {
			return abi.Append(abi.Append(nil, welcome(h)), &abi.End{Turn: 1})
		}, host.CodeInstanceFailed, "after Welcome"},
		"another major": {change(func(w *abi.Welcome) { w.Major, w.Minor = 9, 3 }), host.CodeABIVersion, "9.3, this host 2.0"},
		"a refusal": {func(abi.Hello) []byte {
			return abi.Append(nil, &abi.Fault{Code: abi.CodeABIVersion, Message: "the module speaks 9.3"})
		}, host.CodeABIVersion, "the module speaks 9.3"},
		"a broken refusal":   {func(abi.Hello) []byte { return []byte{0x91, abi.OpFault} }, host.CodeInstanceFailed, "answer to Hello"},
		"unasked features":   {change(func(w *abi.Welcome) { w.Features = abi.FeatureDigest }), host.CodeInstanceFailed, "features"},
		"a raised limit":     {change(func(w *abi.Welcome) { w.Limits.Depth++ }), host.CodeInstanceFailed, "limits"},
		"another quota":      {change(func(w *abi.Welcome) { w.Quota.Turn++ }), host.CodeInstanceFailed, "quota"},
		"a limit of nothing": {change(func(w *abi.Welcome) { w.Limits.Frame = 0 }), host.CodeInstanceFailed, "limits"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := &scripted{answer: test.answer}
			_, err := host.Greet(s, abi.Hello{Features: abi.FeatureChat})
			if !errors.Is(err, test.code) || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("error %v, want %s and %q", err, test.code, test.says)
			}
			if s.retired == nil {
				t.Fatal("the instance was not retired")
			}
		})
	}
}

func TestGreetHandsOnAFailedStep(t *testing.T) {
	failure := host.NewError(host.CodeInstanceFailed, "trap", nil)
	if _, err := host.Greet(&scripted{failure: failure}, abi.Hello{}); err != error(failure) {
		t.Fatalf("error %v", err)
	}
}
