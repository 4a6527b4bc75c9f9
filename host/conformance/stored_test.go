package conformance_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/storecorpus"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

var writeStored = flag.Bool("stored", false, "write the checksums of the corpus's records")

// storedForms are checksums of the stored forms of each scenario's records, which JavaScript checks too.
const storedForms = "../../abi/testdata/records/corpus.json"

// spelling is a store that writes every record down and reads it, in both spellings.
type spelling struct {
	*store.InMemory
	bodies map[string][]byte // of a session's records, in the order of writing
	seen   map[string]bool   // keys of commits
	count  map[string]int    // records by kind; those that cannot be written down by ""
}

func (s *spelling) Commit(ctx context.Context, session string, c store.Commit) (string, error) {
	if c.Key != "" && s.seen[session+" "+c.Key] {
		return s.InMemory.Commit(ctx, session, c)
	}
	rows, err := store.Rows(ctx, s, session, c.Deltas)
	if errors.Is(err, host.CodeRecordUnstorable) {
		s.count[""]++
	}
	if err != nil {
		return "", err
	}
	s.seen[session+" "+c.Key] = true
	for i := range rows {
		d := &c.Deltas[i]
		if rows[i].Body != nil {
			if d.Record, err = s.spell(session, &rows[i]); err != nil {
				return "", err
			}
		}
		d.Records = nil
		for j := range rows[i].Group {
			r, err := s.spell(session, &rows[i].Group[j])
			if err != nil {
				return "", err
			}
			d.Records = append(d.Records, r.(*record.ToolCall))
		}
	}
	return s.InMemory.Commit(ctx, session, c)
}

// spell reads the record of a row and checks that it stays what it is.
func (s *spelling) spell(session string, row *store.Row) (record.Record, error) {
	s.bodies[session] = append(s.bodies[session], row.Body...)
	s.count[row.Kind.String()]++
	r, err := store.Read(s, session, row.Kind, row.ID, row.Sum, row.Body)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	fromJSON, err := record.UnmarshalJSON(row.Kind, text, store.Opened(s, session))
	if err != nil {
		return nil, err
	}
	for name, r := range map[string]record.Record{"MessagePack": r, "JSON": fromJSON} {
		again, err := record.Marshal(r)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(again, row.Body) {
			return nil, fmt.Errorf("%s: %x, want %x", name, again, row.Body)
		}
		if ids := record.BytesOf(r); fmt.Sprint(ids) != fmt.Sprint(row.Bytes) {
			return nil, fmt.Errorf("bytes %v, want %v", ids, row.Bytes)
		}
	}
	return r, nil
}

// Every record that the corpus writes has a stored form that gives it again, with the same bytes in JavaScript.
func TestStoredForms(t *testing.T) {
	s := &spelling{store.NewInMemory(), map[string][]byte{}, map[string]bool{}, map[string]int{}}
	storecorpus.Keep(t, "../..", s)
	for k := record.Kind(0); k < record.Kinds; k++ {
		if s.count[k.String()] == 0 {
			t.Errorf("the corpus writes no %s", k)
		}
	}
	t.Logf("records written down: %v", s.count)
	sums := make(map[string]string, len(s.bodies))
	for session, bodies := range s.bodies {
		sum := sha256.Sum256(bodies)
		sums[session] = hex.EncodeToString(sum[:])
	}
	text, err := json.MarshalIndent(sums, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if *writeStored {
		if err := os.WriteFile(storedForms, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(storedForms)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept, text) {
		t.Errorf("the stored forms of the corpus's records have changed: a record that was stored must stay readable. " +
			"Run this test with -stored if only the corpus has changed")
	}
}
