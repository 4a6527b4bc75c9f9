package conformance

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// Marks are four hexadecimal digits for each line of the log, from a checksum of its canonical JSON: the upper and the
// lower half of its FNV-1a of 32 bits, one XOR the other.
func (l Log) Marks() string {
	marks := make([]string, len(l))
	for i, line := range l {
		sum := fnv.New32a()
		_, _ = sum.Write([]byte(line.String()))
		marks[i] = fmt.Sprintf("%04x", uint16(sum.Sum32()>>16)^uint16(sum.Sum32()))
	}
	return strings.Join(marks, " ")
}

// checkMarks compares the log with the marks of the scenario, if it has any.
func (s *Scenario) checkMarks(log Log) error {
	if s.Marks == "" {
		return nil
	}
	want, got := strings.Fields(s.Marks), strings.Fields(log.Marks())
	for i := range got {
		if i >= len(want) || got[i] != want[i] {
			return s.failure(log, i, "line %d is another one than its mark says", i)
		}
	}
	if len(got) < len(want) {
		return s.failure(log, len(log), "there are %d lines, and %d marks", len(got), len(want))
	}
	return nil
}
