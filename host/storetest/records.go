package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

// at is the n-th millisecond of the records here.
func at(n int) time.Time { return time.UnixMilli(1_700_000_000_000 + int64(n)).UTC() }

func message(id, text string) *record.Message { return record.NewMessage(id, record.User, text, at(0)) }

func memory(id, text string) *record.Memory { return record.NewMemory(id, text, 0.5, 0.25, at(0)) }

func toolCall(id, result string) *record.ToolCall {
	args, err := json.Marshal(map[string]string{"of": id})
	if err != nil {
		panic(err) // a map of text always has a JSON
	}
	return &record.ToolCall{
		ID: id, Tool: "look", Args: args, Checksum: "sum", Results: result, IsComplete: true, CreatedAt: at(0), UpdatedAt: at(0), CompletedAt: at(1),
	}
}

// put is the write that stores a record.
func put(r record.Record) store.Delta { return write(store.OpStore, r) }

// change is the write that replaces a record.
func change(r record.Record) store.Delta { return write(store.OpMutate, r) }

func write(op store.Op, r record.Record) store.Delta {
	return store.Delta{Op: op, Kind: record.KindOf(r).String(), ID: record.Key(r), Record: r}
}

func remove(kind record.Kind, id string) store.Delta {
	return store.Delta{Op: store.OpDelete, Kind: kind.String(), ID: id}
}

func replace(ids []string, calls ...*record.ToolCall) store.Delta {
	return store.Delta{Op: store.OpReplaceToolCallGroup, Kind: record.KindToolCall.String(), IDs: ids, Records: calls}
}

func rewrite(old, text string) store.Delta {
	return store.Delta{Op: store.OpMutate, Kind: record.KindInstruction.String(), ID: old, Record: record.NewInstruction(text)}
}

// unicodeText has characters of every length in UTF-8, characters that databases escape, and control characters.
const unicodeText = "a\x00b 'quote\" `back` \\ % _ \u00e9 \u4e2d\u6587 \U0001F600 \u200d \ufeff \ufffd \r\n\t \u2028 ${x} {{y}} <z> ; -- DROP"

// samples are records of each kind with all that a record may have.
func samples() []record.Record {
	score := 0.125
	photo := &record.Media{
		ID: "photo", Kind: record.Image, MimeType: "image/png", Filename: "a photo.png", Reader: record.NewBlob([]byte("\x89PNG\x00\xff")),
		TrustTier: record.ThirdPartyPrivate, ModalityHazard: record.OpaquePerceptual, Source: "camera",
		Stash: map[string]record.MediaNote{"caption": {Value: map[string]any{"text": unicodeText, "n": int64(3)}, TrustTier: record.FirstParty, DerivedFromMedia: true}},
	}
	payload := map[string]any{
		"int": int64(9007199254740991), "less": int64(-9007199254740991), "float": 0.1, "text": unicodeText, "no": false,
		"list": []any{int64(1), "two", nil, []any{}, map[string]any{}}, "__proto__": "own", "": "empty",
	}
	spooled := record.NewSpooledArtifact(record.NewBlob([]byte("one\ntwo\r\n\nfour"))).WithSizeHints(14, 4)
	table := record.NewSpooledJSONArtifact(record.NewBlob([]byte("{\"a\":1}\n{\"a\":2}\n")), record.JSONL)
	m := message("message", unicodeText)
	m.Identity, m.Attachments = &record.Identity{Identifier: "ann", Representation: "Ann"}, []*record.Media{photo}
	m.UpdatedAt = at(7)
	own := map[string]any{"__proto__": "x", "rating": int64(5), "tags": []any{unicodeText, nil, 0.5}, "": map[string]any{}}
	m.Metadata = own
	thought := record.NewThought("thought", "why", at(3))
	thought.Metadata = own
	thought.Payload, thought.ReplayCompatibility = payload, "some-model"
	blank := record.NewThought("blank", "", at(4))
	blank.Payload, blank.ReplayCompatibility = "opaque", "some-model"
	call := toolCall("call", "plain")
	call.ExecutionID, call.ProviderCallID, call.Inline, call.Args = "x1", "p1", true, json.RawMessage(`{"z":1,"a":[1.5,"b"],"m":{}}`)
	call.Payload, call.ReplayCompatibility = []any{"a", int64(0), 1.5}, "some-model"
	call.Metadata = own
	failed := toolCall("failed", "it is broken")
	failed.IsError = true
	withArtifact := toolCall("artifact", "")
	withArtifact.Results = spooled
	withArtifacts := toolCall("artifacts", "")
	withArtifacts.Results = []*record.SpooledArtifact{table, record.NewSpooledMarkdownArtifact(record.NewBlob(nil))}
	withMedia := toolCall("media", "")
	withMedia.Results = photo
	reader := toolCall("reader", "a line")
	reader.FromArtifactTool = true
	document := record.NewRetrievable("document", "what it says", record.ThirdPartyPublic, at(5))
	document.Source, document.Kind, document.Score, document.Inline = "https://example.com/", "page", &score, true
	document.Metadata = own
	large := record.NewRetrievable("large", "", record.FirstParty, at(6))
	large.Content = record.NewSpooledMarkdownArtifact(record.NewBlob([]byte("# Title\ntext")))
	liked := memory("liked", unicodeText)
	liked.Metadata = own
	return []record.Record{
		record.NewInstruction("Be brief."), record.NewInstruction(unicodeText), memory("memory", unicodeText), liked, record.NewMemory("bounds", "x", 0, 1, at(1)),
		document, large, m, record.NewMessage("answer", record.Assistant, "Hi.", at(2)), thought, blank,
		call, failed, withArtifact, withArtifacts, withMedia, reader,
	}
}

// show is all of a record, with what its readers read, as text.
func show(ctx context.Context, r record.Record) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %q", record.KindOf(r), record.Key(r))
	field := func(name string, v any) { fmt.Fprintf(&b, " %s=%v", name, v) }
	when := func(times ...time.Time) {
		for _, t := range times {
			field("at", t.UnixMilli())
		}
	}
	own := func(metadata map[string]any) {
		if len(metadata) > 0 {
			field("metadata", showValue(metadata))
		}
	}
	identity := func(i *record.Identity) {
		if i != nil {
			field("identity", *i)
		}
	}
	switch r := r.(type) {
	case *record.Memory:
		text, err := r.ContentString()
		field("content", shown(text, err))
		field("confidence", r.Confidence)
		field("importance", r.Importance)
		own(r.Metadata)
		when(r.CreatedAt, r.UpdatedAt)
	case *record.Retrievable:
		text, err := r.ContentString(ctx)
		field("content", shown(text, err))
		if a, is := r.Content.(*record.SpooledArtifact); is {
			field("artifact", showArtifact(ctx, a))
		}
		field("tier", r.TrustTier)
		field("source", r.Source)
		field("kind", r.Kind)
		if r.Score != nil {
			field("score", *r.Score)
		}
		field("inline", r.Inline)
		own(r.Metadata)
		when(r.CreatedAt, r.UpdatedAt)
	case *record.Message:
		text, err := r.ContentString()
		field("role", r.Role)
		field("content", shown(text, err))
		identity(r.Identity)
		for _, m := range r.Attachments {
			field("attachment", showMedia(m))
		}
		own(r.Metadata)
		when(r.CreatedAt, r.UpdatedAt)
	case *record.Thought:
		text, err := r.ContentString()
		field("content", shown(text, err))
		identity(r.Identity)
		field("payload", showValue(r.Payload))
		field("replay", r.ReplayCompatibility)
		own(r.Metadata)
		when(r.CreatedAt, r.UpdatedAt)
	case *record.ToolCall:
		field("tool", r.Tool)
		field("args", string(r.Args))
		field("sum", r.Checksum)
		field("ids", []string{r.ExecutionID, r.ProviderCallID})
		field("flags", []bool{r.IsComplete, r.IsError, r.FromArtifactTool, r.Inline})
		field("results", showResults(ctx, r.Results))
		field("payload", showValue(r.Payload))
		field("replay", r.ReplayCompatibility)
		own(r.Metadata)
		when(r.CreatedAt, r.UpdatedAt, r.CompletedAt)
	}
	return b.String()
}

func shown(text string, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprintf("%q", text)
}

func showValue(v any) string {
	text, err := json.Marshal(v)
	return shown(string(text), err)
}

func showResults(ctx context.Context, results any) string {
	switch r := results.(type) {
	case *record.SpooledArtifact:
		return showArtifact(ctx, r)
	case []*record.SpooledArtifact:
		list := make([]string, len(r))
		for i, a := range r {
			list[i] = showArtifact(ctx, a)
		}
		return strings.Join(list, " and ")
	case *record.Media:
		return showMedia(r)
	case []*record.Media:
		list := make([]string, len(r))
		for i, m := range r {
			list[i] = showMedia(m)
		}
		return strings.Join(list, " and ")
	}
	text, static := record.StaticText(results)
	if !static {
		return fmt.Sprintf("%T", results)
	}
	return fmt.Sprintf("%q", text)
}

func showArtifact(ctx context.Context, a *record.SpooledArtifact) string {
	text, err := a.AsString(ctx)
	lines, lineErr := a.LineCount(ctx)
	all, catErr := a.Cat(ctx, 0, 1000)
	return fmt.Sprintf("%s of %d lines, hinted %v: %s, %q, %v, %v", a.Class().Name, lines, a.HasSizeHints(), shown(text, err), all, lineErr, catErr)
}

func showMedia(m *record.Media) string {
	data, err := m.Bytes()
	notes := make([]string, 0, len(m.Stash))
	for name, note := range m.Stash {
		notes = append(notes, fmt.Sprintf("%s: %s %s %v", name, showValue(note.Value), note.TrustTier, note.DerivedFromMedia))
	}
	slices.Sort(notes)
	return fmt.Sprintf("%q %s %q %q %s %s %q %q: %s", m.ID, m.Kind, m.MimeType, m.Filename, m.TrustTier, m.ModalityHazard, m.Source, notes, shown(string(data), err))
}

// showAll is all of a loaded conversation.
func showAll(ctx context.Context, c *store.Conversation) []string {
	if c == nil {
		return nil
	}
	var list []string
	for _, text := range c.Instructions {
		list = append(list, show(ctx, record.NewInstruction(text)))
	}
	list = appendShown(ctx, list, c.Memories)
	list = appendShown(ctx, list, c.Retrievables)
	list = appendShown(ctx, list, c.Messages)
	list = appendShown(ctx, list, c.Thoughts)
	return appendShown(ctx, list, c.ToolCalls)
}

func appendShown[R record.Type](ctx context.Context, list []string, records []R) []string {
	for _, r := range records {
		list = append(list, show(ctx, r))
	}
	return list
}

// brief is the ids of a loaded conversation, the texts of messages and memories with them.
func brief(c *store.Conversation) string {
	if c == nil {
		return ""
	}
	list := slices.Clone(c.Instructions)
	for _, r := range c.Memories {
		list = append(list, r.ID+"="+r.Content)
	}
	for _, r := range c.Retrievables {
		list = append(list, r.ID)
	}
	for _, r := range c.Messages {
		list = append(list, r.ID+"="+r.Content)
	}
	for _, r := range c.Thoughts {
		list = append(list, r.ID)
	}
	for _, r := range c.ToolCalls {
		list = append(list, r.ID)
	}
	return strings.Join(list, " ")
}

// told is what was loaded, in brief.
func told(c *store.Conversation) string {
	return fmt.Sprintf("%q after %q at %q", brief(c), c.After, c.Revision)
}

// repeating is n bytes that are not all the same.
type repeating struct{ at, size int64 }

func (r *repeating) Read(p []byte) (int, error) {
	if r.at == r.size {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), r.size-r.at))
	for i := range n {
		p[i] = byteAt(r.at + int64(i))
	}
	r.at += int64(n)
	return n, nil
}

func byteAt(n int64) byte { return byte(n*31 + n>>10) }
