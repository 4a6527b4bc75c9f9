package grammar_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/provider/grammar"
	"github.com/turncore/turncore/internal/schema"
)

// randomSchema makes a schema out of the keywords that grammars honour.
func randomSchema(r *rand.Rand, depth int) string {
	kinds := 11
	if depth > 3 {
		kinds = 6
	}
	switch r.IntN(kinds) {
	case 0:
		low := r.IntN(2000) - 1000
		return fmt.Sprintf(`{"type": "integer", "minimum": %d, "maximum": %d}`, low, low+r.IntN(3000))
	case 1:
		low := r.IntN(40) - 20
		return fmt.Sprintf(`{"type": "number", "%s": %d, "%s": %d}`, pick(r, "minimum", "exclusiveMinimum"), low, pick(r, "maximum", "exclusiveMaximum"), low+1+r.IntN(30))
	case 2:
		low := r.IntN(4)
		return fmt.Sprintf(`{"type": "string", "minLength": %d, "maxLength": %d}`, low, low+r.IntN(20))
	case 3:
		return pick(r, `{"enum": ["a", 1, null, [2], {"k": "v"}]}`, `{"const": "x \"y\" \\"}`, `{"type": "boolean"}`, `{"type": ["null", "integer"]}`, `{"type": "string"}`, `{"type": "number"}`, `true`)
	case 4:
		return `{"type": "string", "format": "` + pick(r, "date", "time", "date-time", "uuid", "ipv4") + `"}`
	case 5:
		return `{"type": "string", "pattern": "` + pick(r, `^[a-z]{2,5}$`, `^\\d+(\\.\\d{2})?$`, `x`, `^(ab|c)*[^\"x]$`, `^.\\w\\s\\S$`, `a{3}|b?c+`) + `"}`
	case 6, 7:
		var properties, required []string
		for i := range r.IntN(5) {
			name := fmt.Sprintf("%q", strings.Repeat("p", i+1))
			properties = append(properties, name+": "+randomSchema(r, depth+1))
			if r.IntN(2) == 0 {
				required = append(required, name)
			}
		}
		more := pick(r, ``, `, "additionalProperties": false`, `, "additionalProperties": true`, `, "additionalProperties": {"type": "integer"}`)
		return `{"type": "object", "properties": {` + strings.Join(properties, ", ") + `}, "required": [` + strings.Join(required, ", ") + `]` + more + `}`
	case 8:
		low := r.IntN(3)
		return fmt.Sprintf(`{"type": "array", "items": %s, "minItems": %d, "maxItems": %d}`, randomSchema(r, depth+1), low, low+r.IntN(4))
	case 9:
		return fmt.Sprintf(`{"type": "array", "prefixItems": [%s, %s], "items": %s, "minItems": %d}`, randomSchema(r, depth+1), randomSchema(r, depth+1), pick(r, "false", "true", `{"type": "null"}`), r.IntN(3))
	default:
		return `{"anyOf": [` + randomSchema(r, depth+1) + `, ` + randomSchema(r, depth+1) + `]}`
	}
}

func pick(r *rand.Rand, list ...string) string { return list[r.IntN(len(list))] }

// What a grammar makes is valid, whatever the schema.
func TestRandomSchemas(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	exact := 0
	for range 600 {
		text := randomSchema(r, 0)
		g, err := grammar.Schema(encoded(t, text), "value")
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		parsed, err := parseGBNF(g.Text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if len(g.Widened) == 0 {
			exact++
		}
		checkSamples(t, text, g, parsed, 20)
	}
	if exact < 550 {
		t.Errorf("%d of 600 grammars are exact", exact)
	}
}

// The official test suite: whatever a grammar makes is valid, and nothing that is invalid matches, unless it says that
// it is wider.
func TestSuite(t *testing.T) {
	root := filepath.Join("..", "..", "..", "..", "shared", "suites", "json-schema")
	if _, err := os.Stat(root); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the official test suite is missing: %v", err)
		}
		t.Skipf("the official test suite is not beside the checkout: %v", err)
	}
	files, _ := filepath.Glob(filepath.Join(root, "tests", "draft2020-12", "*.json"))
	more, _ := filepath.Glob(filepath.Join(root, "draft2020-12", "*.json"))
	schemas, exact, refused, instances := 0, 0, 0, 0
	for _, file := range append(files, more...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var groups []struct {
			Description string
			Schema      json.RawMessage
			Tests       []struct {
				Data  json.RawMessage
				Valid bool
			}
		}
		if err := json.Unmarshal(text, &groups); err != nil {
			t.Fatal(err)
		}
		for _, group := range groups {
			source := encoded(t, string(group.Schema))
			s, err := schema.Compile(source)
			if err != nil {
				continue
			}
			schemas++
			g, err := grammar.Schema(source, "value")
			if err != nil {
				refused++
				t.Logf("%s: %s: %v", filepath.Base(file), group.Description, err)
				continue
			}
			parsed, err := parseGBNF(g.Text)
			if err != nil {
				t.Errorf("%s: %s: %v", filepath.Base(file), group.Description, err)
				continue
			}
			if len(g.Widened) > 0 {
				continue
			}
			exact++
			random := rand.New(rand.NewPCG(4, 5))
			for range 30 {
				made := parsed.sample(random)
				v, err := value.FromJSON(nil, []byte(made))
				if err != nil {
					t.Fatalf("%s: %s: %s: %v", filepath.Base(file), group.Description, made, err)
				}
				if _, wrong := s.Validate(v); wrong != nil {
					t.Errorf("%s: %s: %s: %s\n%s\n%s", filepath.Base(file), group.Description, made, wrong[0].Message, group.Schema, g.Text)
					break
				}
			}
			for _, c := range group.Tests {
				if c.Valid {
					continue
				}
				instances++
				v := encoded(t, string(c.Data))
				compact, err := value.AppendJSON(nil, v)
				if err != nil {
					t.Fatal(err)
				}
				if parsed.matches(string(compact)) {
					t.Errorf("%s: %s: %s matches\n%s", filepath.Base(file), group.Description, compact, group.Schema)
				}
			}
		}
	}
	t.Logf("%d schemas: %d grammars are exact, %d refused; %d invalid instances are refused", schemas, exact, refused, instances)
	if schemas < 300 || exact < 120 || instances < 200 {
		t.Errorf("too few: %d schemas, %d exact, %d instances", schemas, exact, instances)
	}
}

// No schema makes it panic, or work for long.
func FuzzSchema(f *testing.F) {
	for _, l := range languages {
		f.Add(l.schema)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := value.FromJSON(nil, []byte(text))
		if err != nil {
			return
		}
		g, err := grammar.Schema(v, "value")
		if err != nil {
			return
		}
		if len(g.Text) > 256<<10 {
			t.Fatalf("%d bytes", len(g.Text))
		}
		if _, err := parseGBNF(g.Text); err != nil {
			t.Fatal(err)
		}
	})
}
