package runtime

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// budgetTurn is a turn whose context holds the system prompt "test" and records of 40 bytes each, which are 10 tokens
// in an unknown encoding.
func budgetTurn(t *testing.T, b Budget) *play {
	p := &play{t: t, config: Config{DispatchInput: []Middleware{{Builtin: TokenBudget(b)}}}}
	text := func(id string) []byte { return []byte(fmt.Sprintf("%-40s", id)) }
	score := func(f float64) *float64 { return &f }
	p.prepare = func(p *play) {
		add := func(kind record.Kind, id string, body []byte) { p.add(0, kind, p.body(id, body)) }
		message := func(id, role string, at int64) {
			add(record.Messages, id, record.AppendMessage(nil, record.MessageFields{ID: id, Role: role, Content: text(id), CreatedAt: at}))
		}
		call := func(id string, at int64) {
			add(record.ToolCalls, id, record.AppendToolCall(nil, record.ToolCallFields{
				ID: id, Tool: "c", Args: value.AppendMapHeader(nil, 0), Checksum: id, IsComplete: true, CreatedAt: at,
				Results: value.AppendText(nil, text(id)[:35]), // 40 with name, arguments and line feeds
			}))
		}
		message("u1", "user", 1)
		call("c1", 2)
		call("c2", 3)
		message("a1", "assistant", 4)
		message("u2", "user", 5)
		add(record.Thoughts, "t2", record.AppendThought(nil, record.ThoughtFields{ID: "t2", Content: text("t2"), CreatedAt: 6}))
		call("c3", 7)
		add(record.Retrievables, "high", record.AppendRetrievable(nil, record.RetrievableFields{ID: "high", Content: text("high"), TrustTier: "first-party", Score: score(0.9), CreatedAt: 1}))
		add(record.Retrievables, "low", record.AppendRetrievable(nil, record.RetrievableFields{ID: "low", Content: text("low"), TrustTier: "first-party", CreatedAt: 2}))
		add(record.Memories, "minor", record.AppendMemory(nil, record.MemoryFields{ID: "minor", Content: text("minor"), CreatedAt: 9}))
		add(record.Memories, "major", record.AppendMemory(nil, record.MemoryFields{ID: "major", Content: text("major"), Importance: 1, CreatedAt: 1}))
		add(record.Instructions, "i", value.AppendString(nil, string(text("i"))))
	}
	return p
}

func (p *play) kept(context uint32) string {
	var all []string
	for k := record.Instructions; k < record.Kinds; k++ {
		if names := p.list(context, k); names != "" {
			all = append(all, names)
		}
	}
	return strings.Join(all, " ")
}

// The whole context is 1 + 12 × 10 tokens. Each smaller budget sheds one more unit; the turn keeps everything.
func TestTokenBudget(t *testing.T) {
	const all = "i minor major high low u1 a1 u2 t2 c1 c2 c3"
	order := []string{"u1", "c1 c2", "a1", "low", "high", "minor", "major", "t2", "c3"}
	limits := []int64{121, 111, 91, 81, 71, 61, 51, 41, 31, 21}
	for i, limit := range limits {
		for _, slack := range []int64{0, 9} { // less than a whole unit more changes nothing
			if i == 0 && slack > 0 || i == 2 && slack > 0 {
				continue
			}
			gone := strings.Fields(strings.Join(order[:i], " "))
			p := budgetTurn(t, Budget{Encoding: "unknown", Limit: limit + slack + 1000, Reserve: 1000})
			p.executor = func(s *seam) error {
				want := strings.Join(slices.DeleteFunc(strings.Fields(all), func(id string) bool { return slices.Contains(gone, id) }), " ")
				if got := p.kept(1); got != want {
					t.Errorf("limit %d: the dispatch has %q, want %q", limit+slack, got, want)
				}
				return s.ack()
			}
			if status, _, err := p.run(); status != StatusAck || err != nil {
				t.Errorf("limit %d: %s, %v", limit, statuses[status], err)
			}
			if got := p.kept(0); got != all || len(p.storage) != 0 {
				t.Errorf("limit %d: the turn has %q, storage saw %q", limit, got, p.storage)
			}
			words := strings.Join(p.words, " ")
			if logged := strings.Contains(words, "log(2)"); logged != (i > 0) {
				t.Errorf("limit %d: %s", limit, words)
			}
			if n := strings.Count(words, "warn(token-estimation-degraded)"); n != 1 {
				t.Errorf("limit %d: %d warnings", limit, n)
			}
		}
	}
	// If the required texts do not fit, nothing is shed, and the error has the numbers.
	p := budgetTurn(t, Budget{Encoding: "unknown", Limit: 20})
	p.executor = never
	status, _, err := p.run()
	if status != StatusNack || !errors.Is(err, fault.TokenBudget) || !strings.Contains(err.Error(), "21 tokens are needed, 20 are available") {
		t.Errorf("%s, %v", statuses[status], err)
	}
	if got := p.kept(1); got != all {
		t.Errorf("the dispatch has %q", got)
	}
	needed, _ := value.Get(fault.DetailsOf(err), "needed")
	available, _ := value.Get(fault.DetailsOf(err), "available")
	if n, _ := value.Int(needed); n != 21 {
		t.Errorf("needed %d", n)
	}
	if n, _ := value.Int(available); n != 20 {
		t.Errorf("available %d", n)
	}
}

// The host's tokenizer counts an iteration's new texts in one exchange, and nothing twice. If it fails, lengths decide,
// with one warning.
func TestTokenBudgetCountsInBatches(t *testing.T) {
	for _, failure := range []error{nil, errX} {
		p := budgetTurn(t, Budget{Encoding: "o200k_base", Limit: 13 * 77})
		p.config.Encodings = []string{"o200k_base"}
		p.library.failEstimate = failure
		p.executor = func(s *seam) error {
			if s.n == 2 {
				return s.ack()
			}
			return s.store(record.Messages, fmt.Sprintf("m%d", s.n), "x")
		}
		if status, _, err := p.run(); status != StatusAck || err != nil {
			t.Errorf("%s, %v", statuses[status], err)
		}
		if got := strings.Join(p.library.inOrder, ", "); got != "estimate 13, estimate 1, estimate 1" {
			t.Errorf("the host was asked for %s", got)
		}
		warnings := 0
		for _, e := range p.events {
			if w, ok := e.payload.(*WarningEvent); ok {
				warnings++
				preview, _ := value.Get(w.Payload, "textPreview")
				if text, _ := value.String(preview); w.Err != failure || string(text) != "test" {
					t.Errorf("warning %+v", w)
				}
			}
		}
		if want := map[bool]int{true: 1, false: 0}[failure != nil]; warnings != want {
			t.Errorf("%d warnings", warnings)
		}
	}
	// Large texts are split into several frames.
	p := budgetTurn(t, Budget{Encoding: "o200k_base", Limit: 99999})
	p.config.Encodings, p.config.Frame, p.config.Array = []string{"o200k_base"}, 16<<20, 5
	p.executor = func(s *seam) error { return s.ack() }
	if _, _, err := p.run(); err != nil {
		t.Error(err)
	}
	if got := strings.Join(p.library.inOrder, ", "); got != "estimate 5, estimate 5, estimate 3" {
		t.Errorf("the host was asked for %s", got)
	}
}

// G1: a token of Claude is 3.5 UTF-16 code units, one of an unknown encoding 4.
func TestTokensByLength(t *testing.T) {
	for _, c := range []struct {
		encoding, text string
		want           uint64
	}{
		{"claude", strings.Repeat("a", 35), 10},
		{"claude", strings.Repeat("a", 36), 11},
		{"claude", "", 0},
		{"gpt9", "hello world", 3},
		{"gpt9", "😀é", 1}, // three code units
		{"gpt9", "😀😀é", 2},
	} {
		if got := tokensByLength(c.encoding, utf16Length([]byte(c.text))); got != c.want {
			t.Errorf("%s, %q: %d, want %d", c.encoding, c.text, got, c.want)
		}
	}
}

// After a budget, a second one of the same size sheds nothing and logs nothing, in the same iteration and in later
// ones.
func TestTokenBudgetTwice(t *testing.T) {
	for _, limit := range []int64{121, 111, 91, 61, 31} {
		var kept, logged []string
		for times := 1; times <= 3; times++ {
			b := Budget{Encoding: "unknown", Limit: limit}
			p := budgetTurn(t, b)
			for range times - 1 {
				p.config.DispatchInput = append(p.config.DispatchInput, Middleware{Builtin: TokenBudget(b)})
			}
			first := ""
			p.executor = func(s *seam) error {
				if s.n == 0 {
					first = p.kept(1)
				}
				if p.kept(1) != first {
					t.Errorf("limit %d: iteration %d has %q, the first had %q", limit, s.n, p.kept(1), first)
				}
				if s.n == 2 {
					return s.ack()
				}
				return nil
			}
			if status, _, err := p.run(); status != StatusAck || err != nil {
				t.Fatalf("limit %d: %s, %v", limit, statuses[status], err)
			}
			kept = append(kept, first)
			logged = append(logged, strconv.Itoa(strings.Count(strings.Join(p.words, " "), "log(2)")))
		}
		if len(slices.Compact(kept)) != 1 || len(slices.Compact(slices.Clone(logged))) != 1 || logged[0] > "1" {
			t.Errorf("limit %d: kept %q, logged %q times", limit, kept, logged)
		}
	}
}

// unmeasured is an executor that cannot render its request, and says so when it runs.
type unmeasured struct{ running }

var errUnmeasured = errors.New("no request")

func (unmeasured) Measure(Task, *Dispatch, map[int64]bool, func([]byte, []int64, bool)) error {
	return errUnmeasured
}

// A request that cannot be rendered is the executor's failure, not the budget's.
func TestBudgetOfARequestThatFails(t *testing.T) {
	p := &play{t: t}
	ran := false
	p.executor = func(s *seam) error {
		inner := &Config{
			DispatchInput: []Middleware{{Builtin: TokenBudget(Budget{Limit: 10})}},
			Executor:      unmeasured{running(func(*Dispatch) error { ran = true; return errUnmeasured })},
		}
		if _, err := s.turn.Dispatch(s.task, s.d, inner); !errors.Is(err, errUnmeasured) || !ran {
			t.Errorf("%v; the executor ran: %t", err, ran)
		}
		return s.ack()
	}
	p.run()
}
