package schema_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/schema"
)

// enc is the value of a JSON text that must be right.
func enc(t testing.TB, text string) []byte {
	t.Helper()
	v, err := value.FromJSON(nil, []byte(text))
	if err != nil {
		t.Fatalf("FromJSON(%s): %v", text, err)
	}
	return v
}

func compile(t testing.TB, text string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile(enc(t, text))
	if err != nil {
		t.Fatalf("Compile(%s): %v", text, err)
	}
	return s
}

// metaSchemas are the documents of draft 2020-12 as json-schema.org publishes them, under AFL-3.0 or BSD-3-Clause.
func metaSchemas(t testing.TB) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "metaschema-2020-12.json"))
	if err != nil {
		t.Fatal(err)
	}
	documents := map[string][]byte{}
	if err := value.Each(enc(t, string(text)), func(uri, document []byte) bool {
		documents[string(uri)] = document
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return documents
}

// suite finds the official test suite, which is not part of the project.
func suite(t *testing.T) string {
	root := filepath.Join("..", "..", "..", "shared", "suites", "json-schema")
	if _, err := os.Stat(root); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the official test suite is missing: %v", err)
		}
		t.Skipf("the official test suite is not beside the checkout: %v", err)
	}
	return root
}

type group struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// tally counts what became of cases; refused and failed are names.
type tally struct {
	passed, total   int
	refused, failed []string
}

// run plays the groups of one file.
func (c *tally) run(t *testing.T, config schema.Config, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var groups []group
	if err := json.Unmarshal(text, &groups); err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		name := strings.TrimSuffix(filepath.Base(file), ".json") + ": " + g.Description
		c.total += len(g.Tests)
		compiled, err := config.Compile(enc(t, string(g.Schema)))
		if err != nil {
			var typed *schema.Error
			if !errors.As(err, &typed) {
				t.Fatalf("%s: an error of no type: %v", name, err)
			}
			c.refused = append(c.refused, name+": "+err.Error())
			continue
		}
		for _, test := range g.Tests {
			args := enc(t, string(test.Data))
			if _, violations := compiled.Validate(args); (len(violations) == 0) != test.Valid {
				c.failed = append(c.failed, name+": "+test.Description)
				continue
			}
			c.passed++
		}
	}
}

func (c *tally) log(t *testing.T, what string) {
	t.Logf("%s: %d of %d cases pass", what, c.passed, c.total)
	for _, name := range c.refused {
		t.Logf("refused: %s", name)
	}
}

// documents are the remotes of the suite under the address it gives them, and the meta-schemas.
func documents(t *testing.T, root string) map[string][]byte {
	t.Helper()
	all := metaSchemas(t)
	remotes := filepath.Join(root, "remotes")
	if err := filepath.WalkDir(remotes, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(remotes, path)
		all["http://localhost:1234/"+filepath.ToSlash(name)] = enc(t, string(text))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestSuiteMandatory(t *testing.T) {
	root := suite(t)
	files, _ := filepath.Glob(filepath.Join(root, "draft2020-12", "*.json"))
	var c tally
	for _, file := range files {
		c.run(t, schema.Config{AnnotateFormat: true, Documents: documents(t, root)}, file)
	}
	c.log(t, "json-schema, mandatory")
	for _, name := range c.failed {
		t.Errorf("failed: %s", name)
	}
	if c.total == 0 || c.passed != c.total {
		t.Error("not all mandatory cases pass")
	}
}

// Without documents, references that leave the schema are refused, by name, and nothing else changes.
func TestSuiteAlone(t *testing.T) {
	root := suite(t)
	files, _ := filepath.Glob(filepath.Join(root, "draft2020-12", "*.json"))
	var c tally
	for _, file := range files {
		c.run(t, schema.Config{AnnotateFormat: true}, file)
	}
	c.log(t, "json-schema, mandatory, without other documents")
	for _, name := range c.failed {
		t.Errorf("failed: %s", name)
	}
	for _, name := range c.refused {
		if !strings.Contains(name, "not supported") {
			t.Errorf("refused for another reason: %s", name)
		}
	}
}

// optionalFailures are the optional cases that are not met on purpose: hostname does not decode A-labels to hold them
// against the tables of IDNA, which would cost more bytes than all other formats together.
var optionalFailures = []string{
	aLabels + "invalid Punycode",
	aLabels + "contains illegal char U+302E Hangul single dot tone mark",
	aLabels + "Begins with a Spacing Combining Mark",
	aLabels + "Begins with a Nonspacing Mark",
	aLabels + "Begins with an Enclosing Mark",
	aLabels + "Exceptions that are DISALLOWED, right-to-left chars",
	aLabels + "Exceptions that are DISALLOWED, left-to-right chars",
	aLabels + "MIDDLE DOT with no preceding 'l'",
	aLabels + "MIDDLE DOT with nothing preceding",
	aLabels + "MIDDLE DOT with no following 'l'",
	aLabels + "MIDDLE DOT with nothing following",
	aLabels + "Greek KERAIA not followed by Greek",
	aLabels + "Greek KERAIA not followed by anything",
	aLabels + "Hebrew GERESH not preceded by Hebrew",
	aLabels + "Hebrew GERESH not preceded by anything",
	aLabels + "Hebrew GERSHAYIM not preceded by Hebrew",
	aLabels + "Hebrew GERSHAYIM not preceded by anything",
	aLabels + "KATAKANA MIDDLE DOT with no Hiragana, Katakana, or Han",
	aLabels + "KATAKANA MIDDLE DOT with no other characters",
	aLabels + "Arabic-Indic digits mixed with Extended Arabic-Indic digits",
	aLabels + "ZERO WIDTH JOINER not preceded by Virama",
	aLabels + "ZERO WIDTH JOINER not preceded by anything",
	aLabels + "contains \"--\" in the 3rd and 4th position",
}

const aLabels = "hostname: validation of A-label (punycode) host names: "

func TestSuiteOptional(t *testing.T) {
	root := suite(t)
	config := schema.Config{Documents: documents(t, root)}
	files, _ := filepath.Glob(filepath.Join(root, "draft2020-12", "optional", "*.json"))
	formats, _ := filepath.Glob(filepath.Join(root, "draft2020-12", "optional", "format", "*.json"))
	var c tally
	for _, file := range append(files, formats...) {
		switch filepath.Base(file) {
		case "idn-email.json", "idn-hostname.json", "iri.json", "iri-reference.json", "uri-template.json":
			continue // these formats are annotations
		case "no-schema.json", "cross-draft.json":
			continue // about other drafts
		}
		c.run(t, config, file)
	}
	c.log(t, "json-schema, optional")
	for _, name := range c.failed {
		if !slices.Contains(optionalFailures, name) {
			t.Errorf("failed: %s", name)
		}
	}
	for _, name := range optionalFailures {
		if !slices.Contains(c.failed, name) {
			t.Errorf("no longer fails: %s", name)
		}
		t.Logf("not met: %s", name)
	}
}

// A meta-schema is a schema like any other, and the hardest one for dynamic references.
func TestMetaSchemaAcceptsItself(t *testing.T) {
	all := metaSchemas(t)
	meta := all["https://json-schema.org/draft/2020-12/schema"]
	s, err := schema.Config{Documents: all}.Compile(meta)
	if err != nil {
		t.Fatal(err)
	}
	for uri, document := range all {
		if _, violations := s.Validate(document); len(violations) > 0 {
			t.Errorf("%s: %v", uri, violations)
		}
	}
	_, violations := s.Validate(enc(t, `{"properties":{"a":{"type":"strin"}},"minLength":-1}`))
	if len(violations) < 2 {
		t.Errorf("a bad schema: %v", violations)
	}
}
