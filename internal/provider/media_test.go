package provider_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/record"
)

// medium is a media as a record has it.
func medium(t *testing.T, kind, mimeType, name string) []byte {
	t.Helper()
	v, err := value.FromJSON(nil,
		[]byte(`[2,"p","`+kind+`","`+mimeType+`","`+name+`","first-party","inert",null,7,null]`))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// show adds a user's message with media, and give a call whose results are those.
func (d *dispatch) show(content string, media ...[]byte) {
	d.clock++
	list := value.AppendListHeader(nil, len(media))
	for _, m := range media {
		list = append(list, m...)
	}
	d.add(record.Messages, record.AppendMessage(nil, record.MessageFields{
		ID: "m", Role: "user", Content: []byte(content), Attachments: list, CreatedAt: d.clock, UpdatedAt: d.clock,
	}))
}

func (d *dispatch) give(media []byte) {
	d.clock++
	d.add(record.ToolCalls, record.AppendToolCall(nil, record.ToolCallFields{
		ID: "c1", Tool: "get", Args: value.AppendMapHeader(nil, 0), Checksum: "s", IsComplete: true, Results: media,
		CreatedAt: d.clock, UpdatedAt: d.clock, CompletedAt: d.clock,
	}))
}

// filled is the conversation of a request with AAAA in the places of media.
func filled(t *testing.T, r *runtime.HTTPRequest) string {
	t.Helper()
	body, from, out := string(r.Body), 0, ""
	for _, s := range r.Splices {
		out += body[from:s.At] + "AAAA"
		from = s.At
	}
	if out += body[from:]; !json.Valid([]byte(out)) {
		t.Errorf("no JSON: %s", out)
	}
	for _, name := range []string{`"messages":`, `"input":`, `"contents":`} {
		if _, list, ok := strings.Cut(out, name); ok {
			return strings.TrimSuffix(list, "}")
		}
	}
	return out
}

func TestMedia(t *testing.T) {
	const note, doc = `[image p \"a.png\", image/png]`, `[document p \"a.pdf\", application/pdf]`
	for _, c := range []struct {
		provider  chat.Provider
		kind      string
		mime      string
		said, got string
	}{
		{
			provider.Anthropic, "image", "image/png",
			`{"role":"user","content":[{"type":"text","text":"see"},{"type":"text","text":"` + note +
				`"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"` +
				note + `"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]}`,
		},
		{
			provider.Anthropic, "document", "application/pdf",
			`{"role":"user","content":[{"type":"text","text":"see"},{"type":"text","text":"` + doc +
				`"},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"},"title":"a.pdf"}]}`,
			`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"},` +
				`"title":"a.pdf"}]}]}`,
		},
		{
			provider.Responses, "image", "image/png",
			`{"type":"message","role":"user","content":[{"type":"input_text","text":"see"},` +
				`{"type":"input_text","text":"` + note +
				`"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}`,
			`{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"` + note +
				`"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}`,
		},
		{
			provider.Responses, "document", "application/pdf",
			`{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}]}`,
			`{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"` + doc +
				`"},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}]}`,
		},
		{
			provider.Gemini, "image", "image/png",
			`{"role":"user","parts":[{"text":"see"},{"text":"` + note +
				`"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}`,
			`{"role":"user","parts":[{"functionResponse":{"name":"get","response":{"output":"` + note +
				`"}}}]},{"role":"user","parts":[{"text":"What the tools gave:"},{"text":"` + note +
				`"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}`,
		},
		{
			provider.Gemini, "video", "video/mp4",
			`{"text":"[video p \"a.mp4\", video/mp4]"},{"inlineData":{"mimeType":"video/mp4","data":"AAAA"}}]}`,
			`{"inlineData":{"mimeType":"video/mp4","data":"AAAA"}}]}`,
		},
		{
			provider.Ollama, "image", "image/png",
			`{"role":"user","content":"see\n` + note + `","images":["AAAA"]}`,
			`{"role":"tool","tool_name":"get","content":"` + note +
				`"},{"role":"user","content":"What the tools gave:\n` + note + `","images":["AAAA"]}`,
		},
		{
			provider.OpenAI, "audio", "audio/mpeg",
			`{"role":"user","content":[{"type":"text","text":"see"},` +
				`{"type":"text","text":"[audio p \"a.mpeg\", audio/mpeg]"},{"type":"input_audio",` +
				`"input_audio":{"data":"AAAA","format":"mp3"}}]}`,
			`{"role":"user","content":[{"type":"text","text":"What the tools gave:"},` +
				`{"type":"text","text":"[audio p \"a.mpeg\", audio/mpeg]"},{"type":"input_audio",` +
				`"input_audio":{"data":"AAAA","format":"mp3"}}]}`,
		},
	} {
		name := c.provider.Protocol().Name + " " + c.kind
		d := newDispatch(t)
		m := medium(t, c.kind, c.mime, "a."+c.mime[strings.LastIndexByte(c.mime, '/')+1:])
		d.show("see", m)
		d.give(m)
		d.play(newExecutor(t, `{"model":"m"}`, c.provider), reply{status: 500})
		got := filled(t, d.requests[0])
		if len(d.requests[0].Splices) != 2 || !strings.Contains(got, c.said) || !strings.Contains(got, c.got) {
			t.Errorf("%s: got\n%s\nwant\n%s\n%s", name, got, c.said, c.got)
		}
	}
}

// A medium that lies elsewhere is named by its address where the API takes that, and otherwise told as text.
func TestFiles(t *testing.T) {
	const url, id, cloud = "https://files.example/a", "file-abc", "gs://bucket/a"
	for _, c := range []struct{ provider, mime, uri, want string }{
		{"openai", "image/png", url, `{"type":"image_url","image_url":{"url":"https://files.example/a"}}]}`},
		{"openai", "application/pdf", id, `{"type":"file","file":{"file_id":"file-abc"}}]}`},
		{"openai", "application/pdf", url, ""},
		{"openai", "image/png", cloud, ""},
		{"openai", "image/svg+xml", url, ""},
		{"openai", "audio/wav", url, ""},
		{"openai-responses", "image/png", url, `{"type":"input_image","image_url":"https://files.example/a"}]}`},
		{"openai-responses", "image/png", id, `{"type":"input_image","file_id":"file-abc"}]}`},
		{"openai-responses", "application/pdf", url, `{"type":"input_file","file_url":"https://files.example/a"}]}`},
		{"openai-responses", "text/csv", id, `{"type":"input_file","file_id":"file-abc"}]}`},
		{"openai-responses", "text/csv", cloud, ""},
		{"anthropic", "image/png", url, `{"type":"image","source":{"type":"url","url":"https://files.example/a"}}]}`},
		{"anthropic", "application/pdf", url, `{"type":"document","source":{"type":"url","url":"https://files.example/a"}}]}`},
		{"anthropic", "application/pdf", id, ""},
		{"anthropic", "text/csv", url, ""},
		{"gemini", "video/mp4", cloud, `{"fileData":{"mimeType":"video/mp4","fileUri":"gs://bucket/a"}}]}`},
		{"gemini", "application/pdf", url, `{"fileData":{"mimeType":"application/pdf","fileUri":"https://files.example/a"}}]}`},
		{"gemini", "application/zip", url, ""},
		{"gemini", "image/png", id, ""},
		{"ollama", "image/png", url, ""},
	} {
		for _, p := range overHTTP() {
			if p.Protocol().Name != c.provider {
				continue
			}
			kind, _, _ := strings.Cut(c.mime, "/")
			if kind == "application" || kind == "text" {
				kind = "document"
			}
			d := newDispatch(t)
			file := record.AppendMedia(nil, record.MediaFields{ID: "d", Kind: kind, MimeType: c.mime, Filename: "a", URI: c.uri})
			d.put(record.Messages, record.AppendMessage(nil, record.MessageFields{
				ID: "m", Role: "user", Content: []byte("see"), Attachments: append(value.AppendListHeader(nil, 1), file...),
			}))
			d.play(newExecutor(t, `{"model":"m"}`, p), reply{status: 500})
			got := filled(t, d.requests[0])
			want := c.want
			if want == "" {
				want = `see\n\n[fileData: ` + c.uri + `]`
			}
			if !strings.Contains(got, want) || len(d.requests[0].Splices) > 0 {
				t.Errorf("%s, %s, %s: %s", c.provider, c.mime, c.uri, got)
			}
			if c.want != "" {
				continue
			}
			d.play(newExecutor(t, `{"model":"m","unsupportedMedia":"error"}`, p), reply{status: 500})
			if len(d.requests) > 1 {
				t.Errorf("%s, %s, %s: it is asked all the same", c.provider, c.mime, c.uri)
			}
		}
	}
}

// What a message holds beside media may be nothing, or blank.
func TestMediaAlone(t *testing.T) {
	for _, p := range overHTTP() {
		d := newDispatch(t)
		d.show(" ", medium(t, "image", "image/png", "a.png"))
		d.play(newExecutor(t, `{"model":"m"}`, p), reply{status: 500})
		got := filled(t, d.requests[0])
		if !strings.Contains(got, "AAAA") || p.Protocol().Name == "anthropic" && strings.Contains(got, `"text":" "`) {
			t.Errorf("%s: %s", p.Protocol().Name, got)
		}
	}
}

// Each provider is asked for the kinds that it takes; a note stands for the others.
func TestMediaKinds(t *testing.T) {
	all := [][2]string{
		{"image", "image/png"},
		{"image", "image/gif"},
		{"image", "image/heic"},
		{"image", "image/svg+xml"},
		{"audio", "audio/wav"},
		{"audio", "audio/ogg"},
		{"video", "video/mp4"},
		{"document", "application/pdf"},
		{"document", "text/csv"},
		{"document", "application/zip"},
	}
	want := map[string]string{
		"openai":           "image/png image/gif audio/wav application/pdf",
		"anthropic":        "image/png image/gif application/pdf",
		"gemini":           "image/png image/heic audio/wav audio/ogg video/mp4 application/pdf text/csv",
		"ollama":           "image/png",
		"openai-responses": "image/png image/gif application/pdf text/csv application/zip",
	}
	for _, p := range overHTTP() {
		var taken []string
		for _, m := range all {
			d := newDispatch(t)
			d.show("see", medium(t, m[0], m[1], "a"))
			d.play(newExecutor(t, `{"model":"m"}`, p), reply{status: 500})
			if got := filled(t, d.requests[0]); strings.Contains(got, "AAAA") {
				taken = append(taken, m[1])
			} else if !strings.Contains(got, `[`+m[0]+` p \"a\", `+m[1]+`]`) {
				t.Errorf("no note in %s", got)
			}
		}
		if name := p.Protocol().Name; strings.Join(taken, " ") != want[name] {
			t.Errorf("%s takes %v, want %s", name, taken, want[name])
		}
	}
}
