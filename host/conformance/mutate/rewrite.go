package main

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// mutantPackage is what changed files import.
const mutantPackage = "github.com/turncore/turncore/host/conformance/mutate/mutant"

// edit is a piece of text that takes the place of another one, mostly of none.
type edit struct {
	at, until int
	text      string
	rank      int // among edits at one place: what shuts comes before what opens
	depth     int
}

// rewrite returns the source's text with some of its candidates in it, by their numbers. Lines stay as they are.
func (s *source) rewrite(chosen map[int]*candidate) string {
	name := s.offset(s.file.Name.End())
	edits := []edit{{at: name, until: name, text: `; import mutant "` + mutantPackage + `"`}}
	for number, c := range chosen {
		open := strings.Replace(c.open, "%d", strconv.Itoa(number), 1)
		edits = append(edits, edit{at: c.start, until: c.start, text: open, rank: 2, depth: c.rank})
		if c.shut != "" {
			edits = append(edits, edit{at: c.end, until: c.end, text: c.shut, rank: 0, depth: -c.rank})
		}
		if c.until > 0 {
			edits = append(edits, edit{at: c.at, until: c.until, text: c.instead, rank: 1})
		}
	}
	slices.SortStableFunc(edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.rank, b.rank), cmp.Compare(a.depth, b.depth))
	})
	var out strings.Builder
	done := 0
	for _, e := range edits {
		out.WriteString(s.text[done:e.at])
		out.WriteString(e.text)
		done = e.until
	}
	out.WriteString(s.text[done:])
	return out.String()
}
