package conformance_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// root is the repository, seen from here.
const root = "../.."

// Each of the 25 pitfalls has a row that says what goes wrong, what the rule is and which tests show it, and each of
// these is there: a test of its file, a scenario of the corpus, a fault of the table of faults, a lane.
func TestPitfalls(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(corpus, "PITFALLS.md"))
	if err != nil {
		t.Fatal(err)
	}
	known := namedElsewhere(t)
	next, further, shown := 1, 0, 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if !strings.HasPrefix(line, "| ") || strings.Contains(line, "---") || strings.Contains(line, "shown by") {
			continue
		}
		if len(cells) != 4 && len(cells) != 3 {
			t.Fatalf("%d cells in %s", len(cells), line)
		}
		name := strings.TrimSpace(cells[0])
		if len(cells) == 3 {
			further++
		} else {
			if name != strconv.Itoa(next) {
				t.Fatalf("pitfall %s where %d should be", name, next)
			}
			next++
		}
		for i, cell := range cells {
			if strings.TrimSpace(cell) == "" {
				t.Errorf("%s: cell %d is empty", name, i)
			}
		}
		tests := inBackticks.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(tests) == 0 {
			t.Errorf("%s: nothing shows it", name)
		}
		for _, match := range tests {
			shown++
			if what := missing(match[1], known); what != "" {
				t.Errorf("%s: `%s`: %s", name, match[1], what)
			}
		}
	}
	if next != 26 || further < 9 {
		t.Errorf("%d pitfalls, %d further ones", next-1, further)
	}
	t.Logf("%d pitfalls, %d further ones, %d tests", next-1, further, shown)
}

// A reference to what is not there is noticed, of whatever kind.
func TestPitfallsAreChecked(t *testing.T) {
	known := namedElsewhere(t)
	for _, name := range []string{
		"turn/no-such-scenario", "fault no-such-fault", "lane no-such-lane", "host/conformance/pitfalls_test.go TestNoSuch", "host/conformance/pitfalls_test.go TestPitfall",
		"host/no_such_test.go TestPitfalls", `js/test/turn/faults.test.ts "no such title"`, "",
	} {
		if missing(name, known) == "" {
			t.Errorf("%q is not missed", name)
		}
	}
	for _, name := range []string{"turn/nack", "fault call-no-id", "lane go", "host/conformance/pitfalls_test.go TestPitfalls", `js/test/turn/faults.test.ts "end as the table says"`} {
		if what := missing(name, known); what != "" {
			t.Errorf("%q: %s", name, what)
		}
	}
}

// missing says what is wrong with a reference; empty if it leads somewhere.
func missing(reference string, known map[string]bool) string {
	if known[reference] {
		return ""
	}
	file, test, ok := strings.Cut(reference, " ")
	if !ok || !strings.Contains(file, "/") {
		return "there is none"
	}
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return "there is no such file"
	}
	mark := "func " + test + "("
	if !strings.HasSuffix(file, "_test.go") {
		mark = strings.Trim(test, `"`)
	}
	if len(mark) < 5 || !strings.Contains(string(text), mark) {
		return "the file has no such test"
	}
	return ""
}

// namedElsewhere are the ids of all scenarios, and faults and lanes by their names.
func namedElsewhere(t *testing.T) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	for _, file := range load(t) {
		for _, s := range file.Scenarios {
			known[s.ID] = true
		}
	}
	tables, err := filepath.Glob(filepath.Join(root, "host/internal/faulty/testdata/*.json"))
	if err != nil || len(tables) == 0 {
		t.Fatal("no table of faults", err)
	}
	for _, name := range tables {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var table struct{ Faults []struct{ Name string } }
		if err := json.Unmarshal(text, &table); err != nil {
			t.Fatal(err)
		}
		for _, f := range table.Faults {
			known["fault "+f.Name] = true
		}
	}
	lanes, err := filepath.Glob(filepath.Join(root, ".ci/lanes/*.sh"))
	if err != nil || len(lanes) == 0 {
		t.Fatal("no lanes", err)
	}
	for _, name := range lanes {
		_, lane, _ := strings.Cut(strings.TrimSuffix(filepath.Base(name), ".sh"), "-")
		known["lane "+lane] = true
	}
	return known
}
