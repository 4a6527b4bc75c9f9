package methods_test

import (
	"io"
	"testing"

	"github.com/turncore/turncore/host/internal/methods"
)

type other struct{}

func (other) Read(string) int { return 0 }

func TestLacking(t *testing.T) {
	for _, c := range []struct {
		value any
		says  string
	}{
		{io.NopCloser(nil), ""},
		{other{}, "it lacks Close; its Read is a func(string) int, not a func([]uint8) (int, error)"},
		{0, "it lacks Close, Read"},
		{nil, "it is nil"},
	} {
		if got := methods.Lacking[io.ReadCloser](c.value); got != c.says {
			t.Errorf("%T: %q, want %q", c.value, got, c.says)
		}
	}
}
