package sqlstore

import (
	"strings"
	"testing"
)

func TestSchemaHasVersions(t *testing.T) {
	versions := Schema()
	if len(versions) != 1 || len(versions[0]) != 23 {
		t.Fatalf("the schema is %q", versions)
	}
	for _, statement := range versions[0] {
		if !strings.HasPrefix(statement, "CREATE ") || strings.Contains(statement, "--") {
			t.Errorf("not a statement: %q", statement)
		}
	}
}

func TestStatementsAreWhole(t *testing.T) {
	list := Statements()
	names := map[string]bool{}
	for _, s := range list {
		if names[s.Name] || s.Text == "" || strings.ContainsAny(s.Text, ";$") || strings.Contains(s.Text, "--") {
			t.Errorf("statement %s is %q", s.Name, s.Text)
		}
		names[s.Name] = true
	}
	if want := strings.Count(statements, ";\n"); len(list) != want {
		t.Errorf("%d statements are read, not %d", len(list), want)
	}
	if got := numbered("SELECT a FROM b WHERE c = ? AND (d, e) < (?, ?)"); got != "SELECT a FROM b WHERE c = $1 AND (d, e) < ($2, $3)" {
		t.Errorf("numbered: %s", got)
	}
}
