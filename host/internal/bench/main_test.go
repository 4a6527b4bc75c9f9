package main

import (
	"strings"
	"testing"
)

func TestPartsOfAnEngine(t *testing.T) {
	// The native engine has no module that could be metered.
	if rows, err := measureEngine(t.Context(), quick, "native", "metering"); rows != nil || err != nil {
		t.Errorf("metering: %v, %v", rows, err)
	}
	if rows, err := measureEngine(t.Context(), quick, "native", "meter"); err == nil || !strings.Contains(err.Error(), "metering") {
		t.Errorf("no such part: %v, %v, want the names of the parts", rows, err)
	}
}
