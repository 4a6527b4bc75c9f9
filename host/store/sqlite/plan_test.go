package sqlite

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/turncore/turncore/host/store/internal/sqlstore"
)

// Statements look rows up by an index. None reads a whole table, or sorts what an index has in order.
func TestStatementsUseIndexes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "conversations.db")
	opened(t, path)
	db := raw(t, path)
	inOrder := map[string]bool{"lastRevision": true} // the first row of an index
	sorted := map[string]bool{"listSessionsOf": true, "recordsAfter": true, "sharedRecords": true, "sessionsWithUnusedBytes": true}
	for _, s := range sqlstore.Statements() {
		values := make([]any, strings.Count(s.Text, "?"))
		rows, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+s.Text, values...)
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			scans := strings.HasPrefix(detail, "SCAN turncore_") && !inOrder[s.Name]
			if scans || strings.HasPrefix(detail, "USE TEMP B-TREE") && !sorted[s.Name] {
				t.Errorf("%s: %s", s.Name, detail)
			}
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
