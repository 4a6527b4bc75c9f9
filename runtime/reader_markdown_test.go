package runtime

import (
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// Package markdown's tests cover the answers in detail.
func TestMarkdownTools(t *testing.T) {
	text := "---\ntitle: x\n---\n# One\nSee [it](http://a.b \"t\").\n\n```go\n# no heading\n```\n## Two\n![pic](p.png) **bold**\n```\n```"
	p := &play{t: t, library: library{texts: map[string]string{"c": text, "plain": "no front matter", "odd": "---\na: &b c\n---"}}}
	p.prepare = func(p *play) {
		p.add(0, record.ToolCalls, p.body("c", artifactCall("c", classMarkdown, 0)), p.body("plain", artifactCall("plain", classMarkdown, 0)),
			p.body("odd", artifactCall("odd", classMarkdown, 0)))
	}
	p.executor = func(s *seam) error {
		for call, want := range map[string]string{
			"frontmatter":                   `{"title":"x"}`,
			`headings`:                      `{"depth":1,"text":"One","startLine":3,"endLine":12},{"depth":2,"text":"Two","startLine":9,"endLine":12}`,
			`headings "depth":2`:            `{"depth":2,"text":"Two","startLine":9,"endLine":12}`,
			`sections "depth":2`:            `{"depth":2,"heading":"Two","headingLine":9,"bodyStartLine":10,"bodyEndLine":12}`,
			"code_blocks":                   `{"lang":"go","startLine":6,"endLine":8},{"lang":null,"startLine":11,"endLine":12}`,
			`code_blocks "lang":"go"`:       `{"lang":"go","startLine":6,"endLine":8}`,
			`code_blocks "lang":""`:         `{"lang":null,"startLine":11,"endLine":12}`,
			"links":                         `{"text":"it","url":"http://a.b","title":"t"}`,
			"images":                        `{"alt":"pic","url":"p.png"}`,
			`ast "startLine":9,"endLine":9`: `"value":"Two"`,
		} {
			tool, args, _ := strings.Cut(call, " ")
			if args != "" {
				args = "," + args
			}
			got, err := s.reads("artifact_md_"+tool, `{"callId":"c"`+args+`}`)
			compact := got
			if strings.HasPrefix(got, "[") || strings.HasPrefix(got, "{") {
				compact = strings.NewReplacer("\n", "", "  ", "", ": ", ":", "[", "", "]", "").Replace(got)
			}
			if err != nil || tool != "ast" && compact != want || !strings.Contains(compact, want) {
				t.Errorf("%s: %q, %v, want %q", call, compact, err, want)
			}
		}
		got, err := s.reads("artifact_md_text", `{"callId":"c"}`)
		if !strings.Contains(got, "bold") || strings.Contains(got, "**") || err != nil {
			t.Errorf("text: %q, %v", got, err)
		}
		if got, err := s.reads("artifact_md_frontmatter", `{"callId":"plain"}`); got != "(undefined)" || err != nil {
			t.Errorf("no front matter: %q, %v", got, err)
		}
		if got, err := s.reads("artifact_md_frontmatter", `{"callId":"odd"}`); got != "a: &b c" || err != nil {
			t.Errorf("front matter that is not read: %q, %v", got, err)
		}
		if got, err := s.reads("artifact_md_links", `{"callId":"plain"}`); got != "(empty list)" || err != nil {
			t.Errorf("no links: %q, %v", got, err)
		}
		if _, err := s.reads("artifact_md_headings", `{"callId":"c","depth":7}`); !errors.Is(err, fault.InvalidToolArgs) {
			t.Errorf("%v", err)
		}
		s.library.texts["c"] = strings.Repeat("> ", 20_000)
		if _, err := s.reads("artifact_md_ast", `{"callId":"c"}`); !errors.Is(err, fault.ToolDownstreamError) {
			t.Errorf("%v", err)
		}
		return s.ack()
	}
	p.run()
}
