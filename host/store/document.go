package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"
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

// document is a conversation as JSON. Records are as encoding/json has them.
type document struct {
	Format       string                     `json:"format"`
	V            int                        `json:"v"`
	ID           string                     `json:"id"`
	Title        string                     `json:"title"`
	CreatedAt    string                     `json:"createdAt"`
	Instructions []string                   `json:"instructions"`
	Memories     []json.RawMessage          `json:"memories"`
	Retrievables []json.RawMessage          `json:"retrievables"`
	Messages     []json.RawMessage          `json:"messages"`
	Thoughts     []json.RawMessage          `json:"thoughts"`
	ToolCalls    []json.RawMessage          `json:"toolCalls"`
	Events       []documentEvent            `json:"events"`
	State        []documentValue            `json:"state"`
	Artifacts    []documentArtifact         `json:"artifacts"`
	Bytes        map[string]json.RawMessage `json:"bytes"`
}

// Export writes a session as a JSON document that [Import] reads, and the npm package too, which writes the same bytes:
// its records as encoding/json has them, and the bytes that they refer to, as text or in base64; of an [Appender] also the
// session's events, and its own state and artifacts. See docs/records.md. It fails with E_SESSION_NOT_FOUND if the session
// has nothing of these, and with E_BYTES_NOT_FOUND if bytes are missing; nothing is written then.
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

// Import reads a document that [Export], or the npm package, has written, into a session that has no records, and returns
// the session's id: "" as session stands for the document's own. It fails with E_SESSION_EXISTS if the session has
// records or events, with E_STORED_RECORD_INVALID if the document is none, and with E_RECORD_UNSTORABLE if it has events,
// state or artifacts and the store is no [Appender]; the session has no records then.
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
		session = d.ID
	}
	if there, err := s.Load(ctx, session, ""); err != nil {
		return "", err
	} else if there != nil && !there.empty() {
		return "", SessionExists(session)
	}
	a, err := d.appended()
	if err != nil {
		return "", err
	}
	if err := a.check(ctx, s, session); err != nil {
		return "", err
	}
	deltas, err := d.deltas(s, session)
	if err != nil {
		return "", inSession(session, err)
	}
	if len(deltas) == 0 && a.empty() {
		return "", noDocument("it has no records", nil)
	}
	puts, err := d.bytesOf(deltas)
	if err != nil {
		return "", err
	}
	for _, put := range puts {
		if err := s.PutBytes(ctx, session, put.id, bytes.NewReader(put.content)); err != nil {
			return "", err
		}
	}
	if len(deltas) > 0 {
		if _, err := s.Commit(ctx, session, Commit{Deltas: deltas}); err != nil {
			return "", err
		}
	}
	if err := a.append(ctx, s, session); err != nil {
		return "", err
	}
	if sessions, ok := s.(Sessions); ok && d.Title != "" {
		return session, sessions.SetTitle(ctx, session, d.Title)
	}
	return session, nil
}

// noDocument says why a text is no document.
func noDocument(why string, cause error) error {
	return host.NewError(host.CodeStoredRecordInvalid, "the document: "+why, cause)
}

func readDocument(text []byte) (*document, error) {
	var head struct {
		Format string `json:"format"`
		V      int    `json:"v"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, noDocument(err.Error(), err)
	}
	switch {
	case head.Format != documentFormat:
		return nil, noDocument(fmt.Sprintf("its format is %q, not %q", head.Format, documentFormat), nil)
	case head.V < 1:
		return nil, noDocument("it has no version", nil)
	case head.V > documentVersion:
		return nil, noDocument(fmt.Sprintf("version %d: a document of a later version", head.V), nil)
	}
	var d document
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(&d); err != nil {
		return nil, noDocument(err.Error(), err)
	}
	if d.CreatedAt != "" {
		if _, err := time.Parse(time.RFC3339, d.CreatedAt); err != nil {
			return nil, noDocument("createdAt: it is not a time", err)
		}
	}
	return &d, nil
}

// deltas are the writes of a document's records.
func (d *document) deltas(s Store, session string) ([]Delta, error) {
	var deltas []Delta
	for i, text := range d.Instructions {
		if text == "" {
			return nil, noDocument(fmt.Sprintf("instructions[%d]: it is empty", i), nil)
		}
		deltas = append(deltas, Delta{Op: OpStore, Kind: record.KindInstruction.String(), ID: text, Record: record.NewInstruction(text)})
	}
	open := Opened(s, session)
	for _, of := range []struct {
		kind  record.Kind
		texts []json.RawMessage
	}{
		{record.KindMemory, d.Memories},
		{record.KindRetrievable, d.Retrievables},
		{record.KindMessage, d.Messages},
		{record.KindThought, d.Thoughts},
		{record.KindToolCall, d.ToolCalls},
	} {
		for _, text := range of.texts {
			r, err := record.UnmarshalJSON(of.kind, text, open)
			if err != nil {
				return nil, err
			}
			deltas = append(deltas, Delta{Op: OpStore, Kind: of.kind.String(), ID: record.Key(r), Record: r})
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

func (d *document) content(id string) ([]byte, error) {
	raw, there := d.Bytes[id]
	if !there {
		return nil, noDocument(fmt.Sprintf("bytes %q are missing", id), nil)
	}
	return contentIn(fmt.Sprintf("bytes %q", id), raw)
}

// contentIn reads what contentText has written. name is that of the member, for errors.
func contentIn(name string, raw json.RawMessage) ([]byte, error) {
	var c struct {
		Text   *string `json:"text"`
		Base64 *string `json:"base64"`
	}
	if len(raw) == 0 {
		return nil, noDocument(name+" is missing", nil)
	}
	in := json.NewDecoder(bytes.NewReader(raw))
	in.DisallowUnknownFields()
	if err := in.Decode(&c); err != nil {
		return nil, noDocument(fmt.Sprintf("%s: %v", name, err), err)
	}
	switch {
	case (c.Text == nil) == (c.Base64 == nil):
		return nil, noDocument(name+": one of text and base64 is required", nil)
	case c.Text != nil:
		return []byte(*c.Text), nil
	}
	content, err := base64.StdEncoding.DecodeString(*c.Base64)
	if err != nil {
		return nil, noDocument(fmt.Sprintf("%s: %v", name, err), err)
	}
	return content, nil
}
