package turns_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// F17 and F18.
func TestMedia(t *testing.T) {
	reader := record.NewBlob([]byte{1, 2, 3})
	for _, c := range []struct {
		media  *record.Media
		tier   record.TrustTier
		hazard record.ModalityHazard
	}{
		{record.UserAttachment(record.Image, "image/png", "a.png", reader), record.ThirdPartyPrivate, record.OpaquePerceptual},
		{record.ToolGenerated(record.Document, "text/html", "a.html", reader), record.FirstParty, record.ExtractableInstructions},
		{record.RetrievedPublic(record.Audio, "audio/mpeg", "a.mp3", reader), record.ThirdPartyPublic, record.OpaquePerceptual},
		{record.RetrievedPrivate(record.Video, "video/mp4", "a.mp4", reader), record.ThirdPartyPrivate, record.OpaquePerceptual},
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
	for field, spoil := range map[string]func(m *record.Media){
		"id":                      func(m *record.Media) { m.ID = "" },
		"kind":                    func(m *record.Media) { m.Kind = "picture" },
		"mimeType":                func(m *record.Media) { m.MimeType = "" },
		"filename":                func(m *record.Media) { m.Filename = "" },
		"trustTier":               func(m *record.Media) { m.TrustTier = "" },
		"modalityHazard":          func(m *record.Media) { m.ModalityHazard = "" },
		"reader":                  func(m *record.Media) { m.Reader = nil },
		"stash.caption.trustTier": func(m *record.Media) { m.Stash = map[string]record.MediaNote{"caption": {Value: "x"}} },
		"stash.caption.value": func(m *record.Media) {
			m.Stash = map[string]record.MediaNote{"caption": {Value: func() {}, TrustTier: record.FirstParty}}
		},
	} {
		m := record.UserAttachment(record.Image, "image/png", "a.png", reader)
		spoil(m)
		if err := m.Validate(); !errors.Is(err, host.CodeInvalidInitialMediaValue) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
		bad := record.NewMessage("m", record.User, "", instant)
		bad.Attachments = []*record.Media{m}
		if err := bad.Validate(); !errors.Is(err, host.CodeInvalidInitialMessageValue) || !strings.Contains(err.Error(), "attachments[0]") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// F19.
func TestMediaJSON(t *testing.T) {
	m := record.ToolGenerated(record.Image, "image/png", "a.png", nil) // nothing is read
	m.ID, m.Source = "m", "camera"
	m.Stash = map[string]record.MediaNote{"caption": {Value: []int{1}, TrustTier: record.ThirdPartyPublic, DerivedFromMedia: true}}
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
		m := record.UserAttachment(record.Image, "image/png", "a.png", record.NewBlob([]byte{1}))
		m.Stash = map[string]record.MediaNote{"caption": {Value: "x", TrustTier: record.FirstParty}}
		message := record.NewMessage("m", record.User, "", instant)
		message.Attachments = []*record.Media{m}
		store := store.NewInMemory()
		_, result := play(t, h, turns.TurnRunnerConfig{
			Callbacks: turns.StoreCallbacks(store),
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				if err := errors.Join(ctx.StoreToolCall(called("a", m)), ctx.StoreToolCall(called("b", []*record.Media{m, m}))); err != nil {
					return err
				}
				return ctx.Ack()
			},
		}, turns.TurnInput{Message: message})
		records, err := store.Load(t.Context(), turns.DefaultSession, "")
		if result.Status != event.Ack || err != nil {
			t.Fatalf("%+v, %v", result, err)
		}
		calls := records.ToolCalls
		if got := records.Messages; len(got) != 1 || got[0] != message || len(calls) != 2 || calls[0].Results != m || calls[1].Results.([]*record.Media)[1] != m {
			t.Errorf("messages %v, calls %v", got, calls)
		}
	})
}
