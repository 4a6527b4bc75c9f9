package catalogue

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/turncore/turncore/abi/catalogue"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/schema"
)

// Models give an empty text for what they leave out: every optional text but a word of a list takes it.
func TestOptionalTextsMayBeEmpty(t *testing.T) {
	checked := 0
	for tool, entry := range catalogue.Tools {
		var input struct {
			Properties map[string]json.RawMessage
			Required   []string
		}
		if err := json.Unmarshal(entry.InputSchema, &input); err != nil {
			t.Fatal(err)
		}
		for name, text := range input.Properties {
			property, err := value.FromJSON(nil, text)
			if err != nil {
				t.Fatal(err)
			}
			kind, _ := value.Get(property, "type")
			word, _ := value.String(kind)
			if _, isList := value.Get(property, "enum"); isList || string(word) != "string" || slices.Contains(input.Required, name) {
				continue
			}
			checked++
			compiled, err := schema.Compile(property)
			if err != nil {
				t.Fatalf("%s.%s: %v", tool, name, err)
			}
			if _, violations := compiled.Validate(value.AppendString(nil, "")); len(violations) > 0 {
				t.Errorf("%s.%s refuses an empty text: %v", tool, name, violations)
			}
		}
	}
	if checked < 4 {
		t.Errorf("%d properties were checked", checked)
	}
}
