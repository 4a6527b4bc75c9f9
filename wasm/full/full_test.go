package full_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/wazero"
	"github.com/turncore/turncore/wasm/core"
	"github.com/turncore/turncore/wasm/full"
)

// The full module has the reader tools of Markdown artifacts; the core module reads such artifacts as lines of text.
func TestMarkdownTools(t *testing.T) {
	for name, c := range map[string]struct {
		module func() ([]byte, bool)
		tools  bool
	}{"core": {core.Module, false}, "full": {full.Module, true}} {
		t.Run(name, func(t *testing.T) {
			module, ok := c.module()
			if !ok {
				t.Skip("this build carries no module, `make wasm` builds it")
			}
			engine, err := wazero.New(t.Context(), module)
			if err != nil {
				t.Fatal(err)
			}
			defer engine.Close(context.Background())
			var headings string
			h := turns.NewHost(turns.HostOptions{Engine: engine})
			defer h.Close(context.Background())
			runner, err := turns.New(t.Context(), turns.Config{
				Host: h,
				Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
					if ctx.Iteration() == 0 {
						doc := turns.NewRetrievable("doc", "# One\ntext\n## Two\n", turns.FirstParty, time.Now())
						doc.ArtifactClass = turns.SpooledMarkdown
						_, err := ctx.StoreRetrievable(doc)
						return err
					}
					tool := ctx.Tools().Get("artifact_md_headings")
					if (tool != nil) != c.tools || ctx.Tools().Get("artifact_head") == nil {
						return errors.New("other tools than expected")
					}
					if tool != nil {
						result, err := tool.Executor(ctx)(map[string]any{"callId": "doc", "depth": 2})
						if err != nil {
							return err
						}
						headings, _ = result.(string)
					}
					return ctx.Ack()
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer runner.Close() //nolint:errcheck // the test is over
			result, err := runner.Run(t.Context(), turns.Input{Message: "read"})
			if err != nil || result.Status != turns.Ack || strings.Contains(headings, `"text": "Two"`) != c.tools {
				t.Errorf("%+v, %v, headings %s", result, err, headings)
			}
		})
	}
}
