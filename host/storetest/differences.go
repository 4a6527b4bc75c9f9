package storetest

import "fmt"

// mostApart is how many elements may differ in a row before the rest is compared one by one.
const mostApart = 64

// differences says in what a list differs from the wanted one.
func differences(got, want []string) []string {
	var all []string
	for len(got) > 0 || len(want) > 0 {
		more, less := apart(got, want)
		for i := range max(more, less) {
			switch {
			case i >= more:
				all = append(all, want[i]+" is missing")
			case i >= less:
				all = append(all, got[i]+" is too much")
			default:
				all = append(all, fmt.Sprintf("\n got %s\nwant %s", got[i], want[i]))
			}
		}
		got, want = got[more:], want[less:]
		for len(got) > 0 && len(want) > 0 && got[0] == want[0] {
			got, want = got[1:], want[1:]
		}
	}
	return all
}

// apart counts the elements of both lists in front of the next one that they share, as few as there may be.
func apart(got, want []string) (more, less int) {
	for sum := range mostApart {
		for more := range min(sum+1, len(got)) {
			if less := sum - more; less < len(want) && got[more] == want[less] {
				return more, less
			}
		}
	}
	if len(got) > mostApart && len(want) > mostApart {
		return 1, 1
	}
	return len(got), len(want)
}
