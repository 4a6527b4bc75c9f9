package recording

import (
	"encoding/json"
	"reflect"
	"testing"
)

// mediaOf is a part in JSON as it is compared, and as it is played.
func mediaOf(t *testing.T, part string) (normal string, played Media) {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(part), &v); err != nil {
		t.Fatal(err)
	}
	return string(text(normalMedia(v))), readMedia(v)
}

func TestMediaOfParts(t *testing.T) {
	for _, c := range []struct {
		part, normal string
		played       Media
	}{
		{
			`{"type":"image_url","image_url":{"url":"data:image/PNG;x=y;base64,_-8"}}`,
			`{"data":"/+8=","kind":"image","mimeType":"image/png"}`,
			Media{"image", "image/png", "image", []byte{0xff, 0xef}, ""},
		},
		{
			`{"type":"image_url","image_url":{"url":"DATA:image/jpg,a%62%c3%","detail":"low"},"other":1}`,
			`{"data":"YWLDJQ==","detail":"low","kind":"image","mimeType":"image/jpeg","other":1}`,
			Media{"image", "image/jpeg", "image", []byte("ab\xc3%"), ""},
		},
		{
			`{"type":"image_url","image_url":{"url":"data:image/png;base64,A A\r\nA"}}`,
			`{"data":"AAA=","kind":"image","mimeType":"image/png"}`,
			Media{"image", "image/png", "image", []byte{0, 0}, ""},
		},
		{
			`{"type":"image_url","image_url":{"url":"data:image/png;base64,A"}}`,
			`{"kind":"image","url":"data:image/png;base64,A"}`,
			Media{"image", "text/uri-list", "png;base64,A", []byte("data:image/png;base64,A"), "data:image/png;base64,A"},
		},
		{
			`{"type":"image_url","image_url":"https://x.example/d/a.png?b=/"}`,
			`{"kind":"image","url":"https://x.example/d/a.png?b=/"}`,
			Media{"image", "text/uri-list", "a.png", []byte("https://x.example/d/a.png?b=/"), "https://x.example/d/a.png?b=/"},
		},
		{
			`{"type":"input_audio","input_audio":{"data":"AAAA","format":"MP3"}}`,
			`{"data":"AAAA","kind":"audio","mimeType":"audio/mpeg"}`,
			Media{"audio", "audio/mpeg", "audio", []byte{0, 0, 0}, ""},
		},
		{
			`{"type":"file","file":{"file_data":"data:application/pdf;base64,AAAA","filename":"a.pdf"}}`,
			`{"data":"AAAA","filename":"a.pdf","kind":"document","mimeType":"application/pdf"}`,
			Media{"document", "application/pdf", "a.pdf", []byte{0, 0, 0}, ""},
		},
		{
			`{"type":"file","file":{"file_id":"f1","filename":" "}}`,
			`{"file_id":"f1","filename":" ","kind":"document"}`,
			Media{"document", "application/json", "document", []byte(`{"file":{"file_id":"f1","filename":" "},"type":"file"}`), ""},
		},
		{
			`{"type":"image_url","image_url":{"url":"data:,x","data":"y"}}`,
			`{"kind":"document","part":{"image_url":{"data":"y","url":"data:,x"},"type":"image_url"}}`,
			Media{"document", "application/json", "document", []byte(`{"image_url":{"data":"y","url":"data:,x"},"type":"image_url"}`), ""},
		},
		{
			`{"type":["image_url"],"image_url":5}`,
			`{"kind":"document","part":{"image_url":5,"type":["image_url"]}}`,
			Media{"document", "application/json", "document", []byte(`{"image_url":5,"type":["image_url"]}`), ""},
		},
	} {
		normal, played := mediaOf(t, c.part)
		if normal != c.normal || !reflect.DeepEqual(played, c.played) {
			t.Errorf("%s: %s, %+v", c.part, normal, played)
		}
	}
}

func TestNotesOfMedia(t *testing.T) {
	for in, want := range map[string]string{
		`"a"`: `{"content":"a"}`,
		`"a\n\n[image media-1-2 \"b\\\"]\", image/png]\n[document media-0-0 \"\"]"`: `{"content":"a","stand_ins":["[image media-1-2 \"b\\\"]\", image/png]","[document media-0-0 \"\"]"]}`,
		`"[audio media-0-0 \"a\"]"`:       `{"content":"","stand_ins":["[audio media-0-0 \"a\"]"]}`,
		`"a\n[audio media-0-0 \"a\"]"`:    `{"content":"a\n[audio media-0-0 \"a\"]"}`,
		`"a\n\n[audio 0-0 \"a\"]"`:        `{"content":"a\n\n[audio 0-0 \"a\"]"}`,
		`"a\n\n[audio media-0-0 \"a\"] "`: `{"content":"a\n\n[audio media-0-0 \"a\"] "}`,
		`[{"text":"[image media-0-1 \"a\"]"},{"text":"[image media-0-0 \"a\"]"},{"type":"image_url"}]`: `{"content":[{"type":"image_url"}],"notes":["[image media-0-0 \"a\"]"],"stand_ins":["[image media-0-1 \"a\"]"]}`,
	} {
		var content any
		if err := json.Unmarshal([]byte(in), &content); err != nil {
			t.Fatal(err)
		}
		m := map[string]any{"content": content}
		takeNotes([]any{m, 5})
		if got := string(text(m)); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
