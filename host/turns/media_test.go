package turns_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/turns"
)

// F17 and F18.
func TestMedia(t *testing.T) {
	reader := turns.NewBlob([]byte{1, 2, 3})
	for _, c := range []struct {
		media  *turns.Media
		tier   turns.TrustTier
		hazard turns.ModalityHazard
	}{
		{turns.UserAttachment(turns.Image, "image/png", "a.png", reader), turns.ThirdPartyPrivate, turns.OpaquePerceptual},
		{turns.ToolGenerated(turns.Document, "text/html", "a.html", reader), turns.FirstParty, turns.ExtractableInstructions},
		{turns.RetrievedPublic(turns.Audio, "audio/mpeg", "a.mp3", reader), turns.ThirdPartyPublic, turns.OpaquePerceptual},
		{turns.RetrievedPrivate(turns.Video, "video/mp4", "a.mp4", reader), turns.ThirdPartyPrivate, turns.OpaquePerceptual},
	} {
		m := c.media
		if err := m.Validate(); err != nil || m.TrustTier != c.tier || m.ModalityHazard != c.hazard || len(m.ID) != 36 {
			t.Errorf("%+v: %v", m, err)
		}
		data, err := m.Base64()
		if n, known := m.ByteLength(); data != "AQID" || err != nil || n != 3 || !known {
			t.Errorf("%s of %d bytes, %v", data, n, err)
		}
	}
	for field, spoil := range map[string]func(m *turns.Media){
		"id":                      func(m *turns.Media) { m.ID = "" },
		"kind":                    func(m *turns.Media) { m.Kind = "picture" },
		"mimeType":                func(m *turns.Media) { m.MimeType = "" },
		"filename":                func(m *turns.Media) { m.Filename = "" },
		"trustTier":               func(m *turns.Media) { m.TrustTier = "" },
		"modalityHazard":          func(m *turns.Media) { m.ModalityHazard = "" },
		"reader":                  func(m *turns.Media) { m.Reader = nil },
		"stash.caption.trustTier": func(m *turns.Media) { m.Stash = map[string]turns.MediaNote{"caption": {Value: "x"}} },
		"stash.caption.value": func(m *turns.Media) {
			m.Stash = map[string]turns.MediaNote{"caption": {Value: func() {}, TrustTier: turns.FirstParty}}
		},
	} {
		m := turns.UserAttachment(turns.Image, "image/png", "a.png", reader)
		spoil(m)
		if err := m.Validate(); !errors.Is(err, host.CodeInvalidInitialMediaValue) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
		bad := turns.NewMessage("m", turns.User, "", instant)
		bad.Attachments = []*turns.Media{m}
		if err := bad.Validate(); !errors.Is(err, host.CodeInvalidInitialMessageValue) || !strings.Contains(err.Error(), "attachments[0]") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// F19.
func TestMediaJSON(t *testing.T) {
	m := turns.ToolGenerated(turns.Image, "image/png", "a.png", nil) // nothing is read
	m.ID, m.Source = "m", "camera"
	m.Stash = map[string]turns.MediaNote{"caption": {Value: []int{1}, TrustTier: turns.ThirdPartyPublic, DerivedFromMedia: true}}
	text, err := json.Marshal(m)
	want := `{"id":"m","kind":"image","mimeType":"image/png","filename":"a.png","trustTier":"first-party","modalityHazard":"opaque-perceptual",` +
		`"source":"camera","stash":{"caption":{"value":[1],"trustTier":"third-party-public","derivedFromMedia":true}}}`
	if string(text) != want || err != nil {
		t.Errorf("%s, %v", text, err)
	}
	m.Source, m.Stash = "", nil
	text, err = json.Marshal(m)
	want = `{"id":"m","kind":"image","mimeType":"image/png","filename":"a.png","trustTier":"first-party","modalityHazard":"opaque-perceptual","stash":{}}`
	if string(text) != want || err != nil {
		t.Errorf("%s, %v", text, err)
	}
}

// F3: media travel with messages and tool calls, and storage gets the very objects.
func TestMediaInRecords(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		m := turns.UserAttachment(turns.Image, "image/png", "a.png", turns.NewBlob([]byte{1}))
		m.Stash = map[string]turns.MediaNote{"caption": {Value: "x", TrustTier: turns.FirstParty}}
		message := turns.NewMessage("m", turns.User, "", instant)
		message.Attachments = []*turns.Media{m}
		store := turns.NewMemoryStore()
		_, result := play(t, h, turns.TurnRunnerConfig{
			Callbacks: turns.StoreCallbacks(store),
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				if err := errors.Join(ctx.StoreToolCall(called("a", m)), ctx.StoreToolCall(called("b", []*turns.Media{m, m}))); err != nil {
					return err
				}
				return ctx.Ack()
			},
		}, turns.TurnInput{Message: message})
		records, err := store.Load(t.Context(), "", "")
		if result.Status != turns.Ack || err != nil {
			t.Fatalf("%+v, %v", result, err)
		}
		calls := records.ToolCalls
		if got := records.Messages; len(got) != 1 || got[0] != message || len(calls) != 2 || calls[0].Results != m || calls[1].Results.([]*turns.Media)[1] != m {
			t.Errorf("messages %v, calls %v", got, calls)
		}
	})
}
