package agents

import (
	"slices"

	"github.com/turncore/turncore/host/internal/guard"
	"github.com/turncore/turncore/host/model"
)

// pipelines are the names of pipelines, in the order of guard.Agent.
var pipelines = []string{"turnInput", "turnOutput", "dispatchInput", "dispatchOutput"}

// agent is what the manifest says that the module brings to runners.
func (m *Manifest) agent() *guard.Agent {
	a := &guard.Agent{Models: map[string]*model.ChatOptions{}}
	for _, t := range m.Tools {
		a.Tools = append(a.Tools, guard.Tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema})
	}
	for _, w := range m.Middleware {
		i := slices.Index(pipelines, w.Pipeline) // the schema has no others
		a.Middleware[i] = append(a.Middleware[i], w.Name)
	}
	return a
}
