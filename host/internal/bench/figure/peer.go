package figure

import (
	"fmt"
	"strings"
)

// Peer is a figure of another library, measured in the same run, beside Turncore's own.
type Peer struct {
	Peer   string  `json:"peer"` // name and version
	Title  string  `json:"title"`
	Unit   string  `json:"unit"`
	Median float64 `json:"median"`
	P10    float64 `json:"p10"`
	P90    float64 `json:"p90"`
	// Figure and Engine are what it is compared with.
	Figure string `json:"figure"`
	Engine string `json:"engine"`
	// With says what distinguishes Turncore's figure where a peer's is compared with several, such as "chat executor".
	With string `json:"with,omitempty"`
	// AtLeast is how many times Turncore's figure the peer's should be; 0 for no target.
	AtLeast float64 `json:"atLeast,omitempty"`
	// Ratio is how many times Turncore's figure it is. AddPeers sets it.
	Ratio float64 `json:"ratio,omitempty"`
}

// AddPeers puts peers beside the figures that they are compared with.
func (m *Merged) AddPeers(peers []Peer) error {
	for _, p := range peers {
		row := m.row(p.Figure, p.Engine)
		if row == nil || row.Median <= 0 || p.Median <= 0 {
			return fmt.Errorf("%s, %s: there is nothing to compare it with", p.Peer, p.Title)
		}
		p.Ratio = p.Median / row.Median
		if p.Ratio < p.AtLeast {
			m.Missed = append(m.Missed, fmt.Sprintf("%s, %s: %s times ours, at least %s", p.Peer, p.Title, number(p.Ratio), number(p.AtLeast)))
		}
		m.Peers = append(m.Peers, p)
	}
	return nil
}

func (m *Merged) writePeers(b *strings.Builder) {
	if len(m.Peers) == 0 {
		return
	}
	rows := [][]string{{"peer", "what", "its figure", "Turncore's", "ratio", "target", "met"}}
	for _, p := range m.Peers {
		ours, how := m.row(p.Figure, p.Engine), p.Engine
		if p.With != "" {
			how += ", " + p.With
		}
		row := []string{
			p.Peer, p.Title, fmt.Sprintf("%s (%s–%s) %s", number(p.Median), number(p.P10), number(p.P90), p.Unit),
			fmt.Sprintf("%s %s, %s", number(ours.Median), ours.Unit, how), number(p.Ratio) + " ×", "", "",
		}
		if p.AtLeast > 0 {
			row[5], row[6] = "≥ "+number(p.AtLeast), met(p.Ratio >= p.AtLeast)
		}
		rows = append(rows, row)
	}
	writeTable(b, rows)
}
