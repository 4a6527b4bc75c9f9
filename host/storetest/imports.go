package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/store"
)

// dying is a store whose process ends before one of its writes: nothing is done from then on.
type dying struct {
	store.Sessions
	left int // writes until then, from 1
}

// dyingAppender is one that keeps events, too.
type dyingAppender struct {
	*dying
	to store.Appender
}

func (d *dying) write(do func() error) error {
	if d.left--; d.left <= 0 {
		return errFault
	}
	return do()
}

func (d *dying) Commit(ctx context.Context, session string, c store.Commit) (revision string, err error) {
	err = d.write(func() (err error) {
		revision, err = d.Sessions.Commit(ctx, session, c)
		return err
	})
	return revision, err
}

func (d *dying) PutBytes(ctx context.Context, session, id string, content io.Reader) error {
	return d.write(func() error { return d.Sessions.PutBytes(ctx, session, id, content) })
}

func (d *dying) SetTitle(ctx context.Context, session, title string) error {
	return d.write(func() error { return d.Sessions.SetTitle(ctx, session, title) })
}

func (d *dying) Fork(ctx context.Context, from, to string) error {
	return d.write(func() error { return d.Sessions.Fork(ctx, from, to) })
}

func (d *dying) Delete(ctx context.Context, session string) error {
	return d.write(func() error { return d.Sessions.Delete(ctx, session) })
}

func (d *dyingAppender) Append(ctx context.Context, session string, a store.Append) (revision string, err error) {
	err = d.write(func() (err error) {
		revision, err = d.to.Append(ctx, session, a)
		return err
	})
	return revision, err
}

func (d *dyingAppender) ForkAt(ctx context.Context, from, to string, at store.ForkPoint) error {
	return d.write(func() error { return d.to.ForkAt(ctx, from, to, at) })
}

func (d *dyingAppender) Events(ctx context.Context, session string, q store.EventQuery) ([]store.SessionEvent, error) {
	return d.to.Events(ctx, session, q)
}

func (d *dyingAppender) State(ctx context.Context, session, scope string) ([]store.StateValue, error) {
	return d.to.State(ctx, session, scope)
}

func (d *dyingAppender) Artifacts(ctx context.Context, session, scope string) ([]store.Artifact, error) {
	return d.to.Artifacts(ctx, session, scope)
}

func (d *dyingAppender) OpenArtifact(
	ctx context.Context, session, scope, name string, version int,
) (content io.ReaderAt, size int64, err error) {
	return d.to.OpenArtifact(ctx, session, scope, name, version)
}

func importCases() []testCase {
	return []testCase{
		ofSessions("imports whose process ends at any point", func(p *place, s store.Sessions) {
			document := p.document(s)
			for n := 1; ; n++ {
				d, id := &dying{Sessions: s, left: n}, fmt.Sprint("import ", n)
				var dies store.Store = d
				if to, ok := s.(store.Appender); ok {
					dies = &dyingAppender{d, to}
				}
				_, cut := store.Import(p.Context(), dies, id, strings.NewReader(document))
				again, ok := p.again(s).(store.Sessions)
				if !ok {
					p.Fatal("the store that was opened again has no Sessions")
				}
				s = again
				there, err := s.Find(p.Context(), id)
				if err != nil {
					p.Fatal(err)
				}
				if there != nil && p.exported(s, id) != document {
					p.Errorf("a process that ends before write %d leaves a part of the session", n)
				}
				// The same import is done again, by somebody who does not know how far the first one came.
				_, err = store.Import(p.Context(), s, id, strings.NewReader(document))
				if there == nil && err != nil || there != nil && !errors.Is(err, host.CodeSessionExists) {
					p.Fatalf("again, after write %d: %v", n, err)
				}
				if got := p.exported(s, id); got != document {
					p.Fatalf("again, after write %d:\n%s\nwant\n%s", n, got, document)
				}
				if page, _, err := s.ListOf(p.Context(), "%import/", "", 0); err != nil || len(page) > 0 {
					p.Fatalf("again, after write %d: %d imports are left: %v", n, len(page), err)
				}
				if cut == nil && d.left > 0 {
					return
				}
			}
		}),
	}
}

// document is a session of a store that has what it can keep, as a document.
func (p *place) document(s store.Sessions) string {
	p.Helper()
	p.putAll(s, session, "b0", "b1")
	var deltas []store.Delta
	for _, r := range samples() {
		deltas = append(deltas, put(r))
	}
	p.write(s, session, deltas...)
	if a, ok := s.(store.Appender); ok {
		for n := range 2 {
			e := happened(fmt.Sprint("e", n))
			e.Event.Body = value.AppendString(value.AppendString(value.AppendMapHeader(nil, 1), "id"), e.Event.ID)
			e.State = []store.StateValue{{Name: "n", Value: value.AppendInt(nil, int64(n))}}
			e.Artifacts = []store.Artifact{version("", "a", n, fmt.Sprint("b", n))}
			e.Artifacts[0].Body = value.AppendMapHeader(nil, 0)
			p.append(a, session, e)
		}
	}
	if err := s.SetTitle(p.Context(), session, "Title"); err != nil {
		p.Fatal(err)
	}
	return p.exported(s, session)
}

// exported is the document of a session, without its id and its date.
func (p *place) exported(s store.Store, id string) string {
	p.Helper()
	var out bytes.Buffer
	if err := store.Export(p.Context(), s, id, &out); err != nil {
		p.Fatal(err)
	}
	var kept []string
	for line := range strings.Lines(out.String()) {
		switch {
		case strings.HasPrefix(line, `  "createdAt": `):
		case strings.HasPrefix(line, `  "id": `):
			kept = append(kept, "  \"id\": \"s\",\n")
		default:
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}
