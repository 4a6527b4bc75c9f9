package runtime

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/turncore/turncore/runtime/record"
)

// model is a simple implementation of a collection.
type model []int64

func (m model) index(h int64) int { return slices.Index(m, h) }

// pair is a collection and its model.
type pair struct {
	c Collection
	m model
}

func (p *pair) check(t *testing.T, step int) {
	t.Helper()
	var got []int64
	p.c.each(func(h int64) bool { got = append(got, h); return true })
	if !slices.Equal(got, p.m) {
		t.Fatalf("step %d: %v, want %v", step, got, p.m)
	}
	if p.c.digest() != digestOf(p.m) {
		t.Fatalf("step %d: digest", step)
	}
	for i, r := range p.c.runs {
		if r.count == 0 || r.first < 0 && r.count != 1 {
			t.Fatalf("step %d: run %d is %+v", step, i, r)
		}
	}
}

// Random changes to collections and to their copies: each matches its model, and none affects another.
func TestCollectionAgainstModel(t *testing.T) {
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 1))
		pairs := []*pair{{}}
		next, made := int64(1), int64(0)
		fresh := func() int64 {
			if random.IntN(4) == 0 {
				made--
				return made
			}
			if random.IntN(3) == 0 {
				next += int64(random.IntN(5))
			}
			next++
			return next - 1
		}
		for step := range 600 {
			p := pairs[random.IntN(len(pairs))]
			some := func() int64 { // usually one that is in
				if len(p.m) == 0 || random.IntN(8) == 0 {
					return int64(random.IntN(40)) - 10
				}
				return p.m[random.IntN(len(p.m))]
			}
			switch op := random.IntN(20); {
			case op < 4:
				h := fresh()
				p.c.append(h, 1)
				p.m = append(slices.Clip(p.m), h)
			case op < 6:
				n := uint32(1 + random.IntN(12))
				p.c.append(next, n)
				for range n {
					p.m = append(slices.Clip(p.m), next)
					next++
				}
			case op < 11:
				h := some()
				i := p.m.index(h)
				if p.c.remove(h) != (i >= 0) {
					t.Fatalf("step %d: remove %d", step, h)
				}
				if i >= 0 {
					p.m = slices.Delete(slices.Clone(p.m), i, i+1)
				}
			case op < 14:
				h, other := some(), fresh()
				i := p.m.index(h)
				if p.c.replace(h, other) != (i >= 0) {
					t.Fatalf("step %d: replace %d", step, h)
				}
				if i >= 0 {
					p.m = slices.Clone(p.m)
					p.m[i] = other
				}
			case op < 17:
				h, before := fresh(), some()
				if random.IntN(5) == 0 {
					before = 0
				}
				i := p.m.index(before)
				if before == 0 || i < 0 {
					i = len(p.m)
				}
				p.c.insert(h, before)
				p.m = slices.Insert(slices.Clone(p.m), i, h)
			case op < 19:
				h := some()
				if p.c.contains(h) != (p.m.index(h) >= 0) {
					t.Fatalf("step %d: contains %d", step, h)
				}
				if len(pairs) < 12 {
					pairs = append(pairs, &pair{p.c.snapshot(), slices.Clone(p.m)})
				}
			default:
				if random.IntN(6) == 0 {
					p.c.clear()
					p.m = nil
				}
			}
			if len(pairs) == 12 && random.IntN(10) == 0 {
				pairs = slices.Delete(pairs, 3, 8)
			}
			for _, p := range pairs {
				p.check(t, step)
			}
		}
	}
}

func TestLongHistoryIsOneRun(t *testing.T) {
	var c Collection
	c.append(1, 5000)
	c.append(5001, 1)
	copied := c.snapshot()
	if len(c.runs) != 1 || &copied.runs[0] != &c.runs[0] {
		t.Errorf("%d runs, copied %t", len(c.runs), &copied.runs[0] != &c.runs[0])
	}
	c.append(5002, 1)
	if copied.runs[0].count != 5001 || c.runs[0].count != 5002 {
		t.Errorf("%+v, %+v", copied.runs, c.runs)
	}
	c.append(9000, 1)
	c.remove(2)
	if len(c.runs) != 3 || copied.contains(9000) || !copied.contains(2) {
		t.Errorf("%+v, %+v", copied.runs, c.runs)
	}
}

// messages is a history of messages with the given ids, in small blocks.
func messages(ids ...string) *History {
	h := NewHistory(record.Messages)
	grow(h, ids...)
	return h
}

func grow(h *History, ids ...string) {
	for part := range slices.Chunk(ids, 3) {
		var data []byte
		for _, id := range part {
			data = append(data, bodyOf(record.Messages, id, "")...)
		}
		h.Append(uint32(len(part)), data)
	}
}

// Finding by id matches a scan of the bodies: in histories with and without duplicates, among other records, after
// removals, and for prefixes of growing histories.
func TestFindAgainstModel(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 2))
		id := func() string { return strconv.Itoa(random.IntN(30)) }
		var histories []*History
		for range 3 {
			h := NewHistory(record.Messages)
			for i := range 10 + random.IntN(20) {
				if seed%2 == 0 {
					grow(h, fmt.Sprintf("%d-%d", len(histories), i))
				} else {
					grow(h, id())
				}
			}
			histories = append(histories, h)
		}
		for range 4 { // turns that share them
			var rs records
			var p pair
			for range 6 {
				first := rs.next() + int64(random.IntN(3))
				switch h := histories[random.IntN(3)]; random.IntN(3) {
				case 0:
					n := 1 + uint32(random.IntN(int(h.Len())))
					rs.put(span{first: first, history: h, block: block{count: n}})
					p.c.append(first, n)
				case 1:
					var data []byte
					n := uint32(1 + random.IntN(4))
					for range n {
						data = append(data, bodyOf(record.Messages, id(), "")...)
					}
					rs.put(span{first: first, block: block{count: n, data: data}})
					p.c.append(first, n)
				default:
					p.c.append(rs.make(bodyOf(record.Messages, id(), "")), 1)
				}
			}
			p.c.kind = record.Messages
			p.c.each(func(h int64) bool { p.m = append(p.m, h); return true })
			for range random.IntN(20) {
				h := p.m[random.IntN(len(p.m))]
				p.c.remove(h)
				p.m = slices.Delete(p.m, p.m.index(h), p.m.index(h)+1)
				if len(p.m) == 0 {
					break
				}
			}
			find := func(id string, from int) int64 {
				for _, h := range p.m[from:] {
					if string(record.ID(record.Messages, rs.body(h))) == id {
						return h
					}
				}
				return 0
			}
			for range 40 {
				want := id()
				if len(p.m) > 0 && random.IntN(2) == 0 {
					want = string(record.ID(record.Messages, rs.body(p.m[random.IntN(len(p.m))])))
				}
				if got, ok := p.c.find(&rs, want); got != find(want, 0) || ok != (got != 0) {
					t.Fatalf("seed %d: id %s found at %d, want %d; %+v in %+v", seed, want, got, find(want, 0), p.c.runs, rs.spans)
				}
				if len(p.m) > 0 {
					i := random.IntN(len(p.m))
					if got, _ := p.c.findAfter(&rs, want, p.m[i]); got != find(want, i+1) {
						t.Fatalf("seed %d: id %s after %d found at %d, want %d", seed, want, p.m[i], got, find(want, i+1))
					}
				}
			}
			if random.IntN(2) == 0 {
				grow(histories[0], id()) // it grows; running turns keep their part
			}
		}
	}
}

// Turns share a history, but not their changes to it.
func TestHistoryIsSharedByTurns(t *testing.T) {
	h := messages("a", "b", "c", "d", "e")
	play := func(change func(s *seam)) *play {
		p := &play{t: t}
		p.pipelines[TurnInput] = []middleware{func(s *seam, next func()) error {
			if !s.turn.AcceptHistory(1, 4, h) || !s.turn.Add(0, record.Messages, 1, 4) {
				t.Fatal("the history was refused")
			}
			s.next = 5
			s.mirror[0][record.Messages] = []int64{1, 2, 3, 4}
			next()
			return nil
		}}
		p.executor = func(s *seam) error {
			s.holds(1, record.Messages, "a b c d")
			change(s)
			return s.ack()
		}
		p.run()
		return p
	}
	first := play(func(s *seam) {
		s.must(s.mutate(record.Messages, "b", "new"))
		s.must(s.delete(record.Messages, "d"))
		s.must(s.delete(record.Messages, "e")) // beyond this turn's part
		s.must(s.store(record.Messages, "f", ""))
		s.holds(0, record.Messages, "a b c d")
	})
	first.holds(0, record.Messages, "a b:new c f")
	grow(h, "b", "x")
	play(func(*seam) {}).holds(0, record.Messages, "a b c d")
	first.holds(0, record.Messages, "a b:new c f")
	if h.Len() != 7 || h.Kind() != record.Messages {
		t.Errorf("%d records", h.Len())
	}
}

func TestHandlesAreChecked(t *testing.T) {
	p := &play{t: t, executor: ackOnce}
	p.run()
	turn, one := p.turn, bodyOf(record.Messages, "m", "")
	h := messages("a", "b")
	for name, ok := range map[string]bool{
		"zero":                    turn.Accept(0, 1, one),
		"negative":                turn.Accept(-5, 1, one),
		"none":                    turn.Accept(1, 0, nil),
		"beyond 2^53":             turn.Accept(1<<53-2, 3, one),
		"history that is shorter": turn.AcceptHistory(1, 3, h),
	} {
		if ok {
			t.Errorf("%s was taken", name)
		}
	}
	if !turn.Accept(5, 2, append(slices.Clone(one), one...)) || turn.Accept(5, 1, one) || turn.Accept(6, 1, one) || turn.Accept(4, 1, one) || !turn.Accept(7, 1, one) {
		t.Error("handles must ascend")
	}
	for name, ok := range map[string]bool{
		"add unknown":        turn.Add(0, record.Messages, 9, 1),
		"add partly unknown": turn.Add(0, record.Messages, 7, 2),
		"add nothing":        turn.Add(0, record.Messages, 7, 0),
		"add to no context":  turn.Add(7, record.Messages, 7, 1),
		"add of no kind":     turn.Add(0, record.Kind(6), 7, 1),
		"remove":             turn.Remove(0, record.Messages, 7),
		"remove elsewhere":   turn.Remove(7, record.Messages, 7),
		"remove of no kind":  turn.Remove(0, record.Kind(6), 7),
		"replace":            turn.Replace(0, record.Messages, 7, 5),
		"replace by unknown": turn.Replace(0, record.Messages, 7, 99),
		"replace elsewhere":  turn.Replace(7, record.Messages, 7, 5),
		"clear elsewhere":    turn.Clear(7, record.Messages),
		"clear of no kind":   turn.Clear(0, record.Kind(6)),
	} {
		if ok {
			t.Errorf("%s was taken", name)
		}
	}
	if turn.Stash(7) != nil || turn.Registry(7) != nil || turn.DispatchContext(0) != nil {
		t.Error("a context that does not exist")
	}
	if _, ok := turn.Digest(7); ok {
		t.Error("a digest of a context that does not exist")
	}
}

// A record is in a collection at most once, whatever host code requests.
func TestEditsKeepRecordsUnique(t *testing.T) {
	p := &play{t: t, executor: ackOnce}
	p.run()
	for _, id := range []string{"a", "b", "c"} {
		p.add(0, record.Messages, p.record(record.Messages, id, ""))
	}
	p.turn.Add(0, record.Messages, 2, 1)
	p.holds(0, record.Messages, "a b c")
	if !p.turn.Replace(0, record.Messages, 1, 3) || !p.turn.Replace(0, record.Messages, 3, 3) {
		t.Error("a replacement was refused")
	}
	p.holds(0, record.Messages, "c b")
}

// A block with fewer records than its count has empty bodies, which no write accepts.
func TestShortBlock(t *testing.T) {
	one := bodyOf(record.Messages, "m", "")
	b := block{count: 1 << 31, data: append(slices.Clone(one), 0xc1, 1, 2)}
	if string(b.body(0)) != string(one) || b.body(1) != nil || b.body(1<<31-1) != nil || cap(*b.ends) > len(b.data) {
		t.Errorf("bodies %q, room for %d", b.body(1), cap(*b.ends))
	}
}
