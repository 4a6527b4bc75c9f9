package record_test

import (
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

func list(parts ...[]byte) []byte {
	b := value.AppendListHeader(nil, len(parts))
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

func fromJSON(t *testing.T, text string) []byte {
	t.Helper()
	v, err := value.FromJSON(nil, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const photo = `[2,"p1","image","image/png","a.png","first-party","opaque-perceptual","camera",12,` +
	`{"caption":{"value":[1],"trustTier":"third-party-public","derivedFromMedia":true},"note":{"value":null,"trustTier":"first-party"}}]`

// F2, F3, F11 and F17, as far as bodies can tell.
func TestCheckParts(t *testing.T) {
	artifact := record.AppendArtifact(nil, "SpooledArtifact", 7, 2, "")
	object := value.AppendMapHeader(nil, 0)
	media := fromJSON(t, photo)
	call := func(results []byte) []byte {
		return tuple("c", "t", object, "ab", nil, nil, true, false, results, nil, nil, false, false, 1, 2, 3)
	}
	found := func(content []byte) []byte {
		return tuple("r", content, "first-party", nil, nil, nil, false, 1, 2)
	}
	message := func(content any, attachments []byte) []byte {
		return tuple("m", "user", content, nil, 1, 2, attachments)
	}
	bad := func(field, with string) []byte { return fromJSON(t, strings.Replace(photo, field, with, 1)) }
	for _, c := range []struct {
		name string
		kind record.Kind
		body []byte
		want string // part of the message; empty for a valid body
	}{
		{"text", record.ToolCalls, call(tuple("")[1:]), ""},
		{"artifact", record.ToolCalls, call(artifact), ""},
		{"sizes unknown", record.ToolCalls, call(record.AppendArtifact(nil, "SpooledJsonArtifact", -1, -1, "ndjson")), ""},
		{"media", record.ToolCalls, call(media), ""},
		{"artifacts", record.ToolCalls, call(list(artifact, artifact)), ""},
		{"list of media", record.ToolCalls, call(list(media, media)), ""},
		{"no results", record.ToolCalls, call(list()), "`results` must have at least one entry"},
		{"mixed list", record.ToolCalls, call(list(artifact, media)), "`results` must be a string"},
		{"odd one in a list", record.ToolCalls, call(list(media, artifact, media)), "`results` must be a string"},
		{"list of texts", record.ToolCalls, call(fromJSON(t, `["a"]`)), "`results` must be a string"},
		{"object", record.ToolCalls, call(object), "`results` must be a string, a Tokenizable, a SpooledArtifact, a Media, or a list"},
		{"number", record.ToolCalls, call(tuple(5)[1:]), "`results` must be a string"},
		{"text part", record.ToolCalls, call(fromJSON(t, `[3,5]`)), "`results` must be a string"},
		{"artifact with a field too few", record.ToolCalls, call(fromJSON(t, `[1,"A",0,0]`)), "`results` must be a SpooledArtifact with its 5 fields"},
		{"artifact without a class", record.ToolCalls, call(record.AppendArtifact(nil, "", 0, 0, "")), "`results.className` must be a non-empty string"},
		{"negative size", record.ToolCalls, call(record.AppendArtifact(nil, "A", -2, 0, "")), "`results.bytes` must be a number from 0 on"},
		{"unknown form", record.ToolCalls, call(record.AppendArtifact(nil, "A", 0, 0, "xml")), "`results.form` must be one of"},
		{"bad element", record.ToolCalls, call(list(artifact, record.AppendArtifact(nil, "A", 0, -9, ""))), "`results[1].lines`"},

		{"retrieved text", record.Retrievables, found(tuple("x")[1:]), ""},
		{"retrieved artifact", record.Retrievables, found(artifact), ""},
		{"text that the host holds", record.Retrievables, found(fromJSON(t, `[3,5]`)), ""},
		{"empty text", record.Retrievables, found(tuple("")[1:]), "`content` must be a non-empty string"},
		{"media as content", record.Retrievables, found(media), "`content` must be a string, a Tokenizable or a SpooledArtifact"},
		{"no content", record.Retrievables, found(value.AppendNil(nil)), "`content` is required"},

		{"attachments and no content", record.Messages, message(nil, list(media)), ""},
		{"content and attachments", record.Messages, message("hi", list(media, media)), ""},
		{"neither", record.Messages, message(nil, value.AppendNil(nil)), "`content` or `attachments` is required"},
		{"no attachments", record.Messages, message("hi", list()), "`attachments` must have at least one entry"},
		{"no attachments and no content", record.Messages, message(nil, list()), "`attachments` must have at least one entry"},
		{"an artifact attached", record.Messages, message("hi", list(artifact)), "`attachments[0]` must be an instance of Media"},
		{"attachments that are no list", record.Messages, message("hi", object), "`attachments` must be a list"},
		{"empty content", record.Messages, message("", list(media)), "`content` must be a non-empty string"},

		{"media of no kind", record.ToolCalls, call(bad(`"image"`, `"picture"`)), "`results.kind` must be one of"},
		{"media without a MIME type", record.ToolCalls, call(bad(`"image/png"`, `""`)), "`results.mimeType`"},
		{"media without a name", record.ToolCalls, call(bad(`"a.png"`, `null`)), "`results.filename` is required"},
		{"media without a tier", record.ToolCalls, call(bad(`"first-party"`, `null`)), "`results.trustTier` is required"},
		{"media of another hazard", record.ToolCalls, call(bad(`"opaque-perceptual"`, `"none"`)), "`results.modalityHazard` must be one of"},
		{"stash without a value", record.ToolCalls, call(bad(`{"value":[1],`, `{`)), "`results.stash.caption.value` is required"},
		{"stash without a tier", record.ToolCalls, call(bad(`"third-party-public"`, `1`)), "`results.stash.caption.trustTier` must be one of"},
		{"stash with a mark that is none", record.ToolCalls, call(bad(`:true`, `:"yes"`)), "`results.stash.caption.derivedFromMedia` must be a boolean"},
		{"stash with a mark of null", record.ToolCalls, call(bad(`:true`, `:null`)), ""},
		{"stash of scalars", record.ToolCalls, call(bad(`{"value":null,"trustTier":"first-party"}`, `1`)), "`results.stash.note` must be an object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := record.Check(c.kind, c.body)
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(fault.MessageOf(err), c.want)):
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestPartViews(t *testing.T) {
	a := record.Artifact(record.AppendArtifact(nil, "SpooledJsonArtifact", 7, -1, "jsonl"))
	if string(a.ClassName()) != "SpooledJsonArtifact" || a.Bytes() != 7 || a.Lines() != -1 || string(a.Form()) != "jsonl" {
		t.Errorf("%q %d %d %q", a.ClassName(), a.Bytes(), a.Lines(), a.Form())
	}
	m := record.Media(fromJSON(t, photo))
	got := string(m.ID()) + " " + string(m.Kind()) + " " + string(m.MimeType()) + " " + string(m.Filename()) + " " + string(m.TrustTier()) + " " +
		string(m.ModalityHazard()) + " " + string(m.Source())
	if got != "p1 image image/png a.png first-party opaque-perceptual camera" || m.Bytes() != 12 || value.Len(m.Stash()) != 2 {
		t.Errorf("%s, %d bytes, %d in the stash", got, m.Bytes(), value.Len(m.Stash()))
	}
	held := record.AppendRetrievable(nil, record.RetrievableFields{ID: "r", Part: a, TrustTier: "first-party"})
	if r := record.Retrievable(held); string(r.Part()) != string(a) || len(r.Content()) != 0 {
		t.Errorf("part %x, content %q", r.Part(), r.Content())
	}
	plain := record.AppendRetrievable(nil, record.RetrievableFields{ID: "r", Content: []byte("doc"), TrustTier: "first-party"})
	if r := record.Retrievable(plain); r.Part() != nil || string(r.Content()) != "doc" {
		t.Errorf("part %x, content %q", r.Part(), r.Content())
	}
	attached := record.AppendMessage(nil, record.MessageFields{ID: "m", Role: "user", Attachments: list(m)})
	if err := record.Check(record.Messages, attached); err != nil || value.Len(record.Message(attached).Attachments()) != 1 {
		t.Error(err, record.Message(attached).Attachments())
	}
}

func TestEachPart(t *testing.T) {
	artifact := record.AppendArtifact(nil, "A", 0, 0, "")
	for _, c := range []struct {
		name string
		v    []byte
		want string
	}{
		{"one", artifact, "0:1"},
		{"list", list(artifact, tuple("x")[1:], artifact), "0:1 2:1"},
		{"text", tuple("x")[1:], ""},
		{"nothing", nil, ""},
		{"cut off", artifact[:3], "0:1"},
		{"a list that is cut off", list(artifact, artifact)[:9], "0:1"},
		{"another number first", fromJSON(t, `[9,1]`), ""},
	} {
		got := ""
		record.EachPart(c.v, func(i int, kind record.PartKind, part []byte) bool {
			got += " " + string(rune('0'+i)) + ":" + string(rune('0'+kind))
			return true
		})
		if strings.TrimSpace(got) != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Views and checks never panic, whatever the bytes.
func TestHostileParts(t *testing.T) {
	artifact := record.AppendArtifact(nil, "SpooledArtifact", 7, 2, "json")
	media := fromJSON(t, photo)
	bodies := [][]byte{
		tuple("m", "user", nil, nil, 1, 2, list(media)),
		tuple("c", "t", value.AppendMapHeader(nil, 0), "ab", true, false, list(artifact, artifact), nil, nil, false, false, 1, 2, 3),
		tuple("r", artifact, "first-party", nil, nil, nil, false, 1, 2),
	}
	for _, body := range bodies {
		for i := range body {
			for _, c := range []byte{0x00, 0x91, 0x95, 0xc0, 0xc4, 0xcf, 0xdb, 0xdc, 0xdd, 0xdf, 0xff} {
				hostile := append([]byte(nil), body...)
				hostile[i] = c
				for _, b := range [][]byte{hostile, hostile[:i]} {
					for kind := range record.Kind(record.Kinds) {
						_ = record.Check(kind, b)
					}
					for _, v := range [][]byte{record.Message(b).Attachments(), record.ToolCall(b).Results(), record.Retrievable(b).Part(), b[min(i, len(b)):]} {
						record.EachPart(v, func(_ int, _ record.PartKind, part []byte) bool {
							a, m := record.Artifact(part), record.Media(part)
							_, _, _, _ = a.ClassName(), a.Bytes(), a.Lines(), a.Form()
							_, _, _, _, _ = m.ID(), m.Kind(), m.Source(), m.Bytes(), m.Stash()
							return true
						})
					}
				}
			}
		}
	}
}
