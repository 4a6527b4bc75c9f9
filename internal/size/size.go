// Package size holds the bounds on what the modules weigh: the build's tests, the benchmark and the documentation have
// them from the file SIZE.
package size

import (
	_ "embed" // for SIZE
	"fmt"
	"strings"
)

//go:embed SIZE
var table string

var bounds = parse(table)

// Of returns the most bytes of a module after brotli 11, by the name of its file. The module of GOOS=js, which no page
// downloads, has no bound.
func Of(file string) (bytes int, ok bool) {
	bytes, ok = bounds[file]
	return bytes, ok
}

func parse(table string) map[string]int {
	bounds := map[string]int{}
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var file string
		var bytes int
		if _, err := fmt.Sscanf(line, "%s %d\n", &file, &bytes); err != nil || bytes <= 0 {
			panic(fmt.Sprintf("size: SIZE has the line %q, want a file and its bytes", line))
		}
		bounds[file] = bytes
	}
	return bounds
}
