package wazero

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/turncore/turncore/host"
)

// BenchmarkTransport is a step that does nothing but copy its input to its output: inbox, step, outbox, and the copies.
func BenchmarkTransport(b *testing.B) {
	i := open(b, newEngine(b))
	for _, size := range []int{1, 64, 1024, 16 << 10} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			in := make([]byte, size)
			var out []byte
			var err error
			b.ReportAllocs()
			for b.Loop() {
				if out, err = i.Step(out[:0], in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpen starts and ends an instance.
func BenchmarkOpen(b *testing.B) {
	for _, heap := range []bool{false, true} {
		b.Run(memoryName(heap), func(b *testing.B) {
			e := newEngine(b, func(c *config) { c.heap = heap })
			for b.Loop() {
				i, err := e.Open(context.Background())
				if err != nil {
					b.Fatal(err)
				}
				_ = i.Close(context.Background())
			}
		})
	}
}

// BenchmarkResident reports what an instance adds to the program's resident memory.
func BenchmarkResident(b *testing.B) {
	const instances = 50
	for _, heap := range []bool{false, true} {
		b.Run(memoryName(heap), func(b *testing.B) {
			for b.Loop() {
				e := newEngine(b, func(c *config) { c.heap = heap })
				runtime.GC()
				before := resident(b)
				var held []host.Instance
				for range instances {
					i := open(b, e)
					if _, err := i.Step(nil, []byte{0}); err != nil {
						b.Fatal(err)
					}
					held = append(held, i)
				}
				runtime.GC()
				b.ReportMetric(float64(resident(b)-before)/instances/1024, "KiB/instance")
				for _, i := range held {
					_ = i.Close(context.Background())
				}
			}
		})
	}
}

func memoryName(heap bool) string {
	if heap {
		return "heap"
	}
	return "reserved"
}

// resident is the program's resident memory in bytes.
func resident(b *testing.B) int {
	b.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Skipf("this system does not tell the resident size: %v", err)
	}
	var size, pages int
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		b.Fatal(err)
	}
	return pages * os.Getpagesize()
}
