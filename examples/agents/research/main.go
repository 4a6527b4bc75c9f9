// Command research is an agent that looks things up in an encyclopedia, and publishes a report when a person agrees.
//
//	turncore agent build examples/agents/research
//	turncore run --agent research.wasm --grant examples/agents/research/grant.json "Search for the moons of Jupiter"
package main

import (
	"errors"
	"net/url"
	"strconv"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/wasm/agent"
)

//go:generate go run github.com/turncore/turncore/host/cmd/toolgen -type Query,Titles,Pages,Page,Report,Decision,Published

const origin = "https://en.wikipedia.org"

// limit is how many pages a search returns.
const limit = 5

// Query is what to look for.
type Query struct {
	Text string `json:"text" jsonschema:"words to look for"`
}

// Titles are those of pages.
type Titles struct {
	Titles []string `json:"titles" jsonschema:"titles of pages, as search returns them"`
}

// Pages are pages of the encyclopedia.
type Pages struct {
	Pages []Page `json:"pages"`
}

// Page is one of them.
type Page struct {
	Title   string `json:"title"`
	Extract string `json:"extract,omitempty"`
}

// Report is what the agent has found out.
type Report struct {
	Title string `json:"title"`
	Text  string `json:"text" jsonschema:"the whole report, in Markdown"`
}

// Decision is a person's on a report.
type Decision struct {
	Publish bool `json:"publish"`
}

// Published says what became of a report.
type Published struct {
	Published bool `json:"published"`
}

func init() {
	agent.Register(agent.Definition{
		Name: "research", Version: "1.0.0", Description: "Looks things up in Wikipedia and writes reports.",
		Tools: []*agent.Tool{
			agent.NewTool("search", "Finds pages of the encyclopedia and returns their titles.", search),
			agent.NewTool("read", "Reads the beginnings of pages.", read),
			agent.NewTool("publish", "Publishes a report, when a person has agreed.", publish),
		},
		Asks: agent.Asks{
			HTTP:   []agent.Origin{{Origin: origin, Why: "to look things up"}},
			Models: []agent.Ask{{Name: "default", Why: "to read and write"}},
		},
	})
}

func search(c *agent.Context, q *Query) (*Titles, error) {
	var found Pages
	if err := get(c, "/w/rest.php/v1/search/page?limit="+strconv.Itoa(limit)+"&q="+url.QueryEscape(q.Text), &found); err != nil {
		return nil, err
	}
	titles := &Titles{Titles: make([]string, len(found.Pages))}
	for i, p := range found.Pages {
		titles.Titles[i] = p.Title
	}
	return titles, nil
}

func read(c *agent.Context, t *Titles) (*Pages, error) {
	pages := &Pages{Pages: make([]Page, len(t.Titles))}
	tasks := make([]func(*agent.Context) error, len(t.Titles))
	for i, title := range t.Titles {
		tasks[i] = func(c *agent.Context) error {
			return get(c, "/api/rest_v1/page/summary/"+url.PathEscape(title), &pages.Pages[i])
		}
	}
	return pages, c.Together(tasks...)
}

func publish(c *agent.Context, r *Report) (*Published, error) {
	payload, err := r.AppendValue(nil)
	if err != nil {
		return nil, err
	}
	answer, err := c.WaitFor(agent.Gate{Reason: "Publish the report?", Payload: payload, Schema: (*Decision)(nil).Schema()})
	if err != nil {
		return nil, err
	}
	var d Decision
	if err := d.DecodeValue(answer); err != nil {
		return nil, err
	}
	return &Published{Published: d.Publish}, nil
}

// get requests a path and decodes the answer.
func get(c *agent.Context, path string, into interface{ DecodeValue(v []byte) error }) error {
	r, err := c.Do(&agent.Request{URL: origin + path, Headers: [][2]string{{"accept", "application/json"}}})
	if err != nil {
		return err
	}
	if r.Status != 200 {
		return errors.New("the encyclopedia answers with status " + strconv.Itoa(r.Status))
	}
	v, err := value.FromJSON(nil, r.Body)
	if err != nil {
		return err
	}
	return into.DecodeValue(v)
}

func main() {}
