package corpus

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
)

// said are frames, encoded.
func said(frames ...abi.Frame) (out []byte) {
	for _, f := range frames {
		out = abi.Append(out, f)
	}
	return out
}

// changed is a frame with a part of its bytes replaced.
func changed(f abi.Frame, old, by []byte) []byte {
	in := said(f)
	if bytes.Count(in, old) != 1 {
		panic("the part is not there once")
	}
	return bytes.Replace(in, old, by, 1)
}

// claims are a byte and a number of four bytes: the beginning of an array or a text that is not there.
func claims(kind byte) []byte { return binary.BigEndian.AppendUint32([]byte{kind}, 1<<32-1) }

func welcome(limits abi.Limits) []byte {
	return said(&abi.Welcome{
		Major: abi.Major, Features: abi.FeatureTimers, Limits: limits, Quota: abi.Quota{}.Effective(), Build: "hostile", Providers: []string{"openai"},
	})
}

// frames are the bytes that modules say, by name. turn is the number of the first turn of an instance.
func frames(turn uint32) map[string][]byte {
	log := func(payload abi.Raw) *abi.Event { // an event that carries a value
		p := abi.LogEvent{Kind: "k", Message: "m", HasPayload: payload != nil, Payload: payload}
		return &abi.Event{Turn: turn, Seq: 1, Kind: abi.EventLog, Iteration: -1, Scope: abi.ScopeTurn, Payload: p.Append(nil)}
	}
	effect := func(number uint32, kind uint8, args abi.Raw) *abi.Effect {
		return &abi.Effect{Turn: turn, Effect: number, Kind: kind, Path: abi.Text("t"), Ordinal: number, Args: args}
	}
	tooMuch := abi.DefaultLimits()
	tooMuch.Frame *= 4
	end := &abi.End{Turn: turn, Status: abi.StatusAck}
	read := effect(1, abi.EffectRead, (&abi.ReadArgs{Handle: 77, Read: abi.ReadText, Max: 100}).Append(nil))
	request := effect(1, abi.EffectHTTP, (&abi.HTTPArgs{Method: "GET", URL: "http://localhost:1/"}).Append(nil))
	message := func(id, delta string, length uint64) *abi.Event {
		return &abi.Event{
			Turn: turn, Seq: 1, Kind: abi.EventMessage, Iteration: -1, Scope: abi.ScopeTurn,
			Payload: (&abi.StreamEvent{ID: id, Delta: delta, Length: length}).Append(nil),
		}
	}
	sync := func(kind, collection uint8, handle int64) *abi.Sync {
		return &abi.Sync{Turn: turn, Sync: kind, Collection: collection, Handle: handle}
	}
	timer := &abi.Timer{Turn: turn, Due: 1_000_000}
	stranger := log(nil)
	stranger.Turn = 99
	elsewhere := effect(1, abi.EffectRead, nil)
	elsewhere.Context = 9
	unopened := log(nil)
	unopened.Dispatch = 7
	unknown := log(nil)
	unknown.Kind = 200
	mark := []byte("here")
	marked := log(value.AppendString(nil, string(mark)))
	text := value.AppendString(nil, string(mark))
	badStash := append(value.AppendString(nil, "key"), 0xc1)
	opened := &abi.Sync{Turn: turn, Context: 1, Sync: abi.SyncOpen}
	var contexts, streams, gates []byte
	for n := range 20_000 {
		contexts = abi.Append(contexts, &abi.Sync{Turn: turn, Context: uint32(n + 1), Sync: abi.SyncOpen})
	}
	for n := range 3_000 {
		streams = abi.Append(streams, message(strconv.Itoa(n), "x", 1))
		gate := log(nil)
		gate.Kind = abi.EventTurnGateOpen
		gate.Payload = (&abi.GateOpenEvent{Gate: uint32(n + 1), ID: strconv.Itoa(n), Reason: "r"}).Append(nil)
		gates = abi.Append(gates, gate)
	}
	return map[string][]byte{
		"bad-status":         said(&abi.End{Turn: turn, Status: 200}),
		"long-fault":         said(&abi.Fault{Turn: turn, Code: "E_HOSTILE", Message: strings.Repeat("\x1b[2J", 100_000)}),
		"many-contexts":      contexts,
		"many-streams":       streams,
		"many-gates":         gates,
		"welcome":            welcome(abi.DefaultLimits()),
		"welcome-too-much":   welcome(tooMuch),
		"reply":              said(&abi.Reply{Call: 1}),
		"no-frame":           {0xc1, 0xff, 0x93},
		"cut-frame":          said(end)[:3],
		"lying-text":         changed(marked, text, claims(0xdb)),
		"lying-array":        changed(marked, text, claims(0xdd)),
		"lying-map":          changed(marked, text, claims(0xdf)),
		"deep":               changed(marked, text, append(bytes.Repeat([]byte{0x91}, 100_000), 0xc0)),
		"unknown-op":         {0x91, 63},
		"request":            said(&abi.StartTurn{Turn: turn, Seed: make([]byte, abi.SeedSize)}),
		"other-turn":         said(stranger),
		"after-end":          said(end, log(nil)),
		"ends-twice":         said(end, end),
		"other-dispatch":     said(unopened),
		"unknown-event":      said(unknown),
		"bad-text":           changed(marked, mark, []byte("\xff\xfe\xc0\x80")),
		"lying-length":       said(message("m", "x", 1_000_000)),
		"unknown-effect":     said(effect(1, 200, nil)),
		"effect-elsewhere":   said(elsewhere),
		"effect-twice":       said(request, request),
		"unknown-read":       said(read),
		"unknown-tool":       said(effect(1, abi.EffectTool, (&abi.ToolArgs{Tool: 99}).Append(nil))),
		"unknown-handle":     said(sync(abi.SyncAdd, abi.CollectionMessages, -5)),
		"unknown-collection": said(sync(abi.SyncAdd, 99, 1)),
		"bad-stash":          said(&abi.Sync{Turn: turn, Sync: abi.SyncSet, Collection: abi.CollectionStash, Data: abi.Bytes(badStash)}),
		"open-twice":         said(opened, opened),
		"cancels":            slices.Repeat(said(&abi.Cancel{Turn: turn, Effect: 12}), 3),
		"replies":            slices.Repeat(said(&abi.Reply{Turn: turn, Call: 12}), 1000),
		"faults":             said(&abi.Fault{Turn: turn, Code: "E_ABI_MALFORMED_FRAME", Message: "no"}),
		"silent":             {},
		"timers":             slices.Repeat(said(&abi.Timer{Turn: turn, Due: 1}), 20_000),
		"deaf":               said(timer),
		"busy":               said(&abi.Timer{Turn: turn, Due: 1}),
		"chatty":             append(slices.Repeat(said(log(nil)), 200), said(&abi.Timer{Turn: turn, Due: 1})...),
		"large-value":        append(said(log(value.AppendString(nil, string(bytes.Repeat([]byte{'x'}, 40_000))))), said(&abi.Timer{Turn: turn, Due: 1})...),
	}
}
