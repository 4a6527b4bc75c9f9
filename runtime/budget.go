package runtime

import (
	"slices"
	"sort"
	"strconv"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// Budget is the argument of TokenBudget.
type Budget struct {
	Encoding string
	Limit    int64 // context window of the model, in tokens
	Reserve  int64 // tokens kept free for the answer and for the provider's markup around texts
}

// TokenBudget fits the dispatch's context into limit minus reserve tokens by removing records from the dispatch's
// collections, and only from those. First it removes the conversation before the last user message, oldest first; then
// retrievables, lowest score first; then memories, least important first; then the dispatch's records since that
// message, oldest first. Adjacent tool calls are removed together. System prompt, standing instructions, tools and the
// last user message stay: if they alone do not fit, it changes nothing and nacks with E_TOKEN_BUDGET. It belongs in the
// dispatch input pipeline.
//
// For a [Measurer] it counts the texts of the next request. For all other executors it counts the texts of the records.
func TokenBudget(b Budget) Bound {
	return func(task Task, d *Dispatch) error {
		if d.signalled() {
			return nil
		}
		if m, ok := d.config.Executor.(Measurer); ok {
			return measuredBudget(task, d, m, b)
		}
		y := &tally{d: d, encoding: b.Encoding}
		d.tally(y)
		if err := y.count(task); err != nil {
			return err
		}
		s := shedding{d: d, cost: func(handle int64) int64 { return y.of(countedRecord, handle) }}
		s.needed = y.fixed()
		for k := record.Instructions; k < record.Kinds; k++ {
			d.Records(k, func(handle int64, _ []byte) bool {
				s.needed += y.of(countedRecord, handle)
				return true
			})
		}
		available := b.Limit - b.Reserve
		if s.needed <= available {
			return nil
		}
		return s.shed(available)
	}
}

// fixed returns the tokens of the system prompt and the tools.
func (y *tally) fixed() int64 {
	sum := y.of(countedPrompt, 0)
	y.d.registry.Visible(func(t *Tool) bool {
		sum += y.of(countedTool, int64(t.Number))
		return true
	})
	return sum
}

// tally counts every text of the dispatch's context that a model may be shown.
func (d *Dispatch) tally(y *tally) {
	if !y.known(countedPrompt, 0) {
		y.add(countedPrompt, 0, []byte(d.turn.SystemPrompt))
	}
	d.registry.Visible(func(t *Tool) bool {
		if !y.known(countedTool, int64(t.Number)) {
			text := append(append([]byte(t.Name), '\n'), t.Description...)
			y.add(countedTool, int64(t.Number), appendJSON(append(text, '\n'), t.InputSchema))
		}
		return true
	})
	for k := record.Instructions; k < record.Kinds; k++ {
		d.Records(k, func(handle int64, body []byte) bool {
			if !y.known(countedRecord, handle) {
				y.add(countedRecord, handle, shownText(k, body))
			}
			return true
		})
	}
}

// shownText returns the part of a record that a model may be shown: its text, and for a tool call also the arguments.
// An artifact is represented by its description.
func shownText(kind record.Kind, body []byte) []byte {
	switch kind {
	case record.Instructions:
		return record.ID(kind, body)
	case record.Memories:
		return record.Memory(body).Content()
	case record.Messages:
		content, _ := record.Message(body).Content()
		return content
	case record.Thoughts:
		t := record.Thought(body)
		if t.Payload() == nil {
			return t.Content()
		}
		return appendJSON(slices.Clone(t.Content()), t.Payload())
	case record.Retrievables:
		r := record.Retrievable(body)
		if part := r.Part(); part != nil {
			return appendJSON(nil, part)
		}
		return r.Content()
	}
	c := record.ToolCall(body)
	text := appendJSON(append(append([]byte(nil), c.Tool()...), '\n'), c.Args())
	text = append(text, '\n')
	if results, ok := value.String(c.Results()); ok {
		return append(text, results...)
	}
	return appendJSON(text, c.Results())
}

// appendJSON appends a value as JSON text, or nothing if it cannot be written as JSON.
func appendJSON(dst, v []byte) []byte {
	if out, err := value.AppendJSON(dst, v); err == nil {
		return out
	}
	return dst
}

// shedding reduces a context to a budget.
type shedding struct {
	d          *Dispatch
	needed     int64
	cost       func(handle int64) int64
	units      map[int64]int                                       // records removed together; nil: only tool calls
	measure    func(without []candidate) (needed int64, err error) // measures a request; nil if the costs suffice
	candidates []candidate
}

// candidate is a record that may be removed. Candidates of one unit are removed together.
type candidate struct {
	kind   record.Kind
	handle int64
	at     int64
	rank   float64
	unit   int
}

// shed removes as few records as needed. If that is not enough, it removes none and nacks.
func (s *shedding) shed(available int64) error {
	timeline, last := s.timeline()
	s.candidates = append(s.candidates, timeline[:last]...)
	s.ranked(record.Retrievables, func(body []byte) float64 { score, _ := record.Retrievable(body).Score(); return score })
	s.ranked(record.Memories, func(body []byte) float64 { return record.Memory(body).Importance() })
	if last < len(timeline) {
		s.candidates = append(s.candidates, timeline[last+1:]...)
	}
	wanted, n := s.needed, 0
	for n < len(s.candidates) && wanted > available {
		wanted, n = s.next(wanted, available, n)
		if s.measure != nil {
			var err error
			if wanted, err = s.measure(s.candidates[:n]); err != nil {
				return err
			}
		}
	}
	d := s.d
	if wanted > available {
		f := fault.New(fault.TokenBudget, strconv.FormatInt(wanted, 10)+" tokens are needed, "+strconv.FormatInt(max(available, 0), 10)+" are available")
		f.Details = figures(wanted, max(available, 0))
		return d.Nack(f)
	}
	for _, r := range s.candidates[:n] {
		d.turn.take(&d.contextState, &d.cols[r.kind], r.handle)
		if r.kind == record.ToolCalls {
			d.counts = nil
		}
	}
	const info = 2
	d.Log(info, "token-budget", strconv.Itoa(n)+" records were left out of the context", figures(s.needed, available))
	return nil
}

// next returns how many of the candidates, n or more, must go until wanted fits into what is available, and the tokens
// then wanted, both estimated from the costs.
func (s *shedding) next(wanted, available int64, n int) (int64, int) {
	for n < len(s.candidates) && wanted > available {
		for unit := s.candidates[n].unit; ; {
			wanted -= s.cost(s.candidates[n].handle)
			if n++; unit == 0 || n == len(s.candidates) || s.candidates[n].unit != unit {
				break
			}
		}
	}
	return wanted, n
}

func figures(needed, available int64) []byte {
	m := value.AppendInt(value.AppendString(value.AppendMapHeader(nil, 2), "needed"), needed)
	return value.AppendInt(value.AppendString(m, "available"), available)
}

// timeline returns messages, thoughts and tool calls in order of creation, and the index of the last user message (the
// length if there is none). Tool calls with nothing between them form a unit.
func (s *shedding) timeline() (line []candidate, last int) {
	for _, kind := range [...]record.Kind{record.Messages, record.Thoughts, record.ToolCalls} {
		s.d.Records(kind, func(handle int64, body []byte) bool {
			line = append(line, candidate{kind: kind, handle: handle, at: record.CreatedAt(kind, body)})
			return true
		})
	}
	sort.SliceStable(line, func(i, j int) bool { return line[i].at < line[j].at })
	last = len(line)
	for i := range line {
		r := &line[i]
		if s.units != nil {
			r.unit = s.units[r.handle]
		}
		switch r.kind {
		case record.ToolCalls:
			if s.units != nil {
				continue
			}
			r.unit = i + 1
			if i > 0 && line[i-1].kind == record.ToolCalls {
				r.unit = line[i-1].unit
			}
		case record.Messages:
			if string(record.Message(s.d.turn.records.body(r.handle)).Role()) == "user" {
				last = i
			}
		}
	}
	return line, last
}

// ranked adds the records of a collection, lowest rank first and oldest first among equals.
func (s *shedding) ranked(kind record.Kind, rank func(body []byte) float64) {
	var list []candidate
	s.d.Records(kind, func(handle int64, body []byte) bool {
		list = append(list, candidate{kind: kind, handle: handle, at: record.CreatedAt(kind, body), rank: rank(body)})
		return true
	})
	sort.SliceStable(list, func(i, j int) bool {
		if list[i].rank != list[j].rank {
			return list[i].rank < list[j].rank
		}
		return list[i].at < list[j].at
	})
	s.candidates = append(s.candidates, list...)
}
