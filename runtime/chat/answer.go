package chat

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/sse"
	"github.com/turncore/turncore/runtime/value"
)

const (
	maxAnswer = 8 << 20 // bytes of text, reasoning and arguments in one answer
	maxCalls  = 256     // tool calls in one answer
)

// answer is what one response has said so far. Text and reasoning are reported as they are added.
type answer struct {
	d       Dispatch
	options *options

	message  stream
	thoughts []thought // the first is the one that is reported as it comes
	calls    []call
	finish   string
	model    string
	provider string
	usage    []byte // value, nil if unknown

	failure *providerError // an error in the place of the rest of the answer
	broken  error          // why the answer cannot be read on; the dispatch is nacked with it
	err     error          // of a report
	done    bool           // the stream has said that it ends
	deltas  bool           // the answer comes in deltas
	size    int

	scan           value.Scanner
	pieces         pieces // of the chunk that is scanned
	template       template
	id, name, args []byte // scratch of a call's delta
}

// stream is a message or thought on its way.
type stream struct {
	id      string
	created int64
	text    []byte
}

// thought is what one source of reasoning said: a field of the delta, by its place in the options, or the content
// itself (inContent).
type thought struct {
	source int
	stream
}

const inContent = -1

// errStop ends the reading of a response whose rest is not wanted.
var errStop = errors.New("chat: the rest of the response is not wanted")

func (a *answer) reset(d Dispatch, o *options) {
	*a = answer{
		d: d, options: o, message: stream{text: a.message.text[:0]}, thoughts: a.thoughts[:0],
		scan: a.scan, template: template{before: a.template.before, middle: a.template.middle, after: a.template.after},
		id: a.id, name: a.name, args: a.args,
	}
}

// event takes one server-sent event.
func (a *answer) event(e sse.Event) error {
	data := bytes.TrimSpace(e.Data)
	switch {
	case len(data) == 0 || a.done:
		return nil
	case string(data) == "[DONE]":
		a.done = true
		return nil
	}
	if !a.again(data) {
		a.chunk(data)
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

// again takes a chunk that says what the one before said, but for the piece of text.
func (a *answer) again(data []byte) bool {
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
		a.addText(text)
	} else {
		a.addThought(a.template.source, text)
	}
	return true
}

// chunk takes a chunk of a stream, or a whole response.
func (a *answer) chunk(data []byte) {
	s := &a.scan
	s.Reset(data)
	a.pieces = pieces{}
	for key := range s.Members() {
		switch string(key) {
		case "choices":
			for i := range s.Items() {
				if i == 0 {
					a.choice(s)
				}
			}
		case "usage":
			a.setUsage(s)
		case "model":
			setText(&a.model, s)
		case "provider":
			setText(&a.provider, s)
		case "x_groq":
			for key := range s.Members() {
				switch string(key) {
				case "usage":
					if a.usage == nil {
						a.setUsage(s)
					}
				case "error":
					a.setFailure(s)
				}
			}
		case "error":
			a.setFailure(s)
		default:
			if s.Kind() == value.KindString {
				a.pieces.noise = s.Raw()
			}
		}
	}
	if err := s.End(); err != nil {
		a.template.usable = false
		a.d.Log(Trace, "chunk-parse-failure", err.Error(), nil)
		return
	}
	a.template.learn(data, &a.pieces)
}

// setText keeps a string that the stream repeats in every chunk.
func setText(to *string, s *value.Scanner) {
	if text, ok := s.Text(); ok && len(text) > 0 && string(text) != *to {
		*to = string(text)
	}
}

func (a *answer) setUsage(s *value.Scanner) {
	if s.Kind() == value.KindMap {
		if usage, ok := s.AppendValue(nil); ok {
			a.usage = usage
		}
	}
}

func (a *answer) setFailure(s *value.Scanner) {
	if s.Kind() == value.KindNil {
		return
	}
	if raw := s.Raw(); raw != nil && a.failure == nil {
		a.failure = parseProviderError(raw)
	}
}

// choice takes what one chunk says about the first choice; others are never asked for.
func (a *answer) choice(s *value.Scanner) {
	for key := range s.Members() {
		switch string(key) {
		case "index":
			if n, ok := s.Int(); ok && n != 0 {
				return
			}
		case "delta":
			a.deltas = true
			a.delta(s)
		case "message": // a whole response; some streams repeat the message in their last chunk
			if !a.deltas {
				a.delta(s)
			}
		case "finish_reason":
			setText(&a.finish, s)
		case "error":
			a.setFailure(s)
		}
	}
}

func (a *answer) delta(s *value.Scanner) {
	for key := range s.Members() {
		switch string(key) {
		case "content":
			if s.Kind() == value.KindList {
				a.pieces.count++
				for range s.Items() {
					a.part(s)
				}
			} else if text, ok := s.Text(); ok && len(text) > 0 {
				a.pieces.note(inMessage, text)
				a.addText(text)
			}
		case "refusal":
			if text, ok := s.Text(); ok && len(text) > 0 {
				a.pieces.note(inMessage, text)
				a.addText(text)
			}
		case "tool_calls":
			a.pieces.count++
			for range s.Items() {
				a.callDelta(s)
			}
		default:
			if s.Kind() != value.KindString {
				continue
			}
			for i, name := range a.options.reasoning {
				if string(key) == name {
					if text, _ := s.Text(); len(text) > 0 {
						a.pieces.note(i, text)
						a.addThought(i, text)
					}
					break
				}
			}
		}
	}
}

// part takes a part of a content that is a list: text, or reasoning with parts of its own.
func (a *answer) part(s *value.Scanner) {
	if s.Kind() == value.KindString {
		text, _ := s.Text()
		a.addText(text)
		return
	}
	var text, thinking []byte // JSON, since the type may come last
	known := true
	for key := range s.Members() {
		switch string(key) {
		case "type":
			kind, _ := s.Text()
			switch string(kind) {
			case "text", "output_text", "refusal", "thinking", "reasoning":
			default:
				known = false
			}
		case "text", "refusal":
			text = s.Raw()
		case "thinking", "reasoning":
			thinking = s.Raw()
		}
	}
	var inner value.Scanner
	switch inner.Reset(thinking); inner.Kind() {
	case value.KindString:
		words, _ := inner.Text()
		a.addThought(inContent, words)
	case value.KindList:
		for range inner.Items() {
			for key := range inner.Members() {
				if string(key) == "text" {
					words, _ := inner.Text()
					a.addThought(inContent, words)
				}
			}
		}
	default:
		if inner.Reset(text); known && text != nil {
			words, _ := inner.Text()
			a.addText(words)
		}
	}
}

// fits counts n more bytes of the answer.
func (a *answer) fits(n int) bool {
	if a.size += n; a.size > maxAnswer {
		a.breakOff("the answer is longer than " + strconv.Itoa(maxAnswer) + " bytes")
	}
	return a.err == nil && a.broken == nil
}

func (a *answer) breakOff(reason string) {
	if a.broken == nil {
		a.broken = fault.New(fault.ChatStreamError, reason)
	}
}

func (a *answer) addText(text []byte) {
	if len(text) == 0 || !a.fits(len(text)) {
		return
	}
	a.open(&a.message, "m")
	a.message.text = append(a.message.text, text...)
	a.err = a.d.ReportMessage(a.message.id, text, false)
}

// addThought adds reasoning. Gateways that say the same in several fields are common, so only the first source is
// reported as it comes; whether another one said anything else shows at the end.
func (a *answer) addThought(source int, text []byte) {
	if len(text) == 0 || !a.fits(len(text)) {
		return
	}
	i := 0
	for i < len(a.thoughts) && a.thoughts[i].source != source {
		i++
	}
	if i == len(a.thoughts) {
		a.thoughts = append(a.thoughts, thought{source: source})
	}
	t := &a.thoughts[i].stream
	a.open(t, "t")
	t.text = append(t.text, text...)
	if i == 0 {
		a.err = a.d.ReportThought(t.id, text, false)
	}
}

func (a *answer) open(s *stream, prefix string) {
	if s.id == "" {
		s.id, s.created = a.d.NewID(prefix), a.d.Stamp()
	}
}
