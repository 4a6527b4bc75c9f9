package figure

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/internal/size"
)

// complete returns a report that has every figure for an engine, with the same value everywhere: of what is to be a
// small part of something else, a hundredth of it.
func complete(engine string, all float64) Report {
	r := Report{Host: engine + " 1.0"}
	for _, f := range All {
		v := all
		if f.ID == WrittenShare || f.ID == ReadShare {
			v /= 100
		}
		r.Rows = append(r.Rows, Row{Figure: f.ID, Engine: engine, Unit: f.Unit, Median: v, P10: v / 2, P90: v * 2, Samples: 9})
	}
	return r
}

func TestSummarize(t *testing.T) {
	got := Summarize("x", Node, Micros, []float64{5, 1, 4, 2, 3})
	if got.Median != 3 || got.P10 != 1.4 || got.P90 != 4.6 || got.Samples != 5 {
		t.Errorf("%+v", got)
	}
	if got := Summarize("x", Node, Micros, []float64{7}); got.Median != 7 || got.P10 != 7 || got.P90 != 7 {
		t.Errorf("%+v", got)
	}
	if got := Median([]float64{4, 1}); got != 2.5 {
		t.Errorf("median of two: %v", got)
	}
}

func TestMergeWantsEveryFigure(t *testing.T) {
	reports := []Report{complete(Wazero, 0.5), complete(Node, 0.5)}
	if _, err := Merge(reports, []string{Wazero, Node}); err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(reports, Engines); err == nil || !strings.Contains(err.Error(), "for native") {
		t.Errorf("an engine without a report: %v", err)
	}
	reports[1].Rows = reports[1].Rows[1:]
	if _, err := Merge(reports, []string{Wazero, Node}); err == nil || !strings.Contains(err.Error(), "for Node") {
		t.Errorf("a report without a figure: %v", err)
	}
	reports[1] = complete(Node, 0.5)
	reports[1].Rows[3].Samples = 0
	if _, err := Merge(reports, []string{Wazero, Node}); err == nil {
		t.Error("a figure without samples passed")
	}
}

func TestTargets(t *testing.T) {
	good, err := Merge([]Report{complete(Node, 1)}, []string{Node})
	if err != nil {
		t.Fatal(err)
	}
	if len(good.Missed) != 0 {
		t.Errorf("missed %q", good.Missed)
	}
	bad, err := Merge([]Report{complete(Node, 76)}, []string{Node})
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, f := range All {
		v := 76.0
		if f.ID == WrittenShare || f.ID == ReadShare {
			v /= 100
		}
		if bound, ok := f.Targets[Node]; ok && bound < v && !slices.Contains(f.Skip, Node) {
			want++
		}
	}
	if len(bad.Missed) != want || want < 5 {
		t.Errorf("%d missed, want %d: %q", len(bad.Missed), want, bad.Missed)
	}
	heavy := complete(Node, 1)
	for _, module := range []string{"turncore.wasm", "turncore-js.wasm", "turncore-full.wasm"} {
		bound, _ := size.Of(module)
		heavy.Sizes = append(heavy.Sizes, Size{Module: module, Brotli: bound + 1})
	}
	if m, err := Merge([]Report{heavy}, []string{Node}); err != nil || len(m.Missed) != 2 {
		t.Errorf("%v, %v", m, err)
	}
}

// A time is judged by another one of the same run, never by itself.
func TestTimesAreJudgedByRatios(t *testing.T) {
	for _, f := range All {
		if (f.Unit == Millis || f.Unit == Micros) && f.Targets != nil {
			t.Errorf("%s has a bound in %s", f.Title, f.Unit)
		}
	}
	native := complete(Native, 1)
	slow := complete(Node, 1)
	for i := range slow.Rows {
		if slow.Rows[i].Figure == Turn {
			slow.Rows[i].Median = 3.5
		}
	}
	m, err := Merge([]Report{native, slow}, []string{Native, Node})
	if err != nil || len(m.Missed) != 1 || !strings.Contains(m.Missed[0], "on Node: 3.50 × native, at most 3 × native") {
		t.Errorf("missed %q, %v", m.Missed, err)
	}
	if m, err = Merge([]Report{slow}, []string{Node}); err != nil || len(m.Missed) != 0 {
		t.Errorf("without the native engine: missed %q, %v", m.Missed, err)
	}
}

func TestStarts(t *testing.T) {
	row := func(host string, v float64) Row {
		return Row{Engine: host, Median: v, P10: v / 2, P90: v * 2, Samples: 5}
	}
	var starts []Start
	for _, target := range StartTargets {
		starts = append(starts, Start{Plain: row(target.Host, 50), Shipped: row(target.Host, 35), Ratio: row(target.Host, 0.7)})
	}
	m, err := Merge([]Report{complete(Native, 1), {Host: "First turns", Starts: starts}}, []string{Native})
	if err != nil || len(m.Missed) != 3 || !strings.Contains(m.Missed[0], "first turn on Node: 0.70 times") {
		t.Fatalf("missed %q, %v", m.Missed, err)
	}
	var b strings.Builder
	if err := m.Markdown(&b, []string{Native}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| wazero ", "| workerd ", "35 (17.5–70)", "0.70 (0.35–1.40)", "≤ 0.80", "**no**"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table has no %q:\n%s", want, b.String())
		}
	}
	if _, err := Merge([]Report{complete(Native, 1), {Starts: starts[1:]}}, []string{Native}); err == nil || !strings.Contains(err.Error(), "first turn on wazero") {
		t.Errorf("without wazero: %v", err)
	}
}

func TestMarkdown(t *testing.T) {
	report := complete(Node, 76)
	report.Sizes = []Size{{Module: "turncore.wasm", Raw: 3_550_214, Gzip: 1_000_000, Brotli: 700_000}}
	m, err := Merge([]Report{report}, []string{Node})
	if err != nil {
		t.Fatal(err)
	}
	peers := []Peer{
		{Peer: "slow 1.2", Title: "turn", Unit: Micros, Median: 152, P10: 140, P90: 170, Figure: Turn, Engine: Node, AtLeast: 3},
		{Peer: "slower 2", Title: "turn", Unit: Micros, Median: 1520, Figure: Turn, Engine: Node, With: "chat executor"},
	}
	if err := m.AddPeers(peers); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := m.Markdown(&b, []string{Node}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	bound, _ := size.Of("turncore.wasm")
	most := fmt.Sprintf("≤ %d,%03d", bound/1000, bound%1000)
	for _, want := range []string{"3,550,214", most, "76 (38–152)", "**no**", "152 (140–170) µs", "20 ×", "76 µs, Node, chat executor", "≥ 3", "slow 1.2, turn: 2 times ours"} {
		if !strings.Contains(text, want) {
			t.Errorf("the tables have no %q:\n%s", want, text)
		}
	}
	if err := m.AddPeers([]Peer{{Peer: "x", Figure: "y"}}); err == nil {
		t.Error("a peer without counterpart passed")
	}
}

func TestTargetsColumn(t *testing.T) {
	for _, c := range []struct {
		f    Figure
		want string
	}{
		{Figure{Targets: everywhere(2)}, "≤ 2"},
		{Figure{Targets: everywhere(1.05), Skip: []string{Native}}, "≤ 1.05"},
		{Figure{Targets: map[string]float64{Wazero: 75, Node: 75}}, "wazero ≤ 75, Node ≤ 75"},
		{Figure{Targets: map[string]float64{Wazero: 120, Node: 80}}, "wazero ≤ 120, Node ≤ 80"},
		{Figure{Against: native(4, 4)}, "≤ 4 × native"},
		{Figure{Against: native(4, 3)}, "wazero ≤ 4 × native, Node ≤ 3 × native"},
		{Figure{Against: Against{Figure: Instance, AtMost: map[string]float64{Node: 2}}}, "Node ≤ 2 × instance"},
		{Figure{}, ""},
	} {
		if got := targets(&c.f, Engines); got != c.want {
			t.Errorf("%v: %q, want %q", c.f, got, c.want)
		}
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 3: "3", 0.5: "0.50", 1.234: "1.23", 12.34: "12.3", 123.4: "123", 1234.5: "1,235", 1_234_567.8: "1,234,568",
	} {
		if got := number(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}
