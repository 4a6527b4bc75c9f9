package sessions_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/turns"
)

// A message that no frame holds is E_ABI_LIMIT_EXCEEDED, whether a part alone is too large or all together are, and
// nothing is stored.
func TestTooLargeMessage(t *testing.T) {
	for _, sizes := range [][]int{{17}, {9, 9}} {
		p := stage(t, sessions.Config{Agent: gives("a", delta(nil))})
		message := &sessions.Content{}
		for _, n := range sizes {
			message.Parts = append(message.Parts, sessions.Part{InlineData: &sessions.Blob{MIMEType: "image/png", Data: make([]byte, n<<20)}})
		}
		_, err := p.r.Collect(t.Context(), sessions.Input{User: "u", Session: "s", Message: message})
		var coded *host.Error
		if !errors.As(err, &coded) || coded.Code != host.CodeABILimitExceeded {
			t.Fatalf("%d MiB: the error is %v", sizes, err)
		}
		d, _ := coded.Details.(map[string]any)
		actual, _ := d["actual"].(int)
		if d["limit"] != "frame" || d["max"] != 16<<20 || actual < 17<<20 {
			t.Errorf("%d MiB: the details are %v", sizes, d)
		}
		if n := p.stored().Len(); n != 0 {
			t.Errorf("%d MiB: %d events are stored", sizes, n)
		}
	}
}

// A session that no request to its model holds ends its invocations with an error that says so. It goes on behind a
// summary, behind a rewind, or with a model that sees less of it.
func TestTooLargeSession(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"Yes."},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()
	agent := func(contents sessions.IncludeContents) *sessions.LLMAgent {
		return &sessions.LLMAgent{Name: "a", IncludeContents: contents, Model: turns.Model{
			Name: "m", Provider: model.OpenAI, BaseURL: server.URL, APIKey: "k", Options: map[string]any{"stream": false},
		}}
	}
	for name, mend := range map[string]func(p *play){
		"a summary": func(p *play) {
			events := p.events()
			all := map[string]any{"first": events[0].ID, "last": events[len(events)-1].ID}
			_, err := p.r.Sessions().Append(p.Context(), p.stored(), &sessions.Event{
				Author: "system", Content: sessions.Text("They said much."), Actions: sessions.Actions{Compaction: all},
			})
			if err != nil {
				p.Fatal(err)
			}
		},
		"a rewind": func(p *play) {
			if _, err := p.r.Rewind(p.Context(), "u", "s", p.events()[2].InvocationID); err != nil {
				p.Fatal(err)
			}
		},
		"fewer contents": func(p *play) { p.r = bare(t, sessions.Config{Agent: agent(sessions.ContentsNone), Store: p.store}).r },
	} {
		p := stage(t, sessions.Config{Agent: agent(sessions.ContentsDefault)})
		p.say(strings.Repeat("x", 9<<20))
		for _, text := range []string{strings.Repeat("x", 9<<20), "hello"} {
			_, err := p.r.Collect(t.Context(), input(sessions.Text(text)))
			var coded *host.Error
			if !errors.As(err, &coded) || coded.Code != host.CodeABILimitExceeded {
				t.Fatalf("%s: the error is %v", name, err)
			}
			d, _ := coded.Details.(map[string]any)
			actual, _ := d["actual"].(int64)
			if d["limit"] != "frame" || d["max"] != int64(16<<20) || actual < 18<<20 {
				t.Errorf("%s: the details are %#v", name, d)
			}
			if !strings.Contains(coded.Error(), "a request to a model of ") || !strings.Contains(coded.Help, "docs/sessions.md") {
				t.Errorf("%s: %v (%s)", name, coded, coded.Help)
			}
		}
		mend(p)
		list := p.say("Can you hear me?")
		p.is(name, list[len(list)-1].Text(), "Yes.")
	}
}
