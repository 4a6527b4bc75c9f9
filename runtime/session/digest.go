package session

import "github.com/turncore/turncore/abi/value"

// Digest returns what is to be summed up, as texts, and the ids of the first and the last event that the summary then
// stands for: all but the last keep invocations. The last compaction is summed up again, with the overlap invocations
// before its end in full. It returns nothing if fewer than need invocations have come since, besides those that stay.
func (l *Log) Digest(need, keep, overlap int) (list []Part, first, last string) {
	old := cover{last: -1}
	if n := len(l.covers); n > 0 {
		old = l.covers[n-1]
	}
	runs, fresh, from, to := 0, 0, 0, -1
	current := ""
	for k := len(l.shown) - 1; k >= 0; k-- {
		e := l.shown[k]
		if e.compacts || e.invocation == "" {
			continue
		}
		if e.invocation != current {
			if e.place <= old.last {
				if overlap == 0 {
					break
				}
				overlap--
			} else {
				fresh++
			}
			current = e.invocation
			if runs++; runs == keep+1 {
				to = k
			}
		}
		from = k
	}
	if fresh-keep < need || to < 0 {
		return nil, "", ""
	}
	begin := l.shown[from]
	if e := old.event; e != nil {
		begin = l.entries[old.first]
		list = told(list, e.author, e.parts(), true)
	}
	for _, e := range l.shown[from : to+1] {
		if !e.compacts {
			list = told(list, e.author, e.said(), true)
		}
	}
	return list, begin.id(), l.shown[to].id()
}

// said reads the content of an event without confirmations.
func (e *entry) said() []Part {
	parts := e.parts()
	said, a := parts[:0], e.answers
	for i := range parts {
		if p := &parts[i]; p.Kind == PartResponse && p.ID != "" {
			of := a
			if a = a.next; of.confirms() {
				continue
			}
		}
		said = addPart(said, &parts[i])
	}
	return said
}

// Tokens is about how many tokens a model is asked with: what a model says that has answered from the event at from on,
// or else a quarter of the bytes of the contents that no compaction stands for. It need not count beyond enough.
func (l *Log) Tokens(from, enough int) (n int) {
	for _, e := range l.entries[from:] {
		usage, _ := value.Get(e.body, eventMembers[eventUsage])
		v, _ := value.Get(usage, "promptTokens")
		tokens, _ := value.Int(v)
		n = max(n, int(tokens))
	}
	if n > 0 {
		return n
	}
	base := -1
	if c := len(l.covers); c > 0 {
		base = l.covers[c-1].last
	}
	for k := len(l.shown) - 1; k >= 0 && l.shown[k].place > base && n/4 < enough; k-- {
		n += len(l.shown[k].content)
	}
	return n / 4
}
