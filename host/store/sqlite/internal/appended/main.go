// The command appended shows what was appended to the session "s" of a database file and to the journal of the turn
// "t", as JSON, and appends to both. Tests of other languages compare what they read.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/store/sqlite"
)

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

// shown is what the command prints.
type shown struct {
	Events    []string `json:"events"`
	State     []string `json:"state"`
	Artifacts []string `json:"artifacts"`
	Journal   []string `json:"journal"`
}

func run(ctx context.Context, path string) (err error) {
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	all, err := read(ctx, s)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(all); err != nil {
		return err
	}
	return write(ctx, s, len(all.Journal)-1)
}

func read(ctx context.Context, s *sqlite.Store) (all shown, err error) {
	events, err := s.Events(ctx, "s", store.EventQuery{})
	if err != nil {
		return all, err
	}
	for _, e := range events {
		all.Events = append(all.Events, e.ID+" "+string(e.Body))
	}
	for _, scope := range []string{"", "shared"} {
		state, err := s.State(ctx, "s", scope)
		if err != nil {
			return all, err
		}
		for _, v := range state {
			all.State = append(all.State, scope+" "+v.Name+"="+string(v.Value))
		}
		artifacts, err := s.Artifacts(ctx, "s", scope)
		if err != nil {
			return all, err
		}
		for _, a := range artifacts {
			content, size, err := s.OpenArtifact(ctx, "s", scope, a.Name, a.Version)
			if err != nil {
				return all, err
			}
			data, err := io.ReadAll(io.NewSectionReader(content, 0, size))
			if err != nil {
				return all, err
			}
			all.Artifacts = append(all.Artifacts, fmt.Sprintf("%s %s %d %s: %s", scope, a.Name, a.Version, a.Body, data))
		}
	}
	part, err := s.ReadJournal(ctx, "t", 0)
	if err != nil || part == nil {
		return all, err
	}
	all.Journal = append(all.Journal, fmt.Sprintf("%d %s %d", part.Epoch, part.Checkpoint, part.First))
	for _, entry := range part.Entries {
		all.Journal = append(all.Journal, string(entry))
	}
	return all, nil
}

func write(ctx context.Context, s *sqlite.Store, entries int) error {
	if err := s.PutBytes(ctx, "s", "go", strings.NewReader("bytes of Go")); err != nil {
		return err
	}
	_, err := s.Append(ctx, "s", store.Append{
		Event: &store.SessionEvent{ID: "go", Body: []byte("from Go")},
		State: []store.StateValue{{Name: "a"}, {Scope: "shared", Name: "go", Value: []byte("1")}},
		Artifacts: []store.Artifact{
			{Name: "text", Version: 1, Bytes: "go", Body: []byte("second")}, {Scope: "shared", Name: "text", Bytes: "go", Body: []byte("first")},
		},
		Key: "go", Turn: "t",
	})
	if err != nil {
		return err
	}
	part, err := s.ReadJournal(ctx, "t", 0)
	if err != nil {
		return err
	}
	end := part.First + int64(entries)
	return s.AppendJournal(ctx, "t", store.JournalAppend{Epoch: part.Epoch + 1, At: end, Entries: [][]byte{[]byte("from Go")}})
}
