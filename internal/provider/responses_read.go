package provider

import (
	"bytes"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/chat"
)

// Read takes an event, which names its kind in the member type, or a whole response.
func (responses) Read(a *chat.Answer, name []byte, s *value.Scanner) {
	if name == nil {
		readResponse(a, s, "")
		return
	}
	all := *s
	var e responseEvent
	for key := range s.Members() {
		e.member(a, key, s)
	}
	if s.Err() == nil {
		e.read(a, &all)
	}
}

// responseEvent is what an event holds, as JSON text, since its kind may come last.
type responseEvent struct {
	kind, delta, arguments, item, response []byte
	place                                  int64 // of the item in the output
	summary                                int64 // number of the part of a summary
}

func (e *responseEvent) member(a *chat.Answer, key []byte, s *value.Scanner) {
	switch string(key) {
	case "type":
		e.kind = s.Raw()
	case "delta":
		e.delta = s.Raw()
	case "arguments":
		e.arguments = s.Raw()
	case "item":
		e.item = s.Raw()
	case "response":
		e.response = s.Raw()
	case "output_index":
		if n, _ := s.Int(); n > 0 {
			e.place = min(n, maxPlace)
		}
	case "summary_index":
		e.summary, _ = s.Int()
	case "error":
		a.Fail(s)
	default:
		a.Noise(s)
	}
}

// read tells the answer what the event says. all is the event itself.
func (e *responseEvent) read(a *chat.Answer, all *value.Scanner) {
	kind := bytes.Trim(e.kind, `"`)
	switch string(kind) {
	case "response.output_text.delta":
		a.Delta()
		a.Text(textOf(e.delta))
	case "response.refusal.delta":
		a.Delta()
		a.Decline(textOf(e.delta))
	case "response.reasoning_summary_text.delta":
		a.Thought(e.source(summaryText), textOf(e.delta))
	case "response.reasoning_summary_part.added":
		if e.summary > 0 {
			a.Thought(e.source(summaryText), blankLine)
		}
	case "response.reasoning_text.delta":
		a.Thought(e.source(reasoningText), textOf(e.delta))
	case "response.function_call_arguments.delta":
		a.Delta()
		e.call(a, e.delta, false)
	case "response.function_call_arguments.done":
		a.Delta()
		e.call(a, e.arguments, true)
	case "response.output_item.added":
		a.Delta()
		readOutput(a, e.item, e.place, itemBegins)
	case "response.output_item.done":
		a.Delta()
		readOutput(a, e.item, e.place, itemEnds)
	case "response.created", "response.in_progress", "response.queued":
		s := value.NewScanner(e.response)
		for key := range s.Members() {
			if string(key) == "model" {
				a.Model(&s)
			}
		}
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		s := value.NewScanner(e.response)
		readResponse(a, &s, string(bytes.TrimPrefix(kind, []byte("response."))))
		a.Done()
	case "error":
		a.Fail(all)
	}
}

// maxPlace bounds what an endpoint says of places.
const maxPlace = 1 << 20

// Sources of an item's reasoning: what is told of it, and the reasoning itself, which models with open weights give.
const (
	summaryText = iota
	reasoningText
)

// phaseSource marks a thought without text that keeps the phase of a message, commentary or answer. The phase goes back
// with the message.
const phaseSource = chat.Block + 2*(maxPlace+1)

var blankLine = []byte("\n\n")

func (e *responseEvent) source(of int) int { return sourceOf(e.place, of) }

func sourceOf(place int64, of int) int { return chat.Block + int(place)*2 + of }

// call reads a part of a call's arguments, or all of them.
func (e *responseEvent) call(a *chat.Answer, args []byte, whole bool) {
	c := a.NewCall()
	c.Index, c.Later, c.Whole = e.place, true, whole
	s := value.NewScanner(args)
	c.Args, _ = s.AppendText(c.Args)
	a.Call(c)
}

// textOf is the text of a JSON string, nil for anything else.
func textOf(raw []byte) []byte {
	s := value.NewScanner(raw)
	text, _ := s.Text()
	return text
}

// readResponse reads a response object that has ended as the status says; "" for a whole response, which has its own.
func readResponse(a *chat.Answer, s *value.Scanner, status string) {
	var reason string
	for key := range s.Members() {
		switch string(key) {
		case "model":
			a.Model(s)
		case "error":
			a.Fail(s)
		case "usage":
			a.Usage(s)
		case "status":
			if text, ok := s.Text(); ok && status == "" {
				status = string(text)
			}
		case "incomplete_details":
			for key := range s.Members() {
				if string(key) == "reason" {
					text, _ := s.Text()
					reason = string(text)
				}
			}
		case "output":
			readOutputs(a, s)
		}
	}
	switch status {
	case "", "completed":
		a.Finish([]byte("completed"), true)
	case "incomplete":
		if reason == "" {
			reason = status
		}
		a.Finish([]byte(reason), false)
	default: // failed, or not finished: an answer that is made in the background
		text := append(value.AppendJSONText([]byte(`{"message":`), []byte("the response has the status "+status)), `,"code":`...)
		failure := value.NewScanner(append(value.AppendJSONString(text, status), '}'))
		a.Fail(&failure)
	}
}

// readOutputs reads the output of a response. Behind a stream that has told it all, only reasoning may still lack what
// it goes back with.
func readOutputs(a *chat.Answer, s *value.Scanner) {
	told := a.HasText() || a.HasCalls()
	for i := range s.Items() {
		switch place := min(int64(i), maxPlace); {
		case !told:
			readOutput(a, s.Raw(), place, itemWhole)
		case a.ThoughtLen(sourceOf(place, summaryText)) >= 0:
			readOutput(a, s.Raw(), place, itemEnds)
		}
	}
}

// Where an item of the output stands in a response.
const (
	itemBegins = iota // it is told piece by piece
	itemEnds          // all of it again, behind the pieces
	itemWhole         // there are no pieces
)

// readOutput reads an item of the output.
func readOutput(a *chat.Answer, raw []byte, place int64, where int) {
	var kind string
	var content, summary, phase []byte
	c := a.NewCall()
	s := value.NewScanner(raw)
	for key := range s.Members() {
		switch string(key) {
		case "type":
			text, _ := s.Text()
			kind = string(text)
		case "call_id":
			c.ID, _ = s.AppendText(c.ID[:0])
		case "id":
			if len(c.ID) == 0 {
				c.ID, _ = s.AppendText(c.ID)
			}
		case "name":
			c.Name, _ = s.AppendText(c.Name)
		case "arguments":
			if where != itemBegins {
				c.Args, _ = s.AppendText(c.Args)
			}
		case "content":
			content = s.Raw()
		case "summary":
			summary = s.Raw()
		case "phase":
			phase, _ = s.AppendText(phase)
		}
	}
	switch kind {
	case "function_call":
		c.Index, c.Whole, c.Extra = place, where != itemBegins, value.AppendInt(c.Extra, place)
		a.Call(c)
	case "message":
		if len(phase) > 0 {
			a.ThoughtPayload(phaseSource, value.AppendText(value.AppendString(value.AppendMapHeader(nil, 1), "phase"), phase))
		}
		switch {
		case where == itemBegins && a.HasText():
			a.Text(blankLine) // between two messages of one answer
		case where == itemWhole || where == itemEnds && !a.HasText():
			readContent(a, content)
		}
	case "reasoning":
		if where == itemBegins {
			a.BeginThought(sourceOf(place, summaryText))
		} else {
			readReasoning(a, raw, summary, content, place)
		}
	}
}

// readContent reads what a message says.
func readContent(a *chat.Answer, content []byte) {
	s := value.NewScanner(content)
	first := true
	for range s.Items() {
		for key := range s.Members() {
			switch string(key) {
			case "text", "refusal":
				text, _ := s.Text()
				if first && len(text) > 0 && a.HasText() {
					a.Text(blankLine)
				}
				first = first && len(text) == 0
				if string(key) == "refusal" {
					a.Decline(text)
				} else {
					a.Text(text)
				}
			}
		}
	}
}

// readReasoning reads a whole item of reasoning: what goes back of it, and its text unless that has come in deltas.
func readReasoning(a *chat.Answer, raw, summary, content []byte, place int64) {
	if a.ThoughtLen(sourceOf(place, summaryText)) <= 0 {
		readTexts(a, summary, sourceOf(place, summaryText))
	}
	if a.ThoughtLen(sourceOf(place, reasoningText)) <= 0 {
		readTexts(a, content, sourceOf(place, reasoningText))
	}
	// Only what is encrypted goes back: the endpoint looks for anything else in its own store, where it is not.
	encrypted := false
	var item []byte
	n := 0
	s := value.NewScanner(raw)
	for key := range s.Members() {
		switch name := string(key); name {
		case "type", "id", "summary", "encrypted_content":
			start := len(item)
			encrypted = encrypted || name == "encrypted_content" && s.Kind() == value.KindString
			if v, ok := s.AppendValue(value.AppendString(item, name)); ok {
				item, n = v, n+1
			} else {
				item = item[:start]
			}
		}
	}
	if !encrypted || s.Err() != nil {
		return
	}
	payload := value.AppendInt(value.AppendString(value.AppendMapHeader(nil, 2), "at"), place)
	payload = append(value.AppendMapHeader(value.AppendString(payload, "item"), n), item...)
	a.ThoughtPayload(sourceOf(place, summaryText), payload)
}

// readTexts adds the texts of a list of parts to a thought, with a blank line between any two.
func readTexts(a *chat.Answer, parts []byte, source int) {
	s := value.NewScanner(parts)
	for i := range s.Items() {
		if i > 0 {
			a.Thought(source, blankLine)
		}
		for key := range s.Members() {
			if string(key) == "text" {
				text, _ := s.Text()
				a.Thought(source, text)
			}
		}
	}
}
