package journal_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/journal"
	"github.com/turncore/turncore/host/native"
)

var header = journal.Header{
	ABI: abi.Version, Features: abi.FeatureChat | abi.FeatureDigest, Module: strings.Repeat("ab", 32), Engine: "wazero", Turn: 70_000,
}

// short is a writer that takes no more than so many bytes, and says no error.
type short int

func (s *short) Write(p []byte) (int, error) {
	n := min(len(p), int(*s))
	*s -= short(n)
	return n, nil
}

// A writer that does not take all of a journal has failed.
func TestShortWrite(t *testing.T) {
	room := short(3)
	if _, err := journal.NewWriter(&room, header); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("of the header: %v", err)
	}
	room = short(len(write(t)) + 5)
	w, err := journal.NewWriter(&room, header)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(journal.Entry{In: []byte("12345678")}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("of an entry: %v", err)
	}
}

// write returns a journal of the entries.
func write(t testing.TB, entries ...journal.Entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := journal.NewWriter(&b, header)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// read returns the entries of a journal and the error that ended it.
func read(text []byte) (journal.Header, []journal.Entry, error) {
	r, err := journal.NewReader(bytes.NewReader(text))
	if err != nil {
		return journal.Header{}, nil, err
	}
	var entries []journal.Entry
	for {
		e, err := r.Next()
		if err != nil {
			return r.Header, entries, err
		}
		entries = append(entries, e)
	}
}

func TestWriteAndRead(t *testing.T) {
	var entries []journal.Entry
	for _, size := range []int{0, 1, 255, 256, 65535, 65536, 3 << 20} {
		entries = append(entries, journal.Entry{In: bytes.Repeat([]byte{1}, size), Out: bytes.Repeat([]byte{2}, size/2)})
	}
	h, got, err := read(write(t, entries...))
	if err != io.EOF || h != header {
		t.Fatalf("%+v, %v", h, err)
	}
	if !slices.EqualFunc(got, entries, func(a, b journal.Entry) bool {
		return bytes.Equal(a.In, b.In) && bytes.Equal(a.Out, b.Out)
	}) {
		t.Fatal("the entries differ")
	}
}

// The header's bytes are the same on every host.
func TestHeaderBytes(t *testing.T) {
	var b bytes.Buffer
	_, err := journal.NewWriter(&b, journal.Header{ABI: abi.Version, Features: 3, Module: "native", Engine: "native", Turn: 1})
	want := "\x87\xa8turncore\xa7journal\xa7version\x01\xa3abi\xce\x00\x02\x00\x00\xa8features\x03\xa6module\xa6native\xa6engine\xa6native\xa4turn\x01"
	if err != nil || b.String() != want {
		t.Fatalf("%q, %v", b.String(), err)
	}
}

func TestReadRefusesDamage(t *testing.T) {
	good := write(t, journal.Entry{In: []byte("in"), Out: []byte("out")})
	start := bytes.Index(good, []byte{0x92, 0xc4})
	for size := range len(good) {
		_, entries, err := read(good[:size])
		switch {
		case size == start && err == io.EOF && len(entries) == 0:
		case errors.Is(err, io.ErrUnexpectedEOF):
		default:
			t.Errorf("after %d bytes: %v, %v", size, entries, err)
		}
	}
	for name, text := range map[string][]byte{
		"text":             []byte("hello, this is text"),
		"another file":     []byte("\x81\xa8turncore\xa3log"),
		"another version":  bytes.Replace(good, []byte("\xa7version\x01"), []byte("\xa7version\x02"), 1),
		"a huge length":    append(slices.Clone(good), 0x92, 0xc6, 0xff, 0xff, 0xff, 0xff),
		"not an entry":     append(slices.Clone(good), 0x93),
		"not byte strings": append(slices.Clone(good), 0x92, 0xa1, 'x'),
	} {
		if _, _, err := read(text); err == nil || err == io.EOF {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(write(f, journal.Entry{In: []byte("in"), Out: []byte("out")}))
	f.Fuzz(func(t *testing.T, text []byte) {
		h, entries, err := read(text)
		if err != io.EOF {
			return
		}
		var b bytes.Buffer
		w, err := journal.NewWriter(&b, h)
		if err != nil {
			return // more features than a number holds
		}
		for _, e := range entries {
			if err := w.Write(e); err != nil {
				t.Fatal(err)
			}
		}
		again, entriesAgain, err := read(b.Bytes())
		if err != io.EOF || again != h || len(entriesAgain) != len(entries) {
			t.Fatalf("%+v became %+v, %v", h, again, err)
		}
	})
}

func TestFilter(t *testing.T) {
	var batch, want []byte
	for _, turn := range []uint32{1, 127, 128, 255, 256, 65535, 65536, 1<<32 - 1} {
		for _, frame := range []abi.Frame{
			&abi.StartTurn{Turn: turn}, &abi.StartInvocation{Turn: turn}, &abi.Call{Turn: turn}, &abi.Tick{Turn: turn}, &abi.Abort{Turn: turn},
			&abi.Reply{Turn: turn}, &abi.Event{Turn: turn}, &abi.Sync{Turn: turn}, &abi.End{Turn: turn}, &abi.Fault{Turn: turn},
		} {
			batch = abi.Append(batch, frame)
			if turn == 65536 {
				want = abi.Append(want, frame)
			}
		}
	}
	batch = abi.Append(batch, &abi.Hello{Major: 1})
	batch = abi.Append(batch, &abi.OpenRunner{Runner: 65536})
	batch = abi.Append(batch, &abi.OpenAgents{Runner: 65536})
	batch = abi.Append(batch, &abi.History{History: 65536})
	batch = abi.Append(batch, &abi.Welcome{Major: 1})
	got, err := journal.Filter([]byte("before"), batch, 65536)
	if err != nil || string(got) != "before"+string(want) {
		t.Fatalf("%x, %v", got, err)
	}
	if _, err := journal.Filter(nil, append(batch, 0xc1), 1); err == nil {
		t.Fatal("garbage was taken")
	}
}

// script is an engine whose instances give one answer after another.
type script struct {
	answers [][]byte
	failure error
}

func (s *script) Name() string                                { return "script" }
func (s *script) ModuleHash() string                          { return "" }
func (s *script) Open(context.Context) (host.Instance, error) { return &played{script: s}, nil }
func (s *script) Close(context.Context) error                 { return nil }

type played struct {
	*script
	step int
}

func (p *played) Step(dst, _ []byte) ([]byte, error) {
	if p.step == len(p.answers) {
		return dst, p.failure
	}
	p.step++
	return append(dst, p.answers[p.step-1]...), nil
}
func (p *played) Retire(cause error) error { return cause }
func (p *played) MemoryBytes() uint64      { return 0 }

func TestReplay(t *testing.T) {
	welcome := abi.Append(nil, &abi.Welcome{Major: 1, Build: "test"})
	event := abi.Append(nil, &abi.Event{Turn: 1, Seq: 4, Kind: abi.EventTurnStart, Payload: abi.Raw("\x92\xa4text\x81\xa1k\xc4\x02\x01\x02")})
	other := abi.Append(nil, &abi.Event{Turn: 1, Seq: 5, Kind: abi.EventTurnStart})
	recorded := write(t, journal.Entry{Out: welcome}, journal.Entry{Out: slices.Concat(welcome, event)})
	failure := host.NewError(host.CodeInstanceFailed, "trap", nil)

	tests := map[string]struct {
		answers [][]byte
		failure error
		entries int
		code    error
		says    []string
	}{
		"the same": {[][]byte{welcome, slices.Concat(welcome, event)}, nil, 2, nil, nil},
		"another frame": {[][]byte{welcome, slices.Concat(welcome, other)}, nil, 1, host.CodeReplayDiverged, []string{
			"entry 1, frame 1, byte 3:\n", `
  both:     {"frame":"Event","turn":1,"seq":
  recorded: 4,"kind":"turnStart","elapsed":0,"dispatch":0,"iteration":0,"scope":0,"payload":["text",{"k":"\u0001\u0002"}]}
  replayed: 5,"kind":"turnStart",`,
		}},
		"a frame missing": {[][]byte{welcome, welcome}, nil, 1, host.CodeReplayDiverged, []string{"entry 1, frame 1", "replayed: no frame"}},
		"a frame more": {[][]byte{slices.Concat(welcome, event)}, nil, 0, host.CodeReplayDiverged, []string{
			"entry 0, frame 1", "recorded: no frame", `replayed: {"frame":"Event",`,
		}},
		"garbage": {[][]byte{welcome, {0xc1, 0xc1}}, nil, 1, host.CodeReplayDiverged, []string{
			"entry 1, frame 0", `recorded: frame":"Welcome"`, `replayed: malformed":{"hex":"c1c1"}}`,
		}},
		"a trap": {[][]byte{welcome}, failure, 1, host.CodeInstanceFailed, []string{"journal entry 1", "trap"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := journal.NewReader(bytes.NewReader(recorded))
			if err != nil {
				t.Fatal(err)
			}
			entries, err := journal.Replay(context.Background(), &script{answers: test.answers, failure: test.failure}, r)
			if entries != test.entries || !errors.Is(err, test.code) {
				t.Fatalf("%d entries, %v", entries, err)
			}
			for _, says := range test.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%q does not say %q", err, says)
				}
			}
			var d *journal.Divergence
			if test.code == host.CodeReplayDiverged && (!errors.As(err, &d) || d.Entry != test.entries) {
				t.Errorf("divergence %+v", d)
			}
		})
	}
}

// A journal of the core module plays on the full one, which has more providers and another build. Modules that agreed
// to anything else with their host are not the same.
func TestReplayOnAnotherModule(t *testing.T) {
	core := abi.Welcome{
		Major: 2, Minor: 1, Features: abi.FeatureChat, Limits: abi.DefaultLimits(), Quota: abi.Quota{Turn: 7, Instance: 9},
		Build: "core", Providers: []string{"openai"},
	}
	recorded := write(t, journal.Entry{Out: abi.Append(nil, &core)})
	for name, c := range map[string]struct {
		change func(*abi.Welcome)
		same   bool
	}{
		"the full module":  {func(w *abi.Welcome) { w.Build, w.Providers = "full", []string{"openai", "anthropic", "ollama"} }, true},
		"sessions":         {func(w *abi.Welcome) { w.Features |= abi.FeatureSessions }, true},
		"another major":    {func(w *abi.Welcome) { w.Major = 3 }, false},
		"another minor":    {func(w *abi.Welcome) { w.Minor = 0 }, false},
		"further features": {func(w *abi.Welcome) { w.Features |= abi.FeatureDigest }, false},
		"another limit":    {func(w *abi.Welcome) { w.Limits.Frame-- }, false},
		"another quota":    {func(w *abi.Welcome) { w.Quota.Turn++ }, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := core
			c.change(&w)
			r, err := journal.NewReader(bytes.NewReader(recorded))
			if err != nil {
				t.Fatal(err)
			}
			n, err := journal.Replay(t.Context(), &script{answers: [][]byte{abi.Append(nil, &w)}}, r)
			if c.same && (n != 1 || err != nil) || !c.same && (n != 0 || !errors.Is(err, host.CodeReplayDiverged)) {
				t.Errorf("%d entries, %v", n, err)
			}
		})
	}
}

// What the native engine answers to Hello it answers again.
func TestReplayOnNative(t *testing.T) {
	ctx := context.Background()
	e := native.New()
	defer e.Close(ctx)
	inst, err := e.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	g, err := host.Greet(inst, abi.Hello{Features: abi.FeatureChat})
	if err != nil {
		t.Fatal(err)
	}
	unknown := abi.Append(nil, &abi.Call{Turn: 9, Call: 1, Method: abi.MethodAck})
	answer, err := inst.Step(nil, unknown)
	if err != nil || len(answer) == 0 {
		t.Fatalf("%x, %v", answer, err)
	}
	r, err := journal.NewReader(bytes.NewReader(write(t,
		journal.Entry{In: g.In, Out: g.Out}, journal.Entry{In: unknown, Out: answer})))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := journal.Replay(ctx, e, r); n != 2 || err != nil {
		t.Fatalf("%d entries, %v", n, err)
	}
}

// A change in the midst of a long text is shown with what stands around it.
func TestDivergenceShowsTheDifference(t *testing.T) {
	body := func(word string) []byte {
		return abi.Append(nil, &abi.Fault{Message: strings.Repeat("a", 5000) + "the " + word + strings.Repeat("z", 5000)})
	}
	d := &journal.Divergence{Entry: 3, Frame: 2, Want: body("cat"), Got: body("dog")}
	text := d.Error()
	for _, want := range []string{
		"entry 3, frame 2, byte 5011:\n", "  both:     …" + strings.Repeat("a", 76) + "the \n",
		"  recorded: catzzz", "  replayed: dogzzz",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if len(text) > 600 {
		t.Errorf("%d bytes", len(text))
	}
	// 1 in five bytes: not its shortest form.
	d = &journal.Divergence{Want: abi.Append(nil, &abi.Cancel{Turn: 1, Effect: 1}), Got: []byte{0x93, abi.OpCancel, 1, 0xce, 0, 0, 0, 1}}
	if text := d.Error(); !strings.Contains(text, "recorded: 01") || !strings.Contains(text, "replayed: ce00000001") {
		t.Errorf("%s", text)
	}
}

// AppendJSON gives JSON whatever it is given, and the same as the npm package: its tests have the same digest.
func TestJSONTakesAnything(t *testing.T) {
	const digest = "ebbd8026a053b3acb3ac7eaab9552696069aa4203dd7a77f8b7632b62e0a70b6"
	random := uint32(1)
	below := func(n uint32) uint32 {
		random = random*1664525 + 1013904223
		return random >> 8 % n
	}
	all := sha256.New()
	for range 20_000 {
		b := make([]byte, 2+below(38))
		b[0], b[1] = byte(0x90|below(16)), byte(below(64))
		for i := range b[2:] {
			b[2+i] = byte(below(256))
		}
		text := journal.AppendJSON(nil, b)
		if !json.Valid(text) {
			t.Fatalf("%s for %x", text, b)
		}
		all.Write(text)
	}
	if got := hex.EncodeToString(all.Sum(nil)); got != digest {
		t.Errorf("the digest is %s", got)
	}
}
