package record_test

import (
	"testing"

	"github.com/turncore/turncore/host/record"
)

// turnRecords are what a turn with one tool call writes.
func turnRecords() []record.Record {
	answer := record.NewMessage("m1", record.Assistant, "The sum is 3.", at)
	return []record.Record{record.NewMessage("u1", record.User, "What is 1 + 2?", at), toolCall("3"), answer}
}

func BenchmarkMarshal(b *testing.B) {
	records := turnRecords()
	b.ReportAllocs()
	for b.Loop() {
		for _, r := range records {
			if _, err := record.Marshal(r); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkUnmarshal(b *testing.B) {
	var bodies [][]byte
	records := turnRecords()
	for _, r := range records {
		body, err := record.Marshal(r)
		if err != nil {
			b.Fatal(err)
		}
		bodies = append(bodies, body)
	}
	b.ReportAllocs()
	for b.Loop() {
		for i, r := range records {
			if _, err := record.Unmarshal(record.KindOf(r), bodies[i], nil); err != nil {
				b.Fatal(err)
			}
		}
	}
}
