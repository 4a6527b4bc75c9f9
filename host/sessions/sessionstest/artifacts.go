package sessionstest

import (
	"fmt"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/sessions"
)

// save saves a version of an artifact and appends an event with it.
func (p *place) save(s *sessions.Session, name, data string) int {
	p.Helper()
	version := p.put(s, name, data)
	p.append(s, &sessions.Event{Author: "host", Actions: sessions.Actions{ArtifactDelta: map[string]int{name: version}}})
	return version
}

// put saves the bytes of a version.
func (p *place) put(s *sessions.Session, name, data string) int {
	p.Helper()
	version, err := p.all.SaveArtifact(p.Context(), s, name, "text/plain", []byte(data))
	if err != nil {
		p.Fatalf("saving %q: %v", name, err)
	}
	return version
}

// artifacts are those of a session with their last versions.
func (p *place) artifacts(user, id string) string {
	p.Helper()
	all, err := p.another().Artifacts(p.Context(), user, id)
	if err != nil {
		p.Fatal(err)
	}
	return text(all)
}

// content is a version of an artifact, or the code of the error.
func (p *place) content(user, id, name string, version int) string {
	p.Helper()
	a, err := p.another().Artifact(p.Context(), user, id, name, version)
	if err != nil {
		return fmt.Sprint(codeOf(err))
	}
	return fmt.Sprintf("%s %d %s %s", a.Name, a.Version, a.MIMEType, a.Data)
}

func artifactCases() []testCase {
	return []testCase{
		{"versions of artifacts count from 0", func(p *place) {
			s := p.create(session, nil)
			p.create("t", nil)
			for i, c := range []struct {
				name string
				want int
			}{{"f", 0}, {"f", 1}, {"user:f", 0}, {"a/b c", 0}, {"user:f", 1}, {"f", 2}} {
				if got := p.save(s, c.name, fmt.Sprint(c.name, " ", i)); got != c.want {
					p.Errorf("%s: version %d, want %d", c.name, got, c.want)
				}
			}
			p.is("the artifacts", p.artifacts(user, session), `{"a/b c":0,"f":2,"user:f":1}`)
			p.is("those of another session", p.artifacts(user, "t"), `{"user:f":1}`)
			p.is("the last version", p.content(user, session, "f", -1), "f 2 text/plain f 5")
			p.is("the first version", p.content(user, session, "f", 0), "f 0 text/plain f 0")
			p.is("the user's", p.content(user, "t", "user:f", 1), "user:f 1 text/plain user:f 4")
			p.is("a version that is not there", p.content(user, session, "f", 3), "E_BYTES_NOT_FOUND")
			p.is("a name that is not there", p.content(user, session, "g", -1), "E_BYTES_NOT_FOUND")
			p.is("another session's", p.content(user, "t", "f", 0), "E_BYTES_NOT_FOUND")
			p.is("another user's", p.content("bob", session, "user:f", 0), "E_BYTES_NOT_FOUND")
			p.is("after the store was opened again", text(p.load(p.again(), user, session).Revision() == s.Revision())+
				p.content(user, session, "user:f", 0), "trueuser:f 0 text/plain user:f 2")
		}},
		{"an artifact is there when an event names it", func(p *place) {
			s := p.create(session, nil)
			for i := range 3 {
				if version := p.put(s, "f", fmt.Sprint(i)); version != i {
					p.Errorf("version %d, want %d", version, i)
				}
			}
			p.is("before", p.artifacts(user, session)+p.content(user, session, "f", 0), "{}E_BYTES_NOT_FOUND")
			named := func(version int) *sessions.Event {
				return &sessions.Event{Author: "host", Actions: sessions.Actions{ArtifactDelta: map[string]int{"f": version}}}
			}
			p.append(s, named(1)) // the one before it, too
			p.is("after", p.artifacts(user, session)+p.content(user, session, "f", 0), `{"f":1}f 0 text/plain 0`)
			p.append(s, named(2))
			list, err := p.get(session).Events()
			if err != nil {
				p.Fatal(err)
			}
			p.is("the events", text(list[0].Actions.ArtifactDelta)+text(list[1].Actions.ArtifactDelta), `{"f":1}{"f":2}`)
		}},
		{"a version that nobody has saved is refused", func(p *place) {
			s := p.create(session, nil)
			p.save(s, "f", "x")
			for name, version := range map[string]int{"f": 1, "user:f": 0, "g": 0} {
				e := changed(map[string]any{"k": 1})
				e.Actions.ArtifactDelta = map[string]int{name: version}
				p.details(p.refused(s, e, host.CodeInvalidEvent), "field", "actions.artifactDelta."+name)
			}
			for _, name := range []string{"", "user:"} {
				_, err := p.all.SaveArtifact(p.Context(), s, name, "", nil)
				p.code("a name that is none", err, host.CodeInvalidEvent)
			}
		}},
		{"of two writers of an artifact one is refused", func(p *place) {
			s, t := p.create(session, nil), p.create("t", nil)
			a, b := p.put(s, "user:f", "a"), p.put(t, "user:f", "b")
			if a != 0 || b != 0 {
				p.Errorf("versions %d and %d", a, b)
			}
			named := &sessions.Event{Author: "host", Actions: sessions.Actions{ArtifactDelta: map[string]int{"user:f": 0}}}
			p.append(s, named)
			failure := p.refused(t, named, host.CodeSessionConflict)
			p.details(failure, "session", "t")
			p.details(failure, "kind", "artifact")
			p.is("the artifact", p.content(user, "t", "user:f", -1), "user:f 0 text/plain a")
		}},
		{"artifacts go with their session, and those of the user stay", func(p *place) {
			s := p.create(session, nil)
			p.save(s, "f", "x")
			p.save(s, "user:f", "y")
			if err := p.all.Delete(p.Context(), user, session); err != nil {
				p.Fatal(err)
			}
			p.is("deleted", p.content(user, session, "f", 0), "E_BYTES_NOT_FOUND")
			p.create(session, nil)
			p.is("made anew", p.artifacts(user, session), `{"user:f":0}`)
			p.is("the user's", p.content(user, session, "user:f", 0), "user:f 0 text/plain y")
		}},
		{"large artifacts", func(p *place) {
			s := p.create(session, nil)
			data := make([]byte, 3<<20)
			for i := range data {
				data[i] = byte(i * i >> 8)
			}
			p.save(s, "f", string(data))
			p.save(s, "empty", "")
			if p.content(user, session, "f", 0) != "f 0 text/plain "+string(data) {
				p.Error("its bytes are others")
			}
			p.is("an empty one", p.content(user, session, "empty", 0), "empty 0 text/plain ")
		}},
	}
}
