package sessions_test

import (
	"errors"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/sessions"
)

// A message that no frame holds is E_ABI_LIMIT_EXCEEDED, whether a part alone is too large or all together are, and
// nothing is stored.
func TestTooLargeMessage(t *testing.T) {
	for _, sizes := range [][]int{{17}, {9, 9}} {
		p := stage(t, sessions.Config{Agent: gives("a", delta(nil))})
		message := &sessions.Content{}
		for _, n := range sizes {
			message.Parts = append(message.Parts, sessions.Part{InlineData: &sessions.Blob{MIMEType: "image/png", Data: make([]byte, n<<20)}})
		}
		_, err := p.r.Collect(t.Context(), sessions.Input{User: "u", Session: "s", Message: message})
		var coded *host.Error
		if !errors.As(err, &coded) || coded.Code != host.CodeABILimitExceeded {
			t.Fatalf("%d MiB: the error is %v", sizes, err)
		}
		d, _ := coded.Details.(map[string]any)
		actual, _ := d["actual"].(int)
		if d["limit"] != "frame" || d["max"] != 16<<20 || actual < 17<<20 {
			t.Errorf("%d MiB: the details are %v", sizes, d)
		}
		if n := p.stored().Len(); n != 0 {
			t.Errorf("%d MiB: %d events are stored", sizes, n)
		}
	}
}
