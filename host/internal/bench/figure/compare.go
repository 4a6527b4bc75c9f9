package figure

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Tolerance is by how much a figure may be worse in any case.
const Tolerance = 0.03

// A Comparison collects what rounds of two builds measured: the base, the head, and the base again.
type Comparison struct {
	order []cellKey
	cells map[cellKey]*ratios
}

// cellKey is a figure on an engine.
type cellKey struct{ figure, engine string }

// ratios are what the rounds gave for one figure.
type ratios struct {
	unit  string
	base  []float64 // medians, in unit
	head  []float64 // head against the mean of both bases
	again []float64 // the base's second against its first
}

// NewComparison returns a comparison of no rounds.
func NewComparison() *Comparison {
	return &Comparison{cells: map[cellKey]*ratios{}}
}

// Add adds a round. Figures that one of the builds does not have are left out.
func (c *Comparison) Add(base, head, again []Row) {
	find := func(rows []Row, k cellKey) (float64, bool) {
		at := slices.IndexFunc(rows, func(r Row) bool { return r.Figure == k.figure && r.Engine == k.engine })
		if at < 0 || !(rows[at].Median > 0) {
			return 0, false
		}
		return rows[at].Median, true
	}
	for _, row := range base {
		k := cellKey{row.Figure, row.Engine}
		a, ok := find(base, k)
		b, inHead := find(head, k)
		a2, twice := find(again, k)
		if !ok || !inHead || !twice {
			continue
		}
		r := c.cells[k]
		if r == nil {
			r = &ratios{unit: row.Unit}
			c.cells[k] = r
			c.order = append(c.order, k)
		}
		r.base = append(r.base, a)
		r.head = append(r.head, 2*b/(a+a2))
		r.again = append(r.again, a2/a)
	}
}

// verdict is the median of the head's ratios, and how far the base's ratio to itself strays: the wider side of the 95
// percent confidence interval of its median, as a distance from 1.
func (r *ratios) verdict() (ratio, noise float64, worse bool) {
	ratio = Median(slices.Clone(r.head))
	low, high := interval(slices.Clone(r.again))
	noise = max(high-1, 1-low, 0)
	return ratio, noise, ratio > 1+max(Tolerance, noise)
}

// interval is the 95 percent confidence interval of the median of samples, by their order.
func interval(samples []float64) (low, high float64) {
	slices.Sort(samples)
	n := len(samples)
	reach := int(math.Ceil(0.98 * math.Sqrt(float64(n)))) // 1.96 standard deviations of a binomial with p = 1/2
	return samples[max(0, (n-1)/2-reach)], samples[min(n-1, n/2+reach)]
}

// Markdown writes the table and returns how many figures are worse.
func (c *Comparison) Markdown(w io.Writer) (worse int, err error) {
	rows := [][]string{{"figure", "engine", "base", "head / base (10th to 90th percentile)", "base / base", "noise", "worse"}}
	for i := range All {
		for _, k := range c.order {
			if k.figure != All[i].ID {
				continue
			}
			r := c.cells[k]
			ratio, noise, isWorse := r.verdict()
			mark := ""
			if isWorse {
				mark = "**yes**"
				worse++
			}
			heads := slices.Sorted(slices.Values(r.head))
			rows = append(rows, []string{
				All[i].Title, k.engine, withUnit(Median(slices.Clone(r.base)), r.unit),
				fmt.Sprintf("%.3f (%.3f–%.3f)", ratio, quantile(heads, 0.1), quantile(heads, 0.9)),
				fmt.Sprintf("%.3f", Median(slices.Clone(r.again))), fmt.Sprintf("±%.1f %%", 100*noise), mark,
			})
		}
	}
	var b strings.Builder
	writeTable(&b, rows)
	if len(rows) == 1 {
		return 0, fmt.Errorf("the two builds have no figure in common")
	}
	fmt.Fprintf(&b, "%d of %d figures are worse by more than %.0f %% and by more than the noise.\n", worse, len(rows)-1, 100*Tolerance)
	_, err = io.WriteString(w, b.String())
	return worse, err
}
