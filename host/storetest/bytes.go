package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing/iotest"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/store"
)

func bytesCases() []testCase {
	put := func(p *place, s store.Store, session, id, text string) {
		p.Helper()
		if err := s.PutBytes(p.Context(), session, id, strings.NewReader(text)); err != nil {
			p.Fatalf("putting %q: %v", id, err)
		}
	}
	expect := func(p *place, s store.Store, session, id, want string) {
		p.Helper()
		if got, err := readBytes(p.Context(), s, session, id); err != nil || string(got) != want {
			p.Errorf("%q has %.100q, %v, want %.100q", id, got, err, want)
		}
	}
	return []testCase{
		{name: "bytes", run: func(p *place) {
			s := p.store()
			put(p, s, session, "a", "one")
			put(p, s, session, "empty", "")
			put(p, s, session, "binary", "\x00\xff\r\n\x1a")
			put(p, s, "another", "a", "of another")
			for range 2 {
				expect(p, s, session, "a", "one")
				expect(p, s, session, "empty", "")
				expect(p, s, session, "binary", "\x00\xff\r\n\x1a")
				expect(p, s, "another", "a", "of another")
				s = p.again(s)
			}
			put(p, s, session, "a", "two and more")
			expect(p, s, session, "a", "two and more")
			put(p, s, session, "a", "3")
			expect(p, p.again(s), session, "a", "3")
		}},
		{name: "bytes that are not there", run: func(p *place) {
			s := p.store()
			for range 2 {
				if _, _, err := s.OpenBytes(p.Context(), session, "a"); !errors.Is(err, host.Code("E_BYTES_NOT_FOUND")) ||
					!strings.Contains(err.Error(), `"a"`) || !strings.Contains(err.Error(), `"`+session+`"`) {
					p.Errorf("%v, want E_BYTES_NOT_FOUND that names both", err)
				}
				put(p, s, session, "b", "x")
				put(p, s, "another", "a", "x")
			}
		}},
		{name: "bytes whose source fails", run: func(p *place) {
			s := p.store()
			put(p, s, session, "a", "as it was")
			broken := errors.New("the source is gone")
			for _, id := range []string{"a", "b"} {
				source := io.MultiReader(&repeating{size: 3 << 20}, iotest.ErrReader(broken))
				if err := s.PutBytes(p.Context(), session, id, source); !errors.Is(err, broken) {
					p.Errorf("%q: %v, want the source's error", id, err)
				}
			}
			expect(p, s, session, "a", "as it was")
			if _, _, err := s.OpenBytes(p.Context(), session, "b"); !errors.Is(err, host.Code("E_BYTES_NOT_FOUND")) {
				p.Errorf("%v, want E_BYTES_NOT_FOUND", err)
			}
		}},
		{name: "large bytes", run: func(p *place) {
			s := p.store()
			// Sizes around a MiB, a part of which many databases keep a row for.
			for _, size := range []int64{1<<20 - 1, 1 << 20, 1<<20 + 1, 2 << 20, 33<<20 + 5} {
				id := fmt.Sprint("large ", size)
				if err := s.PutBytes(p.Context(), session, id, iotest.OneByteReader(&repeating{size: 3})); err != nil {
					p.Fatal(err)
				}
				if err := s.PutBytes(p.Context(), session, id, &repeating{size: size}); err != nil {
					p.Fatal(err)
				}
			}
			s = p.again(s)
			for _, size := range []int64{1<<20 - 1, 1 << 20, 1<<20 + 1, 2 << 20, 33<<20 + 5} {
				content, got, err := s.OpenBytes(p.Context(), session, fmt.Sprint("large ", size))
				if err != nil || got != size {
					p.Fatalf("%d bytes, %v, want %d", got, err, size)
				}
				for _, from := range []int64{0, 1, size / 2, 1<<20 - 3, 1<<20 - 1, size - 7, size - 1} {
					part := make([]byte, min(5, size-from))
					if n, err := content.ReadAt(part, from); n != len(part) || err != nil && err != io.EOF {
						p.Fatalf("reading at %d of %d: %d, %v", from, size, n, err)
					}
					for i, b := range part {
						if b != byteAt(from+int64(i)) {
							p.Fatalf("byte %d of %d is %d", from+int64(i), size, b)
						}
					}
				}
				if n, err := content.ReadAt(make([]byte, 5), size-2); n != 2 || err != io.EOF {
					p.Errorf("reading over the end of %d: %d, %v, want 2 and io.EOF", size, n, err)
				}
				if n, err := content.ReadAt(make([]byte, 1), size); n != 0 || err != io.EOF {
					p.Errorf("reading at the end of %d: %d, %v, want io.EOF", size, n, err)
				}
				all, err := io.ReadAll(io.NewSectionReader(content, 0, size))
				want, _ := io.ReadAll(&repeating{size: size})
				if err != nil || !bytes.Equal(all, want) {
					p.Errorf("all %d bytes: %d, %v, and they are not the same", size, len(all), err)
				}
			}
		}},
		{name: "bytes of a content put again while they are read", run: func(p *place) {
			s := p.store()
			text := strings.Repeat("the same text\n", 100_000) // more than a database has in a row
			digest := sha256.Sum256([]byte(text))
			id := store.ContentID(digest[:])
			put(p, s, session, id, text)
			content, size, err := s.OpenBytes(p.Context(), session, id)
			if err != nil {
				p.Fatal(err)
			}
			head := make([]byte, 10)
			if _, err := content.ReadAt(head, 0); err != nil || string(head) != text[:10] {
				p.Fatalf("%q, %v", head, err)
			}
			put(p, s, session, id, text)
			got, err := io.ReadAll(io.NewSectionReader(content, 0, size))
			if err != nil || string(got) != text {
				p.Errorf("%d bytes of %d, %v", len(got), len(text), err)
			}
		}},
		{name: "bytes read and put at once", run: func(p *place) {
			s := p.store()
			var all sync.WaitGroup
			for n := range 8 {
				all.Go(func() {
					id := fmt.Sprint("b", n%4)
					for i := range 5 {
						text := strings.Repeat(id, 1000*(i+1))
						if err := s.PutBytes(p.Context(), session, id, strings.NewReader(text)); err != nil {
							p.Errorf("putting %s: %v", id, err)
							return
						}
						got, err := readBytes(p.Context(), s, session, id)
						if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) || len(strings.ReplaceAll(string(got), id, "")) > 0 {
							p.Errorf("reading %s: %d bytes, %v", id, len(got), err)
						}
					}
				})
			}
			all.Wait()
		}},
		{name: "a call whose context has ended", run: func(p *place) {
			s := p.store()
			p.write(s, session, put2())
			put(p, s, session, "a", "one")
			ended, cancel := context.WithCancel(p.Context())
			cancel()
			before := brief(p.load(s, session, ""))
			// Each either succeeds or does nothing.
			_, err := s.Commit(ended, session, store.Commit{Deltas: appendPuts(nil, samplesOf(3))})
			want := before
			if err == nil {
				want = "m=x s0=x s1=x s2=x"
			}
			p.expect(s, session, want)
			text := "one"
			if s.PutBytes(ended, session, "a", strings.NewReader("two")) == nil {
				text = "two"
			}
			expect(p, s, session, "a", text)
			if c, err := s.Load(ended, session, ""); err == nil && brief(c) != want {
				p.Errorf("loaded %q", brief(c))
			}
			p.expect(p.again(s), session, want)
		}},
	}
}
