package file_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/store/file"
)

func open(t *testing.T, folder string) *file.Store {
	t.Helper()
	s, err := file.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // it may be closed already
	return s
}

func put(id, text string) store.Commit {
	m := record.NewMessage(id, record.User, text, time.UnixMilli(1).UTC())
	return store.Commit{Deltas: []store.Delta{{Op: store.OpStore, Kind: "message", ID: id, Record: m}}}
}

func commit(t *testing.T, s store.Store, c store.Commit) {
	t.Helper()
	if _, err := s.Commit(t.Context(), "s", c); err != nil {
		t.Fatal(err)
	}
}

// ids are those of the messages of session s.
func ids(t *testing.T, s store.Store) (string, error) {
	t.Helper()
	c, err := s.Load(t.Context(), "s", "")
	if err != nil {
		return "", err
	}
	var list []string
	for _, m := range c.Messages {
		list = append(list, m.ID+"="+m.Content)
	}
	return strings.Join(list, " "), nil
}

// only returns the one file of a pattern in a folder.
func only(t *testing.T, folder, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%q, %v", found, err)
	}
	return found[0]
}

const aLog, aFile = "sessions/*/*/log", "sessions/*/*/bytes/*"

// written makes a folder with a session of two commits and bytes, and returns the sizes of its log after each.
func written(t *testing.T) (folder string, sizes []int64) {
	t.Helper()
	folder = t.TempDir()
	s := open(t, folder)
	for _, c := range []store.Commit{put("a", "1"), put("b", "2")} {
		commit(t, s, c)
		info, err := os.Stat(only(t, folder, aLog))
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, info.Size())
	}
	if err := errors.Join(s.PutBytes(t.Context(), "s", "bytes", strings.NewReader("some bytes")), s.Close()); err != nil {
		t.Fatal(err)
	}
	return folder, sizes
}

// A log that ends anywhere, as after a crash, has all commits that were written whole. The next commit follows them.
func TestTornLogs(t *testing.T) {
	folder, sizes := written(t)
	name := only(t, folder, aLog)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head := int64(-1)
	for _, zeros := range []bool{false, true} {
		for size := range int64(len(whole)) {
			data := bytes.Clone(whole[:size])
			if zeros { // the disk has made room for what it did not write
				data = append(data, make([]byte, int64(len(whole))-size)...)
			}
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
			s := open(t, folder)
			got, err := ids(t, s)
			want := ""
			for n, end := range sizes {
				if size >= end || zeros && size >= end-4 { // all but the length at the end of the frame

					want = []string{"a=1", "a=1 b=2"}[n]
				}
			}
			if err != nil || got != want {
				t.Fatalf("%d bytes, zeros %t: %q, %v, want %q", size, zeros, got, err, want)
			}
			if page, _, err := s.List(t.Context(), "", 0); err == nil && len(page) == 1 && head < 0 {
				head = size
			}
			commit(t, s, put("c", "3"))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, folder)
			if got, err := ids(t, s); err != nil || got != strings.TrimSpace(want+" c=3") {
				t.Fatalf("%d bytes, zeros %t, and another commit: %q, %v", size, zeros, got, err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if head < 40 || head > sizes[0] {
		t.Errorf("the session is there from %d bytes on", head)
	}
}

// A flipped bit anywhere does no harm or is an error that names the session: it is never another conversation.
func TestFlippedBits(t *testing.T) {
	folder, sizes := written(t)
	for _, pattern := range []string{aLog, aFile} {
		name := only(t, folder, pattern)
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		harm := 0
		for at := range whole {
			for _, bit := range []byte{1, 0x80} {
				data := bytes.Clone(whole)
				data[at] ^= bit
				if err := os.WriteFile(name, data, 0o600); err != nil {
					t.Fatal(err)
				}
				s := open(t, folder)
				got, err := ids(t, s)
				content, size, bytesErr := s.OpenBytes(t.Context(), "s", "bytes")
				var read []byte
				if bytesErr == nil {
					read, bytesErr = io.ReadAll(io.NewSectionReader(content, 0, size))
				}
				if closeErr := s.Close(); closeErr != nil {
					t.Fatal(closeErr)
				}
				err = errors.Join(err, bytesErr)
				if err == nil && got == "a=1 b=2" && string(read) == "some bytes" {
					continue // it does no harm
				}
				if !errors.Is(err, host.CodeStoredRecordInvalid) || !strings.Contains(err.Error(), `"s"`) {
					t.Errorf("bit %d at %d of %s, of commits up to %d: %q and %q, %v", bit, at, pattern, sizes, got, read, err)
				}
				harm++
			}
		}
		if harm < len(whole) {
			t.Errorf("%d flipped bits of %d bytes do harm", harm, len(whole))
		}
		if err := os.WriteFile(name, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A folder has one store at a time. One of a later version, or that is none, is refused by name; a closed store fails.
func TestOpening(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	commit(t, s, put("a", "1"))
	if _, err := file.Open(folder); !errors.Is(err, host.CodeStoreFailed) || !strings.Contains(err.Error(), "another store has the folder open") {
		t.Errorf("opened twice: %v", err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Errorf("closing: %v", err)
	}
	_, loadErr := s.Load(t.Context(), "s", "")
	_, commitErr := s.Commit(t.Context(), "s", put("b", "2"))
	_, _, openErr := s.OpenBytes(t.Context(), "s", "b")
	_, _, listErr := s.List(t.Context(), "", 0)
	_, newestErr := s.Newest(t.Context(), "s")
	for name, err := range map[string]error{
		"Load": loadErr, "Commit": commitErr, "OpenBytes": openErr, "List": listErr, "Newest": newestErr, "Delete": s.Delete(t.Context(), "s"),
		"PutBytes": s.PutBytes(t.Context(), "s", "b", strings.NewReader("x")), "Fork": s.Fork(t.Context(), "s", "t"), "SetTitle": s.SetTitle(t.Context(), "s", "x"),
	} {
		if !errors.Is(err, host.CodeStoreFailed) || !strings.Contains(err.Error(), "it is closed") {
			t.Errorf("%s of a closed store: %v", name, err)
		}
	}
	for content, want := range map[string]host.Code{
		`{"format":"turncore.store","v":2}`: host.CodeStoreVersion, `{"format":"other","v":1}`: host.CodeStoreFailed, `{`: host.CodeStoreFailed, "": host.CodeStoreFailed,
	} {
		if err := os.WriteFile(filepath.Join(folder, "store.json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := file.Open(folder); !errors.Is(err, want) {
			t.Errorf("a folder with %s: %v, want %s", content, err, want)
		}
	}
	if _, err := file.Open(filepath.Join(folder, "store.json")); !errors.Is(err, host.CodeStoreFailed) {
		t.Errorf("a file as the folder: %v", err)
	}
}

// A log of which most is no longer there is written anew. Bytes that nothing refers to are collected after an hour.
func TestNothingIsKeptForEver(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	text := strings.Repeat("x", 10_000)
	commit(t, s, put("a", "1"))
	for n := range 100 {
		c := put("b", fmt.Sprint(n, text))
		c.Key, c.Turn = fmt.Sprint("k", n), "t"
		commit(t, s, c)
	}
	if info, err := os.Stat(only(t, folder, aLog)); err != nil || info.Size() > 700_000 {
		t.Errorf("100 versions of 10,000 bytes take %d bytes, %v", info.Size(), err)
	}
	again := put("b", "another")
	again.Key, again.Turn = "k3", "t"
	commit(t, s, again) // the key is still known
	if got, err := ids(t, s); err != nil || got != "a=1 b=99"+text {
		t.Errorf("%.30q, %v", got, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, folder)
	if got, err := ids(t, s); err != nil || got != "a=1 b=99"+text {
		t.Errorf("opened again: %.30q, %v", got, err)
	}
	m := record.NewMessage("m", record.User, "", time.UnixMilli(1).UTC())
	m.Attachments = []*record.Media{record.UserAttachment(record.Image, "image/png", "p.png", record.NewBlob([]byte("kept")))}
	commit(t, s, store.Commit{Deltas: []store.Delta{{Op: store.OpStore, Kind: "message", ID: "m", Record: m}}})
	for _, id := range []string{"old", "young"} {
		if err := s.PutBytes(t.Context(), "s", id, strings.NewReader(id)); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, aFile))
	if err != nil || len(files) != 3 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, name := range files {
		if data, err := os.ReadFile(name); err != nil || bytes.Contains(data, []byte("young")) {
			continue
		}
		if err := os.Chtimes(name, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := s.Collect(t.Context()); n != 1 || err != nil {
		t.Errorf("collected %d, %v, want 1", n, err)
	}
	if _, _, err := s.OpenBytes(t.Context(), "s", "old"); !errors.Is(err, host.CodeBytesNotFound) {
		t.Errorf("what was collected: %v", err)
	}
	c, err := s.Load(t.Context(), "s", "")
	if err != nil {
		t.Fatal(err)
	}
	if data, err := c.Messages[len(c.Messages)-1].Attachments[0].Bytes(); err != nil || string(data) != "kept" {
		t.Errorf("what is in use: %q, %v", data, err)
	}
}

// More sessions than stay in memory are read again from their logs.
func TestManySessionsInUse(t *testing.T) {
	s := open(t, t.TempDir())
	text := strings.Repeat("x", 100_000)
	for round := range 2 {
		for n := range 300 {
			id := fmt.Sprint("session ", n)
			if _, err := s.Commit(t.Context(), id, put(fmt.Sprint(round), text)); err != nil {
				t.Fatal(err)
			}
			if c, err := s.Load(t.Context(), id, ""); err != nil || len(c.Messages) != round+1 {
				t.Fatalf("%s has %d messages, %v", id, len(c.Messages), err)
			}
		}
	}
}

// Revisions do not go back with the clock or with the session that had the last one.
func TestRevisionsAfterADelete(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	c := put("a", "1")
	revision, err := s.Commit(t.Context(), "s", c)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Delete(t.Context(), "s"), s.Close()); err != nil {
		t.Fatal(err)
	}
	s = open(t, folder)
	commit(t, s, put("b", "2"))
	if c, err := s.Load(t.Context(), "s", revision); err != nil || c.After != "" || c.Revision <= revision {
		t.Errorf("%+v, %v, after revision %s of the session that was deleted", c, err, revision)
	}
}

// A commit that the disk refuses is an error that names the session; nothing of it is there, also not in memory.
func TestADiskThatFails(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	commit(t, s, put("a", "1"))
	name := only(t, folder, aLog)
	if err := os.Rename(name, name+".away"); err != nil {
		t.Fatal(err)
	}
	c := put("b", "2")
	c.Key, c.Turn = "k", "t"
	for name, err := range map[string]error{
		"Commit":   func() error { _, err := s.Commit(t.Context(), "s", c); return err }(),
		"Load":     func() error { _, err := s.Load(t.Context(), "s", ""); return err }(),
		"SetTitle": s.SetTitle(t.Context(), "s", "x"),
		"Fork":     s.Fork(t.Context(), "s", "fork"),
	} {
		if !errors.Is(err, host.CodeStoreFailed) || !strings.Contains(err.Error(), `"s"`) || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v, want E_STORE_FAILED that names the session and keeps the cause", name, err)
		}
	}
	if err := os.Rename(name+".away", name); err != nil {
		t.Fatal(err)
	}
	if got, err := ids(t, s); err != nil || got != "a=1" {
		t.Errorf("afterwards: %q, %v", got, err)
	}
	for range 2 {
		commit(t, s, c)
		if got, err := ids(t, s); err != nil || got != "a=1 b=2" {
			t.Errorf("and the commit again: %q, %v", got, err)
		}
	}
	if page, _, err := s.List(t.Context(), "", 0); err != nil || len(page) != 1 || page[0].Messages != 2 || page[0].Title != "" {
		t.Errorf("%+v, %v", page, err)
	}
}

// Bytes that were put in the place of others are not read as those, also where the system gives the file the number of
// the one before.
func TestBytesPutInTheSameFile(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	commit(t, s, put("m", "hello"))
	for id, text := range map[string]string{"a": strings.Repeat("a", 5000), "b": strings.Repeat("b", 3000)} {
		if err := s.PutBytes(t.Context(), "s", id, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	var names [2]string
	for i, size := range []int64{5000, 3000} {
		err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
			if info, statErr := d.Info(); statErr == nil && filepath.Base(filepath.Dir(path)) == "bytes" && info.Size() > size && info.Size() < size+100 {
				names[i] = path
			}
			return err
		})
		if err != nil || names[i] == "" {
			t.Fatalf("no file of %d bytes: %v", size, err)
		}
	}
	r, size, err := s.OpenBytes(t.Context(), "s", "a")
	if err != nil || size != 5000 {
		t.Fatal(size, err)
	}
	other, err := os.ReadFile(names[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(names[0], other, 0o600); err != nil { // keeps the file's number
		t.Fatal(err)
	}
	got := make([]byte, size)
	if n, err := r.ReadAt(got, 0); n != 0 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%d bytes, %v", n, err)
	}
}
