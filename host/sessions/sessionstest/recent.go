package sessionstest

import (
	"fmt"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/sessions"
)

// noon is when the events of some tests begin.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// timed appends events, one a minute from noon on, whose texts are their numbers from 0.
func (p *place) timed(s *sessions.Session, n int) {
	p.Helper()
	for i := range n {
		e := said(fmt.Sprint(i))
		e.Timestamp = noon.Add(time.Duration(i) * time.Minute)
		p.append(s, e)
	}
}

func recentCases() []testCase {
	return []testCase{
		{"a session is loaded with its last events", func(p *place) {
			s := p.create(session, map[string]any{"k": 1})
			p.timed(s, 5)
			for _, c := range []struct {
				which sessions.Recent
				want  string
			}{
				{sessions.Recent{}, "host:0 host:1 host:2 host:3 host:4"},
				{sessions.Recent{Last: 1}, "host:4"},
				{sessions.Recent{Last: 4}, "host:1 host:2 host:3 host:4"},
				{sessions.Recent{Last: 5}, "host:0 host:1 host:2 host:3 host:4"},
				{sessions.Recent{Last: 100}, "host:0 host:1 host:2 host:3 host:4"},
				{sessions.Recent{Since: noon}, "host:0 host:1 host:2 host:3 host:4"},
				{sessions.Recent{Since: noon.Add(150 * time.Second)}, "host:3 host:4"},
				{sessions.Recent{Since: noon.Add(time.Hour)}, ""},
				{sessions.Recent{Last: 1, Since: noon}, "host:4"},
				{sessions.Recent{Last: 3, Since: noon.Add(4 * time.Minute)}, "host:4"},
			} {
				part, err := p.another().GetRecent(p.Context(), user, session, c.which)
				if err != nil {
					p.Fatal(err)
				}
				p.is(fmt.Sprint(c.which), p.words(part), c.want)
				p.is("its state", text(part.State()), `{"k":1}`)
				if part.Revision() != s.Revision() {
					p.Errorf("revision %s, want %s", part.Revision(), s.Revision())
				}
			}
			_, err := p.all.GetRecent(p.Context(), user, session, sessions.Recent{Last: -1})
			p.code("a negative number", err, host.CodeInvalidInvocation)
		}},
		{"a session without events has no last ones", func(p *place) {
			p.create(session, nil)
			for _, which := range []sessions.Recent{{Last: 1}, {Since: noon}} {
				part, err := p.another().GetRecent(p.Context(), user, session, which)
				if err != nil || part.Len() != 0 {
					p.Errorf("%v: %v, %v", which, part, err)
				}
			}
		}},
		{"the last events of a long session are few to read", func(p *place) {
			s := p.create(session, nil)
			p.timed(s, 400)
			for _, c := range []struct {
				which sessions.Recent
				first string
				most  int // events that are read
			}{
				{sessions.Recent{Last: 3}, "397", 8},
				{sessions.Recent{Since: noon.Add(398 * time.Minute)}, "398", 80},
				{sessions.Recent{Since: noon.Add(200 * time.Minute)}, "200", 400},
			} {
				p.watched.counted()
				part, err := p.all.GetRecent(p.Context(), user, session, c.which)
				if err != nil {
					p.Fatal(err)
				}
				if _, read := p.watched.counted(); read > c.most {
					p.Errorf("%v: %d events were read", c.which, read)
				}
				first, err := part.Event(0)
				if err != nil || first.Text() != c.first {
					p.Errorf("%v: the first is %v, %v", c.which, first, err)
				}
			}
		}},
		{"a handle with the last events appends", func(p *place) {
			s := p.create(session, nil)
			p.timed(s, 5)
			other := p.another()
			part, err := other.GetRecent(p.Context(), user, session, sessions.Recent{Last: 1})
			if err != nil {
				p.Fatal(err)
			}
			if _, err := other.Append(p.Context(), part, said("more")); err != nil {
				p.Fatal(err)
			}
			p.is("the handle", p.words(part), "host:4 host:more")
			const whole = "host:0 host:1 host:2 host:3 host:4 host:more"
			p.is("its service", p.words(p.load(other, user, session)), whole)
			p.is("the store", p.words(p.get(session)), whole)
			p.refused(s, said("late"), host.CodeSessionConflict)
		}},
	}
}
