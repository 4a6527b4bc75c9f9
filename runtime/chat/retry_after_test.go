package chat

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Go's own package knows dates, too.
func TestHTTPDate(t *testing.T) {
	const layout = "Mon, 02 Jan 2006 15:04:05 GMT"
	random := rand.New(rand.NewPCG(1, 1))
	times := []int64{0, 951_782_399, 951_782_400, 951_868_800, 4_107_542_400} // around leap days, 2100 among them
	for range 10_000 {
		times = append(times, random.Int64N(200*365*24*3600))
	}
	for _, want := range times {
		text := time.Unix(want, 0).UTC().Format(layout)
		if got, ok := httpDate(text); !ok || got != want*1000 {
			t.Fatalf("%s: %d, %v, want %d", text, got, ok, want*1000)
		}
	}
	for _, text := range []string{
		"", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
		"Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 anF 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT",
		"Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1969 08:49:37 GMT",
		"Sun, +6 Nov 1994 08:49:37 GMT",
	} {
		if ms, ok := httpDate(text); ok {
			t.Errorf("%q is %d", text, ms)
		}
	}
}
