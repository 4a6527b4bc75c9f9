package chat

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/framing"
)

const (
	maxAnswer   = 8 << 20 // most bytes of text, reasoning and arguments in one answer
	maxCalls    = 256     // most tool calls in one answer
	maxThoughts = 256     // most pieces of reasoning in one answer
)

// Answer is the content of one response so far. A [Provider] adds what it reads; text and reasoning are reported
// immediately. Its methods copy their arguments.
type Answer struct {
	d       Dispatch
	to      Listener
	options *options

	message  stream
	thoughts []thought
	given    Given
	kept     bool // given has data
	calls    []call
	finish   string
	stopped  bool // the finish reason says that the answer is complete
	model    string
	provider string // the provider that the response names
	usage    []byte // value, nil if unknown

	status     int            // of an unsuccessful response
	begun      bool           // the response has begun
	refusal    *providerError // the error in its body; nil for none
	retryAfter int64          // delay in ms that the response requests before the next attempt; -1 for none
	deadline   uint64         // end of the call on the turn's clock; 0 for none
	cut        bool           // the stream ended too early

	failure *providerError // an error in place of the rest of the answer
	broken  error          // why the rest cannot be read; the dispatch is nacked with it
	err     error          // of a report
	done    bool           // the stream announced its end
	deltas  bool           // the answer comes in deltas
	inOne   bool           // the answer comes in one piece, in which the order of members has no meaning
	size    int

	declined    bool // the text explains why the model does not answer
	paused      bool // the model continues when asked again
	interrupted bool // it was cut off, by whatever cause; a complete but useless answer was not

	leading   leading
	reader    TextReader      // splits the text into pieces, nil if all of it is prose
	takePiece func(TextPiece) // receives them; made once

	scan     value.Scanner
	pieces   pieces // of the current chunk
	template template
	piece    CallDelta // scratch
}

// stream is a message or a thought in progress.
type stream struct {
	id      string
	created int64
	text    []byte
}

// thought is the text of one source of reasoning.
type thought struct {
	source  int
	payload []byte // the provider's value; nil for none
	told    bool   // reported as it arrived
	stream
}

// errStop stops reading a response whose rest is not wanted.
var errStop = errors.New("chat: the rest of the response is not wanted")

func (a *Answer) reset(d Dispatch, o *options) {
	*a = Answer{
		d: d, to: a.to, options: o, retryAfter: -1, message: stream{text: a.message.text[:0]}, thoughts: a.thoughts[:0],
		scan: a.scan, template: template{before: a.template.before, middle: a.template.middle, after: a.template.after}, piece: a.piece,
		leading: leading{held: a.leading.held[:0]},
	}
}

// event reads an event of a stream, or a whole response.
func (a *Answer) event(e framing.Event) error {
	data := bytes.TrimSpace(e.Data)
	if e.Type == nil {
		return a.whole(data)
	}
	switch {
	case len(data) == 0 || a.done:
		return nil
	case e.Stray:
		return a.strayError(data)
	case string(data) == "[DONE]":
		a.done = true
		return nil
	}
	if !a.again(data) {
		a.chunk(e.Type, data)
	}
	if a.failure == nil && string(e.Type) == "error" {
		a.failure = parseProviderError(data)
	}
	switch {
	case a.err != nil:
		return a.err
	case a.failure != nil || a.broken != nil:
		return errStop
	}
	return nil
}

// whole reads a response that is one JSON text.
func (a *Answer) whole(data []byte) error {
	a.inOne = true
	a.chunk(nil, data)
	a.done = true
	if err := a.scan.Err(); err != nil && a.failure == nil {
		return err
	}
	return a.err
}

// again handles a chunk that differs from the previous one only in the piece of text.
func (a *Answer) again(data []byte) bool {
	quoted, ok := a.template.match(data)
	if !ok {
		return false
	}
	a.scan.Reset(quoted)
	text, ok := a.scan.Text()
	if !ok {
		return false
	}
	if a.template.source == inMessage {
		a.Text(text)
	} else {
		a.Thought(a.template.source, text)
	}
	return true
}

// chunk reads a chunk of a stream, or a whole response.
func (a *Answer) chunk(name, data []byte) {
	s := &a.scan
	s.Reset(data)
	a.pieces = pieces{}
	a.options.provider.Read(a, name, s)
	if err := s.End(); err != nil {
		a.template.usable = false
		a.d.Log(Trace, "chunk-parse-failure", err.Error(), nil)
		if data[0] == '{' && a.finish == "" && a.failure == nil { // a part of the answer is lost; other data is noise
			a.breakOff("a chunk is no JSON")
		}
		return
	}
	a.template.learn(data, &a.pieces)
}

// fits adds n bytes to the answer's size.
func (a *Answer) fits(n int) bool {
	if a.size += n; a.size > maxAnswer {
		a.breakOff("the answer is longer than " + strconv.Itoa(maxAnswer) + " bytes")
	}
	return a.err == nil && a.broken == nil
}

func (a *Answer) breakOff(reason string) {
	if a.broken == nil {
		a.broken = fault.New(fault.ChatStreamError, reason)
	}
}

// Text appends to the model's text.
func (a *Answer) Text(text []byte) {
	if len(text) == 0 || !a.fits(len(text)) {
		return
	}
	a.pieces.note(inMessage, text)
	if a.leading.place != inProse {
		a.lead(text)
		return
	}
	a.prose(text)
}

// prose appends text that is not reasoning at the beginning.
func (a *Answer) prose(text []byte) {
	if a.reader != nil {
		a.reader.Write(text, a.takePiece)
		return
	}
	a.say(text)
}

// Decline appends to the model's explanation of why it does not answer. The explanation counts as text, unless the
// answer must match a schema.
func (a *Answer) Decline(text []byte) {
	a.declined = a.declined || len(text) > 0
	a.Text(text)
}

// say appends to the message.
func (a *Answer) say(text []byte) {
	if len(text) == 0 || a.err != nil {
		return
	}
	a.open(&a.message, "m")
	a.message.text = append(a.message.text, text...)
	a.err = a.to.ReportMessage(a.message.id, text, false)
}

// Sources of reasoning. Fields are numbered from 0: they are alternative places for the same reasoning, since gateways
// often repeat it in several fields. Blocks are numbered from Block: each is a thought of its own.
const Block = 1 << 16

// Thought appends to a source of reasoning. Blocks are reported as they arrive, but only the first of the fields; the
// end shows whether another field differs.
func (a *Answer) Thought(source int, text []byte) {
	if len(text) == 0 || !a.fits(len(text)) {
		return
	}
	a.pieces.note(source, text)
	a.think(source, text)
}

// think appends to a source of reasoning, without counting the bytes again.
func (a *Answer) think(source int, text []byte) {
	if len(text) == 0 || a.err != nil {
		return
	}
	i := a.thoughtOf(source)
	t := &a.thoughts[i]
	t.text = append(t.text, text...)
	if i == 0 || source >= Block {
		t.told = true
		a.err = a.to.ReportThought(t.id, text, false)
	}
}

// BeginThought begins a source of reasoning. That orders the thought before later ones, even if it will only have a
// payload.
func (a *Answer) BeginThought(source int) {
	a.pieces.count++
	a.thoughtOf(source)
}

// ThoughtPayload stores with a thought a value that must go back to the provider. Its size counts for the answer's.
func (a *Answer) ThoughtPayload(source int, payload []byte) {
	a.pieces.count++
	if !a.fits(len(payload)) || !fits(payload) {
		return
	}
	t := &a.thoughts[a.thoughtOf(source)]
	t.payload = append(t.payload[:0], payload...)
}

// thoughtOf finds the thought of a source, or begins it.
func (a *Answer) thoughtOf(source int) int {
	for i := range a.thoughts {
		if a.thoughts[i].source == source {
			return i
		}
	}
	if len(a.thoughts) == maxThoughts {
		a.breakOff("the answer has more than " + strconv.Itoa(maxThoughts) + " pieces of reasoning")
		return maxThoughts - 1
	}
	a.thoughts = append(a.thoughts, thought{source: source})
	i := len(a.thoughts) - 1
	a.open(&a.thoughts[i].stream, "t")
	return i
}

func (a *Answer) open(s *stream, prefix string) {
	if s.id == "" {
		s.id, s.created = a.d.NewID(prefix), a.d.Stamp()
	}
}

// ReasoningField returns the index of a field in the option reasoningFields, -1 if it is not there.
func (a *Answer) ReasoningField(name []byte) int {
	for i, field := range a.options.reasoning {
		if string(name) == field {
			return i
		}
	}
	return -1
}

// Noise consumes a member without meaning. If that is the last string of an event, a following event that only differs
// in it and in the text need not be scanned again.
func (a *Answer) Noise(s *value.Scanner) {
	if s.Kind() == value.KindString {
		a.pieces.noise = s.Raw()
	}
}

// Delta notes that the event brings a piece of a message, not a whole one, and reports whether an earlier event did.
func (a *Answer) Delta() (before bool) {
	before, a.deltas = a.deltas, true
	return before
}

// InDeltas reports whether any event so far brought a piece of a message.
func (a *Answer) InDeltas() bool { return a.deltas }

// HasText reports whether the answer has any text so far.
func (a *Answer) HasText() bool { return len(a.message.text) > 0 }

// ThoughtLen returns the length of a source of reasoning so far, -1 if it has not begun.
func (a *Answer) ThoughtLen(source int) int {
	for i := range a.thoughts {
		if a.thoughts[i].source == source {
			return len(a.thoughts[i].text)
		}
	}
	return -1
}

// HasCalls reports whether the answer has a tool call so far.
func (a *Answer) HasCalls() bool { return len(a.calls) > 0 }

// empty reports whether the answer has neither text nor reasoning nor calls so far.
func (a *Answer) empty() bool {
	return len(a.message.text) == 0 && len(a.thoughts) == 0 && len(a.calls) == 0 && !a.kept && !((a.reader != nil || a.leading.place != inProse) && a.size > 0)
}

// Model consumes the name of the model that answers.
func (a *Answer) Model(s *value.Scanner) { setText(&a.model, s) }

// Endpoint consumes the name of the responding endpoint, which replaces the host name.
func (a *Answer) Endpoint(s *value.Scanner) { setText(&a.provider, s) }

// Finish records the finish reason, in the provider's words; stopped says that the answer is complete.
func (a *Answer) Finish(reason []byte, stopped bool) {
	if len(reason) > 0 && string(reason) != a.finish {
		a.finish, a.stopped = string(reason), stopped
	}
}

// Pause notes that the answer is partial: asked again, the model continues it. White space at its end is dropped, since
// endpoints reject a last message that ends with it.
func (a *Answer) Pause() { a.paused = true }

// Done ends the response; later data is ignored.
func (a *Answer) Done() { a.done = true }

// Usage consumes an object with token counts. Its members replace earlier ones, except with null.
func (a *Answer) Usage(s *value.Scanner) {
	if s.Kind() != value.KindMap {
		return
	}
	if usage, ok := s.AppendValue(nil); ok && !bytes.Equal(usage, a.usage) {
		a.pieces.count++
		a.usage = Merge(a.usage, usage)
	}
}

// HasUsage reports whether token counts have arrived.
func (a *Answer) HasUsage() bool { return a.usage != nil }

// Merge returns a map with the members of both maps. A member of b wins unless it is nil.
func Merge(a, b []byte) []byte {
	if a == nil {
		return b
	}
	n := 0
	var members []byte
	for i := range 2 {
		_ = value.Each(a, func(key, val []byte) bool {
			v, both := value.Get(b, string(key))
			if both && i > 0 {
				return true // already there
			}
			if both && value.KindOf(v) != value.KindNil {
				val = v
			}
			members, n = append(value.AppendText(members, key), val...), n+1
			return true
		})
		a, b = b, a
	}
	return append(value.AppendMapHeader(nil, n), members...)
}

// Fail consumes an error in place of the rest of the answer: an object or a string. Null is none.
func (a *Answer) Fail(s *value.Scanner) {
	if s.Kind() == value.KindNil {
		return
	}
	if raw := s.Raw(); raw != nil && a.failure == nil {
		a.failure = parseProviderError(raw)
	}
}

// FailWith is Fail for an error given as a word and perhaps a sentence.
func (a *Answer) FailWith(reason, message []byte) {
	if a.failure == nil {
		a.failure = &providerError{message: bytes.Clone(message), code: bytes.Clone(reason)}
	}
}

// Refuse notes that the model, or the provider on its behalf, declines to answer, with the reason as a word and perhaps
// a sentence. The text so far is not an answer.
func (a *Answer) Refuse(reason, message []byte) {
	if a.failure == nil {
		a.FailWith(reason, message)
		a.failure.refusal = true
	}
}

// setText stores a string that the stream repeats in every chunk.
func setText(to *string, s *value.Scanner) {
	if text, ok := s.Text(); ok && len(text) > 0 && string(text) != *to {
		*to = string(text)
	}
}
