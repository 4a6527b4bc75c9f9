package chat

import "strconv"

// maxRetryAfter is the longest time that a response can ask for, in ms: a day.
const maxRetryAfter = 24 * 60 * 60 * 1000

// retryAfter is how many ms the head of a response asks to wait, -1 if it asks for nothing or names a date.
func retryAfter(headers [][2]string) int64 {
	ms := int64(-1)
	for _, h := range headers {
		unit := 1000
		switch h[0] {
		case "retry-after-ms":
			unit = 1
		case "retry-after":
		default:
			continue
		}
		if n, err := strconv.Atoi(h[1]); err == nil && n >= 0 && (ms < 0 || unit == 1) {
			ms = int64(min(n, maxRetryAfter) * unit)
		}
	}
	return ms
}
