package abi

import "sort"

// CodeInfo describes an error code.
type CodeInfo struct {
	Code    string
	Status  int    // HTTP-like
	Fatal   bool   // a programming error, not a failure at run time
	Message string // fixed text; in front of details a colon replaces its period
	Help    string // what to do about it
}

// LookupCode returns the description of a code.
func LookupCode(code string) (CodeInfo, bool) {
	i := sort.Search(len(codes), func(i int) bool { return codes[i].Code >= code })
	if i < len(codes) && codes[i].Code == code {
		return codes[i], true
	}
	return CodeInfo{}, false
}
