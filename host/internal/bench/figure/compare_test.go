package figure

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// rounds makes a comparison whose head takes factor times as long, on a machine that strays by up to noise.
func rounds(n int, factor, noise float64) *Comparison {
	random := rand.New(rand.NewPCG(1, 2))
	c := NewComparison()
	row := func(v float64) []Row {
		return []Row{{Figure: Turn, Engine: Node, Unit: Micros, Median: v * (1 + noise*(random.Float64()-0.5))}}
	}
	for range n {
		c.Add(row(50), row(50*factor), row(50))
	}
	return c
}

func TestComparisonJudgesByTheLargerOfToleranceAndNoise(t *testing.T) {
	for _, c := range []struct {
		name          string
		factor, noise float64
		worse         int
	}{
		{"the same", 1, 0.02, 0},
		{"faster", 0.8, 0.02, 0},
		{"two percent slower", 1.02, 0.01, 0},
		{"five percent slower", 1.05, 0.01, 1},
		{"five percent slower on a machine that strays by more", 1.05, 0.6, 0},
		{"twice as slow on it", 2, 0.6, 1},
	} {
		var b strings.Builder
		worse, err := rounds(20, c.factor, c.noise).Markdown(&b)
		if err != nil || worse != c.worse {
			t.Errorf("%s: %d worse, %v, want %d\n%s", c.name, worse, err, c.worse, b.String())
		}
	}
}

func TestComparisonLeavesOutWhatOneBuildLacks(t *testing.T) {
	c := NewComparison()
	row := []Row{{Figure: Turn, Engine: Node, Unit: Micros, Median: 1}}
	c.Add(row, nil, row)
	if _, err := c.Markdown(&strings.Builder{}); err == nil {
		t.Error("a comparison of nothing passed")
	}
}
