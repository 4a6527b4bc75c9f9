package recording

import (
	"strconv"
	"strings"
)

// The tags around reasoning that stands in a text.
const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
	blanks     = " \t\r\n"
)

// alignThoughts gives answers in got the contents of those in want that have the same text behind reasoning in tags, as
// some clients send it back, or behind white space that was left where an answer of the provider's had it, and reports
// them.
func (r *Recording) alignThoughts(n int, got, want []any, report func(path string, got, want any)) {
	for i := range min(len(got), len(want)) {
		g, _ := got[i].(map[string]any)
		w, _ := want[i].(map[string]any)
		recorded, ok := w["content"].(string)
		if !ok || g == nil || w["role"] != "assistant" || g["content"] == recorded {
			continue
		}
		text, tagged := withoutThoughts(recorded)
		if sent, _ := g["content"].(string); sent != text || !tagged && !r.thinks(n) {
			continue
		}
		report("/messages/"+strconv.Itoa(i)+"/content", g["content"], recorded)
		g["content"] = recorded
	}
}

// withoutThoughts is a text without reasoning in tags at its beginning, and without the white space around that.
func withoutThoughts(text string) (rest string, tagged bool) {
	for rest = strings.TrimLeft(text, blanks); strings.HasPrefix(rest, thinkOpen); tagged = true {
		_, rest, _ = strings.Cut(rest, thinkClose)
		rest = strings.TrimLeft(rest, blanks)
	}
	return rest, tagged
}

// thinks tells whether a provider's response before request n may have reasoning in tags.
func (r *Recording) thinks(n int) bool {
	return r.said(n, "think") // streams cut the tag at its brackets
}
