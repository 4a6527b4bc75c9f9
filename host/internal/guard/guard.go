// Package guard says how a host holds the turns of a module that is not trusted. Package agents makes guards, from
// grants.
package guard

import (
	"fmt"
	"net/http"

	"github.com/turncore/turncore/host"
)

// Guard bounds the turns of a host.
type Guard struct {
	// Quota is what each turn may use.
	Quota Usage
	// Log is how many bytes of events of the kind log are passed on of each turn.
	Log int64
	// Route says what a request goes through, or refuses it: each, also one that a redirect asks for. credential is the
	// name of the one that goes with it, "" for none, and body is the request's.
	Route func(r *http.Request, credential string, body []byte) (http.RoundTripper, error)
	// Agent is what the module brings to the host's runners; nil for nothing.
	Agent *Agent
}

// Attach gives a host, a *turns.Host that has run nothing, its guard. Package turns sets it.
var Attach func(host any, g *Guard)

// Usage counts what a turn uses. As a quota, 0 is no bound.
type Usage struct {
	Steps   int64 // of the core
	Frames  int64 // that came out of it
	Effects int64 // among them
	Bytes   int64 // that all of them have
	Tokens  int64 // of prompts and completions
}

// Bound is a field of a quota, with what was used of it.
type Bound struct {
	Name       string
	Used, Most int64
}

// bounds are the fields, in the order in which they are looked at.
func (u *Usage) bounds(quota *Usage) [5]Bound {
	return [...]Bound{
		{"steps", u.Steps, quota.Steps},
		{"frames", u.Frames, quota.Frames},
		{"effects", u.Effects, quota.Effects},
		{"bytes", u.Bytes, quota.Bytes},
		{"tokens", u.Tokens, quota.Tokens},
	}
}

// Exceeded returns the error that names the first bound of a quota that is exceeded, nil for none.
func (u *Usage) Exceeded(quota *Usage) error {
	for _, b := range u.bounds(quota) {
		if b.Most > 0 && b.Used > b.Most {
			err := host.NewError(host.CodeAgentLimit, fmt.Sprintf("more than %d %s", b.Most, b.Name), nil)
			err.Details = map[string]any{"limit": b.Name, "most": b.Most}
			return err
		}
	}
	return nil
}

// spare is what a turn may use beyond twice its quota, after it was aborted for it: the end takes some steps and
// frames.
const spare = 1000

// Ignored reports that a turn goes on long after its quota was exceeded, and with which bound; an empty name is none.
func (u *Usage) Ignored(quota *Usage) (name string) {
	for _, b := range u.bounds(quota) {
		if b.Most > 0 && b.Used-b.Most > b.Most && b.Used-b.Most-b.Most > spare {
			return b.Name
		}
	}
	return ""
}
