package agents

import (
	"slices"
	"strings"
)

// Grown lists everything that an agent asks for and that an older version of it did not ask for: what an owner of a
// grant has to decide about before the new version can be used. Without an older version, nil, it is all of it.
func (m *Manifest) Grown(old *Manifest) []Missing {
	if old == nil {
		old = &Manifest{}
	}
	return old.Asks.Grant(m.Name).Lacks(m)
}

// Grant returns the grant of exactly what is asked for, for an agent of a name. What only the owner knows is left to be
// filled in: the models are named "provider/model", and the secrets are in variables by the credentials' names.
func (a *Asks) Grant(agent string) *Grant {
	g := &Grant{Agent: agent}
	for _, ask := range a.HTTP {
		g.origin(ask.Origin)
	}
	for _, ask := range a.Credentials {
		g.origin(ask.Origin)
		g.credential(ask)
	}
	for _, ask := range a.Tools {
		g.Tools = append(g.Tools, ask.Name)
	}
	for _, ask := range a.Models {
		if g.Models == nil {
			g.Models = map[string]string{}
		}
		g.Models[ask.Name] = "provider/model"
	}
	for _, ask := range a.Stores {
		g.Stores = append(g.Stores, ask.Name)
	}
	if a.Log > 0 {
		g.Log = &GrantLog{BytesPerTurn: a.Log}
	}
	if a.Quota != nil {
		g.Quota = *a.Quota
	}
	return g
}

func (g *Grant) origin(origin string) {
	if g.HTTP == nil {
		g.HTTP = &GrantHTTP{}
	}
	g.HTTP.PrivateAddresses = g.HTTP.PrivateAddresses || privateOrigin(origin)
	if !slices.Contains(g.HTTP.Origins, origin) {
		g.HTTP.Origins = append(g.HTTP.Origins, origin)
	}
}

func (g *Grant) credential(ask AskCredential) {
	for i := range g.Credentials {
		if c := &g.Credentials[i]; c.Name == ask.Name {
			c.Origins = append(c.Origins, ask.Origin)
			return
		}
	}
	g.Credentials = append(g.Credentials, GrantCredential{
		Name: ask.Name, Origins: []string{ask.Origin}, From: Secret{Env: variable(ask.Name)},
	})
}

// variable is the name of a variable for a secret: "api-key" becomes API_KEY.
func variable(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(name))
	if name[0] <= '9' {
		return "_" + name
	}
	return name
}
