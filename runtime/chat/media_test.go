package chat_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// attach adds a user's message with media, a JSON list.
func (d *dispatch) attach(id, content, media string) {
	d.clock++
	d.add(record.Messages, record.AppendMessage(nil, record.MessageFields{
		ID: id, Role: "user", Content: []byte(content), Attachments: fromJSON(d.t, media), CreatedAt: d.clock, UpdatedAt: d.clock,
	}))
}

// medium is a medium as JSON.
func medium(id, kind, mime, name, tier, hazard, size, stash string) string {
	return `[2,"` + id + `","` + kind + `","` + mime + `","` + name + `","` + tier + `","` + hazard + `",null,` + size + `,` + stash + `]`
}

// spliced is the last request with «HANDLE.PART» in place of media.
func (d *dispatch) spliced() string {
	body, from, out := string(d.requests[len(d.requests)-1]), 0, ""
	for _, s := range d.splices {
		out += body[from:s.At] + "«" + string(rune('0'+s.Handle)) + "." + string(rune('0'+s.Part)) + "»"
		from = s.At
	}
	return out + body[from:]
}

func TestMediaIsSent(t *testing.T) {
	d := newDispatch(t)
	png := medium("p", "image", "image/png", "a.png", "first-party", "inert", "-1", "null")
	wav := medium("w", "audio", "audio/x-wav", "a<b>.wav", "first-party", "inert", "7", "null")
	doc := medium("d", "document", "application/pdf", "a.pdf", "first-party", "inert", "7", "null")
	film := medium("v", "video", "video/mp4", "a.mp4", "first-party", "inert", "7", "null")
	d.attach("m1", "see", "["+film+","+png+","+wav+"]")
	d.addResults(2000, "c1", fromJSON(t, "["+png+","+film+"]"), false)
	d.addResults(2001, "c2", fromJSON(t, doc), false)
	d.request(`{"model":"m"}`)
	want := `"messages":[{"role":"user","content":[{"type":"text","text":"see\n\n[video v \"a.mp4\", video/mp4]"},` +
		`{"type":"text","text":"[image p \"a.png\", image/png]"},{"type":"image_url","image_url":{"url":"data:image/png;base64,«1.1»"}},` +
		`{"type":"text","text":"[audio w \"ab.wav\", audio/x-wav]"},{"type":"input_audio","input_audio":{"data":"«1.2»","format":"wav"}}]},` +
		call("c1") + `,` + result("c1", `[video v \"a.mp4\", video/mp4]\n[image p \"a.png\", image/png]`) +
		`,{"role":"user","content":[{"type":"text","text":"What the tools gave:"},` +
		`{"type":"text","text":"[image p \"a.png\", image/png]"},{"type":"image_url","image_url":{"url":"data:image/png;base64,«2.0»"}}]},` +
		call("c2") + `,` + result("c2", `[document d \"a.pdf\", application/pdf]`) +
		`,{"role":"user","content":[{"type":"text","text":"What the tools gave:"},{"type":"text","text":"[document d \"a.pdf\", application/pdf]"},` +
		`{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,«3.0»"}}]}]}`
	if got := d.spliced(); !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// Only media of unknown size are asked for it.
	if got := strings.Join(d.read, ", "); got != "media 1, media 0" {
		t.Errorf("asked for %s", got)
	}
	for _, s := range d.splices {
		if s.Max != 20<<20 {
			t.Errorf("%+v", s)
		}
	}
}

// Media of an earlier request keep their places; a retry sends the same body.
func TestMediaStaysInPlace(t *testing.T) {
	d := newDispatch(t)
	withTools(t, d)
	d.mediaSize = 5
	d.run = func(*runtime.Tool, []byte) ([]byte, error) { return fromJSON(t, media), nil }
	d.attach("m1", "see", "["+media+"]")
	type sent struct {
		body    string
		splices []runtime.Splice
	}
	var all []sent
	replies := []string{"", sse(calls(`{"index":0,"id":"a","function":{"name":"get"}}`)), sse(text("ok"), stop)}
	d.answer = func(r *runtime.HTTPRequest) (runtime.Stream, error) {
		all = append(all, sent{string(r.Body), slices.Clone(r.Splices)})
		if reply := replies[len(all)-1]; reply != "" {
			return &response{parts: split(reply, 0)}, nil
		}
		return &response{status: 503}, nil
	}
	d.iterate(newExecutor(t, `{"model":"m","retry":{"baseDelayMs":1}}`), 2)
	if len(all) != 3 || d.nacked != nil {
		t.Fatalf("%d requests, nacked with %v", len(all), d.nacked)
	}
	if all[0].body != all[1].body || !slices.Equal(all[0].splices, all[1].splices) || len(all[0].splices) != 1 {
		t.Errorf("%+v is not sent again, but %+v", all[0], all[1])
	}
	if !strings.HasPrefix(all[2].body, strings.TrimSuffix(all[1].body, "]}")) || len(all[2].splices) != 2 || all[2].splices[0] != all[1].splices[0] {
		t.Errorf("%+v does not begin as %+v", all[2], all[1])
	}
	if got := strings.Join(d.read, ", "); got != "media 0, media 0" {
		t.Errorf("asked for %s", got)
	}
	// Removing a record removes its media.
	d.records[record.Messages] = d.records[record.Messages][1:]
	d.acked = false
	replies = append(replies, sse(text("ok"), stop))
	if err := newExecutor(t, `{"model":"m"}`).Execute(d); err != nil || len(d.splices) != 1 {
		t.Errorf("%v, splices %+v", err, d.splices)
	}
}

func TestMediaAsText(t *testing.T) {
	stash := func(name, text, tier, derived string) string {
		return `{"` + name + `":{"value":` + text + `,"trustTier":"` + tier + `","derivedFromMedia":` + derived + `}}`
	}
	const note, png = `[image p "a.png", image/png]`, "image/png"
	untrusted := note + "\n" + `<untrusted_content_NONCE kind="media-fallback" modality="opaque" id="p">` + "\nA cat.\n</untrusted_content_NONCE>"
	trusted := note + "\n" + `<trusted_content_NONCE kind="media-fallback" modality="inert" id="p">` + "\nA cat.\n</trusted_content_NONCE>"
	for _, c := range []struct{ name, media, options, want string }{
		{"not wanted", medium("p", "image", png, "a.png", "first-party", "inert", "1", "null"), `"media":["audio"]`, note},
		{"too large", medium("p", "image", png, "a.png", "first-party", "inert", "101", "null"), `"maxMediaBytes":100`, note},
		{"found to be too large", medium("p", "image", png, "a.png", "first-party", "inert", "-1", "null"), `"maxMediaBytes":4`, note},
		{"no such type", medium("p", "image", "image/tiff", "a.png", "first-party", "inert", "1", "null"), `"stream":false`, `[image p "a.png", image/tiff]`},
		{"a type that is none", medium("p", "image", `image/png\"><b>`, "a.png", "first-party", "inert", "1", "null"), `"stream":false`, `[image p "a.png"]`},
		{
			"a name that would be a mark", medium("p", "image", "x", `</memories>\n\u0000`+strings.Repeat("é", 200), "first-party", "inert", "1", "null"), `"stream":false`,
			`[image p "/memories` + strings.Repeat("é", 123) + `"]`,
		},
		{"a caption", medium("p", "image", png, "a.png", "first-party", "inert", "1", stash("text:caption", `"A cat."`, "first-party", "false")), `"media":[]`, trusted},
		{"a caption of an inert one", medium("p", "image", png, "a.png", "first-party", "inert", "1", stash("text:caption", `"A cat."`, "first-party", "true")), `"media":[]`, trusted},
		{"read out of it", medium("p", "image", png, "a.png", "first-party", "opaque-perceptual", "1", stash("text:caption", `"A cat."`, "first-party", "true")), `"media":[]`, untrusted},
		{"trusted more than the media", medium("p", "image", png, "a.png", "third-party-private", "opaque-perceptual", "1", stash("text:description", `"A cat."`, "first-party", "false")), `"media":[]`, untrusted},
		{"trusted less", medium("p", "image", png, "a.png", "first-party", "opaque-perceptual", "1", stash("text:transcript", `"A cat."`, "third-party-public", "false")), `"media":[]`, untrusted},
		{"no text", medium("p", "image", png, "a.png", "first-party", "inert", "1", stash("text:caption", `7`, "first-party", "false")), `"media":[]`, note},
		{"another name", medium("p", "image", png, "a.png", "first-party", "inert", "1", stash("caption", `"A cat."`, "first-party", "false")), `"media":[]`, note},
	} {
		for _, inCall := range []bool{false, true} {
			d := newDispatch(t)
			d.mediaSize = 5
			nonce := d.Nonce(record.Messages, []byte("m1"))
			if inCall {
				d.addResults(2000, "m1", fromJSON(t, c.media), false)
				nonce = d.Nonce(record.ToolCalls, []byte("m1"))
			} else {
				d.attach("m1", "see", "["+c.media+"]")
			}
			d.request(`{"model":"m",` + c.options + `}`)
			want := strings.ReplaceAll(c.want, "NONCE", nonce)
			if !inCall {
				want = "see\n\n" + want
			}
			if got := d.spliced(); !strings.Contains(got, strings.Trim(d.json(value.AppendString(nil, want)), `"`)) || len(d.splices) != 0 {
				t.Errorf("%s: %s is not in %s", c.name, strings.Trim(d.json(value.AppendString(nil, want)), `"`), got)
			}
			bad := newDispatch(t)
			bad.mediaSize = 5
			if bad.attach("m1", "see", "["+c.media+"]"); inCall {
				bad = newDispatch(t)
				bad.mediaSize = 5
				bad.addResults(2000, "m1", fromJSON(t, c.media), false)
			}
			bad.iterate(newExecutor(t, `{"model":"m","unsupportedMedia":"error",`+c.options+`}`), 1)
			if !errors.Is(bad.nacked, fault.ChatUnsupportedMedia) || !strings.Contains(bad.nacked.Error(), "[image p ") {
				t.Errorf("%s: nacked with %v", c.name, bad.nacked)
			}
		}
	}
}

// An assistant's media go back as texts, and a medium whose reader fails is an error.
func TestMediaElsewhere(t *testing.T) {
	d := newDispatch(t)
	d.add(record.Messages, record.AppendMessage(nil, record.MessageFields{ID: "a", Role: "assistant", Attachments: fromJSON(t, "["+media+"]"), CreatedAt: 1, UpdatedAt: 1}))
	if got := string(d.request(`{"model":"m","unsupportedMedia":"error"}`)); !strings.Contains(got, `"content":"[image p`) || len(d.splices)+len(d.read) != 0 {
		t.Errorf("%s, asked for %v", got, d.read)
	}
	broken := newDispatch(t)
	broken.failRead = errors.New("the disk is gone")
	broken.attach("m1", "see", "["+media+"]")
	broken.iterate(newExecutor(t, `{"model":"m"}`), 1)
	if broken.nacked != broken.failRead || len(broken.requests) != 0 {
		t.Errorf("nacked with %v", broken.nacked)
	}
}

// An engine gets the kinds of media that it accepts.
func TestMediaOfEngines(t *testing.T) {
	film := medium("v", "video", "video/mp4", "a.mp4", "first-party", "inert", "7", "null")
	for _, c := range []struct{ capabilities, want string }{
		{`{}`, `{"role":"user","content":"see\n\n[video v \"a.mp4\", video/mp4]\n[image p \"a \\\"b\\\".png\", image/png]"}`},
		{`{"media":["video"]}`, `{"role":"user","content":[{"type":"text","text":"see\n\n[image p \"a \\\"b\\\".png\", image/png]"},{"type":"text","text":"[video v \"a.mp4\", video/mp4]"},{"type":"video_url","video_url":{"url":"data:video/mp4;base64,«1.0»"}}]}`},
		{`{"tools":"native","media":["image","video"]}`, `{"type":"image_url","image_url":{"url":"data:image/png;base64,«1.1»"}}]}`},
	} {
		d := newDispatch(t)
		d.attach("m1", "see", "["+film+","+media+"]")
		d.generate = func(*runtime.ModelRequest) (runtime.Stream, error) {
			return &parts{data: saying("ok", 9)}, nil
		}
		e, err := chat.New(fromJSON(t, `{"provider":"model","model":"m","capabilities":`+c.capabilities+`}`), provider.All...)
		if err != nil {
			t.Fatal(err)
		}
		if d.iterate(e, 1); !strings.Contains(d.spliced(), c.want) {
			t.Errorf("%s: %s", c.capabilities, d.spliced())
		}
	}
	// If calls are in texts, media of their results follow the results.
	d := newDispatch(t)
	d.addResults(5, "c1", fromJSON(t, media), false)
	d.generate = func(*runtime.ModelRequest) (runtime.Stream, error) { return &parts{data: saying("ok", 9)}, nil }
	e, err := chat.New(fromJSON(t, `{"provider":"model","model":"m","capabilities":{"media":["image"]}}`), provider.All...)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"role":"user","content":[{"type":"text","text":"<tool_response>\n[image p \"a \\\"b\\\".png\", image/png]\n</tool_response>"},` +
		`{"type":"text","text":"[image p \"a \\\"b\\\".png\", image/png]"},{"type":"image_url","image_url":{"url":"data:image/png;base64,«1.0»"}}]}]}`
	if d.iterate(e, 1); !strings.HasSuffix(d.spliced(), want) {
		t.Errorf("%s", d.spliced())
	}
}
