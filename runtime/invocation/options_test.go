package invocation_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/invocation"
	"github.com/turncore/turncore/runtime/session"
)

// rows are those of a table of SPEC.md below a heading, or behind a sentence: their cells without the code's marks.
func rows(t *testing.T, behind string) (all [][]string) {
	t.Helper()
	text, err := os.ReadFile("../../abi/SPEC.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text2, found := strings.Cut(string(text), "\n"+behind)
	if !found {
		t.Fatalf("SPEC.md has no %q", behind)
	}
	for _, line := range strings.Split(text2, "\n") {
		if strings.HasPrefix(line, "| `") {
			cells := strings.Split(strings.Trim(line, "| "), " | ")
			cells[0] = strings.Trim(cells[0], "`")
			all = append(all, cells)
		} else if len(all) > 0 {
			break
		}
	}
	return all
}

// SPEC.md lists the options of agents with their kinds and types: each is taken so, and refused for other kinds and
// types.
func TestOptionsOfAgents(t *testing.T) {
	kinds := map[string]invocation.Kind{
		"LLM": invocation.LLM, "Loop": invocation.Loop, "Sequential": invocation.Sequential, "Parallel": invocation.Parallel,
		"Host": invocation.Host,
	}
	values := map[string]string{
		"string": `"default"`, "bool": "true", "list of strings": `["t"]`, "int": "1", "list of maps": `[{"agent":2}]`,
	}
	try := func(kind invocation.Kind, name, v string) error {
		d := invocation.Definition{Kind: kind, Name: "a"}
		if kind == invocation.LLM {
			d = llm(t, "a", "t")
		}
		d.Options = js(`{"` + name + `":` + v + `}`)
		_, err := invocation.NewTeam("app", 1, []invocation.Definition{d, llm(t, "tool")}, nil)
		return err
	}
	list := rows(t, "### Options of agents")
	if len(list) != 11 {
		t.Errorf("SPEC.md has %d options of agents", len(list))
	}
	for _, row := range list {
		name, of, typed := row[0], row[1], row[2]
		for kind, number := range kinds {
			for with, v := range values {
				err := try(number, name, v)
				if taken := kind == of && with == typed; taken && err != nil {
					t.Errorf("%s of %s as %s: %v", name, kind, with, err)
				} else if !taken && !fault.Is(err, session.InvalidAgent) {
					t.Errorf("%s of %s as %s: %v", name, kind, with, err)
				}
			}
		}
	}
}

// So it does with the members of agentTools.
func TestMembersOfAgentTools(t *testing.T) {
	values := map[string]string{"u32": "2", "map": `{"type":"object"}`, "bool": "true"}
	var all []string
	for _, row := range rows(t, "Each map of `agentTools`:") {
		if values[row[1]] == "" {
			t.Fatalf("%s has the type %s", row[0], row[1])
		}
		all = append(all, `"`+row[0]+`":`+values[row[1]])
	}
	d := llm(t, "a", "t")
	d.Options = js(`{"agentTools":[{` + strings.Join(all, ",") + `}]}`)
	if _, err := invocation.NewTeam("app", 1, []invocation.Definition{d, llm(t, "tool")}, nil); err != nil || len(all) != 3 {
		t.Errorf("%v: %v", all, err)
	}
}

// So it does with the options of invocations and of compaction.
func TestOptionsOfInvocations(t *testing.T) {
	values := map[string]string{"maxModelCalls": "1", "rewindBeforeInvocationId": `"i1"`, "compaction": `{"tokens":1}`}
	list := rows(t, "### Options of invocations")
	if len(list) != len(values) {
		t.Errorf("SPEC.md has %d options of invocations", len(list))
	}
	run := func(options string) error {
		s := newStage(t, team(t, llm(t, "agent")))
		s.model = answers(says("a"), says("b"), says("c"))
		if err := s.play("hi"); err != nil {
			t.Fatal(err)
		}
		s.options = options
		return s.play("hi")
	}
	for _, row := range list {
		if err := run(`{"` + row[0] + `":` + values[row[0]] + `}`); err != nil {
			t.Errorf("%s: %v", row[0], err)
		}
		if err := run(`{"` + row[0] + `":true}`); !fault.Is(err, session.InvalidInvocation) {
			t.Errorf("%s of another type: %v", row[0], err)
		}
	}
	members := rows(t, "The members of `compaction`")
	if len(members) != 4 {
		t.Errorf("SPEC.md has %d members of compaction", len(members))
	}
	for _, row := range members {
		enough := regexp.MustCompile(`^(invocations|tokens)$`).MatchString(row[0])
		if err := run(`{"compaction":{"` + row[0] + `":1}}`); (err == nil) != enough {
			t.Errorf("%s alone: %v", row[0], err)
		}
		if err := run(`{"compaction":{"invocations":9,"` + row[0] + `":1}}`); err != nil {
			t.Errorf("%s: %v", row[0], err)
		}
	}
}
