package agents

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turncore/turncore/host"
)

// Missing is something that an agent asks for and a grant lacks.
type Missing struct {
	What string // in words: "requests to https://api.example.com"
	Why  string // the author's reason; "" for none
}

func (m Missing) String() string {
	if m.Why == "" {
		return m.What
	}
	return m.What + " (" + m.Why + ")"
}

// Lacks lists everything that an agent asks for and a grant lacks, in the order of the manifest. A nil grant grants
// nothing.
func (g *Grant) Lacks(m *Manifest) []Missing {
	if g == nil {
		g = &Grant{}
	}
	var list []Missing
	lacks := func(granted bool, what, why string) {
		if !granted {
			list = append(list, Missing{what, why})
		}
	}
	for _, a := range m.Asks.HTTP {
		lacks(g.HTTP != nil && slices.Contains(g.HTTP.Origins, a.Origin), "requests to "+a.Origin, a.Why)
	}
	for _, a := range m.Asks.Credentials {
		lacks(slices.ContainsFunc(g.Credentials, func(c GrantCredential) bool {
			return c.Name == a.Name && slices.Contains(c.Origins, a.Origin)
		}), "the credential "+a.Name+" for "+a.Origin, a.Why)
	}
	for _, a := range m.Asks.Tools {
		lacks(slices.Contains(g.Tools, a.Name), "the tool "+a.Name, a.Why)
	}
	for _, a := range m.Asks.Models {
		lacks(g.Models[a.Name] != "", "the model "+a.Name, a.Why)
	}
	for _, a := range m.Asks.Stores {
		lacks(slices.Contains(g.Stores, a.Name), "the store "+a.Name, a.Why)
	}
	log := int64(0)
	if g.Log != nil {
		log = g.Log.BytesPerTurn
	}
	if m.Asks.Log > log {
		lacks(false, fmt.Sprintf("%d bytes of log for each turn, %d are granted", m.Asks.Log, log), "")
	}
	if m.Asks.Quota != nil {
		quota := g.Quota.or(DefaultQuota)
		for i, f := range m.Asks.Quota.fields() {
			if most := *quota.fields()[i].value; *f.value > most {
				lacks(false, fmt.Sprintf("%d %s for each turn, %d are granted", *f.value, f.name, most), "")
			}
		}
	}
	return list
}

// Check fails with [host.CodeAgentGrant] for a grant that is for another agent or another version, and with
// [host.CodeAgentNotGranted], which lists everything, for one that lacks what the agent asks for. [Load] calls it.
func (g *Grant) Check(m *Manifest) error {
	if m == nil {
		return manifestDocument.wrong("there is none")
	}
	if g != nil {
		var list []string
		if g.Agent != m.Name {
			list = append(list, fmt.Sprintf("`agent` is %s, the file is the agent %s", g.Agent, m.Name))
		}
		if !g.covers(m.Version) {
			list = append(list, fmt.Sprintf("`version` is %s, the file has version %s", g.Version, m.Version))
		}
		if err := grantDocument.wrong(list...); err != nil {
			return err
		}
	}
	missing := g.Lacks(m)
	if len(missing) == 0 {
		return nil
	}
	texts, details := make([]string, len(missing)), make([]any, len(missing))
	for i, one := range missing {
		texts[i], details[i] = one.String(), map[string]any{"what": one.What, "why": one.Why}
	}
	err := host.NewError(host.CodeAgentNotGranted, strings.Join(texts, "; "), nil)
	err.Details = details
	return err
}
