package storetest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

// put2 is the write of a message.
func put2() store.Delta { return put(message("m", "x")) }

// samplesOf are n messages.
func samplesOf(n int) []*record.Message {
	list := make([]*record.Message, n)
	for i := range list {
		list[i] = message(fmt.Sprint("s", i), "x")
	}
	return list
}

// oddIDs are ids that databases, file systems, URLs and objects of JavaScript might take for something else.
func oddIDs() []string {
	return []string{
		"__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf", "length", "null", "undefined", "NaN", "true", "0", "-1", "1e3", "01",
		"a", "A", "a ", " a", "ä", "a\u0308", "\u00e4", "ß", "SS", "ı", "İ", "ﬁ", "fi", "\u200d", "\ufeff", "\ufeffa", "\ufffd", "\U0001F600", "\U0001F600\ufe0f", "中文", "עברית",
		"a\x00b", "\x00", "\x00\x00", "\x01", "\n", "\r\n", "\t", "\u2028", "\x7f", "'", "''", `"`, "`", `\`, `\\`, "%", "%%", "%00", "%2e%2e", "_", "?", "*", "[a]", "$1", ":a", "@a", ";", "--", "/*",
		".", "..", "../x", "../../etc/passwd", "/", "//", "a/b", `a\b`, "C:", "con", "NUL", "aux.txt", "~", "-", "-rf", "|", ">", "&", "a:b", "a.", "file.db", "sha256-0", "x.lock", "log",
		"' OR '1'='1", "'; DROP TABLE turncore_sessions; --", "${jndi:x}", "{{x}}", "<b>", "{\"a\":1}", "[1,2]",
		strings.Repeat("x", 512), strings.Repeat("é", 256), strings.Repeat("\U0001F600", 128), strings.Repeat("/", 300), strings.Repeat("\x00", 512),
	}
}

func idCases() []testCase {
	ids := slices.Compact(slices.Sorted(slices.Values(oddIDs())))
	return []testCase{
		{name: "odd ids of sessions", run: func(p *place) {
			s := p.store()
			for n, id := range ids {
				p.write(s, id, put(message("m", fmt.Sprint(n))))
				if err := s.PutBytes(p.Context(), id, "b", strings.NewReader(id)); err != nil {
					p.Errorf("bytes of session %q: %v", id, err)
				}
			}
			s = p.again(s)
			for n, id := range ids {
				p.expect(s, id, fmt.Sprint("m=", n))
				if got, err := readBytes(p.Context(), s, id, "b"); err != nil || string(got) != id {
					p.Errorf("bytes of session %q: %q, %v", id, got, err)
				}
			}
			sessions, ok := s.(store.Sessions)
			if !ok {
				p.Log("the store has no Sessions")
				return
			}
			if got := listed(p, sessions, 7); !sameSet(got, ids) {
				p.Errorf("listed %q, want %q", got, ids)
			}
			for n, id := range ids {
				if n%2 == 0 {
					if err := sessions.Delete(p.Context(), id); err != nil {
						p.Errorf("deleting %q: %v", id, err)
					}
				}
			}
			for n, id := range ids {
				want := fmt.Sprint("m=", n)
				if n%2 == 0 {
					want = ""
				}
				p.expect(s, id, want)
			}
		}},
		{name: "odd ids of records", run: func(p *place) {
			s := p.store()
			var deltas []store.Delta
			var want []string
			for n, id := range ids {
				deltas = append(deltas, put(message(id, "x")), put(memory(id, "x")), put(toolCall(id, "x")), put(record.NewThought(id, "x", at(n))), put(record.NewInstruction(id)))
				want = append(want, id)
			}
			p.write(s, session, deltas...)
			for n, id := range ids {
				if n%2 == 0 {
					p.write(s, session, change(message(id, fmt.Sprint(n))), remove(record.KindMemory, id), remove(record.KindInstruction, id))
				}
			}
			c := p.load(p.again(s), session, "")
			var messages, memories, calls, thoughts []string
			for n, m := range c.Messages {
				messages = append(messages, m.ID)
				if n%2 == 0 && m.Content != fmt.Sprint(n) {
					p.Errorf("message %q has %q", m.ID, m.Content)
				}
			}
			for _, m := range c.Memories {
				memories = append(memories, m.ID)
			}
			for _, m := range c.ToolCalls {
				calls = append(calls, m.ID)
			}
			for _, m := range c.Thoughts {
				thoughts = append(thoughts, m.ID)
			}
			var odd []string
			for n, id := range ids {
				if n%2 == 1 {
					odd = append(odd, id)
				}
			}
			for name, got := range map[string][]string{"messages": messages, "tool calls": calls, "thoughts": thoughts} {
				if !slices.Equal(got, want) {
					p.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			if !slices.Equal(memories, odd) || !slices.Equal(c.Instructions, odd) {
				p.Errorf("memories %q and instructions %q, want %q", memories, c.Instructions, odd)
			}
		}},
		{name: "odd ids of bytes and keys", run: func(p *place) {
			s := p.store()
			for n, id := range ids {
				if err := s.PutBytes(p.Context(), session, id, strings.NewReader(fmt.Sprint(n))); err != nil {
					p.Errorf("%q: %v", id, err)
				}
				p.commit(s, session, store.Commit{Deltas: []store.Delta{put(message(fmt.Sprint(n), "x"))}, Key: id, Turn: id})
			}
			s = p.again(s)
			for n, id := range ids {
				if got, err := readBytes(p.Context(), s, session, id); err != nil || !bytes.Equal(got, fmt.Append(nil, n)) {
					p.Errorf("%q has %q, %v", id, got, err)
				}
				p.commit(s, session, store.Commit{Deltas: []store.Delta{put(message(fmt.Sprint("again", n), "x"))}, Key: id, Turn: id})
			}
			if got := len(p.load(s, session, "").Messages); got != len(ids) {
				p.Errorf("%d messages, want %d: keys are mixed up", got, len(ids))
			}
		}},
	}
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
