package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tinylib/msgp/msgp"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/ledger"
)

// Names in the folder of a session.
const (
	logName       = "log"
	bytesName     = "bytes"
	artifactsName = "artifacts"
)

// tailSize is how much of a log is read to find its last frame, at first.
const tailSize = 4 << 10

func (f *session) log() string { return filepath.Join(f.folder, logName) }

// readSession reads what a list shows of the session of a folder; nil if there is none.
func readSession(folder string) (*session, error) {
	f := &session{folder: folder, there: true}
	file, err := os.Open(f.log())
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	f.size = info.Size()
	front := make([]byte, min(tailSize, f.size))
	if _, err := file.ReadAt(front, 0); err != nil {
		return nil, err
	}
	_, err = f.readHead(front)
	switch {
	case errors.Is(err, errTorn):
		return nil, nil // it never came to be
	case err != nil:
		return nil, err
	}
	tail := make([]byte, min(tailSize, f.size))
	for {
		if _, err := file.ReadAt(tail, f.size-int64(len(tail))); err != nil {
			return nil, err
		}
		if kind, body, ok := lastFrame(tail, f.size); ok {
			if kind != frameHead {
				_, err = f.summary.UnmarshalMsg(body)
			}
			return f, err
		}
		if int64(len(tail)) == f.size {
			break
		}
		tail = make([]byte, min(int64(len(tail))*16, f.size))
	}
	// Something is wrong with the end of the log. What that is, a call for the session tells.
	err = f.read()
	if err != nil && !errors.Is(err, host.CodeStoredRecordInvalid) {
		return nil, err
	}
	f.state, f.broken = nil, err != nil
	return f, nil
}

// readHead reads the head of a log and returns its size.
func (f *session) readHead(data []byte) (size int, err error) {
	kind, body, size, err := readFrame(data, 0)
	if err != nil {
		if errors.Is(err, errTorn) {
			return 0, err
		}
		return 0, damaged(f.head.ID, f.log()+": "+err.Error(), err)
	}
	var h head
	if _, err = h.UnmarshalMsg(body); err == nil && kind != frameHead {
		err = fmt.Errorf("it begins with a frame %q", kind)
	}
	if err != nil {
		return 0, damaged(f.head.ID, f.log()+": "+err.Error(), err)
	}
	if h.Version > formVersion {
		return 0, host.NewError(host.CodeStoreVersion, fmt.Sprintf("session %q has version %d, this is version %d", h.ID, h.Version, formVersion), nil)
	}
	f.head, f.summary = h, summary{Revision: h.Revision, Updated: h.Created}
	return size, nil
}

// read reads the whole log into the state. A frame at its end that was not written whole is cut off: its commit has
// never returned. The caller holds f.mu.
func (f *session) read() error {
	data, err := os.ReadFile(f.log())
	if err != nil {
		return err
	}
	at, err := f.readHead(data)
	if err != nil {
		return err
	}
	f.state = &ledger.Session[stored]{Began: f.head.Began, Revision: f.head.Revision}
	f.own = scope{}
	for at < len(data) {
		kind, body, size, err := readFrame(data[at:], int64(at))
		if errors.Is(err, errTorn) {
			if err := os.Truncate(f.log(), int64(at)); err != nil {
				return err
			}
			break
		}
		if err == nil {
			err = f.readBody(kind, body)
		}
		if err != nil {
			f.state = nil
			return damaged(f.head.ID, "its log, "+f.log()+", cannot be read at "+fmt.Sprint(at)+": "+err.Error(), err)
		}
		at += size
	}
	f.size = int64(at)
	return nil
}

// readBody takes in a frame of the log.
func (f *session) readBody(kind byte, body []byte) error {
	body, err := f.summary.UnmarshalMsg(body)
	if err != nil {
		return err
	}
	switch kind {
	case frameTitle:
		return nil
	case frameCommit:
		var c commit
		if _, err := c.UnmarshalMsg(body); err != nil {
			return err
		}
		for _, w := range c.Writes {
			if w.Kind >= ledger.Kinds {
				return fmt.Errorf("%d is no kind of record", w.Kind)
			}
		}
		f.apply(&c)
		return nil
	case frameAppend:
		var a appended
		if _, err := a.UnmarshalMsg(body); err != nil {
			return err
		}
		f.applyAppend(&a)
		return nil
	case frameSnapshot:
		var all snapshot
		if _, err := all.UnmarshalMsg(body); err != nil {
			return err
		}
		return f.restore(&all)
	}
	return fmt.Errorf("a frame of kind %q is unknown", kind)
}

// restore makes a snapshot the state.
func (f *session) restore(all *snapshot) error {
	if len(all.Tables) != ledger.Kinds {
		return fmt.Errorf("%d kinds of records", len(all.Tables))
	}
	f.state = &ledger.Session[stored]{
		Began: f.head.Began, Revision: f.summary.Revision, Settled: all.Settled, Appended: all.Appended,
	}
	for _, e := range all.Events {
		f.state.Events.Add(ledger.Event(e))
	}
	f.own = scope{}
	for i := range all.Own.Values {
		f.own.Set(all.Own.Values[i].Name, all.Own.Values[i].Value)
	}
	for i := range all.Own.Versions {
		v := &all.Own.Versions[i]
		f.own.Add(v.Name, ledger.Version[none]{Size: v.Size, Body: v.Body})
	}
	for kind, rows := range all.Tables {
		for _, r := range rows {
			f.state.Tables[kind].Rows = append(f.state.Tables[kind].Rows, ledger.Row[stored]{ID: r.ID, Value: r.Stored, Added: r.Added, Changed: r.Changed})
		}
	}
	for _, k := range all.Keys {
		f.remember(k)
	}
	return nil
}

// snapshot is the state as a frame.
func (f *session) snapshot() *snapshot {
	all := &snapshot{Settled: f.state.Settled, Tables: make([][]row, ledger.Kinds), Appended: f.state.Appended}
	for _, e := range f.state.Events.All {
		all.Events = append(all.Events, event(e))
	}
	all.Own.add("", &f.own)
	for kind := range f.state.Tables {
		for _, r := range f.state.Tables[kind].Rows {
			all.Tables[kind] = append(all.Tables[kind], row{r.ID, r.Added, r.Changed, r.Value})
		}
	}
	for _, k := range f.state.Keys.All {
		all.Keys = append(all.Keys, key{k.Key, k.Turn, k.Revision})
	}
	return all
}

// append appends a frame to the log, and returns when the disk has it. The caller holds f.mu.
func (f *session) append(kind byte, parts ...msgp.Marshaler) (err error) {
	data, err := appendFrame(nil, f.size, kind, parts...)
	if err != nil {
		return failed(f.head.ID, err.Error(), err)
	}
	if err = writeAt(f.log(), f.size, data, f.sync); err == nil {
		f.size += int64(len(data))
	}
	return err
}

// writeAt writes behind the end of a log, or leaves it as it is.
func writeAt(name string, size int64, data []byte, sync func(*os.File) error) (err error) {
	file, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err = file.WriteAt(data, size); err == nil {
		err = sync(file)
	}
	if err != nil {
		return errors.Join(err, file.Truncate(size)) // else the next one that reads the log cuts it
	}
	return nil
}

// create makes the log of a session that is not there, with what a snapshot has; nil for nothing. The disk has it when
// f.settle or f.append has returned. The caller holds f.mu.
func (s *Store) create(f *session, all *snapshot) error {
	parent := filepath.Dir(f.folder)
	f.unsynced = []string{f.folder, parent}
	if !s.hasName(parent) {
		f.unsynced = append(f.unsynced, filepath.Dir(parent), s.folder)
	}
	for _, name := range []string{bytesName, artifactsName} {
		if err := os.MkdirAll(filepath.Join(f.folder, name), 0o700); err != nil {
			return err
		}
	}
	now := time.Now().UnixMilli()
	s.mu.Lock()
	began := s.revision
	s.mu.Unlock()
	f.head = head{Version: formVersion, ID: f.head.ID, Created: now, Began: began, Revision: s.next()}
	title, newest, messages := f.summary.Title, f.summary.Newest, f.summary.Messages
	f.summary = summary{Title: title, Revision: f.head.Revision, Updated: now, Newest: newest, Messages: messages}
	f.state, f.own = &ledger.Session[stored]{Began: began, Revision: f.head.Revision}, scope{}
	if all != nil {
		if err := f.restore(all); err != nil {
			return err
		}
	}
	var err error
	if all != nil {
		err = f.rewrite()
	} else {
		err = f.start()
	}
	if err != nil {
		f.state = nil
		return err
	}
	f.there, f.fresh, f.synced = true, true, s.name
	s.used(f)
	s.updated(f)
	return nil
}

// start writes a log that has its head only.
func (f *session) start() error {
	data, err := appendFrame(nil, 0, frameHead, &f.head)
	if err == nil {
		err = os.WriteFile(f.log(), data, 0o600)
	}
	f.size = int64(len(data))
	return err
}

// sync returns when the disk has the log, of one that was just made also its name. The caller holds f.mu.
func (f *session) sync(file *os.File) error {
	if err := file.Sync(); err != nil || !f.fresh {
		return err
	}
	for _, folder := range f.unsynced {
		if err := syncFolder(folder); err != nil {
			return err
		}
	}
	if len(f.unsynced) > 0 {
		f.synced(f.unsynced[1])
	}
	f.fresh, f.unsynced = false, nil
	return nil
}

// settle returns when the disk has the log of a session that was just made. The caller holds f.mu.
func (f *session) settle() error {
	file, err := os.OpenFile(f.log(), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.sync(file), file.Close())
}

// rewrite writes the log anew: the head and a snapshot. The caller holds f.mu.
func (f *session) rewrite() error {
	data, err := appendFrame(nil, 0, frameHead, &f.head)
	if err == nil {
		data, err = appendFrame(data, int64(len(data)), frameSnapshot, &f.summary, f.snapshot())
	}
	if err != nil {
		return err
	}
	if err := replaceFile(f.log(), data); err != nil {
		return err
	}
	f.size, f.compact = int64(len(data)), max(4*int64(len(data)), leastCompact)
	return nil
}

// leastCompact is the size of the smallest log that is written anew, in bytes.
const leastCompact = 256 << 10

// tidy rewrites a log once most of its bytes are out of date. The caller holds f.mu.
func (s *Store) tidy(f *session) {
	if f.compact == 0 {
		f.compact = leastCompact
	}
	if f.size < f.compact {
		return
	}
	live := int64(0)
	for kind := range f.state.Tables {
		for _, r := range f.state.Tables[kind].Rows {
			live += int64(len(r.ID) + len(r.Value.Body) + 48)
		}
	}
	for i := range f.state.Events.All {
		live += int64(len(f.state.Events.All[i].ID) + len(f.state.Events.All[i].Body) + 16)
	}
	live += bytesOf(&f.own)
	f.compact = 2 * f.size
	if f.size > 2*live {
		_ = f.rewrite() // the log is as good as it was, only longer
	}
}

// replaceFile puts a file in the place of another one, or leaves that as it is.
func replaceFile(name string, data []byte) (err error) {
	file, err := os.OpenFile(name+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return settle(file, err, name)
}

// settle gives a file that was written its name, and returns when the disk has it. If writing has failed, the file is
// removed.
func settle(file *os.File, err error, name string) error {
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // err says what matters
		return err
	}
	return syncFolder(filepath.Dir(name))
}

// syncFolder returns when the disk has the names of a folder.
func syncFolder(name string) error {
	folder, err := os.Open(name)
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errors.Is(err, fs.ErrInvalid) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		err = nil // systems that cannot do it for folders need not
	}
	return errors.Join(err, folder.Close())
}
