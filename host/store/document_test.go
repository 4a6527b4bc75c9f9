package store_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

// conversation is a document that JavaScript reads and writes too.
const conversation = "../../abi/testdata/records/conversation.json"

// withoutDate is a document without what the store's clock has put there.
func withoutDate(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, `  "createdAt": `) {
			return strings.Join(append(lines[:i:i], lines[i+1:]...), "\n")
		}
	}
	return text
}

// A conversation that is imported is exported as it was, also from another store.
func TestConversationsTravel(t *testing.T) {
	travels(t, conversation, "tea")
}

// So do events, state and artifacts.
func TestEventsTravel(t *testing.T) {
	travels(t, "../../abi/testdata/records/appended.json", "appended")
}

// What an event says of artifacts of its user stays where they are: neither a document that is written nor one that is
// read names them.
func TestArtifactsOfUsersStay(t *testing.T) {
	text, err := os.ReadFile("../../abi/testdata/records/own-events.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Title     string `json:"title"`
		Body, Own []byte
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) < 8 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	for _, c := range cases {
		s := store.NewInMemory()
		if _, err := s.Append(t.Context(), "s", store.Append{Event: &store.SessionEvent{ID: "e1", Body: c.Body}}); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := store.Export(t.Context(), s, "s", &out); err != nil {
			t.Fatal(err)
		}
		document, err := json.Marshal(map[string]any{
			"format": "turncore.conversation", "v": 1, "id": "s", "events": []any{map[string]any{"id": "e1", "body": map[string]any{"base64": c.Body}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		for from, document := range map[string][]byte{"written": out.Bytes(), "read": document} {
			other := store.NewInMemory()
			if _, err := store.Import(t.Context(), other, "", bytes.NewReader(document)); err != nil {
				t.Fatalf("%s, %s: %v", c.Title, from, err)
			}
			if list, err := other.Events(t.Context(), "s", store.EventQuery{}); err != nil || len(list) != 1 || !bytes.Equal(list[0].Body, c.Own) {
				t.Errorf("%s, %s: %q, %v, want %q", c.Title, from, list, err, c.Own)
			}
		}
		if !bytes.Equal(c.Body, c.Own) && strings.Contains(out.String(), base64.StdEncoding.EncodeToString(c.Body)) {
			t.Errorf("%s: the document has %s", c.Title, out.String())
		}
	}
}

func travels(t *testing.T, file, session string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s := store.NewInMemory()
		id, err := store.Import(t.Context(), s, "", bytes.NewReader(text))
		if err != nil || id != session {
			t.Fatalf("session %q: %v", id, err)
		}
		if _, err := store.Import(t.Context(), s, "", bytes.NewReader(text)); !errors.Is(err, host.CodeSessionExists) {
			t.Errorf("imported twice: %v", err)
		}
		_, err = store.Import(t.Context(), struct{ store.Store }{s}, "other", bytes.NewReader(text))
		if session == "appended" && !errors.Is(err, host.CodeRecordUnstorable) {
			t.Errorf("a store without events: %v", err)
		}
		var again bytes.Buffer
		if err := store.Export(t.Context(), s, id, &again); err != nil {
			t.Fatal(err)
		}
		if got, want := withoutDate(again.String()), withoutDate(string(text)); got != want {
			t.Errorf("exported\n%s\nwant\n%s", got, want)
		}
		text = again.Bytes()
	}
}

// What only this process can read travels with the conversation.
func TestExportOfReadersInMemory(t *testing.T) {
	s := store.NewInMemory()
	text, picture := record.NewBlob([]byte("one\ntwo")), record.NewBlob([]byte{0xff, 0xd8, 0})
	m := record.NewMessage("m", record.User, "look", at)
	m.Attachments = []*record.Media{record.UserAttachment(record.Image, "image/jpeg", "a.jpg", picture)}
	deltas := []store.Delta{
		{Op: store.OpStore, Kind: "message", ID: "m", Record: m},
		{Op: store.OpStore, Kind: "toolCall", ID: "c", Record: call("c", record.NewSpooledArtifact(text))},
	}
	if _, err := s.Commit(t.Context(), "a", store.Commit{Deltas: deltas}); err != nil {
		t.Fatal(err)
	}
	if err := s.SetTitle(t.Context(), "a", "Pictures"); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := store.Export(t.Context(), s, "a", &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"text": "one\ntwo"`, `"base64": "/9gA"`, `"title": "Pictures"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
	if _, err := store.Import(t.Context(), s, "b", &out); err != nil {
		t.Fatal(err)
	}
	c, err := s.Load(t.Context(), "b", "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.ToolCalls[0].Results.(*record.SpooledArtifact).AsString(t.Context()); got != "one\ntwo" || err != nil {
		t.Errorf("text %q: %v", got, err)
	}
	if got, err := c.Messages[0].Attachments[0].Bytes(); !reflect.DeepEqual(got, []byte{0xff, 0xd8, 0}) || err != nil {
		t.Errorf("picture %x: %v", got, err)
	}
	page, _, err := s.List(t.Context(), "", 1)
	if err != nil || page[0].Title != "Pictures" {
		t.Errorf("page %v: %v", page, err)
	}
}

func TestDocumentsThatAreRefused(t *testing.T) {
	text, err := os.ReadFile(conversation)
	if err != nil {
		t.Fatal(err)
	}
	change := func(old, new string) string {
		changed := strings.Replace(string(text), old, new, 1)
		if changed == string(text) {
			t.Fatalf("the document has no %s", old)
		}
		return changed
	}
	for document, want := range map[string]string{
		"{":                          "it is not JSON: ",
		`{"v": 1}`:                   "its format is",
		change(`"v": 1,`, `"v": 2,`): "version 2: a document of a later version",
		change(`"v": 1,`, `"v": 0,`): "it has no version",
		change(`"title"`, `"titel"`): "titel",
		change(`"createdAt": "2`, `"createdAt": "x2`):     "createdAt: it is not a time",
		change(`"role": "user"`, `"role": "boss"`):        `session "new", message "q1": `,
		change(`"Answer in French."`, `""`):               "instructions[0]: it is empty",
		change(`"b-text": {`, `"b-other": {`):             `bytes "b-text" are missing`,
		change(`"base64": "`, `"base64": "!`):             `bytes "b-image": `,
		change(`"text": "one`, `"texts": "one`):           `bytes "b-text": `,
		change(`"text": "one`, `"base64": "", "text": "`): "one of text and base64 is required",
	} {
		s := store.NewInMemory()
		_, err := store.Import(t.Context(), s, "new", strings.NewReader(document))
		if !errors.Is(err, host.CodeStoredRecordInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if page, _, err := s.List(t.Context(), "", 0); len(page) > 0 || err != nil {
			t.Errorf("%s: it left %v: %v", want, page, err)
		}
	}
	s := store.NewInMemory()
	if _, err := store.Import(t.Context(), s, "", bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Import(t.Context(), s, "", bytes.NewReader(text)); !errors.Is(err, host.CodeSessionExists) {
		t.Errorf("imported twice: %v", err)
	}
	if err := store.Export(t.Context(), s, "none", &bytes.Buffer{}); !errors.Is(err, host.CodeSessionNotFound) {
		t.Errorf("exported what is not there: %v", err)
	}
	if err := s.Delete(t.Context(), "tea"); err != nil {
		t.Fatal(err)
	}
}

// What is wrong with a document is told in the words of JavaScript, and nothing is stored.
func TestDocumentsAreRefusedByName(t *testing.T) {
	text, err := os.ReadFile("../../abi/testdata/records/documents.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Document json.RawMessage `json:"document"`
		Says     string          `json:"says"` // "" for a document that is taken
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) < 50 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	for _, c := range cases {
		s := store.NewInMemory()
		_, err := store.Import(t.Context(), s, "", bytes.NewReader(c.Document))
		if c.Says == "" {
			if err != nil {
				t.Errorf("%s: %v", c.Document, err)
			}
			continue
		}
		var failed *host.Error
		if !errors.As(err, &failed) || failed.Code != host.CodeStoredRecordInvalid || !strings.HasSuffix(failed.Message, ": the document: "+c.Says) {
			t.Errorf("%s\nfails with %v\nnot with %s", c.Document, err, c.Says)
		}
		if page, _, err := s.List(t.Context(), "", 0); len(page) > 0 || err != nil {
			t.Errorf("%s: it left %v: %v", c.Says, page, err)
		}
	}
}

// failing is a store whose n-th write fails.
type failing struct {
	*store.InMemory
	left    int
	failure error
}

func (f *failing) fails() error {
	if f.left--; f.left == 0 {
		return f.failure
	}
	return nil
}

func (f *failing) PutBytes(ctx context.Context, session, id string, content io.Reader) error {
	if err := f.fails(); err != nil {
		return err
	}
	return f.InMemory.PutBytes(ctx, session, id, content)
}

func (f *failing) Commit(ctx context.Context, session string, c store.Commit) (string, error) {
	if err := f.fails(); err != nil {
		return "", err
	}
	return f.InMemory.Commit(ctx, session, c)
}

func (f *failing) Append(ctx context.Context, session string, a store.Append) (string, error) {
	if err := f.fails(); err != nil {
		return "", err
	}
	return f.InMemory.Append(ctx, session, a)
}

func (f *failing) SetTitle(ctx context.Context, session, title string) error {
	if err := f.fails(); err != nil {
		return err
	}
	return f.InMemory.SetTitle(ctx, session, title)
}

// whole is a document with records, bytes, events, state and artifacts.
func whole(t *testing.T) string {
	t.Helper()
	members := make(map[string]json.RawMessage)
	for _, file := range []string{"appended", "conversation"} {
		text, err := os.ReadFile("../../abi/testdata/records/" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &members); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Whichever write fails, nothing is left of a session that was not there, and the import can be done again.
func TestImportsThatFailLeaveNothing(t *testing.T) {
	text, writes := whole(t), 0
	for n := 1; ; n++ {
		s := &failing{InMemory: store.NewInMemory(), left: n, failure: errors.New("the disk is full")}
		ctx, cancel := context.WithCancel(t.Context())
		_, err := store.Import(ctx, s, "s", strings.NewReader(text))
		cancel()
		if s.left > 0 && err == nil {
			break
		}
		if writes = n; !errors.Is(err, s.failure) {
			t.Fatalf("write %d: %v", n, err)
		}
		if page, _, err := s.List(t.Context(), "", 0); len(page) > 0 || err != nil {
			t.Fatalf("write %d left %v: %v", n, page, err)
		}
		if _, err := store.Import(t.Context(), s, "s", strings.NewReader(text)); err != nil {
			t.Fatalf("again after write %d: %v", n, err)
		}
	}
	if writes < 12 {
		t.Errorf("%d writes", writes)
	}
}

// meeting is a store in which another writer appends to the session "s" before the import's n-th append.
type meeting struct {
	*store.InMemory
	left int
}

func (m *meeting) Append(ctx context.Context, session string, a store.Append) (string, error) {
	if m.left--; m.left == 0 {
		if _, err := m.InMemory.Append(ctx, "s", store.Append{Event: &store.SessionEvent{ID: "theirs"}}); err != nil {
			return "", err
		}
	}
	return m.InMemory.Append(ctx, session, a)
}

// What another writer has stored meanwhile stays: the import is what fails.
func TestImportsKeepWhatOthersStore(t *testing.T) {
	for n := 1; n <= 6; n++ {
		s := &meeting{store.NewInMemory(), n}
		_, err := store.Import(t.Context(), s, "s", strings.NewReader(whole(t)))
		if !errors.Is(err, host.CodeSessionConflict) {
			t.Fatalf("append %d: %v", n, err)
		}
		events, err := s.Events(t.Context(), "s", store.EventQuery{Limit: 1, Newest: true})
		if err != nil || len(events) != 1 || events[0].ID != "theirs" {
			t.Errorf("append %d: events %v: %v", n, events, err)
		}
	}
}

// FuzzImport: a document is imported and exported as it then is, or refused.
func FuzzImport(f *testing.F) {
	text, err := os.ReadFile(conversation)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		s := store.NewInMemory()
		id, err := store.Import(t.Context(), s, "s", bytes.NewReader(text))
		if err != nil {
			if !errors.Is(err, host.CodeStoredRecordInvalid) {
				t.Fatal(err)
			}
			return
		}
		export := func(s *store.InMemory) string {
			var out bytes.Buffer
			if err := store.Export(t.Context(), s, id, &out); err != nil {
				t.Fatal(err)
			}
			return out.String()
		}
		first := export(s)
		other := store.NewInMemory()
		if _, err := store.Import(t.Context(), other, "s", strings.NewReader(first)); err != nil {
			t.Fatalf("%v\n%s", err, first)
		}
		if second := export(other); withoutDate(second) != withoutDate(first) {
			t.Fatalf("%s\nbecame\n%s", first, second)
		}
	})
}
