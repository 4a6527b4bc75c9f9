package fetch_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/fetch"
)

// The options of fetch are those that abi/builtins.json describes.
func TestOptionsAreAsDescribed(t *testing.T) {
	text, err := os.ReadFile("../../abi/builtins.json")
	if err != nil {
		t.Fatal(err)
	}
	var described struct {
		Tools struct {
			Fetch struct {
				Argument []struct {
					Name     string
					Min, Max *int64
					Values   []string
					Default  any
					Required bool
				}
			}
		}
	}
	if err := json.Unmarshal(text, &described); err != nil {
		t.Fatal(err)
	}
	taken := func(name string, v any) bool {
		options := map[string]any{"allow": []string{"https://a.test"}}
		if options[name] = v; v == nil {
			delete(options, name)
		}
		text, err := json.Marshal(options)
		if err != nil {
			t.Fatal(err)
		}
		arg, err := value.FromJSON(nil, text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = fetch.New(arg)
		return err == nil
	}
	n := 0
	for _, o := range described.Tools.Fetch.Argument {
		n++
		if o.Default != nil && !taken(o.Name, o.Default) || taken(o.Name, nil) == o.Required || taken(o.Name, "other") {
			t.Errorf("%s: default %v", o.Name, o.Default)
		}
		if o.Min != nil && (!taken(o.Name, *o.Min) || taken(o.Name, *o.Min-1) || !taken(o.Name, *o.Max) || taken(o.Name, *o.Max+1)) {
			t.Errorf("%s is not from %d to %d", o.Name, *o.Min, *o.Max)
		}
		if o.Values != nil && (!taken(o.Name, o.Values) || taken(o.Name, []string{"OTHER"})) {
			t.Errorf("%s is not of %q", o.Name, o.Values)
		}
	}
	if n != 7 || taken("other", 1) {
		t.Errorf("%d options", n)
	}
}
