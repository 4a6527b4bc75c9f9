package sse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
)

// MaxEvent bounds an event that is not text, in bytes.
const MaxEvent = 64 << 20

// Listener is where the events of a stream go.
type Listener struct {
	Event func(event.Event)
	// Gate makes the gate of an event.
	Gate func(Gate) event.OpenGate
}

// Gate is what a stream says of a gate.
type Gate struct {
	ID        string
	TurnID    string
	Reason    string
	Payload   json.RawMessage
	CreatedAt time.Time
	Digest    string
}

// Decoder decodes the events of one turn, from one response or from several that follow each other. Text is told as it
// comes, before its block is complete.
type Decoder struct {
	Listener Listener
	// MaxEvent bounds an event that is not text, in bytes; 0 is the constant MaxEvent.
	MaxEvent int

	lines lines
	head  head
	texts map[textKey]*text
	text  *text // the text that text blocks add to
	ahead int   // bytes of the current text that came after the last number
	again int   // bytes that come again after a cut
	seq   uint32
	end   *End

	// The block so far.
	kind  string
	id    uint32 // 0 for none
	data  []byte
	has   bool // a data line has come
	open  bool // the current line is that of a text block, whose beginning was read
	read  bool // the block is a text block that was read
	told  bool // the text block has been told
	piece []byte
}

type textKey struct {
	kind           event.Kind
	dispatchID, id string
}

// text is a message or thought that is being read.
type text struct {
	kind    event.Kind
	id      string
	created time.Time
	full    strings.Builder
}

// LastEventID is the number of the last event that was read whole: where a next response begins.
func (d *Decoder) LastEventID() uint32 { return d.seq }

// End is how the turn ended; nil before.
func (d *Decoder) End() *End { return d.end }

// Resume forgets what was read of an incomplete block. The next bytes are those of a response after LastEventID.
func (d *Decoder) Resume() {
	d.lines, d.again, d.head, d.text, d.open = lines{}, d.ahead, head{}, nil, false
	d.reset()
}

// Write takes bytes of the response. What follows the end is not read. It fails with E_TURN_STREAM_MALFORMED for what
// no server of turns writes, and with the error with which the server ended the response.
func (d *Decoder) Write(b []byte) error {
	err := d.lines.split(b, func(line []byte) error {
		if d.end != nil {
			return nil
		}
		return d.line(line)
	})
	if err != nil || d.end != nil {
		return err
	}
	d.lines.rest, err = d.begun(d.lines.rest)
	return err
}

func (d *Decoder) line(line []byte) error {
	if d.open {
		return d.close(line)
	}
	if len(line) == 0 {
		return d.dispatch()
	}
	name, v, _ := bytes.Cut(line, []byte(":"))
	v = bytes.TrimPrefix(v, []byte(" "))
	switch string(name) {
	case "data":
		begin, err := d.beginning(v)
		switch {
		case err != nil:
			return err
		case begin > 0:
			return d.close(v[begin:])
		}
		if err := d.requireSize(len(v)); err != nil {
			return err
		}
		if d.has {
			d.data = append(d.data, '\n')
		}
		d.data, d.has = append(d.data, v...), true
	case "event":
		d.kind = string(v)
	case "id":
		n, err := strconv.ParseUint(string(v), 10, 32)
		if err != nil {
			n = 0
		}
		d.id = uint32(n)
	}
	return nil
}

// begun reads what it can of a line that has not ended, and returns the rest.
func (d *Decoder) begun(rest []byte) ([]byte, error) {
	if !d.open {
		v, found := bytes.CutPrefix(rest, []byte("data:"))
		v = bytes.TrimPrefix(v, []byte(" "))
		begin := 0
		if found {
			var err error
			if begin, err = d.beginning(v); err != nil {
				return nil, err
			}
		}
		if begin == 0 {
			return rest, d.requireSize(len(rest))
		}
		d.open, rest = true, v[begin:]
	}
	end := wholeCharacters(rest)
	if end > 0 {
		if err := d.add(rest[:end]); err != nil {
			return nil, err
		}
	}
	if len(rest)-end > 32 {
		return nil, malformed("a text block does not end")
	}
	return rest[end:], nil
}

var blockBeginning = regexp.MustCompile(`^\[(-?[0-9]{1,16}),"`)

// beginning is where the text of a text block begins in the first data of a block; 0 for other data.
func (d *Decoder) beginning(v []byte) (int, error) {
	if d.has || d.read || !isMessage(d.kind) {
		return 0, nil
	}
	found := blockBeginning.FindSubmatch(v)
	if found == nil {
		return 0, nil
	}
	if d.text == nil {
		return 0, malformed("text of no message")
	}
	ms, _ := strconv.ParseInt(string(found[1]), 10, 64) // the expression sees to the digits
	d.head.at += ms
	return len(found[0]), nil
}

var blockEnd = regexp.MustCompile(`^"\s*\]\s*$`)

// close reads the rest of a text block's line.
func (d *Decoder) close(line []byte) error {
	end := wholeCharacters(line)
	if !blockEnd.Match(line[end:]) {
		return malformed("a text block ends within its text")
	}
	if end > 0 || !d.told {
		if err := d.add(line[:end]); err != nil {
			return err
		}
	}
	d.open, d.read = false, true
	return nil
}

// add tells a piece of a text block.
func (d *Decoder) add(raw []byte) error {
	d.told = true
	d.piece = append(append(append(d.piece[:0], '"'), raw...), '"')
	var delta string
	if err := json.Unmarshal(d.piece, &delta); err != nil {
		return notJSON(err)
	}
	return d.append(d.text, delta, d.seq+1, false, false)
}

func (d *Decoder) requireSize(more int) error {
	limit := d.MaxEvent
	if limit == 0 {
		limit = MaxEvent
	}
	if len(d.data)+more > limit {
		return malformed(fmt.Sprintf("an event is over the limit of %d bytes", limit))
	}
	return nil
}

func (d *Decoder) reset() {
	d.kind, d.id, d.data, d.has, d.read, d.told = "", 0, d.data[:0], false, false, false
}

// dispatch reads a block at its end.
func (d *Decoder) dispatch() error {
	defer d.reset()
	switch {
	case d.read:
		return d.advance()
	case !d.has:
	case isMessage(d.kind):
		return d.event(d.data)
	case d.kind == "end":
		return d.ended(d.data)
	case d.kind == "fault":
		err, ok := ErrorFromJSON(d.data)
		if !ok {
			return malformed("a fault without an error")
		}
		return err
	}
	return nil
}

// advance takes the number of a block.
func (d *Decoder) advance() error {
	if d.id == 0 {
		return malformed("an event without a number")
	}
	if d.id <= d.seq {
		return malformed(fmt.Sprintf("event %d follows event %d", d.id, d.seq))
	}
	d.seq, d.ahead = d.id, d.again
	return nil
}

func (d *Decoder) event(data []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		return d.spaced(data)
	}
	members := map[string]json.RawMessage{}
	if !json.Valid(data) {
		return malformed("the data of an event are not JSON")
	}
	var name string
	if json.Unmarshal(data, &members) != nil || json.Unmarshal(members["event"], &name) != nil {
		return malformed("an event is an object with its name")
	}
	if err := d.readHead(members); err != nil {
		return err
	}
	if err := d.advance(); err != nil {
		return err
	}
	d.text = nil
	kind := kinds[name]
	if kind == event.KindMessage || kind == event.KindThought {
		return d.textEvent(kind, members)
	}
	if d.again > 0 {
		return malformed(fmt.Sprintf("event %d is not the one that was cut off", d.seq))
	}
	ev, err := eventFromJSON(kind, members, data, d.head, d.Listener.Gate)
	if err == nil && ev != nil {
		d.tell(ev, d.seq)
	}
	return err
}

// spaced reads a text block in another spelling than the format's, after a proxy has parsed and written it.
func (d *Decoder) spaced(data []byte) error {
	var block []json.RawMessage
	var ms int64
	var delta *string
	if json.Unmarshal(data, &block) != nil || len(block) != 2 || json.Unmarshal(block[0], &ms) != nil ||
		json.Unmarshal(block[1], &delta) != nil || delta == nil {
		return malformed("a text block has a time and a text")
	}
	if d.text == nil {
		return malformed("text of no message")
	}
	d.head.at += ms
	if err := d.append(d.text, *delta, d.seq+1, false, false); err != nil {
		return err
	}
	return d.advance()
}

// readHead reads the common members of an event: what it leaves out is as in the event before.
func (d *Decoder) readHead(members map[string]json.RawMessage) error {
	h := d.head
	if !h.written {
		h = head{iteration: -1}
	}
	text := func(name string, to *string) error {
		v, given := members[name]
		switch {
		case !given:
		case string(v) == "null":
			*to = ""
		case json.Unmarshal(v, to) != nil:
			return malformed("`" + name + "` of an event must be a string")
		}
		return nil
	}
	if err := text("turnId", &h.turnID); err != nil {
		return err
	}
	if err := text("dispatchId", &h.dispatchID); err != nil {
		return err
	}
	if v, given := members["iteration"]; given && string(v) == "null" {
		h.iteration = -1
	} else if given && json.Unmarshal(v, &h.iteration) != nil {
		return malformed("`iteration` of an event must be a number")
	}
	if v, given := members["at"]; given && (string(v) == "null" || json.Unmarshal(v, &h.at) != nil) {
		return malformed("`at` of an event must be a number")
	} else if !given && !h.written {
		return malformed("the first event must have a time")
	}
	h.written = true
	d.head = h
	return nil
}

func (d *Decoder) textEvent(kind event.Kind, members map[string]json.RawMessage) error {
	var given struct {
		ID            *string
		ADelta        *string
		Length        *int
		IsComplete    bool
		IsInterrupted bool
		CreatedAt     *int64
	}
	for name, to := range map[string]any{
		"id": &given.ID, "aDelta": &given.ADelta, "length": &given.Length,
		"isComplete": &given.IsComplete, "isInterrupted": &given.IsInterrupted, "createdAt": &given.CreatedAt,
	} {
		if v, there := members[name]; there && json.Unmarshal(v, to) != nil {
			return malformed("`" + name + "` of a message has another type")
		}
	}
	if given.ID == nil || given.ADelta == nil || given.Length == nil {
		return malformed("a message has an `id`, `aDelta` and `length`")
	}
	key := textKey{kind, d.head.dispatchID, *given.ID}
	t := d.texts[key]
	if t == nil {
		created := d.head.at
		if given.CreatedAt != nil {
			created = *given.CreatedAt
		}
		t = &text{kind: kind, id: *given.ID, created: instant(created)}
		if d.texts == nil {
			d.texts = map[textKey]*text{}
		}
		d.texts[key] = t
	}
	if err := d.append(t, *given.ADelta, d.seq, given.IsComplete, given.IsInterrupted); err != nil {
		return err
	}
	// What comes again is in the text already, its end not yet in the event's length.
	if d.again == 0 && t.full.Len() != *given.Length {
		return malformed(fmt.Sprintf("the text of %s has %d bytes, not %d", t.id, t.full.Len(), *given.Length))
	}
	d.ahead = d.again
	if given.IsComplete {
		delete(d.texts, key)
	} else {
		d.text = t
	}
	return nil
}

// append adds to a text and tells of it.
func (d *Decoder) append(t *text, delta string, seq uint32, complete, interrupted bool) error {
	if d.again > 0 {
		full := t.full.String()
		if len(full) < d.again {
			return malformed("the text of " + t.id + " has changed")
		}
		known := full[len(full)-d.again:]
		known = known[:min(len(known), len(delta))]
		if !strings.HasPrefix(delta, known) {
			return malformed("the text of " + t.id + " has changed")
		}
		delta = delta[len(known):]
		d.again -= len(known)
		if delta == "" && !complete {
			return nil
		}
	}
	d.ahead += len(delta)
	t.full.WriteString(delta)
	told := event.StreamDelta{
		ID: t.id, Delta: delta, Full: t.full.String(), IsComplete: complete, IsInterrupted: interrupted, CreatedAt: t.created,
	}
	if t.kind == event.KindMessage {
		d.tell(&event.Message{StreamDelta: told}, seq)
	} else {
		d.tell(&event.Thought{StreamDelta: told}, seq)
	}
	return nil
}

func (d *Decoder) tell(ev event.Event, seq uint32) {
	h := d.head
	*ev.Meta() = event.Head{
		Seq: seq, TurnID: h.turnID, DispatchID: h.dispatchID, Iteration: h.iteration, At: instant(h.at),
	}
	d.Listener.Event(ev)
}

func (d *Decoder) ended(data []byte) error {
	var given struct {
		Status     string
		Iterations *int
		Error      json.RawMessage
		Object     json.RawMessage
	}
	if !json.Valid(data) {
		return malformed("the data of an event are not JSON")
	}
	if json.Unmarshal(data, &given) != nil {
		return malformed("the end of a turn is an object")
	}
	status, known := statuses[given.Status]
	if !known || status == event.Continue {
		return malformed("the end of a turn has its `status`")
	}
	if given.Iterations == nil {
		return malformed("the end of a turn has its `iterations`")
	}
	told, ok := ErrorFromJSON(given.Error)
	if !ok && (given.Error != nil || status == event.Failed || status == event.Nack) {
		return malformed("the end of this turn has no valid `error`")
	}
	if err := d.advance(); err != nil {
		return err
	}
	d.end = &End{Status: status, Iterations: *given.Iterations, Object: given.Object, Err: told}
	return nil
}

// isMessage reports whether a type of server-sent events is the one that the format has for events without one.
func isMessage(kind string) bool { return kind == "" || kind == "message" }

func malformed(why string) error {
	return host.NewError(host.Code(abi.CodeTurnStreamMalformed), why, nil)
}

func notJSON(err error) error {
	return host.NewError(host.Code(abi.CodeTurnStreamMalformed), "the data of an event are not JSON", err)
}

// wholeCharacters is where the whole characters of the inside of a JSON string end: at its closing quote, or before an
// escape, a pair of escaped surrogates or a character whose end has not come yet.
func wholeCharacters(s []byte) int {
	whole := 0
	for i := 0; i < len(s) && s[i] != '"'; {
		size, unit := 1, uint64(0)
		switch {
		case s[i] == '\\':
			size = 2
			if i+1 < len(s) && s[i+1] == 'u' {
				size = 6
			}
			if i+size > len(s) {
				return whole
			}
			if size == 6 {
				unit, _ = strconv.ParseUint(string(s[i+2:i+6]), 16, 16) // what is not hexadecimal is not JSON, which shows later
			}
		case s[i] >= utf8.RuneSelf:
			if !utf8.FullRune(s[i:]) {
				return whole
			}
			_, size = utf8.DecodeRune(s[i:])
		}
		i += size
		if unit < 0xd800 || unit > 0xdbff || i < len(s) && s[i] == '"' {
			whole = i
		}
	}
	return whole
}
