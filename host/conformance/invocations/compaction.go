package invocations

import (
	"errors"
	"fmt"

	"github.com/turncore/turncore/host/conformance"
	"github.com/turncore/turncore/host/sessions"
)

// compaction is what the scenario says of summaries.
func (g *game) compaction() *sessions.Compaction {
	of := g.Compaction
	if of == nil {
		return nil
	}
	c := &sessions.Compaction{Invocations: of.Invocations, Tokens: of.Tokens, Overlap: of.Overlap, Keep: of.Keep}
	c.OnError = func(_ *sessions.CallbackContext, err error) {
		g.write("summaries", conformance.Line{"unsummed": described(err)["message"]})
	}
	if of.Summaries == nil {
		return c
	}
	c.Summarize = func(_ *sessions.CallbackContext, events *sessions.Content) (*sessions.Content, error) {
		var told []any
		for _, part := range events.Parts {
			told = append(told, part.Text)
		}
		g.write("summaries", conformance.Line{"told": told})
		n := g.next("summaries")
		if n >= len(of.Summaries) {
			return nil, fmt.Errorf("there is no summary %d", n+1)
		}
		a := of.Summaries[n]
		if a.Fail != "" {
			return nil, errors.New(a.Fail)
		}
		return content(a.Value, nil)
	}
	return c
}
