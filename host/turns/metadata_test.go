package turns_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// Fields of the application's own stay with their records: they are stored, loaded, forked and exported.
func TestMetadataStay(t *testing.T) {
	h := turns.NewHost(turns.HostOptions{Engine: hosttest.Engines(t)[0], Verify: true})
	defer h.Close(t.Context())
	s := store.NewInMemory()
	var seen []any
	metadata := map[string]any{"thread": "t-7", "stars": int64(5)}
	config := turns.Config{
		Host: h, Store: s,
		Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			for m := range ctx.TurnMessages().All() {
				seen = append(seen, m.Metadata["thread"])
			}
			for d := range ctx.TurnRetrievables().All() {
				seen = append(seen, d.Metadata["thread"])
			}
			answer := message(fmt.Sprint("a", len(seen)), "Tea.")
			answer.Metadata = metadata
			if err := ctx.StoreMessage(answer); err != nil {
				return err
			}
			document := record.NewRetrievable("d"+answer.ID, "a\nb", record.FirstParty, instant)
			document.Metadata = metadata
			if _, err := ctx.StoreRetrievable(document); err != nil {
				return err
			}
			return ctx.Ack()
		},
	}
	runner, err := turns.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	for range 2 {
		if _, err := runner.Run(t.Context(), turns.Input{Message: "Which?", Session: "s"}); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := fmt.Sprint(seen), "[<nil> <nil> t-7 <nil> t-7]"; got != want {
		t.Errorf("seen %s, want %s", got, want)
	}
	if err := s.Fork(t.Context(), "s", "copy"); err != nil {
		t.Fatal(err)
	}
	var document bytes.Buffer
	if err := store.Export(t.Context(), s, "copy", &document); err != nil {
		t.Fatal(err)
	}
	other := store.NewInMemory()
	if _, err := store.Import(t.Context(), other, "", &document); err != nil {
		t.Fatal(err)
	}
	c, err := other.Load(t.Context(), "copy", "")
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range c.Retrievables {
		if fmt.Sprint(d.Metadata) != fmt.Sprint(metadata) || fmt.Sprint(c.Messages[2*i+1].Metadata) != fmt.Sprint(metadata) {
			t.Errorf("metadata %v and %v, want %v", d.Metadata, c.Messages[2*i+1].Metadata, metadata)
		}
	}
	if len(c.Retrievables) != 2 || len(c.Messages) != 4 {
		t.Errorf("%d documents and %d messages", len(c.Retrievables), len(c.Messages))
	}
}
