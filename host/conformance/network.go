package conformance

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"

	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/tools"
	"github.com/turncore/turncore/host/turns"
)

// Answer is what a scenario's network answers to a request: a status, headers, and a body in one of four forms.
type Answer struct {
	Status  int               `json:"status"` // 200 if 0
	Headers map[string]string `json:"headers"`
	Text    string            `json:"text"`
	JSON    any               `json:"json"`
	Events  []any             `json:"events"` // server-sent events, one per piece: texts unchanged, all else as JSON
	Chunks  []string          `json:"chunks"` // literal pieces of the body
	Breaks  bool              `json:"breaks"` // after that the connection breaks
	Hangs   bool              `json:"hangs"`  // then nothing comes until the request is aborted, and the player aborts the run a moment later
	Fails   bool              `json:"fails"`  // there is no answer: the connection fails
}

// provider is the default target of requests, and credential is the host's credential for it.
const provider = "http://provider.test"

var credentials = map[string]model.Credential{"key": model.Bearer("secret-of-the-corpus", provider)}

var errNetwork = errors.New("the connection failed")

// network answers the requests of the current game.
type network struct{ player *Player }

// RoundTrip writes a line about a request and returns the next answer.
func (n network) RoundTrip(r *http.Request) (*http.Response, error) {
	g := n.player.game.Load()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	headers := map[string]any{}
	for name, values := range r.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	line := Line{"request": r.Method + " " + r.URL.String(), "headers": headers}
	answer, replaced, there := g.asked(string(body))
	if len(body) > 0 {
		line["body"] = string(body)
	}
	if replaced != "" {
		line["replaced"] = replaced
	}
	g.write(line)
	if !there || answer.Fails {
		return nil, errNetwork
	}
	response := &http.Response{
		StatusCode: cmp.Or(answer.Status, http.StatusOK), Header: http.Header{}, Request: r, ProtoMajor: 1, ProtoMinor: 1,
		Body: &answerBody{game: g, answer: answer, chunks: answer.pieces(), done: r.Context().Done()},
	}
	for name, value := range answer.headers() {
		response.Header.Set(name, value)
	}
	return response, nil
}

// asked counts a request. It returns its answer, and the part of the previous body that is not a prefix of this one.
func (g *game) asked(body string) (answer Answer, replaced string, there bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.requests
	g.requests++
	if g.body != "" {
		same := 0
		for same < min(len(g.body), len(body)) && g.body[same] == body[same] {
			same++
		}
		replaced = g.body[same:]
	}
	g.body = body
	if n >= len(g.scenario.Network) {
		return Answer{}, replaced, false
	}
	return g.scenario.Network[n], replaced, true
}

// headers are the given ones, and a type for the body.
func (a *Answer) headers() map[string]string {
	all := map[string]string{}
	switch {
	case a.Events != nil:
		all["content-type"] = "text/event-stream"
	case a.JSON != nil:
		all["content-type"] = "application/json"
	}
	maps.Copy(all, a.Headers)
	return all
}

// pieces are the pieces of the body.
func (a *Answer) pieces() []string {
	var all []string
	if a.Text != "" {
		all = append(all, a.Text)
	}
	if a.JSON != nil {
		all = append(all, string(appendValue(nil, a.JSON)))
	}
	for _, event := range a.Events {
		text, plain := event.(string)
		if !plain {
			text = string(appendValue(nil, event))
		}
		all = append(all, "data: "+text+"\n\n")
	}
	return append(all, a.Chunks...)
}

// answerBody is the body of an answer, one piece per read.
type answerBody struct {
	game   *game
	answer Answer
	chunks []string
	done   <-chan struct{}
}

func (b *answerBody) Read(p []byte) (int, error) {
	if len(b.chunks) > 0 {
		n := copy(p, b.chunks[0])
		if b.chunks[0] = b.chunks[0][n:]; b.chunks[0] == "" {
			b.chunks = b.chunks[1:]
		}
		return n, nil
	}
	if b.answer.Hangs {
		b.game.abortSoon()
		<-b.done
		return 0, errNetwork
	}
	if b.answer.Breaks {
		return 0, errNetwork
	}
	return 0, io.EOF
}

func (b *answerBody) Close() error { return nil }

// chat returns the options of the executor inside the core.
func (g *game) chat(spec map[string]any) *model.ChatOptions {
	if spec == nil {
		return nil
	}
	f := fieldsOf(spec)
	o := &model.ChatOptions{
		Provider: model.Provider(f.str("provider", "")), Credential: f.str("credential", ""), Options: f.left,
	}
	if engine, there := f.take("engine"); there {
		o.Model, o.Engine = f.str("model", ""), g.engine(engine)
		return o
	}
	o.Model, o.BaseURL = f.str("model", "m"), f.str("baseURL", provider+"/v1")
	return o
}

// engine returns a model that answers as the scenario says.
func (g *game) engine(v any) *model.Engine {
	f := fieldsOf(v)
	defer f.end()
	e := &model.Engine{Name: f.str("name", "scripted")}
	decode(f.any("capabilities"), &e.Capabilities)
	answers := list(f.any("answers"))
	e.Generate = func(ctx context.Context, r *model.Request, send func(model.Part) error) error {
		var request any
		decode(r, &request)
		g.write(Line{"model": e.Name, "request": request})
		n := g.count("model " + e.Name)
		if n >= len(answers) {
			return errNetwork
		}
		for _, part := range list(answers[n]) {
			if name, fails := part.(string); fails {
				return g.error(name)
			}
			if part.(map[string]any)["hangs"] == true {
				g.abortSoon()
				<-ctx.Done()
				return ctx.Err()
			}
			var p model.Part
			decode(part, &p)
			if err := send(p); err != nil {
				return err
			}
		}
		return nil
	}
	return e
}

// fetchTool returns the tool that fetches pages, by its options.
func fetchTool(options map[string]any) *turns.Tool {
	f := fieldsOf(options)
	defer f.end()
	o := tools.FetchOptions{Cut: f.truth("cut")}
	for name, into := range map[string]any{
		"allow": &o.Allow, "methods": &o.Methods, "maxBytes": &o.MaxBytes, "maxInline": &o.MaxInline, "redirects": &o.Redirects,
	} {
		if v, there := f.take(name); there {
			decode(v, into)
		}
	}
	return tools.Fetch(o)
}
