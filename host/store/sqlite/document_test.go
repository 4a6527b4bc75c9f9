package sqlite

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/turncore/turncore/host/store"
)

// A conversation that is imported is exported as it was: the database takes its bytes for its own, and keeps them once.
func TestConversationsTravel(t *testing.T) {
	text, err := os.ReadFile("../../../abi/testdata/records/conversation.json")
	if err != nil {
		t.Fatal(err)
	}
	s := opened(t, filepath.Join(t.TempDir(), "travel.db"))
	if _, err := store.Import(t.Context(), s, "", bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := store.Export(t.Context(), s, "tea", &out); err != nil {
		t.Fatal(err)
	}
	date := regexp.MustCompile(`(?m)^  "createdAt": .*$`) // of the session: the database's clock
	if got, want := date.ReplaceAllString(out.String(), ""), date.ReplaceAllString(string(text), ""); got != want {
		t.Errorf("exported\n%s\nwant\n%s", got, want)
	}
}
