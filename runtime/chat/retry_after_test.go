package chat

import (
	"testing"
	"time"
)

func TestHTTPDate(t *testing.T) {
	for text, want := range map[string]int64{
		"Sun, 06 Nov 1994 08:49:37 GMT":    784111777000,
		"Sunday, 06-Nov-94 08:49:37 GMT":   784111777000,
		"Sun Nov  6 08:49:37 1994":         784111777000,
		"Thu, 01 Jan 1970 00:00:00 GMT":    0,
		"Saturday, 01-Jan-00 00:00:00 GMT": 946684800000,
		"":                                 -1, "soon": -1, "2026-11-21T12:00:00Z": -1, "Sun, 06 Now 1994 08:49:37 GMT": -1, "Sun, 00 Nov 1994 08:49:37 GMT": -1,
		"Sun, 06 Nov 1994 24:49:37 GMT": -1, "Sun, 06 Nov 1994 08:49": -1, "Sun, 06 anF 1994 08:49:37 GMT": -1, "Sun, 06 Nov 19940 08:49:37 GMT": -1,
		"- - - - - - -": -1, "Sun, -6 Nov 1994 08:49:37 GMT": 784111777000,
	} {
		if got := httpDate(text); got != want {
			t.Errorf("%q is %d, want %d", text, got, want)
		}
	}
	for at := time.Unix(0, 0).UTC(); at.Year() < 2110; at = at.Add(31*time.Hour + 13*time.Second) {
		for _, layout := range []string{"Mon, 02 Jan 2006 15:04:05 GMT", time.ANSIC} {
			if got := httpDate(at.Format(layout)); got != at.UnixMilli() {
				t.Fatalf("%s is %d, want %d", at.Format(layout), got, at.UnixMilli())
			}
		}
	}
}

func TestRetryAfterDate(t *testing.T) {
	const now = 784111777000 // Sun, 06 Nov 1994 08:49:37 GMT
	until := [2]string{"retry-after", "Sun, 06 Nov 1994 08:50:00 GMT"}
	for _, tt := range []struct {
		headers [][2]string
		want    int64
	}{
		{[][2]string{until}, 23_000},
		{[][2]string{until, {"date", "Sun, 06 Nov 1994 08:49:58 GMT"}}, 2_000},
		{[][2]string{{"date", "Sun, 06 Nov 1994 08:49:58 GMT"}, until}, 2_000},
		{[][2]string{until, {"date", "yesterday"}}, 23_000},
		{[][2]string{{"retry-after", "Sun, 06 Nov 1994 08:49:00 GMT"}}, 0},
		{[][2]string{{"retry-after", "Sun, 06 Nov 2094 08:49:00 GMT"}}, maxRetryAfter},
		{[][2]string{until, {"retry-after-ms", "5"}}, 5},
		{[][2]string{{"retry-after", "soon"}}, -1},
		{[][2]string{{"retry-after", "-1"}}, -1},
		{[][2]string{{"date", "Sun, 06 Nov 1994 08:49:58 GMT"}}, -1},
	} {
		if got := retryAfter(tt.headers, now); got != tt.want {
			t.Errorf("%q: %d, want %d", tt.headers, got, tt.want)
		}
	}
}
