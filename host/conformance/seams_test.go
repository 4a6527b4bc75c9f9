package conformance_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/host/conformance"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/turns"
)

// inBackticks finds code in Markdown.
var inBackticks = regexp.MustCompile("`([^`]+)`")

// pageNames finds what the pages of the contract call by name: members of contexts and helpers, pipelines, callbacks
// and codes.
var pageNames = regexp.MustCompile(
	`\b(?:ctx|helpers|DispatchContext|TurnContext)\.([a-z][A-Za-z]+)\b|\b(E_[A-Z_]+)\b|\b([a-z][A-Za-z]*(?:Callback|Pipeline|Middleware|Start|End))\b`)

// Each seam of the contract has a row in the table, and each scenario that a row names shows it: in what it says or in
// its log.
func TestSeams(t *testing.T) {
	scenarios := texts(t)
	text, err := os.ReadFile(filepath.Join(corpus, "SEAMS.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 3 || !strings.Contains(cells[1], "`") {
			continue
		}
		name, mark := strings.TrimSpace(cells[0]), strings.Trim(cells[1], "` ")
		rows[name] = true
		shown := inBackticks.FindAllStringSubmatch(cells[2], -1)
		if len(shown) == 0 {
			t.Errorf("%s: nothing shows it", name)
		}
		for _, match := range shown {
			if got, there := scenarios[match[1]]; !there {
				t.Errorf("%s: there is no scenario %s", name, match[1])
			} else if !strings.Contains(got, mark) {
				t.Errorf("%s: %s does not show %s", name, match[1], mark)
			}
		}
	}
	want := append(contractNames(t), turnEvents()...)
	want = append(want, "wrapTool", "wrapModel")
	callbacks := reflect.TypeFor[turns.Callbacks]()
	for i := range callbacks.NumField() {
		if !callbacks.Field(i).IsExported() {
			continue
		}
		name := callbacks.Field(i).Name
		if !callbacks.Field(i).IsExported() {
			continue
		}
		want = append(want, strings.ToLower(name[:1])+name[1:]+"Callback")
	}
	for _, name := range want {
		if !rows[name] {
			t.Errorf("%s is not in the table", name)
		}
	}
	t.Logf("%d rows, %d names", len(rows), len(want))
}

// Each kind of function has a row in the second table, and the scenarios there exist.
func TestMisbehaviour(t *testing.T) {
	all := map[string]bool{}
	for _, file := range load(t) {
		for _, s := range file.Scenarios {
			all[s.ID] = true
		}
	}
	text, err := os.ReadFile(filepath.Join(corpus, "SEAMS.md"))
	if err != nil {
		t.Fatal(err)
	}
	functions := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 6 || strings.Contains(line, "---") || strings.Contains(line, "function |") {
			continue
		}
		functions[strings.TrimSpace(cells[0])] = true
	}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 6 || !functions[strings.TrimSpace(cells[0])] {
			continue
		}
		for _, cell := range cells[1:] {
			cell = strings.TrimSpace(cell)
			as, like := strings.CutPrefix(cell, "as ")
			shown := inBackticks.FindAllStringSubmatch(cell, -1)
			switch {
			case like && !functions[as]:
				t.Errorf("%s: there is no row %q", cells[0], as)
			case !like && cell != "-" && len(shown) == 0:
				t.Errorf("%s: nothing shows %q", cells[0], cell)
			}
			for _, match := range shown {
				if !all[match[1]] {
					t.Errorf("%s: there is no scenario %s", cells[0], match[1])
				}
			}
		}
	}
	for _, name := range []string{"executor", "tool handler", "commit callback", "discard callback", "byte conduits", "listener of a runner"} {
		if !functions[name] {
			t.Errorf("%s has no row", name)
		}
	}
}

// The names that were copied are all that the pages have, where the pages are at hand.
func TestContractNames(t *testing.T) {
	pages, err := filepath.Glob("../../../shared/contract/00[0-3]_*.txt")
	if err != nil || len(pages) == 0 {
		t.Skip("the pages of the contract are not here")
	}
	copied := contractNames(t)
	// Families that the pages write with a star, and what a sentence runs into.
	known := []string{"store", "mutate", "delete", "report", "stashfor", "waitForand", "nackactually", "llmInputMiddleware", "llmOutputMiddleware"}
	found := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range pageNames.FindAllStringSubmatch(string(text), -1) {
			name := match[1] + match[2] + match[3]
			found++
			if !slices.Contains(copied, name) && !slices.Contains(known, name) {
				t.Errorf("%s: %s was not copied", filepath.Base(page), name)
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d names were found", found)
	}
	t.Logf("%d mentions in %d pages", found, len(pages))
}

// contractNames are the names that were copied from the published pages.
func contractNames(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/contract-names.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Pages map[string][]string }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, names := range file.Pages {
		all = append(all, names...)
	}
	return all
}

func turnEvents() []string {
	var all []string
	for kind := range event.KindModelCallEnd + 1 {
		if name := kind.String(); name != "" {
			all = append(all, name)
		}
	}
	return all
}

// texts are what the scenarios say, without their expectations, and the logs of those that can be played here.
func texts(t *testing.T) map[string]string {
	t.Helper()
	player := conformance.NewPlayer(conformance.Options{Engine: hosttest.Engines(t)[0]})
	defer player.Close()
	logs := map[string]string{}
	for _, file := range load(t) {
		for _, s := range file.Scenarios {
			if !s.Playable(conformance.Features()...) {
				continue
			}
			log, err := player.Play(s)
			if err != nil {
				t.Fatal(err)
			}
			logs[s.ID] = log.String()
		}
	}
	names, err := filepath.Glob(filepath.Join(corpus, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ Scenarios []json.RawMessage }
		if err := json.Unmarshal(raw, &file); err != nil {
			t.Fatal(err)
		}
		for _, scenario := range file.Scenarios {
			var head struct {
				ID     string
				Expect json.RawMessage
			}
			var text bytes.Buffer
			if err := json.Unmarshal(scenario, &head); err != nil {
				t.Fatal(err)
			}
			if err := json.Compact(&text, bytes.Replace(scenario, head.Expect, []byte("[]"), 1)); err != nil {
				t.Fatal(err)
			}
			logs[head.ID] += text.String()
		}
	}
	return logs
}
