package turns_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/journal"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// unmeasured is a media whose length nobody knows. It counts how often it is opened.
type unmeasured struct {
	data   []byte
	opened int
	fails  error
}

func (u *unmeasured) Open() (io.ReadCloser, error) {
	u.opened++
	return io.NopCloser(bytes.NewReader(u.data)), u.fails
}

func (*unmeasured) ByteLength() (int64, bool) { return 0, false }

// pixels are bytes of every value, more than a frame of the smallest limit has room for.
func pixels(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i * 7)
	}
	return data
}

func attached(m *record.Media) turns.TurnInput {
	message := record.NewMessage("m1", record.User, "What is this?", time.UnixMilli(1000).UTC())
	message.Attachments = []*record.Media{m}
	return turns.TurnInput{NoSystemPrompt: true, Message: message}
}

const asksForShot = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"shot\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n"

// Media are parts of a request, with their bytes, and again in each further one. They are no part of what the core is
// sent.
func TestMediaInRequests(t *testing.T) {
	photo, shot := pixels(100_000), &unmeasured{data: pixels(70_001)}
	tool := &turns.Tool{
		Name: "shot", Description: "Takes a picture", InputSchema: json.RawMessage(`{"type":"object"}`),
		Handler: func(*turns.DispatchContext, turns.Args) (any, error) {
			return []*record.Media{{
				ID: "s", Kind: record.Image, MimeType: "image/jpeg", Filename: "s.jpg", Reader: shot, TrustTier: record.FirstParty, ModalityHazard: record.Inert,
			}}, nil
		},
	}
	onEngines(t, func(t *testing.T, h *turns.Host) {
		provider, err := hosttest.NewProvider(1, hosttest.Response{Status: 503}, hosttest.Response{Body: asksForShot}, hosttest.Response{Body: answer})
		if err != nil {
			t.Fatal(err)
		}
		defer provider.Close()
		chat := &model.ChatOptions{Model: "m", BaseURL: provider.URL + "/v1", Options: map[string]any{"retry": map[string]any{"baseDelayMs": 1}}}
		in := attached(&record.Media{
			ID: "p", Kind: record.Image, MimeType: "image/png", Filename: "p.png", Reader: record.NewBlob(photo), TrustTier: record.ThirdPartyPrivate,
			ModalityHazard: record.OpaquePerceptual,
		})
		var log bytes.Buffer
		in.Journal = &log
		_, result := play(t, h, turns.TurnRunnerConfig{Chat: chat, Tools: []*turns.Tool{tool}}, in)
		requests := provider.Requests()
		if result.Status != event.Ack || len(requests) != 3 {
			t.Fatalf("%+v after %d requests", result, len(requests))
		}
		first := `{"type":"image_url","image_url":{"url":"data:image/png;base64,` + base64.StdEncoding.EncodeToString(photo) + `"}}`
		second := `{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,` + base64.StdEncoding.EncodeToString(shot.data) + `"}}`
		if !bytes.Equal(requests[0].Body, requests[1].Body) || !bytes.HasPrefix(requests[2].Body[bytes.Index(requests[2].Body, []byte(`"messages"`)):],
			bytes.TrimSuffix(requests[1].Body[bytes.Index(requests[1].Body, []byte(`"messages"`)):], []byte("]}"))) {
			t.Error("a request does not begin as the one before")
		}
		if !json.Valid(requests[2].Body) || !bytes.Contains(requests[2].Body, []byte(first)) || !bytes.Contains(requests[2].Body, []byte(second)) {
			t.Errorf("the media are not in %.1000s", requests[2].Body)
		}
		if log.Len() > 40_000 {
			t.Errorf("the journal has %d bytes", log.Len())
		}
		for _, other := range hosttest.Engines(t) {
			r, err := journal.NewReader(bytes.NewReader(log.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := journal.Replay(t.Context(), other, r); err != nil {
				t.Errorf("replay on %s: %v", other.Name(), err)
			}
		}
	})
}

// What cannot be read, or is larger than it may be, fails the model call before anything is sent.
func TestMediaThatCannotBeSent(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		provider, err := hosttest.NewProvider(1)
		if err != nil {
			t.Fatal(err)
		}
		defer provider.Close()
		image := func(r record.MediaReader) turns.TurnInput {
			return attached(record.UserAttachment(record.Image, "image/png", "p.png", r))
		}
		chat := &model.ChatOptions{Model: "m", BaseURL: provider.URL + "/v1", Options: map[string]any{"maxMediaBytes": 99, "retry": map[string]any{"baseDelayMs": 1, "maxAttempts": 2}}}
		large := &unmeasured{data: pixels(100)}
		if _, result := play(t, h, turns.TurnRunnerConfig{Chat: chat}, image(large)); !errors.Is(result.Err, host.Code("E_MEDIA_TOO_LARGE")) || large.opened != 1 {
			t.Errorf("too large: %v, opened %d times", result.Err, large.opened)
		}
		broken := &unmeasured{fails: errors.New("the disk is gone")}
		if _, result := play(t, h, turns.TurnRunnerConfig{Chat: chat}, image(broken)); !errors.Is(result.Err, host.CodeHTTPTransport) ||
			!strings.Contains(result.Err.Error(), "the disk is gone") || broken.opened != 2 {
			t.Errorf("broken: %v, opened %d times", result.Err, broken.opened)
		}
		if n := len(provider.Requests()); n != 0 {
			t.Errorf("%d requests", n)
		}
	})
}

// Of a media whose length is known the model gets a note when it is too large.
func TestLargeMediaIsNoted(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		provider, err := hosttest.NewProvider(1, hosttest.Response{Body: answer})
		if err != nil {
			t.Fatal(err)
		}
		defer provider.Close()
		chat := &model.ChatOptions{Model: "m", BaseURL: provider.URL + "/v1", Options: map[string]any{"maxMediaBytes": 99}}
		m := record.UserAttachment(record.Image, "image/png", "p.png", record.NewBlob(pixels(100)))
		_, result := play(t, h, turns.TurnRunnerConfig{Chat: chat}, attached(m))
		body := string(provider.Requests()[0].Body)
		if result.Status != event.Ack || !strings.Contains(body, `What is this?\n\n[image `+m.ID+` \"p.png\", image/png]"`) || strings.Contains(body, "base64") {
			t.Errorf("%+v: %s", result, body)
		}
	})
}

// An engine that takes images gets them in the conversation.
func TestMediaForEngines(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var asked model.Request
		engine := &model.Engine{
			Capabilities: model.Capabilities{Media: []record.MediaKind{record.Image}},
			Generate: func(_ context.Context, r *model.Request, send func(model.Part) error) error {
				asked = *r
				return send(model.Part{Text: "ok", Finish: "stop"})
			},
		}
		in := attached(record.UserAttachment(record.Image, "image/png", "p.png", &unmeasured{data: []byte("hello")}))
		if _, result := play(t, h, turns.TurnRunnerConfig{Chat: &model.ChatOptions{Engine: engine}}, in); result.Status != event.Ack {
			t.Fatalf("%+v", result)
		}
		last := asked.Messages[len(asked.Messages)-1]
		if last.Content != "" || !strings.Contains(string(last.Parts), `{"url":"data:image/png;base64,aGVsbG8="}`) {
			t.Errorf("%+v", last)
		}
		if text, err := json.Marshal(last); err != nil || !strings.Contains(string(text), `"content":[{"type":"text"`) || !strings.Contains(string(text), `"role":"user"`) {
			t.Errorf("%s, %v", text, err)
		}
		large := map[string]any{"maxMediaBytes": 4}
		if _, result := play(t, h, turns.TurnRunnerConfig{Chat: &model.ChatOptions{Engine: engine, Options: large}}, in); !errors.Is(result.Err, host.Code("E_MEDIA_TOO_LARGE")) {
			t.Errorf("too large: %v", result.Err)
		}
	})
}
