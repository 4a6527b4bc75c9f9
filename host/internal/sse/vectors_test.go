package sse

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
)

var write = flag.Bool("write", false, "write what the encoder and the decoder give into the vectors")

const vectorFile = "../../../abi/testdata/sse.json"

type vectors struct {
	Streams []struct {
		Name   string            `json:"name"`
		After  uint32            `json:"after,omitempty"`
		Events []json.RawMessage `json:"events"`
		End    json.RawMessage   `json:"end,omitempty"`
		Fault  json.RawMessage   `json:"fault,omitempty"`
		Wire   string            `json:"wire"`
		Read   []json.RawMessage `json:"read"`
	} `json:"streams"`
	Accepted []struct {
		Name   string            `json:"name"`
		Wire   string            `json:"wire"`
		Events []json.RawMessage `json:"events"`
	} `json:"accepted"`
	Malformed []struct {
		Name string `json:"name"`
		Wire string `json:"wire"`
	} `json:"malformed"`
}

func readVectors(t *testing.T) *vectors {
	t.Helper()
	text, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Streams) < 12 || len(v.Accepted) < 12 || len(v.Malformed) < 25 {
		t.Fatalf("%d, %d and %d vectors", len(v.Streams), len(v.Accepted), len(v.Malformed))
	}
	return &v
}

// write writes the vectors, one to a line.
func (v *vectors) write(t *testing.T) {
	t.Helper()
	var out bytes.Buffer
	list := func(name string, n int, at func(i int) any, end string) {
		fmt.Fprintf(&out, "%q:[\n", name)
		for i := range n {
			line := json.NewEncoder(&out)
			line.SetEscapeHTML(false)
			if err := line.Encode(at(i)); err != nil {
				t.Fatal(err)
			}
			if i < n-1 {
				out.Truncate(out.Len() - 1)
				out.WriteString(",\n")
			}
		}
		out.WriteString("]" + end)
	}
	out.WriteString("{\n")
	list("streams", len(v.Streams), func(i int) any { return v.Streams[i] }, ",\n")
	list("accepted", len(v.Accepted), func(i int) any { return v.Accepted[i] }, ",\n")
	list("malformed", len(v.Malformed), func(i int) any { return v.Malformed[i] }, "\n}\n")
	if err := os.WriteFile(vectorFile, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// shownGate is a gate that is only shown.
type shownGate struct {
	event.OpenGate
	Gate
}

// eventOf makes the event of a line of the event log. texts are the streams so far.
func eventOf(t *testing.T, line json.RawMessage, before map[textKey]string, after uint32) event.Event {
	t.Helper()
	var given map[string]json.RawMessage
	d := Decoder{seq: after}
	if err := json.Unmarshal(line, &given); err != nil {
		t.Fatal(err)
	}
	var name string
	var seq uint32
	if err := errors.Join(json.Unmarshal(given["event"], &name), json.Unmarshal(given["seq"], &seq), d.readHead(given)); err != nil {
		t.Fatal(err)
	}
	kind := kinds[name]
	var ev event.Event
	if kind == event.KindMessage || kind == event.KindThought {
		var text struct {
			ID, ADelta                string
			Length                    int
			IsComplete, IsInterrupted bool
			CreatedAt                 int64
		}
		if err := json.Unmarshal(line, &text); err != nil {
			t.Fatal(err)
		}
		key := textKey{kind, d.head.dispatchID, text.ID}
		full := before[key] + text.ADelta
		if missing := text.Length - len(full); missing > 0 {
			full = strings.Repeat("?", missing) + full
		}
		before[key] = full
		delta := event.StreamDelta{
			ID: text.ID, Delta: text.ADelta, Full: full, IsComplete: text.IsComplete, IsInterrupted: text.IsInterrupted,
			CreatedAt: instant(text.CreatedAt),
		}
		ev = &event.Message{StreamDelta: delta}
		if kind == event.KindThought {
			ev = &event.Thought{StreamDelta: delta}
		}
	} else {
		var err error
		if ev, err = eventFromJSON(kind, given, line, d.head, newShownGate); err != nil {
			t.Fatal(err)
		}
	}
	h := d.head
	*ev.Meta() = event.Head{Seq: seq, TurnID: h.turnID, DispatchID: h.dispatchID, Iteration: h.iteration, At: instant(h.at)}
	return ev
}

func newShownGate(g Gate) event.OpenGate { return shownGate{Gate: g} }

// heard decodes a response that comes in pieces. Text that came in several pieces is joined again.
func heard(pieces ...string) (lines []json.RawMessage, d *Decoder, err error) {
	var events []event.Event
	lines = []json.RawMessage{}
	d = &Decoder{Listener: Listener{Gate: newShownGate, Event: func(ev event.Event) {
		if n := len(events); n > 0 && events[n-1].Meta().Seq == ev.Meta().Seq {
			last, more := deltaOf(events[n-1]), deltaOf(ev)
			more.Delta = last.Delta + more.Delta
			events = events[:n-1]
		}
		events = append(events, ev)
	}}}
	for _, piece := range pieces {
		if err = d.Write([]byte(piece)); err != nil {
			break
		}
	}
	for _, ev := range events {
		line, lineErr := json.Marshal(ev)
		err = errors.Join(err, lineErr)
		lines = append(lines, line)
	}
	return lines, d, err
}

func sameLines(a, b []json.RawMessage) bool {
	return slices.EqualFunc(a, b, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
}

// TestVectors encodes the events of every vector, and decodes what comes out of it.
func TestVectors(t *testing.T) {
	v := readVectors(t)
	for i := range v.Streams {
		s := &v.Streams[i]
		t.Run(s.Name, func(t *testing.T) {
			e := NewEncoder(s.After)
			texts := map[textKey]string{}
			var out []byte
			var err error
			for _, line := range s.Events {
				if out, err = e.Event(out, eventOf(t, line, texts, s.After)); err != nil {
					t.Fatal(err)
				}
			}
			if s.End != nil {
				d := Decoder{id: 1}
				if err := d.ended(s.End); err != nil {
					t.Fatal(err)
				}
				out = e.End(out, *d.end)
			}
			if s.Fault != nil {
				fault, _ := ErrorFromJSON(s.Fault)
				out = e.Fault(out, fault)
			}
			read, d, err := heard(string(out))
			if *write {
				s.Wire, s.Read = string(out), read
			}
			if string(out) != s.Wire {
				t.Errorf("encoded\n%s\nwant\n%s", out, s.Wire)
			}
			if !sameLines(read, s.Read) {
				t.Errorf("decoded\n%s\nwant\n%s", read, s.Read)
			}
			switch {
			case s.After > 0:
				if !errors.Is(err, host.CodeTurnStreamMalformed) {
					t.Errorf("without the beginning: %v", err)
				}
				return
			case s.Fault != nil:
				if !errors.Is(err, host.CodeClosed) {
					t.Errorf("fault: %v", err)
				}
				return
			case err != nil:
				t.Fatal(err)
			case d.End() == nil:
				t.Fatal("no end")
			}
			if end := string(NewEncoder(0).End(nil, *d.End())); !strings.Contains(end, "data:"+string(s.End)+"\n") {
				t.Errorf("the end is %s, want %s", end, s.End)
			}
			if d.LastEventID() != uint32(len(s.Events))+1 { //nolint:gosec // few
				t.Errorf("last event %d", d.LastEventID())
			}
		})
	}
	if *write {
		v.write(t)
	}
}

// TestSplits decodes every response of the vectors in two pieces, cut at every byte, and byte by byte.
func TestSplits(t *testing.T) {
	v := readVectors(t)
	check := func(name, wire string, want []json.RawMessage) {
		for cut := 0; cut < len(wire); cut += 1 + len(wire)/300 {
			lines, d, err := heard(wire[:cut], wire[cut:])
			if err != nil || d.End() == nil || !sameLines(lines, want) {
				t.Fatalf("%s, cut at byte %d: %v\n%s\nwant\n%s", name, cut, err, lines, want)
			}
		}
		var single []string
		for i := range len(wire) {
			single = append(single, wire[i:i+1])
		}
		if lines, d, err := heard(single...); err != nil || d.End() == nil || !sameLines(lines, want) {
			t.Fatalf("%s, byte by byte: %v\n%s\nwant\n%s", name, err, lines, want)
		}
	}
	for _, s := range v.Streams {
		if s.End != nil && s.After == 0 {
			check(s.Name, s.Wire, s.Read)
		}
	}
	for _, s := range v.Accepted {
		check(s.Name, s.Wire, s.Events)
	}
}

// TestMalformed decodes what no server of turns writes.
func TestMalformed(t *testing.T) {
	for _, s := range readVectors(t).Malformed {
		for cut := range len(s.Wire) {
			if _, _, err := heard(s.Wire[:cut], s.Wire[cut:]); !errors.Is(err, host.CodeTurnStreamMalformed) {
				t.Fatalf("%s, cut at byte %d: %v", s.Name, cut, err)
			}
		}
	}
}

func (g shownGate) ID() string               { return g.Gate.ID }
func (g shownGate) TurnID() string           { return g.Gate.TurnID }
func (g shownGate) Reason() string           { return g.Gate.Reason }
func (g shownGate) Payload() json.RawMessage { return g.Gate.Payload }
func (g shownGate) CreatedAt() time.Time     { return g.Gate.CreatedAt }
func (g shownGate) Digest() string           { return g.Gate.Digest }
