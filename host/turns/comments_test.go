package turns_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/turns"
)

// dripping is a transport whose answers come a part at a time.
type dripping struct {
	parts []string // the last one again and again
	every time.Duration
}

func (d dripping) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r,
		Body: &drip{d, r.Context()},
	}, nil
}

type drip struct {
	dripping
	ctx context.Context
}

func (d *drip) Read(b []byte) (int, error) {
	select {
	case <-time.After(d.every):
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	}
	if len(d.parts) == 0 {
		return 0, io.EOF
	}
	n := copy(b, d.parts[0])
	if len(d.parts) > 1 || !strings.HasPrefix(d.parts[0], ":") {
		d.parts = d.parts[1:]
	}
	return n, nil
}

func (*drip) Close() error { return nil }

// Comments keep a connection open, but no stream alive that says nothing else.
func TestCommentsAreSilence(t *testing.T) {
	said := `data: {"choices":[{"delta":{"content":"Hello."},"finish_reason":"stop"}]}` + "\n\n"
	for name, c := range map[string]struct {
		parts []string
		code  host.Code
		after time.Duration
	}{
		"nothing but comments":   {[]string{": ping\n\n"}, host.CodeChatStreamStalled, 60 * time.Second},
		"comments that are cut":  {[]string{": pi", "ng\n", "\n", ": ", "ping", "\n\n: ping\n\n"}, host.CodeChatStreamStalled, 60 * time.Second},
		"comments, then an end":  {[]string{": a\n\n", said, "data: [DONE]\n\n"}, "", 80 * time.Second},
		"an event that is long":  {[]string{said[:9], said[9:20], said[20:30], said[30:40], said[40:], "data: [DONE]\n\n"}, "", 140 * time.Second},
		"comments after the end": {[]string{said, ": ping\n\n"}, "", 45 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := turns.NewHost(turns.HostOptions{Engine: native.New(), HTTP: dripping{c.parts, 20 * time.Second}})
				defer h.Close(context.Background())
				chat := &model.ChatOptions{Model: "m", BaseURL: "http://api.test/v1", Options: map[string]any{"retry": map[string]any{"maxAttempts": 1}}}
				start := time.Now()
				_, result := runChat(t, h, chat, turns.TurnInput{Text: "Hi!"})
				took := time.Since(start).Round(time.Second)
				if c.code == "" && (result.Err != nil || result.Text != "Hello.") || c.code != "" && !errors.Is(result.Err, c.code) {
					t.Errorf("%+v", result)
				}
				if took > c.after || took < c.after-40*time.Second {
					t.Errorf("took %v, want %v at most", took, c.after)
				}
			})
		})
	}
}
