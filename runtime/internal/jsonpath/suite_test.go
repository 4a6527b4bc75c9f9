package jsonpath_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/internal/jsonpath"
)

// The official compliance test suite is not part of the project.
func TestSuite(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "suites", "jsonpath", "cts.json"))
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the official test suite is missing: %v", err)
		}
		t.Skipf("the official test suite is not beside the checkout: %v", err)
	}
	var suite struct {
		Tests []struct {
			Name     string
			Selector string
			Document json.RawMessage
			Result   json.RawMessage
			Results  []json.RawMessage
			Invalid  bool `json:"invalid_selector"`
		}
	}
	if err := json.Unmarshal(text, &suite); err != nil {
		t.Fatal(err)
	}
	passed, invalid := 0, 0
	for _, test := range suite.Tests {
		q, err := jsonpath.Parse(test.Selector)
		if test.Invalid {
			if err == nil {
				t.Errorf("%s: %s is taken", test.Name, test.Selector)
				continue
			}
			passed++
			invalid++
			continue
		}
		if err != nil {
			t.Errorf("%s: %s: %v", test.Name, test.Selector, err)
			continue
		}
		nodes, err := q.Select(enc(t, string(test.Document)))
		if err != nil {
			t.Errorf("%s: %v", test.Name, err)
			continue
		}
		got := value.AppendListHeader(nil, len(nodes))
		for _, node := range nodes {
			got = append(got, node...)
		}
		results := test.Results
		if results == nil {
			results = []json.RawMessage{test.Result}
		}
		ok := false
		for _, result := range results {
			ok = ok || value.Equal(got, enc(t, string(result)))
		}
		if !ok {
			text, _ := value.AppendJSON(nil, got)
			t.Errorf("%s: %s on %s is %s, want %s", test.Name, test.Selector, test.Document, text, results)
			continue
		}
		passed++
	}
	t.Logf("jsonpath: %d of %d cases pass, %d of them queries that are refused", passed, len(suite.Tests), invalid)
	if len(suite.Tests) == 0 || passed != len(suite.Tests) {
		t.Error("not all cases pass")
	}
}

// enc is the value of a valid JSON text.
func enc(t testing.TB, text string) []byte {
	t.Helper()
	v, err := value.FromJSON(nil, []byte(text))
	if err != nil {
		t.Fatalf("FromJSON(%s): %v", text, err)
	}
	return v
}
