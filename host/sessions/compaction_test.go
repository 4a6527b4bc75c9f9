package sessions_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/sessions"
)

func TestInvalidCompactions(t *testing.T) {
	for field, c := range map[string]sessions.Compaction{
		"compaction: must have invocations or tokens":  {Keep: 1},
		"compaction.overlap: must not be negative":     {Invocations: 1, Overlap: -1},
		"compaction.invocations: must not be negative": {Invocations: -1},
	} {
		_, err := sessions.New(t.Context(), sessions.Config{
			App: "app", Agent: &sessions.SequentialAgent{Name: "root"}, Engine: native.New(), Compaction: &c,
		})
		if !errors.Is(err, host.CodeInvalidAgent) || !strings.Contains(err.Error(), field) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
