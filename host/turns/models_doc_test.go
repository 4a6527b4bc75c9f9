package turns_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/internal/provider"
)

var inBackticks = regexp.MustCompile("`([^`]*)`")

// rows are the cells of the rows of a page's tables, by the text of the first cell. A page may have several of one
// name.
func rows(page string) map[string][][]string {
	all := map[string][][]string{}
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if strings.HasPrefix(line, "| ") && len(cells) > 1 {
			first := strings.Trim(cells[0], " `")
			all[first] = append(all[first], cells)
		}
	}
	return all
}

// words are what stands between backticks.
func words(text string) (list []string) {
	for _, m := range inBackticks.FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}

// keyHeader is the header that a provider's key goes into.
func keyHeader(name string) string {
	key := model.Provider(name).Key("k")
	if key.Header == "" {
		return "authorization"
	}
	return strings.ToLower(key.Header)
}

// docs/models.md says what the providers are and take.
func TestModelsPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	page, checked := string(text), 0
	table := rows(page)
	for _, p := range provider.All {
		protocol := p.Protocol()
		row := table[protocol.Name]
		if protocol.Local != nil {
			row = table["an engine"]
		} else if len(row) != 2 || !slices.Contains(words(row[0][2]), protocol.BaseURL) || !slices.Contains(words(row[0][3]), keyHeader(protocol.Name)) {
			t.Fatalf("%s: rows %q", protocol.Name, row)
		} else if core := protocol.Name == provider.OpenAI.Protocol().Name; strings.TrimSpace(row[0][4]) == "core" != core {
			t.Errorf("%s is in module %q", protocol.Name, row[0][4])
		}
		var want []string
		for _, m := range protocol.Members {
			want = append(want, m.Name)
		}
		if got := words(row[len(row)-1][2]); !slices.Equal(got, want) {
			t.Errorf("%s has members\n%q, the page says\n%q", protocol.Name, want, got)
		}
		checked += len(want)
	}
	if checked < 90 {
		t.Errorf("%d members were checked", checked)
	}
}
