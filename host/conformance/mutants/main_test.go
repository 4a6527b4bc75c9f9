package main

import (
	"encoding/json"
	"testing"
)

// Every fault can be seeded. The lane seeds a part of them, another one from commit to commit.
func TestFaultsCanBeSeeded(t *testing.T) {
	var mutants []mutant
	if err := json.Unmarshal(list, &mutants); err != nil {
		t.Fatal(err)
	}
	if len(mutants) < 50 {
		t.Errorf("only %d faults", len(mutants))
	}
	for _, m := range mutants {
		if _, err := m.seed("../../.."); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
}
