package sessionstest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/sessions"
)

func appendCases() []testCase {
	return []testCase{
		{"an event comes back as it was stored", func(p *place) {
			s := p.create(session, nil)
			given := &sessions.Event{
				ID: "e1", InvocationID: "i", Author: "host", Timestamp: noon, Branch: "a.b",
				Content: &sessions.Content{Role: "model", Parts: []sessions.Part{
					{Text: "x\x00ä😀"}, {FunctionCall: &sessions.FunctionCall{ID: "c", Name: "f", Args: map[string]any{"n": int64(1), "b": []byte{0, 255}}}},
				}},
				Actions: sessions.Actions{StateDelta: map[string]any{"k": []any{nil, map[string]any{}}}, Escalate: true},
			}
			stored := p.append(s, given)
			want := text(stored)
			for _, of := range []*sessions.Session{s, p.get(session), p.load(p.again(), user, session)} {
				list, err := of.Events()
				if err != nil || len(list) != 1 {
					p.Fatalf("%d events, %v", len(list), err)
				}
				p.is("the event", text(list[0]), want)
			}
			if stored.ID != "e1" || stored.Timestamp.UnixMilli() != noon.UnixMilli() {
				p.Errorf("it was stored as %s", want)
			}
		}},
		{"an event gets an id and a time", func(p *place) {
			s := p.create(session, nil)
			a, b := p.append(s, said("a")), p.append(s, said("b"))
			if a.ID == "" || a.ID == b.ID || a.Timestamp.IsZero() {
				p.Errorf("%s and %s", text(a), text(b))
			}
		}},
		{"changes of an event after its append change nothing", func(p *place) {
			s := p.create(session, nil)
			nested := map[string]any{"n": 1}
			e := changed(map[string]any{"k": nested})
			stored := p.append(s, e)
			nested["n"], e.Author = 2, "changed"
			stored.Actions.StateDelta["k"] = "changed"
			s.State()["k"] = "changed"
			for _, of := range []*sessions.Session{s, p.get(session)} {
				first, err := of.Event(0)
				if err != nil {
					p.Fatal(err)
				}
				p.is("the event", first.Author+text(first.Actions.StateDelta)+text(of.State()), `host{"k":{"n":1}}{"k":{"n":1}}`)
			}
		}},
		{"a partial event changes nothing", func(p *place) {
			s := p.create(session, nil)
			before, at := p.shown(s), p.get(session).UpdatedAt()
			e := changed(map[string]any{"k": 1, "app:k": 1, "user:k": 1})
			e.Partial = true
			if _, err := p.all.Append(p.Context(), s, e); err != nil {
				p.Fatal(err)
			}
			p.is("the handle", p.shown(s), before)
			after := p.get(session)
			p.is("the store", p.shown(after), before)
			if !after.UpdatedAt().Equal(at) {
				p.Errorf("it was updated at %v, before at %v", after.UpdatedAt(), at)
			}
			p.is("another session", text(p.create("t", nil).State()), "{}")
		}},
		{"an event is appended once", func(p *place) {
			s := p.create(session, nil)
			e := p.append(s, changed(map[string]any{"n": 1}))
			e.Actions.StateDelta["n"] = 2
			failure := p.refused(s, e, host.CodeSessionConflict)
			p.details(failure, "session", session)
			p.details(failure, "kind", "event")
			p.details(failure, "id", e.ID)
			p.append(s, said("next")) // the handle is still good
			tries := 0
			err := p.all.Retry(p.Context(), user, session, func(of *sessions.Session) error {
				tries++
				_, err := p.all.Append(p.Context(), of, e)
				return err
			})
			p.code("a retry of it", err, host.CodeSessionConflict)
			p.is("its tries", strconv.Itoa(tries), "1")
		}},
		{"of two handles the second is refused, and a retry loads anew", func(p *place) {
			s := p.create(session, map[string]any{"n": 0})
			stale := p.get(session)
			p.append(s, changed(map[string]any{"n": 1, "app:n": 1}))
			failure := p.refused(stale, changed(map[string]any{"n": 2, "app:n": 2}), host.CodeSessionConflict)
			p.details(failure, "session", session)
			p.details(failure, "user", user)
			if strings.Contains(failure.Error(), app+"/"+user) {
				p.Errorf("the error names the session as the store does: %v", failure)
			}
			tries := 0
			other := p.another()
			err := other.Retry(p.Context(), user, session, func(of *sessions.Session) error {
				if tries++; tries == 1 {
					p.append(s, changed(map[string]any{"n": 5}))
				}
				n, _ := of.Get("n").(int64)
				_, err := other.Append(p.Context(), of, changed(map[string]any{"n": n + 1}))
				return err
			})
			if err != nil || tries != 2 {
				p.Errorf("%d tries, %v", tries, err)
			}
			p.is("the state", text(p.get(session).State()), `{"app:n":1,"n":6}`)
			stop := errors.New("stop")
			if err := p.all.Retry(p.Context(), user, session, func(*sessions.Session) error { return stop }); !errors.Is(err, stop) {
				p.Errorf("a retry of what fails otherwise: %v", err)
			}
		}},
		{"events that are none are refused", func(p *place) {
			s := p.create(session, nil)
			call := &sessions.Event{Author: "host", Content: sessions.ModelCall(sessions.FunctionCall{ID: "c"})}
			p.details(p.refused(s, call, host.CodeInvalidEvent), "field", "content.parts[0].functionCall.name")
			p.refused(s, changed(map[string]any{"k": make(chan int)}), host.CodeInvalidState)
			self := map[string]any{}
			self["self"] = self
			p.refused(s, changed(map[string]any{"k": self}), host.CodeInvalidState)
			p.refused(s, &sessions.Event{Author: "host", CustomMetadata: self}, host.CodeInvalidEvent)
			p.details(p.refused(s, &sessions.Event{Content: sessions.Text("whose?")}, host.CodeInvalidEvent), "field", "author")
		}},
		{"an append costs the same however long the session is", func(p *place) {
			s := p.create(session, nil)
			cost := func() string {
				p.watched.counted()
				p.append(s, changed(map[string]any{"n": s.Len()}))
				calls, read := p.watched.counted()
				return fmt.Sprint(calls, " calls, ", read, " read")
			}
			first := cost()
			for range 300 {
				p.append(s, said("x"))
			}
			p.is("an append to 300 events", cost(), first)
			p.is("the first one", first, "1 calls, 0 read")
		}},
	}
}
