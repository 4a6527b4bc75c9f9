package runtime

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

const textToolNames = "artifact_head artifact_tail artifact_grep artifact_cat artifact_byte_length artifact_line_count artifact_estimate_tokens"

// H7: the tools exist before the input pipeline; H8: there are none without artifacts.
func TestForgedBeforeThePipeline(t *testing.T) {
	for _, artifacts := range []bool{true, false} {
		p := &play{t: t, executor: ackOnce}
		p.prepare = func(p *play) {
			if artifacts {
				p.add(0, record.ToolCalls, p.body("c1", artifactCall("c1", classText, 0)))
			}
		}
		seen := "nothing"
		p.pipelines[DispatchInput] = []middleware{func(s *seam, next func()) error {
			seen = s.toolNames()
			if artifacts && s.offered("artifact_head") != "c1" {
				t.Errorf("head offers %q", s.offered("artifact_head"))
			}
			next()
			return nil
		}}
		p.run()
		want := ""
		if artifacts {
			want = textToolNames
		}
		if seen != want {
			t.Errorf("the pipeline saw %q, want %q", seen, want)
		}
		if !artifacts && p.library.crossed > 0 {
			t.Errorf("%d changes of tools crossed", p.library.crossed)
		}
	}
}

// H9, H11 and H12 with decision 4: the same artifacts in three iterations cross once, a new one is offered in the next
// iteration, an artifact tool's result never, and the ack prunes.
func TestForgedAnew(t *testing.T) {
	p := &play{t: t, library: library{texts: map[string]string{"c1": "alpha\nbeta", "c2": "x"}}}
	p.config.Tools = []*Tool{toolNamed(t, "mine", `{"type":"object"}`)}
	crossed := []int{}
	var first *Tool
	p.executor = func(s *seam) error {
		crossed = append(crossed, s.library.crossed)
		switch s.n {
		case 0:
			first, _ = s.d.registry.Get("artifact_head")
		case 2:
			s.must(s.d.Store(record.ToolCalls, s.body("c2", artifactCall("c2", classText, 0))))
			read := record.AppendToolCall(nil, record.ToolCallFields{
				ID: "read", Tool: "artifact_head", Args: value.AppendMapHeader(nil, 0), Checksum: "s", IsComplete: true,
				Results: record.AppendArtifact(nil, classText, 0, 0, ""), FromArtifactTool: true,
			})
			s.must(s.d.Store(record.ToolCalls, s.body("read", read)))
		case 3:
			if got := s.toolNames(); got != "mine "+textToolNames {
				t.Errorf("tools %s", got)
			}
			if got := s.offered("artifact_tail"); got != "c1 c2" {
				t.Errorf("tail offers %s", got)
			}
			// A tool kept from an earlier iteration acts like its current version.
			result, err := s.d.ExecuteTool(s.task, first, valueFrom(`{"callId":"c2"}`), ToolRun{})
			if text, _ := value.String(result.Value); string(text) != "x" || err != nil {
				t.Errorf("%q, %v", text, err)
			}
			return s.ack()
		}
		return nil
	}
	p.prepare = func(p *play) { p.add(0, record.ToolCalls, p.body("c1", artifactCall("c1", classText, 0))) }
	p.run()
	if fmt.Sprint(crossed) != "[8 8 8 16]" {
		t.Errorf("syncs about tools before each executor: %v", crossed)
	}
	if got := strings.Join(p.library.lists[1], " "); got != "mine" || p.library.crossed != 17 {
		t.Errorf("after the ack the host has %q, after %d syncs", got, p.library.crossed)
	}
}

// H13, H15 and decision 21.
func TestOfferedIDs(t *testing.T) {
	p := &play{t: t, library: library{texts: map[string]string{"list#1": "second\n", "doc": "page", "one": ""}}}
	p.prepare = func(p *play) {
		p.add(0, record.ToolCalls, p.record(record.ToolCalls, "text", ""), p.body("one", artifactCall("one", classText, 0)),
			p.body("list", artifactCall("list", classText, 2)), p.body("one", artifactCall("one", classMarkdown, 0)))
		p.add(0, record.Retrievables, p.body("doc", found("doc", false)), p.body("inl", found("inl", true)))
	}
	p.executor = func(s *seam) error {
		for _, name := range strings.Fields(textToolNames) {
			if got := s.offered(name); got != "one list#0 list#1 doc" {
				t.Errorf("%s offers %s", name, got)
			}
		}
		for args, want := range map[string]string{
			`{"callId":"list#1"}`: "second\n", `{"callId":"doc"}`: "page", `{"callId":"one"}`: "(empty list)",
		} {
			if got, err := s.reads("artifact_head", args); got != want || err != nil {
				t.Errorf("%s: %q, %v", args, got, err)
			}
		}
		// H16
		if _, err := s.reads("artifact_head", `{"callId":"inl"}`); !errors.Is(err, fault.InvalidToolArgs) {
			t.Errorf("inline: %v", err)
		}
		// Removed since the tools were made.
		s.must(s.delete(record.Retrievables, "doc"))
		if got, err := s.reads("artifact_head", `{"callId":"doc"}`); got != "Error: no artifact with id doc in this turn" || err != nil {
			t.Errorf("gone: %q, %v", got, err)
		}
		return s.ack()
	}
	p.run()
	if !strings.Contains(strings.Join(p.words, " "), "xS xE(false)") {
		t.Errorf("events %v", p.words)
	}
}

// Lists of any length are read.
func TestListsOfArtifacts(t *testing.T) {
	for _, n := range []int{1, 15, 16} {
		p := &play{t: t}
		p.prepare = func(p *play) { p.add(0, record.ToolCalls, p.body("c", artifactCall("c", classText, n))) }
		p.executor = func(s *seam) error {
			if got := len(strings.Fields(s.offered("artifact_head"))); got != n {
				t.Errorf("of %d artifacts %d are offered", n, got)
			}
			return s.ack()
		}
		p.run()
	}
}

// H14
func TestForgingCollision(t *testing.T) {
	p := &play{t: t, executor: ackOnce}
	p.prepare = func(p *play) {
		p.add(0, record.ToolCalls, p.body("x", artifactCall("x", classText, 0)))
		p.add(0, record.Retrievables, p.body("x", found("x", false)))
	}
	status, _, err := p.run()
	if status != StatusFailed || !errors.Is(err, fault.ArtifactIDCollision) {
		t.Errorf("status %d, %v", status, err)
	}
	p.want("tS dS iS(0) iE(0,nack) dE(nack,1,E_ARTIFACT_ID_COLLISION) err(E_ARTIFACT_ID_COLLISION) tE(failed,E_ARTIFACT_ID_COLLISION)")
}

// Decision 20.
func TestShadowedReader(t *testing.T) {
	p := &play{t: t}
	p.config.Tools = []*Tool{toolNamed(t, "artifact_cat", `{"type":"object"}`)}
	p.prepare = func(p *play) { p.add(0, record.ToolCalls, p.body("c1", artifactCall("c1", classText, 0))) }
	p.executor = func(s *seam) error {
		if tool, _ := s.d.registry.Get("artifact_cat"); tool != p.config.Tools[0] {
			t.Error("the user's tool is not there")
		}
		if got := s.toolNames(); got != "artifact_cat "+strings.Replace(textToolNames, " artifact_cat", "", 1) {
			t.Errorf("tools %s", got)
		}
		if s.n == 0 { // another artifact, without a second warning
			return s.d.Store(record.ToolCalls, s.body("c2", artifactCall("c2", classText, 0)))
		}
		return s.ack()
	}
	p.run()
	p.want("tS dS iS(0) warn(artifact-tool-shadowed) iE(0,continue) iS(1) iE(1,ack) dE(ack,2) tE(ack)")
	w := p.events[3].payload.(*WarningEvent)
	if !w.FromDispatch || !value.Equal(w.Payload, valueFrom(`{"tool":"artifact_cat"}`)) || p.events[3].Iteration != 0 {
		t.Errorf("warning %+v", w)
	}
}

// Hidden marks survive while tools come and go. The user's ephemeral tools go, too.
func TestHiddenAndEphemeral(t *testing.T) {
	p := &play{t: t}
	p.prepare = func(p *play) { p.add(0, record.ToolCalls, p.body("c1", artifactCall("c1", classText, 0))) }
	p.executor = func(s *seam) error {
		r := s.turn.Registry(1)
		switch s.n {
		case 0:
			r.SetHidden([]string{"artifact_tail"})
			brief := toolNamed(t, "brief", `{"type":"object"}`)
			brief.Ephemeral = true
			s.must(r.Register(brief, true))
		case 1:
			if got := s.toolNames(); got != textToolNames || s.offered("artifact_tail") != "no tool" {
				t.Errorf("tools %s, tail offers %s", got, s.offered("artifact_tail"))
			}
			r.Unregister("artifact_head")
		default:
			if got := s.toolNames(); got != textToolNames {
				t.Errorf("tools %s", got)
			}
			return s.ack()
		}
		return nil
	}
	p.run()
}

// The host makes the tools for classes that the module does not know; their artifacts are text, too.
func TestForgeByTheHost(t *testing.T) {
	p := &play{t: t}
	p.prepare = func(p *play) {
		p.add(0, record.ToolCalls, p.body("a", artifactCall("a", "Table", 0)), p.body("b", artifactCall("b", classJSON, 0)), p.body("c", artifactCall("c", "Graph", 2)))
	}
	tool := toolNamed(t, "table_rows", `{"type":"object"}`)
	tool.Ephemeral = true
	p.library.forge = func(e *Forge) {
		if e.Context != 1 {
			t.Errorf("context %d", e.Context)
		}
		if err := p.turn.Registry(1).Register(tool, true); err != nil {
			t.Error(err)
		}
	}
	p.executor = func(s *seam) error {
		if got := s.toolNames(); !strings.HasPrefix(got, textToolNames) || !strings.HasSuffix(got, " table_rows") {
			t.Errorf("tools %s", got)
		}
		if s.offered("artifact_head") != "a b c#0 c#1" {
			t.Errorf("head offers %s", s.offered("artifact_head"))
		}
		if s.n == 2 {
			return s.ack()
		}
		return nil
	}
	p.run()
	if got := strings.Join(p.library.inOrder, ", "); got != "forge Table Graph" {
		t.Errorf("effects: %s", got)
	}
}

// The list of ids has a limit.
func TestManyArtifacts(t *testing.T) {
	p := &play{t: t, config: Config{Array: 5}}
	p.prepare = func(p *play) {
		for i := range 9 {
			id := fmt.Sprint("c", i)
			p.add(0, record.ToolCalls, p.body(id, artifactCall(id, classText, 0)))
		}
	}
	p.executor = func(s *seam) error {
		if got := s.offered("artifact_head"); got != "c4 c5 c6 c7 c8" {
			t.Errorf("head offers %s", got)
		}
		return s.ack()
	}
	p.run()
}
