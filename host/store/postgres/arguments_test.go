package postgres

import (
	"errors"
	"testing"

	"github.com/turncore/turncore/host"
)

func TestOptions(t *testing.T) {
	_, err := Open(t.Context(), "postgres://localhost", Options{MaxConnections: -1})
	var e *host.Error
	if !errors.As(err, &e) || e.Code != host.CodeInvalidValue || e.Details.(map[string]any)["field"] != "maxConnections" {
		t.Error(err)
	}
}
