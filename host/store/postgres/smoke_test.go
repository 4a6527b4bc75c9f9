package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func said(id, text string) store.Delta {
	return store.Delta{Op: store.OpStore, Kind: "message", ID: id, Record: record.NewMessage(id, record.User, text, noon)}
}

func TestSmoke(t *testing.T) {
	s := opened(t)
	ctx := context.Background()
	at, err := s.Commit(ctx, "s", store.Commit{Deltas: []store.Delta{said("m", "hello")}, Key: "k", Turn: "t"})
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Commit(ctx, "s", store.Commit{Deltas: []store.Delta{said("m", "hello")}, Key: "k", Turn: "t"})
	if err != nil || again != at {
		t.Fatal(again, err)
	}
	c, err := s.Load(ctx, "s", "")
	if err != nil || c.Revision != at || len(c.Messages) != 1 || c.Messages[0].Content != "hello" {
		t.Fatal(c, err)
	}
	big := bytes.Repeat([]byte("0123456789abcdef"), 200_000)
	if err := s.PutBytes(ctx, "s", "big", bytes.NewReader(big)); err != nil {
		t.Fatal(err)
	}
	r, n, err := s.OpenBytes(ctx, "s", "big")
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(io.NewSectionReader(r, 0, n))
	if err != nil || !bytes.Equal(got, big) {
		t.Fatal(len(got), err)
	}
	if _, _, err := s.OpenBytes(ctx, "r", "big"); !errors.Is(err, host.CodeBytesNotFound) {
		t.Error(err)
	}
	page, next, err := s.List(ctx, "", 0)
	fmt.Println(page, next, err)
}
