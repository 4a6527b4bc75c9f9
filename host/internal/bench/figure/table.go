package figure

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/turncore/turncore/internal/size"
)

// Merged is the results of all hosts, and how they stand to the targets.
type Merged struct {
	Reports []Report `json:"reports"`
	Peers   []Peer   `json:"peers,omitempty"`
	Missed  []string `json:"missed"` // figures that are over their target
}

// Merge puts reports together. A figure that no report has for an engine of theirs is an error, and so is a row that
// has no samples: a table with holes tells nothing.
func Merge(reports []Report, engines []string) (*Merged, error) {
	m := &Merged{Reports: reports, Missed: []string{}}
	for i := range All {
		f := &All[i]
		for _, engine := range engines {
			if slices.Contains(f.Skip, engine) {
				continue
			}
			row := m.row(f.ID, engine)
			if row == nil || row.Samples == 0 || !(row.Median >= 0) {
				return nil, fmt.Errorf("no report has %q for %s", f.Title, engine)
			}
			if bound, ok := f.Targets[engine]; ok && row.Median > bound {
				m.Missed = append(m.Missed, fmt.Sprintf("%s on %s: %s, at most %s", f.Title, engine, number(row.Median), withUnit(bound, f.Unit)))
			}
			if times, bound, ok := m.against(f, row); ok && times > bound {
				m.Missed = append(m.Missed, fmt.Sprintf("%s on %s: %s, at most %s", f.Title, engine, multiple(f, times), multiple(f, bound)))
			}
		}
	}
	for _, s := range m.sizes() {
		if bound, ok := size.Of(s.Module); ok && s.Brotli > bound {
			m.Missed = append(m.Missed, fmt.Sprintf("%s: %d bytes brotli, at most %d", s.Module, s.Brotli, bound))
		}
	}
	starts := m.starts()
	for _, target := range StartTargets {
		if len(starts) == 0 {
			break
		}
		s, ok := starts[target.Host]
		if !ok || s.Ratio.Samples == 0 || !(s.Ratio.Median > 0) {
			return nil, fmt.Errorf("no report has the first turn on %s", target.Host)
		}
		if s.Ratio.Median > target.Bound {
			m.Missed = append(m.Missed, fmt.Sprintf("first turn on %s: %s times that of a module that starts in the host, at most %s",
				target.Host, number(s.Ratio.Median), number(target.Bound)))
		}
	}
	return m, nil
}

// starts are the first turns by their hosts.
func (m *Merged) starts() map[string]Start {
	list := map[string]Start{}
	for _, r := range m.Reports {
		for _, s := range r.Starts {
			list[s.Ratio.Engine] = s
		}
	}
	return list
}

// row finds a figure's row.
func (m *Merged) row(id, engine string) *Row {
	for i := range m.Reports {
		rows := m.Reports[i].Rows
		at := slices.IndexFunc(rows, func(r Row) bool { return r.Figure == id && r.Engine == engine })
		if at >= 0 {
			return &rows[at]
		}
	}
	return nil
}

// against is how many times the other figure's median a row's is, and how many it may be. It is not ok without a bound
// or without the other figure.
func (m *Merged) against(f *Figure, row *Row) (times, bound float64, ok bool) {
	bound, ok = f.Against.AtMost[row.Engine]
	if !ok {
		return 0, 0, false
	}
	other := m.row(f.ID, Native)
	if f.Against.Figure != "" {
		other = m.row(f.Against.Figure, row.Engine)
	}
	if other == nil || !(other.Median > 0) {
		return 0, 0, false
	}
	return row.Median / other.Median, bound, true
}

// multiple writes how many times another figure something is.
func multiple(f *Figure, times float64) string {
	if f.Against.Figure == "" {
		return number(times) + " × native"
	}
	return number(times) + " × " + f.Against.Figure
}

func (m *Merged) sizes() (list []Size) {
	for _, r := range m.Reports {
		list = append(list, r.Sizes...)
	}
	return list
}

// Markdown writes the tables.
func (m *Merged) Markdown(w io.Writer, engines []string) error {
	var b strings.Builder
	for _, r := range m.Reports {
		fmt.Fprintf(&b, "%s: load of the machine %.2f before, %.2f after", r.Host, r.Load[0], r.Load[1])
		if r.Quick {
			b.WriteString("; QUICK run, its figures say little")
		}
		b.WriteString(".\n")
	}
	b.WriteString("\n")
	m.writeSizes(&b)
	m.writeStarts(&b)
	m.writeFigures(&b, engines)
	m.writePeers(&b)
	switch len(m.Missed) {
	case 0:
		b.WriteString("All targets are met.\n")
	default:
		b.WriteString("Targets that are not met:\n\n")
		for _, miss := range m.Missed {
			fmt.Fprintf(&b, "- %s\n", miss)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (m *Merged) writeSizes(b *strings.Builder) {
	rows := [][]string{{"module", "raw", "gzip -9", "brotli -11", "target", "met"}}
	for _, s := range m.sizes() {
		row := []string{s.Module, grouped(s.Raw), grouped(s.Gzip), grouped(s.Brotli), "", ""}
		if bound, ok := size.Of(s.Module); ok {
			row[4], row[5] = "≤ "+grouped(bound), met(s.Brotli <= bound)
		}
		rows = append(rows, row)
	}
	if len(rows) > 1 {
		writeTable(b, rows)
	}
}

func (m *Merged) writeStarts(b *strings.Builder) {
	rows := [][]string{{"first turn of a process, bytes in hand", "started in the host, ms", "as shipped, ms", "ratio", "target", "met"}}
	starts := m.starts()
	for _, target := range StartTargets {
		if s, ok := starts[target.Host]; ok {
			rows = append(rows, []string{target.Host, cell(&s.Plain), cell(&s.Shipped), cell(&s.Ratio), "≤ " + number(target.Bound), met(s.Ratio.Median <= target.Bound)})
		}
	}
	if len(rows) > 1 {
		writeTable(b, rows)
	}
}

func (m *Merged) writeFigures(b *strings.Builder, engines []string) {
	rows := [][]string{append(append([]string{"median (10th to 90th percentile)"}, engines...), "target", "met")}
	for i := range All {
		f := &All[i]
		row := []string{f.Title}
		if f.Unit != Count {
			row[0] += ", " + f.Unit
		}
		var failed []string
		bounded := false
		for _, engine := range engines {
			r := m.row(f.ID, engine)
			if r == nil {
				row = append(row, "")
				continue
			}
			row = append(row, cell(r))
			if bound, ok := f.Targets[engine]; ok {
				bounded = true
				if r.Median > bound {
					failed = append(failed, engine)
				}
			}
			if times, bound, ok := m.against(f, r); ok {
				bounded = true
				if times > bound {
					failed = append(failed, engine)
				}
			}
		}
		verdict := ""
		if bounded {
			verdict = met(len(failed) == 0)
			if len(failed) > 0 && len(engines) > 1 {
				verdict += ": " + strings.Join(failed, ", ")
			}
		}
		rows = append(rows, append(row, targets(f, engines), verdict))
	}
	writeTable(b, rows)
}

// cell writes a row's figures. What was measured once has no span.
func cell(r *Row) string {
	if r.Samples == 1 || r.P10 == r.P90 {
		return number(r.Median)
	}
	return fmt.Sprintf("%s (%s–%s)", number(r.Median), number(r.P10), number(r.P90))
}

// targets writes a figure's bounds: one if they are all the same.
func targets(f *Figure, engines []string) string {
	var parts []string
	shared := ""
	same := true
	for _, engine := range engines {
		if slices.Contains(f.Skip, engine) {
			continue
		}
		text := ""
		if bound, ok := f.Targets[engine]; ok {
			text = "≤ " + number(bound)
		} else if bound, ok := f.Against.AtMost[engine]; ok {
			text = "≤ " + multiple(f, bound)
		} else if f.Against.AtMost != nil && engine == Native {
			continue
		}
		if text != "" {
			parts = append(parts, engine+" "+text)
		}
		if shared == "" {
			shared = text
		}
		same = same && text == shared && text != ""
	}
	if same {
		return shared
	}
	return strings.Join(parts, ", ")
}

func met(ok bool) string {
	if ok {
		return "yes"
	}
	return "**no**"
}

// number writes three significant digits, more before the point.
func number(v float64) string {
	switch {
	case v == float64(int64(v)) && v < 1e6:
		return strconv.FormatInt(int64(v), 10)
	case v >= 1000:
		return grouped(int(v + 0.5))
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

func withUnit(v float64, unit string) string {
	if unit == Count {
		return number(v)
	}
	return number(v) + " " + unit
}

// grouped writes an integer with a comma every three digits.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// writeTable writes a Markdown table whose columns line up. The first row is the head; all columns but the first are
// aligned to the right.
func writeTable(b *strings.Builder, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)), 3)
		}
	}
	line := func(row []string) {
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-len([]rune(cell)))
			if i == 0 {
				fmt.Fprintf(b, "| %s%s ", cell, pad)
			} else {
				fmt.Fprintf(b, "| %s%s ", pad, cell)
			}
		}
		b.WriteString("|\n")
	}
	line(rows[0])
	for i, width := range widths {
		if i == 0 {
			fmt.Fprintf(b, "| %s ", strings.Repeat("-", width))
		} else {
			fmt.Fprintf(b, "| %s: ", strings.Repeat("-", width-1))
		}
	}
	b.WriteString("|\n")
	for _, row := range rows[1:] {
		line(row)
	}
	b.WriteString("\n")
}
