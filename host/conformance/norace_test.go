//go:build !race

package conformance_test

// underRace tells whether the race detector watches.
const underRace = false
