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

var kinds = []record.Kind{record.Instructions, record.Memories, record.Retrievables, record.Messages, record.Thoughts, record.ToolCalls}

// inTurn runs a function as turn middleware, inDispatch as the executor, and then acks.
func inTurn(t *testing.T, fn func(s *seam)) *play {
	p := &play{t: t, executor: ackOnce}
	p.pipelines[TurnInput] = []middleware{func(s *seam, next func()) error { fn(s); next(); return nil }}
	p.run()
	return p
}

func inDispatch(t *testing.T, prepare func(p *play), fn func(s *seam)) *play {
	p := &play{t: t, prepare: prepare, executor: func(s *seam) error { fn(s); return s.ack() }}
	p.run()
	return p
}

// A29 as changed by decision 8: writes of turn middleware go to storage at once, then into the collection.
func TestTurnWrites(t *testing.T) {
	for _, kind := range kinds {
		p := inTurn(t, func(s *seam) {
			s.stored = func(_ Task, what string) error {
				if what == "store "+kind.String()+" a" {
					s.holds(0, kind, "") // storage first
				}
				return nil
			}
			s.must(s.store(kind, "a", ""))
			s.must(s.store(kind, "b", ""))
			s.holds(0, kind, "a b")
			if kind == record.Instructions {
				_, err := s.turn.Mutate(s.task, kind, s.record(kind, "a2", ""), "a")
				s.must(err)
				s.must(s.delete(kind, "b"))
				s.holds(0, kind, "a2")
				return
			}
			s.must(s.mutate(kind, "a", "new"))
			s.must(s.delete(kind, "b"))
			s.must(s.delete(kind, "there is none"))
			s.holds(0, kind, "a:new")
		})
		if n := len(p.storage); n < 4 || p.storage[0] != "store "+kind.String()+" a" || p.storage[3] != "delete "+kind.String()+" b" {
			t.Errorf("storage saw %q", p.storage)
		}
	}
	inTurn(t, func(s *seam) {
		s.stored = func(Task, string) error { return errX }
		if err := s.store(record.Messages, "m", ""); err != error(errX) {
			t.Errorf("error %v", err)
		}
		s.holds(0, record.Messages, "")
	})
}

// B27 to B31 as changed by decision 6: in an iteration all kinds change locally at once, and elsewhere at its end.
func TestDispatchWrites(t *testing.T) {
	for _, kind := range kinds {
		for _, end := range []string{"ack", "nack", "throw", "abort"} {
			t.Run(kind.String()+" "+end, func(t *testing.T) {
				p := &play{t: t, config: Config{OnDiscard: true}}
				var handed string
				p.discarded = func(_ Task, e *Discard) error {
					for _, d := range e.Deltas {
						handed += p.deltaWord(d) + ";"
					}
					if statuses[e.Status] != map[string]string{"nack": "nack", "throw": "nack", "abort": "aborted"}[end] || e.Context != 1 {
						t.Errorf("discarded with %+v", e)
					}
					return nil
				}
				p.executor = func(s *seam) error {
					s.must(s.store(kind, "a", ""))
					s.must(s.store(kind, "b", ""))
					s.must(s.delete(kind, "a"))
					s.holds(1, kind, "b")
					s.holds(0, kind, "")
					s.saved()
					switch end {
					case "nack":
						return s.d.Nack(errX)
					case "throw":
						return errX
					case "abort":
						s.abort()
						return nil
					}
					return s.ack()
				}
				p.run()
				k := kind.String()
				deltas := []string{"store " + k + " a", "store " + k + " b", "delete " + k + " a"}
				ended := p.events[slices.IndexFunc(p.events, func(e noted) bool { return e.Kind == EventIterationEnd })].payload.(*IterationEndEvent)
				if end == "ack" {
					p.saved(deltas...)
					p.holds(0, kind, "b")
					if len(ended.Discarded) != 0 || handed != "" {
						t.Errorf("discarded %v, handed over %s", ended.Discarded, handed)
					}
					return
				}
				p.saved()
				p.holds(0, kind, "")
				p.holds(1, kind, "b")
				if handed != strings.Join(deltas, ";")+";" || len(ended.Discarded) != 3 {
					t.Errorf("discarded %v, handed over %s", ended.Discarded, handed)
				}
			})
		}
	}
}

// B30: the next iteration sees the writes of an iteration; a later nack does not undo committed writes.
func TestIterationsCommit(t *testing.T) {
	p := &play{t: t, executor: func(s *seam) error {
		if s.n == 0 {
			return s.store(record.ToolCalls, "c", "")
		}
		s.holds(1, record.ToolCalls, "c")
		s.holds(0, record.ToolCalls, "c")
		s.must(s.store(record.ToolCalls, "d", ""))
		return s.d.Nack(errX)
	}}
	p.run()
	p.saved("store toolCall c")
	p.holds(0, record.ToolCalls, "c")
	p.want(began + "iE(0,continue) iS(1) iE(1,nack,-store toolCall d) derr(X) dE(nack,2,X) err(X) tE(nack)")
}

func TestWritesOutsideOfIterations(t *testing.T) {
	p := &play{t: t, executor: ackOnce}
	p.pipelines[TurnOutput] = []middleware{func(s *seam, next func()) error {
		d := s.turn.DispatchContext(1)
		for name, err := range map[string]error{
			"store":   d.Store(record.Messages, s.record(record.Messages, "m", "")),
			"mutate":  d.Mutate(record.Messages, 1, ""),
			"delete":  d.Delete(record.Messages, "m"),
			"replace": d.ReplaceGroup(nil, nil),
		} {
			if !errors.Is(err, fault.CallAfterEnd) {
				t.Errorf("%s: %v", name, err)
			}
		}
		next()
		return nil
	}}
	p.run()
	p.want(began + acked)
}

func TestQueueIsBounded(t *testing.T) {
	for _, limit := range []int{0, 10} {
		p := &play{t: t, config: Config{Queue: limit}, committed: func(Task, []Delta) error { return nil }}
		want := limit
		if limit == 0 {
			want = MaxQueue
		}
		p.executor = func(s *seam) error {
			for i := range want {
				s.must(s.delete(record.Messages, strconv.Itoa(i)))
			}
			if err := s.delete(record.Messages, "x"); !errors.Is(err, fault.ABILimitExceeded) || !strings.Contains(err.Error(), strconv.Itoa(want)) {
				t.Errorf("error %v", err)
			}
			return s.ack()
		}
		if status, _, err := p.run(); status != StatusAck {
			t.Error(err)
		}
	}
}

// B33 and B34.
func TestMutateByID(t *testing.T) {
	for before, after := range map[string]string{
		"a":         "a:new",
		"a a":       "a:new",
		"x a y a z": "x a:new y z",
		"a b c":     "a:new b c",
		"x y":       "x y a:new",
		"":          "a:new",
		"b a a a":   "b a:new",
	} {
		for _, kind := range kinds[1:] {
			inDispatch(t, func(p *play) {
				for _, id := range strings.Fields(before) {
					p.add(0, kind, p.record(kind, id, ""))
				}
			}, func(s *seam) {
				s.must(s.mutate(kind, "a", "new"))
				s.holds(1, kind, after)
				s.holds(0, kind, before)
			}).holds(0, kind, after)
		}
	}
}

// Decision 25: instructions are named by their text.
func TestInstructionsByValue(t *testing.T) {
	p := inDispatch(t, func(p *play) {
		for _, text := range []string{"be kind", "be brief", "be kind"} {
			p.add(0, record.Instructions, p.record(record.Instructions, text, ""))
		}
	}, func(s *seam) {
		s.must(s.delete(record.Instructions, "be kind")) // the first of them
		s.holds(1, record.Instructions, "be brief be kind")
		s.must(s.d.Mutate(record.Instructions, s.record(record.Instructions, "be quick", ""), "be kind"))
		s.must(s.d.Mutate(record.Instructions, s.record(record.Instructions, "be fair", ""), "there is none"))
		s.must(s.d.Mutate(record.Instructions, 2, "be quick")) // to one that is already in
		s.holds(1, record.Instructions, "be brief be fair")
		s.must(s.d.Mutate(record.Instructions, 2, "there is none")) // the same
	})
	p.holds(0, record.Instructions, "be brief be fair")
	p.saved("delete instruction be kind", "mutate instruction be kind to be quick", "mutate instruction there is none to be fair",
		"mutate instruction be quick to be brief", "mutate instruction there is none to be brief")
	inDispatch(t, nil, func(s *seam) {
		if err := s.store(record.Instructions, "", ""); !errors.Is(err, fault.InvalidValue) {
			t.Errorf("an empty instruction: %v", err)
		}
	})
}

// A31: a tool call and a retrievable cannot share an id, in either order and context.
func TestCollision(t *testing.T) {
	for _, pair := range [][2]record.Kind{{record.ToolCalls, record.Retrievables}, {record.Retrievables, record.ToolCalls}} {
		check := func(s *seam) {
			s.must(s.store(pair[0], "X", ""))
			for name, err := range map[string]error{"store": s.store(pair[1], "X", ""), "mutate": s.mutate(pair[1], "X", "new")} {
				var f *fault.Error
				if !errors.As(err, &f) || f.Code != fault.ArtifactIDCollision || f.Status != 409 || !f.Fatal || !strings.Contains(f.Message, "X") {
					t.Errorf("%s: %v", name, err)
				}
			}
			s.must(s.store(pair[1], "Y", ""))
			s.holds(s.context(), pair[1], "Y")
		}
		p := inDispatch(t, nil, check)
		p.saved("store "+pair[0].String()+" X", "store "+pair[1].String()+" Y")
		inTurn(t, check).saved("store "+pair[0].String()+" X", "store "+pair[1].String()+" Y")
	}
}

func TestInvalidRecordsAreRefused(t *testing.T) {
	inDispatch(t, nil, func(s *seam) {
		for _, kind := range kinds {
			body := value.AppendListHeader(nil, 1)
			body = value.AppendInt(body, 5)
			s.turn.Accept(s.next, 1, body)
			if err := s.d.Store(kind, s.next); err == nil {
				t.Errorf("a malformed %s was taken", kind)
			}
			s.next++
		}
		if err := s.d.Store(record.Messages, 12345); err == nil {
			t.Error("an unknown handle was taken")
		}
		if err := s.d.ReplaceGroup([]string{"a"}, []int64{1}); !errors.Is(err, fault.InvalidInitialToolCallValue) {
			t.Errorf("a group with a malformed tool call: %v", err)
		}
		s.holds(1, record.ToolCalls, "")
	}).saved()
}

// B36 and B37.
func TestToolCallCount(t *testing.T) {
	count := func(s *seam, want map[string]int) {
		t.Helper()
		for sum, n := range want {
			if got := s.d.ToolCallCount(sum); got != n {
				t.Errorf("%d calls with checksum %s, want %d", got, sum, n)
			}
		}
	}
	inDispatch(t, func(p *play) {
		p.add(0, record.ToolCalls, p.record(record.ToolCalls, "x", "a"), p.record(record.ToolCalls, "y", "a"))
	}, func(s *seam) {
		count(s, map[string]int{"a": 2, "unknown": 0})
		s.must(s.delete(record.ToolCalls, "x"))
		count(s, map[string]int{"a": 1})
		s.must(s.store(record.ToolCalls, "z", "a"))
		count(s, map[string]int{"a": 2})
		s.must(s.mutate(record.ToolCalls, "z", "b"))
		count(s, map[string]int{"a": 1, "b": 1})
		s.must(s.d.ReplaceGroup([]string{"y", "z"}, []int64{s.record(record.ToolCalls, "w", "c")}))
		count(s, map[string]int{"a": 0, "b": 0, "c": 1})
		h := s.record(record.ToolCalls, "v", "c")
		s.add(1, record.ToolCalls, h) // host code changes the collection itself
		count(s, map[string]int{"c": 2})
		s.turn.Replace(1, record.ToolCalls, h, 1)
		s.mirror[1][record.ToolCalls][1] = 1
		count(s, map[string]int{"c": 1, "a": 1})
		s.turn.Remove(1, record.ToolCalls, 1)
		s.mirror[1][record.ToolCalls] = s.mirror[1][record.ToolCalls][:1]
		count(s, map[string]int{"c": 1, "a": 0})
		s.turn.Clear(1, record.ToolCalls)
		s.mirror[1][record.ToolCalls] = nil
		count(s, map[string]int{"c": 0})
	})
}

// B39 to B42: the position of the replacements.
func TestReplaceGroup(t *testing.T) {
	for _, c := range []struct{ before, ids, by, after string }{
		{"a b", "a b", "A B", "A B"},
		{"x a y b z", "a b", "A B", "x A B y z"},
		{"x a y b z", "b a", "A", "x A y z"},
		{"x y", "a", "A B", "x y A B"},
		{"", "", "A", "A"},
		{"x a y", "a", "", "x y"},
		{"a a x", "a", "A", "A x"},
		{"a b c", "b", "=b", "a b c"},         // by itself
		{"a b c d", "b d", "=b", "a b c"},     // one of them stays
		{"a b c d", "b d", "=d A", "a d A c"}, // in another order
		{"a b c d", "c", "=a", "b a d"},       // one from elsewhere
		{"a b c", "b", "=c", "a c"},           // the one after it
		{"a b c", "b", "A =A", "a A c"},       // twice
		{"a", "missing", "=a", "a"},
	} {
		for name, run := range map[string]func(*testing.T, func(*play), func(*seam)) *play{
			"dispatch": inDispatch,
			"turn": func(t *testing.T, prepare func(*play), fn func(*seam)) *play {
				p := &play{t: t, prepare: prepare, executor: ackOnce}
				p.pipelines[TurnInput] = []middleware{func(s *seam, next func()) error { fn(s); next(); return nil }}
				p.run()
				return p
			},
		} {
			t.Run(fmt.Sprintf("%s %v", name, c), func(t *testing.T) {
				handles := map[string]int64{}
				p := run(t, func(p *play) {
					for _, id := range strings.Fields(c.before) {
						h := p.record(record.ToolCalls, id, "")
						if handles[id] == 0 {
							handles[id] = h
						}
						p.add(0, record.ToolCalls, h)
					}
				}, func(s *seam) {
					var by []int64
					for _, id := range strings.Fields(c.by) {
						known := strings.TrimPrefix(id, "=")
						if known == id {
							handles[id] = s.record(record.ToolCalls, id, "")
						}
						by = append(by, handles[known])
					}
					ids := strings.Fields(c.ids)
					if s.d != nil {
						s.must(s.d.ReplaceGroup(ids, by))
					} else {
						s.must(s.turn.ReplaceGroup(s.task, ids, by))
					}
					s.holds(s.context(), record.ToolCalls, c.after)
				})
				p.holds(0, record.ToolCalls, c.after)
				if len(p.storage) != 1 || !strings.HasPrefix(p.storage[0], "replace["+strings.Join(strings.Fields(c.ids), " ")+"]by") {
					t.Errorf("storage saw %q", p.storage)
				}
			})
		}
	}
}

// B35: mutating in two iterations leaves one record.
func TestMutateEachIteration(t *testing.T) {
	p := &play{t: t, prepare: func(p *play) { p.add(0, record.ToolCalls, p.record(record.ToolCalls, "X", "")) }}
	p.pipelines[DispatchInput] = []middleware{func(s *seam, next func()) error {
		s.must(s.mutate(record.ToolCalls, "X", strconv.Itoa(s.n)))
		next()
		return nil
	}}
	p.executor = func(s *seam) error {
		if s.n == 1 {
			return s.ack()
		}
		return nil
	}
	p.run()
	p.holds(0, record.ToolCalls, "X:1")
}

// Records made by the guest have negative handles; the first sync brings their bodies.
func TestGuestRecords(t *testing.T) {
	p := inDispatch(t, nil, func(s *seam) {
		for i := range 3 {
			s.must(s.d.StoreBody(record.Messages, bodyOf(record.Messages, strconv.Itoa(i), "")))
		}
		if err := s.d.StoreBody(record.Messages, []byte{0x90}); !errors.Is(err, fault.InvalidInitialMessageValue) {
			t.Errorf("error %v", err)
		}
		if s.turn.Known(-4) {
			t.Error("a record that was refused has a handle, which the host never hears of")
		}
		s.must(s.delete(record.Messages, "1"))
		if !s.turn.Known(-3) || s.turn.Known(-9) || s.turn.Known(0) || s.turn.Known(1) {
			t.Error("handles")
		}
	})
	p.holds(0, record.Messages, "0 2")
	if got := p.mirror[0][record.Messages]; !slices.Equal(got, []int64{-1, -3}) {
		t.Errorf("handles %v", got)
	}
}
