package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
)

// documentFormat names what Export writes, and documentVersion its version.
const (
	documentFormat  = "turncore.conversation"
	documentVersion = 1
)

// document is a conversation that was read. Its records are as encoding/json has them.
type document struct {
	id, title    string
	instructions []string
	records      [len(recordLists)][]json.RawMessage
	bytes        map[string]json.RawMessage
	members      map[string]json.RawMessage // of the whole document
}

// recordLists are the lists of records of a document, in their order.
var recordLists = [...]struct {
	name string
	kind record.Kind
}{
	{"memories", record.KindMemory},
	{"retrievables", record.KindRetrievable},
	{"messages", record.KindMessage},
	{"thoughts", record.KindThought},
	{"toolCalls", record.KindToolCall},
}

// Export writes a session as a JSON document that [Import] reads, and the npm package too, which writes the same bytes:
// its records as encoding/json has them, and the bytes that they refer to, as text or in base64; of an [Appender] also
// the session's events, and its own state and artifacts. See docs/records.md. It fails with E_SESSION_NOT_FOUND if the
// session has nothing of these, and with E_BYTES_NOT_FOUND if bytes are missing; nothing is written then.
func Export(ctx context.Context, s Store, session string, w io.Writer) error {
	c, err := s.Load(ctx, session, "")
	if err != nil {
		return err
	}
	if c == nil {
		c = &Conversation{}
	}
	a, err := appendedTo(ctx, s, session)
	if err != nil {
		return err
	}
	if c.empty() && a.empty() {
		return NoSession(session)
	}
	e := exporter{ctx: ctx, bytes: map[string]any{}}
	e.add("format", quoted(documentFormat))
	e.add("v", strconv.AppendInt(nil, documentVersion, 10))
	e.add("id", quoted(session))
	if err := e.describe(s, session); err != nil {
		return err
	}
	texts := make([][]byte, len(c.Instructions))
	for i, text := range c.Instructions {
		texts[i] = quoted(text)
	}
	e.addList("instructions", texts)
	addRecords(&e, "memories", c.Memories)
	addRecords(&e, "retrievables", c.Retrievables)
	addRecords(&e, "messages", c.Messages)
	addRecords(&e, "thoughts", c.Thoughts)
	addRecords(&e, "toolCalls", c.ToolCalls)
	a.addTo(&e)
	if e.err == nil {
		e.err = e.addBytes()
	}
	if e.err != nil {
		return inSession(session, e.err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, append(e.out, '}'), "", "  "); err != nil {
		return err
	}
	out.WriteByte('\n')
	_, err = w.Write(out.Bytes())
	return err
}

func (c *Conversation) empty() bool {
	return len(c.Instructions)+len(c.Memories)+len(c.Retrievables)+len(c.Messages)+len(c.Thoughts)+len(c.ToolCalls) == 0
}

// exporter writes the members of a document.
type exporter struct {
	ctx   context.Context
	out   []byte
	ids   []string // of bytes, in the order of the first reference
	bytes map[string]any
	err   error
}

func quoted(text string) []byte { return value.AppendJSONString(nil, text) }

func (e *exporter) add(name string, text []byte) {
	first := byte(',')
	if len(e.out) == 0 {
		first = '{'
	}
	e.out = append(value.AppendJSONString(append(e.out, first), name), ':')
	e.out = append(e.out, text...)
}

func (e *exporter) addList(name string, texts [][]byte) {
	e.add(name, append(append([]byte{'['}, bytes.Join(texts, []byte{','})...), ']'))
}

// describe adds what a store that lists its sessions says of one.
func (e *exporter) describe(s Store, session string) error {
	sessions, ok := s.(Sessions)
	if !ok {
		return nil
	}
	found, err := sessions.Find(e.ctx, session)
	if err != nil || found == nil {
		return err
	}
	if found.Title != "" {
		e.add("title", quoted(found.Title))
	}
	e.add("createdAt", quoted(found.CreatedAt.UTC().Format("2006-01-02T15:04:05.000Z")))
	return nil
}

func addRecords[R record.Record](e *exporter, name string, list []R) {
	texts := make([][]byte, len(list))
	for i, r := range list {
		body, err := record.MarshalKeeping(r, e.keep)
		if err == nil {
			texts[i], err = record.JSONOf(record.KindOf(r), body)
		}
		if err != nil && e.err == nil {
			e.err = err
		}
	}
	if e.err == nil {
		e.addList(name, texts)
	}
}

// keep notes the bytes of a reader. Those without an id get one by their content.
func (e *exporter) keep(reader any) (*record.Stored, error) {
	stored, ok := reader.(*record.Stored)
	if !ok {
		id, size, err := contentOf(e.ctx, reader)
		if err != nil {
			return nil, err
		}
		stored = record.NewStored(id, size, nil, nil)
	}
	id := stored.BytesID()
	if _, known := e.bytes[id]; !known {
		e.ids = append(e.ids, id)
		e.bytes[id] = reader
	}
	return stored, nil
}

// addBytes adds the bytes that the records refer to.
func (e *exporter) addBytes() error {
	if len(e.ids) == 0 {
		e.add("bytes", []byte("{}"))
		return nil
	}
	inner := exporter{}
	slices.SortStableFunc(e.ids, byIndex)
	for _, id := range e.ids {
		var content bytes.Buffer
		if _, err := readOut(e.ctx, e.bytes[id], &content); err != nil {
			var failed *host.Error
			if errors.As(err, &failed) && failed.Cause != nil && failed.Code == host.CodeRecordUnstorable {
				return failed.Cause
			}
			return err
		}
		inner.add(id, contentText(content.Bytes()))
	}
	e.add("bytes", append(inner.out, '}'))
	return nil
}

// contentText is what a document has of bytes.
func contentText(content []byte) []byte {
	one := exporter{}
	if utf8.Valid(content) {
		one.add("text", value.AppendJSONText(nil, content))
	} else {
		one.add("base64", quoted(base64.StdEncoding.EncodeToString(content)))
	}
	return append(one.out, '}')
}

// byIndex puts ids that look like the index of a list first, ascending, as the members of an ECMAScript object are.
func byIndex(a, b string) int {
	m, first := index(a)
	n, second := index(b)
	switch {
	case first && second:
		return cmp.Compare(m, n)
	case first:
		return -1
	case second:
		return 1
	}
	return 0
}

func index(id string) (n uint64, ok bool) {
	n, err := strconv.ParseUint(id, 10, 32)
	return n, err == nil && n < math.MaxUint32 && strconv.FormatUint(n, 10) == id
}

// Import reads a document that [Export], or the npm package, has written, into a session that has no records, and
// returns the session's id: "" as session stands for the document's own. It fails with E_SESSION_EXISTS if the session
// has records or events, with E_STORED_RECORD_INVALID, which names the member, if the document is none, and with
// E_RECORD_UNSTORABLE if it has events, state or artifacts and the store is no [Appender]; nothing is stored then.
//
// If the store is a [Sessions] and the session is not there, the import is all or nothing: whatever fails, and wherever
// the process ends. Import writes another session first, whose id begins with "%import/", and then makes the session by
// Fork. What an import that was cut off has left under such an id is deleted by the next import of the same session. A
// session that somebody else has made meanwhile is E_SESSION_CONFLICT. In another store, and in a session that is there
// and empty, the document is written bit by bit.
func Import(ctx context.Context, s Store, session string, r io.Reader) (id string, err error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return "", err
	}
	d, err := readDocument(text)
	if err != nil {
		return "", err
	}
	if session == "" {
		session = d.id
	}
	i := importing{store: s, session: session, at: session, title: d.title}
	if err := i.requireNone(ctx); err != nil {
		return "", err
	}
	if i.parts, err = d.appended(); err != nil {
		return "", err
	}
	if err := i.parts.check(s, session); err != nil {
		return "", err
	}
	if i.deltas, err = d.deltas(i.open()); err != nil {
		return "", inSession(session, err)
	}
	if i.puts, err = d.bytesOf(i.deltas); err != nil {
		return "", inSession(session, err)
	}
	if len(i.deltas) == 0 && i.parts.empty() {
		return "", noDocument("it has no records", nil)
	}
	write := i.write
	if i.at != session {
		write = i.aside
	}
	if err := write(ctx); err != nil {
		return "", err
	}
	return session, nil
}

// importing is what Import writes.
type importing struct {
	store    Store
	session  string
	at       string // the session that it writes: the same, or one aside
	title    string
	revision string // of the session, as far as the import knows it
	puts     []put
	deltas   []Delta
	parts    *appendedParts
}

// requireNone fails with E_SESSION_EXISTS if the session has records or events. If it is not there at all, and the
// store can make it at once, it is written aside.
func (i *importing) requireNone(ctx context.Context) error {
	there, err := i.store.Load(ctx, i.session, "")
	if err != nil {
		return err
	}
	appended, err := appendedTo(ctx, i.store, i.session)
	if err != nil {
		return err
	}
	if there != nil && !there.empty() || !appended.empty() {
		i.sweep(ctx)
		return SessionExists(i.session)
	}
	if there != nil {
		i.revision = there.Revision
	}
	s, ok := i.store.(Sessions)
	if !ok {
		return nil
	}
	found, err := s.Find(ctx, i.session)
	if err == nil && found == nil {
		i.at, i.revision = asideOf(i.session)+rand.Text(), ""
	}
	return err
}

// open returns the opener of the document's bytes. A record of a store that keeps it as it is reads them from the
// session, and from where the import writes until that is there.
func (i *importing) open() record.Opener {
	home := homeOf(i.store, i.at)
	return func(id string, size int64) *record.Stored {
		return record.NewStored(id, size, home, func(ctx context.Context) (io.ReaderAt, int64, error) {
			content, n, err := i.store.OpenBytes(ctx, i.session, id)
			if i.at != i.session && errors.Is(err, host.CodeBytesNotFound) {
				return i.store.OpenBytes(ctx, i.at, id)
			}
			return content, n, err
		})
	}
}

// aside writes another session, and then makes the one that is meant of it, in one transaction.
func (i *importing) aside(ctx context.Context) error {
	s := i.store.(Sessions)
	err := i.write(ctx)
	if err == nil {
		err = s.Fork(ctx, i.at, i.session)
	}
	if errors.Is(err, host.CodeSessionExists) || errors.Is(err, host.CodeSessionNotFound) {
		err = AppendConflict(i.session, "", "") // it was not there before; another import that has made it sweeps
	}
	ctx = context.WithoutCancel(ctx)
	if err != nil {
		_ = s.Delete(ctx, i.at) // the first failure is the one to tell
		return err
	}
	i.sweep(ctx)
	return nil
}

// asideOf begins the ids of what imports of a session write aside.
func asideOf(session string) string {
	sum := sha256.Sum256([]byte(session))
	return "%import/" + ContentID(sum[:]) + "/"
}

// sweep deletes what imports of the session have left aside. The session is there: none of them can make it any more.
// What stays, because the store fails, is swept by another import.
func (i *importing) sweep(ctx context.Context) {
	s, ok := i.store.(Sessions)
	if !ok {
		return
	}
	page, _, _ := s.ListOf(ctx, asideOf(i.session), "", 0)
	for k := range page {
		_ = s.Delete(ctx, page[k].ID)
	}
}

// write writes what the document has, bit by bit.
func (i *importing) write(ctx context.Context) (err error) {
	for _, put := range i.puts {
		if err := i.store.PutBytes(ctx, i.at, put.id, bytes.NewReader(put.content)); err != nil {
			return err
		}
	}
	if len(i.deltas) > 0 {
		commit := Commit{Deltas: i.deltas, Revision: i.revision}
		if i.revision, err = i.store.Commit(ctx, i.at, commit); err != nil {
			return err
		}
	}
	if err := i.parts.append(ctx, i.store, i.at, i.revision); err != nil || i.title == "" {
		return err
	}
	if s, ok := i.store.(Sessions); ok {
		return s.SetTitle(ctx, i.at, i.title)
	}
	return nil
}

// deltas are the writes of a document's records.
func (d *document) deltas(open record.Opener) ([]Delta, error) {
	var deltas []Delta
	for _, text := range d.instructions {
		deltas = append(deltas, Delta{Op: OpStore, Kind: record.KindInstruction.String(), ID: text, Record: record.NewInstruction(text)})
	}
	for i, list := range recordLists {
		for _, text := range d.records[i] {
			r, err := record.UnmarshalJSON(list.kind, text, open)
			if err != nil {
				return nil, err
			}
			deltas = append(deltas, Delta{Op: OpStore, Kind: list.kind.String(), ID: record.Key(r), Record: r})
		}
	}
	return deltas, nil
}

// put is bytes to be put.
type put struct {
	id      string
	content []byte
}

// bytesOf are the bytes that records refer to, each once, in their order.
func (d *document) bytesOf(deltas []Delta) (puts []put, err error) {
	seen := make(map[string]bool)
	for i := range deltas {
		for _, id := range record.BytesOf(deltas[i].Record.(record.Record)) {
			if seen[id] {
				continue
			}
			seen[id] = true
			p := put{id: id}
			if p.content, err = d.content(id); err != nil {
				return nil, err
			}
			puts = append(puts, p)
		}
	}
	return puts, nil
}
