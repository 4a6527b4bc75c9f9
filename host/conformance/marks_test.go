package conformance_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/turncore/turncore/host/conformance"
	"github.com/turncore/turncore/host/conformance/invocations"
	"github.com/turncore/turncore/host/native"
)

var mark = flag.Bool("mark", false, "write the marks of all logs into the corpus")

// Every scenario that this host plays has the marks of its log. Those that differ are to be looked at: then -mark
// writes them anew.
func TestMarks(t *testing.T) {
	m := marker{t, map[string]string{}}
	for _, file := range load(t) {
		player := conformance.NewPlayer(conformance.Options{Engine: native.New()})
		for _, s := range file.Scenarios {
			if !s.Playable(conformance.Features()...) {
				continue
			}
			log, err := player.Play(s)
			if err != nil {
				t.Fatal(err)
			}
			m.compare(filepath.Join(corpus, file.Topic+".json"), s.ID, s.Marks, log)
		}
		if err := player.Close(); err != nil {
			t.Error(err)
		}
	}
	player := invocations.NewPlayer(invocations.Options{Engine: native.New()})
	for _, file := range loadInvocations(t) {
		for _, s := range file.Scenarios {
			log, err := player.Play(s)
			if err != nil {
				t.Fatal(err)
			}
			m.compare(filepath.Join(invocationsCorpus, file.Topic+".json"), s.ID, s.Marks, log)
		}
	}
	if err := player.Close(); err != nil {
		t.Error(err)
	}
	m.write()
}

// marker holds the texts of files with marks that differ, by name.
type marker struct {
	*testing.T
	texts map[string]string
}

func (m *marker) compare(file, id, marks string, log conformance.Log) {
	m.Helper()
	if marks == log.Marks() {
		return
	}
	if !*mark {
		m.Errorf("%s: the marks are not those of its log. If the log is right: go test ./host/conformance -run TestMarks -mark", id)
		return
	}
	if m.texts[file] == "" {
		text, err := os.ReadFile(file)
		if err != nil {
			m.Fatal(err)
		}
		m.texts[file] = string(text)
	}
	m.texts[file] = marked(m.T, m.texts[file], id, log.Marks())
}

func (m *marker) write() {
	for name, text := range m.texts {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			m.Error(err)
		}
	}
}

// marked puts the marks of a scenario into the text of its file, behind the id.
func marked(t *testing.T, text, id, marks string) string {
	place := regexp.MustCompile(`(?m)^( *)"id": "` + regexp.QuoteMeta(id) + `",\n(?: *"marks": "[^"]*",\n)?`)
	at := place.FindStringSubmatchIndex(text)
	if at == nil || strings.Count(text, `"id": "`+id+`"`) != 1 {
		t.Fatalf("the place of %s was not found", id)
	}
	space := text[at[2]:at[3]]
	return text[:at[0]] + space + `"id": "` + id + "\",\n" + space + `"marks": "` + marks + "\",\n" + text[at[1]:]
}

// A log whose last line differs, one that lacks it and one with a further line are not what the marks say.
func TestMarksDiffer(t *testing.T) {
	log := conformance.Log{{"by": "a", "said": "x"}, {"by": "a", "said": "y"}}
	s := &conformance.Scenario{ID: "x/y", Expect: []any{"..."}, Marks: log.Marks()}
	if err := s.Check(log); err != nil {
		t.Error(err)
	}
	for _, other := range []conformance.Log{
		{log[0], {"by": "a", "said": "z"}}, log[:1], append(log[:2:2], log[0]),
	} {
		if s.Check(other) == nil {
			t.Errorf("%s passes", other)
		}
	}
}
