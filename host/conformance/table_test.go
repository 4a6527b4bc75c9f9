package conformance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The table says for each described behaviour and each decision what shows it, and what it says is so.
func TestTable(t *testing.T) {
	covers := map[string][]string{}
	for _, file := range load(t) {
		for _, s := range file.Scenarios {
			covers[s.ID] = s.Covers
		}
	}
	text, err := os.ReadFile(filepath.Join(corpus, "TABLE.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for group, n := range map[string]int{"A": 37, "B": 46, "C": 11, "D": 17, "E": 13, "F": 23, "G": 10, "H": 17} {
		for i := range n {
			want[fmt.Sprint(group, i+1)] = true
		}
	}
	for i := range 46 {
		want[fmt.Sprint("decision ", i+1)] = true
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		number := strings.TrimSpace(cells[0])
		if len(cells) == 2 {
			number = "decision " + number
		}
		if !want[number] {
			continue
		}
		delete(want, number)
		described := !strings.HasPrefix(number, "decision")
		scenarios := 0
		shown := quoted.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(shown) == 0 {
			t.Errorf("%s: nothing shows it", number)
		}
		for _, match := range shown {
			what := match[1]
			if list, scenario := covers[what]; scenario {
				scenarios++
				if !slices.Contains(list, number) {
					t.Errorf("%s: %s does not say that it covers it", number, what)
				}
				continue
			}
			if _, err := os.Stat(filepath.Join("../..", what)); err != nil {
				t.Errorf("%s: there is neither a scenario nor a file %s", number, what)
			}
		}
		if described && scenarios == 0 {
			t.Errorf("%s: no scenario shows it", number)
		}
	}
	for number := range want {
		t.Errorf("%s is not in the table", number)
	}
}
