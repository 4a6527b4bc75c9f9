package session

import "github.com/turncore/turncore/abi/value"

// Digest returns what is to be summed up, as texts, and the ids of the first and the last event that the summary then
// stands for: all but the last keep invocations. The last compaction is summed up again, with the overlap invocations
// before its end in full. It returns nothing if fewer than need invocations have come since, besides those that stay.
func (l *Log) Digest(need, keep, overlap int) (list []Part, first, last string) {
	old := cover{event: -1, last: -1}
	if n := len(l.covers); n > 0 {
		old = l.covers[n-1]
	}
	runs, fresh, from, to := 0, 0, 0, -1
	current := ""
	for k := len(l.shown) - 1; k >= 0; k-- {
		e := &l.entries[l.shown[k]]
		if e.compacts || e.invocation == "" {
			continue
		}
		if e.invocation != current {
			if l.shown[k] <= old.last {
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
	if old.event < 0 {
		old.first = l.shown[from]
	} else {
		list = told(list, l.entries[old.event].author, l.parts(old.event), true)
	}
	for _, i := range l.shown[from : to+1] {
		if !l.entries[i].compacts {
			list = told(list, l.entries[i].author, l.said(i), true)
		}
	}
	return list, l.id(old.first), l.id(l.shown[to])
}

// said reads the content of an event without confirmations.
func (l *Log) said(event int32) []Part {
	parts := l.parts(event)
	said, a := parts[:0], l.entries[event].answer
	for i := range parts {
		if p := &parts[i]; p.Kind == PartResponse && p.ID != "" {
			if a++; l.confirms(a - 1) {
				continue
			}
		}
		said = append(said, parts[i])
	}
	return said
}

func (l *Log) id(i int32) string {
	s, _ := value.GetString(l.entries[i].body, eventMembers[eventID])
	return string(s)
}

// Tokens is about how many tokens a model is asked with: what a model says that has answered from the event at from on,
// or else a quarter of the bytes of the contents that no compaction stands for. It need not count beyond enough.
func (l *Log) Tokens(from, enough int) (n int) {
	for i := from; i < len(l.entries); i++ {
		usage, _ := value.Get(l.entries[i].body, eventMembers[eventUsage])
		v, _ := value.Get(usage, "promptTokens")
		tokens, _ := value.Int(v)
		n = max(n, int(tokens))
	}
	if n > 0 {
		return n
	}
	base := int32(-1)
	if c := len(l.covers); c > 0 {
		base = l.covers[c-1].last
	}
	for k := len(l.shown) - 1; k >= 0 && l.shown[k] > base && n/4 < enough; k-- {
		n += len(l.entries[l.shown[k]].content)
	}
	return n / 4
}
