// Package whole keeps characters whole that the deltas of a stream part: code that reads a text in pieces of so many
// bytes cuts it anywhere.
package whole

import "unicode/utf8"

// Text is the part of a stream that has come and is not handed on: the beginning of a character.
type Text string

// Next returns what a delta makes whole. The last one leaves nothing to wait for.
func (t *Text) Next(delta string, last bool) string {
	n := len(delta)
	if *t == "" && (last || n == 0 || delta[n-1] < utf8.RuneSelf) { // almost always
		return delta
	}
	whole := string(*t) + delta
	*t = ""
	if last {
		return whole
	}
	for i := len(whole) - 1; i >= 0 && i > len(whole)-utf8.UTFMax; i-- {
		if !utf8.RuneStart(whole[i]) {
			continue
		}
		if !utf8.FullRuneInString(whole[i:]) {
			*t, whole = Text(whole[i:]), whole[:i]
		}
		break
	}
	return whole
}
