package chat

import (
	"strconv"
	"strings"
)

// maxRetryAfter is the longest time that a response can ask for, in ms: a day.
const maxRetryAfter = 24 * 60 * 60 * 1000

// retryAfter is how many ms the head of a response asks to wait, -1 if it asks for nothing. now is the time in ms since the
// Unix epoch, for heads that give a date and do not say what time they think it is.
func retryAfter(headers [][2]string, now int64) int64 {
	var after, exact, date string
	for _, h := range headers {
		switch h[0] {
		case "retry-after":
			after = strings.TrimSpace(h[1])
		case "retry-after-ms":
			exact = strings.TrimSpace(h[1])
		case "date":
			date = strings.TrimSpace(h[1])
		}
	}
	if ms, err := strconv.ParseFloat(exact, 64); err == nil && ms >= 0 {
		return int64(min(ms, maxRetryAfter))
	}
	if seconds, err := strconv.ParseFloat(after, 64); err == nil && seconds >= 0 {
		return int64(min(seconds*1000, maxRetryAfter))
	}
	until, ok := httpDate(after)
	if !ok {
		return -1
	}
	if said, ok := httpDate(date); ok {
		now = said
	}
	return min(max(until-now, 0), maxRetryAfter)
}

// httpDate reads a date as HTTP writes it (RFC 9110, IMF-fixdate), such as "Sun, 06 Nov 1994 08:49:37 GMT": ms since the
// Unix epoch.
func httpDate(s string) (ms int64, ok bool) {
	if len(s) != 29 || s[3:5] != ", " || s[7] != ' ' || s[11] != ' ' || s[16] != ' ' || s[19] != ':' || s[22] != ':' || s[25:] != " GMT" {
		return 0, false
	}
	month := strings.Index("JanFebMarAprMayJunJulAugSepOctNovDec", s[8:11])
	if month < 0 || month%3 != 0 {
		return 0, false
	}
	var n [5]int64
	for i, text := range [...]string{s[5:7], s[12:16], s[17:19], s[20:22], s[23:25]} {
		for _, c := range []byte(text) {
			if c < '0' || c > '9' {
				return 0, false
			}
			n[i] = n[i]*10 + int64(c-'0')
		}
	}
	day, year, m := n[0], n[1], int64(month/3)+1
	if day < 1 || day > 31 || year < 1970 || n[2] > 23 || n[3] > 59 || n[4] > 60 {
		return 0, false
	}
	// Days since 1970, in years that begin with March, so that a leap day is the last of its year.
	if m <= 2 {
		year--
		m += 12
	}
	days := 365*year + year/4 - year/100 + year/400 + (153*(m-3)+2)/5 + day - 1 - 719_468
	return (days*86_400 + n[2]*3600 + n[3]*60 + n[4]) * 1000, true
}
