package agents

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Explain says in sentences what an agent brings, and what it can do and cannot with a grant. Without one, nil, it says
// what the agent asks for. Texts of the agent's author are in quotation marks. Of a nil manifest there is nothing to
// say. JavaScript's explain says the same.
func Explain(m *Manifest, g *Grant) string {
	if m == nil {
		return ""
	}
	var e explanation
	e.line("%s %s, in the words of its author: %s", m.Name, m.Version, quoted(m.Description))
	e.list("It brings", m.brings())
	if g == nil {
		e.list("It asks for", texts((&Grant{}).Lacks(m)))
		e.list("Without a grant it can only", []string{"compute, and answer in the turns that the program runs"})
		return e.String()
	}
	if g.Agent != m.Name || !g.covers(m.Version) {
		e.line("\nThe grant is for %s: this agent is refused.", strings.TrimSpace(g.Agent+" "+g.Version))
	}
	if missing := g.Lacks(m); len(missing) > 0 {
		e.list("It is refused, because it asks for this and the grant lacks it", texts(missing))
	}
	e.list("It can", g.allows(m))
	e.list("It cannot", g.denies())
	return e.String()
}

// explanation collects lines.
type explanation struct{ strings.Builder }

func (e *explanation) line(format string, args ...any) { fmt.Fprintf(e, format+"\n", args...) }

// list writes a heading and what belongs to it; nothing for an empty list.
func (e *explanation) list(heading string, items []string) {
	if len(items) == 0 {
		return
	}
	e.line("\n%s:", heading)
	for _, item := range items {
		e.line("- %s", item)
	}
}

// quoted puts an author's text into quotation marks, which it cannot close.
func quoted(text string) string { return `"` + strings.ReplaceAll(text, `"`, `'`) + `"` }

func texts(list []Missing) []string {
	out := make([]string, len(list))
	for i, m := range list {
		out[i] = m.String()
	}
	return out
}

// brings lists what an agent brings.
func (m *Manifest) brings() (list []string) {
	if m.Executor {
		list = append(list, "an executor, which decides what happens in a turn")
	}
	for _, t := range m.Tools {
		text := "the tool " + t.Name
		if t.Confirm {
			text += ", which asks a person before each call"
		}
		list = append(list, text)
	}
	for _, w := range m.Middleware {
		list = append(list, "the middleware "+w.Name+" in the pipeline "+w.Pipeline)
	}
	return list
}

// allows lists what an agent may do.
func (g *Grant) allows(m *Manifest) (list []string) {
	add := func(text string, asked bool, why string) {
		switch {
		case !asked:
			text += ", for which it does not ask"
		case why != "":
			text += ": " + quoted(why)
		}
		list = append(list, text)
	}
	if g.HTTP != nil {
		for _, o := range g.HTTP.Origins {
			i := slices.IndexFunc(m.Asks.HTTP, func(a AskOrigin) bool { return a.Origin == o })
			add("send requests to "+o, i >= 0, at(m.Asks.HTTP, i).Why)
		}
		if g.HTTP.PrivateAddresses && len(g.HTTP.Origins) > 0 {
			list = append(list, "reach these also where their addresses are of this machine or its networks")
		}
	}
	for _, c := range g.Credentials {
		for _, o := range c.Origins {
			i := slices.IndexFunc(m.Asks.Credentials, func(a AskCredential) bool { return a.Name == c.Name && a.Origin == o })
			add("have the host add the secret "+c.Name+" to requests to "+o, i >= 0, at(m.Asks.Credentials, i).Why)
		}
	}
	named := func(text, name string, asks []Ask) {
		i := slices.IndexFunc(asks, func(a Ask) bool { return a.Name == name })
		add(text, i >= 0, at(asks, i).Why)
	}
	for _, name := range g.Tools {
		named("call the program's tool "+name, name, m.Asks.Tools)
	}
	for _, name := range slices.Sorted(maps.Keys(g.Models)) {
		named("use "+g.Models[name]+" as its model "+name, name, m.Asks.Models)
	}
	for _, name := range g.Stores {
		named("use the store "+name, name, m.Asks.Stores)
	}
	if g.Log != nil {
		list = append(list, fmt.Sprintf("write %d bytes of log in a turn", g.Log.BytesPerTurn))
	}
	q := g.Quota.or(DefaultQuota)
	return append(list, fmt.Sprintf("take %d steps, %d frames, %d effects, %d bytes and %d tokens in a turn",
		q.Steps, q.Frames, q.Effects, q.Bytes, q.Tokens))
}

// at is an entry of a list; the zero value if there is none.
func at[T any](list []T, i int) (entry T) {
	if i >= 0 {
		entry = list[i]
	}
	return entry
}

// denies lists what an agent may not do.
func (g *Grant) denies() []string {
	other := func(some bool, what string) string {
		if some {
			return "any other " + what
		}
		return "any " + what
	}
	origins := g.HTTP != nil && len(g.HTTP.Origins) > 0
	list := []string{"send requests to " + other(origins, "origin")}
	if origins && !g.HTTP.PrivateAddresses {
		list = append(list, "reach addresses of this machine or its networks")
	}
	list = append(list,
		"see a secret, a file, the environment or the memory of the program",
		"call "+other(len(g.Tools) > 0, "tool of the program"),
		"use "+other(len(g.Models) > 0, "model"),
		"use "+other(len(g.Stores) > 0, "store"))
	if g.Log == nil {
		list = append(list, "write a log")
	}
	return list
}
