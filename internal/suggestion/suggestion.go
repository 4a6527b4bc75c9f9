// Package suggestion finds the known name that an unknown one was probably meant to be.
package suggestion

import (
	"slices"
	"strings"
)

// Unknown says that an option is not known, and which one was probably meant; otherwise ends the sentence when none
// was.
func Unknown(name string, known []string, otherwise string) string {
	const problem = "is not a known option"
	if meant := Of(name, known); meant != "" {
		return problem + "; did you mean `" + meant + "`?"
	}
	return problem + otherwise
}

// Of returns the known name that was probably meant by another name, by a word of another library or by a typing error,
// or an empty string.
func Of(name string, known []string) string {
	for rest := words; rest != ""; {
		line, further, _ := strings.Cut(rest, "\n")
		rest = further
		if list := strings.Fields(line); list[0] == name {
			for _, meant := range list[1:] {
				if slices.Contains(known, meant) {
					return meant
				}
			}
		}
	}
	best, least := "", min(len(name)/3, maxTypos)+1
	for _, k := range known {
		if max(len(name), len(k))-min(len(name), len(k)) >= least {
			continue // as many typing errors, however long the names are
		}
		if n := Typos(name, k); n < least {
			best, least = k, n
		}
	}
	return best
}

// maxTypos is the largest number of typing errors at which a name is recognised.
const maxTypos = 2

// Typos counts the letters that must be changed, inserted, dropped or swapped with the next one to turn a into b, small
// or capital.
func Typos(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 0
			if lower(a[i-1]) != lower(b[j-1]) {
				change = 1
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && lower(a[i-1]) == lower(b[j-2]) && lower(a[i-2]) == lower(b[j-1]) {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
