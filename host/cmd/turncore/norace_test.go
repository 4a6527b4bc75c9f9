//go:build !race

package main

// underRace tells whether the race detector watches.
const underRace = false
