package chat

import (
	"strconv"
	"strings"
)

// maxRetryAfter is the longest delay that a response can request, in ms: a day.
const maxRetryAfter = 24 * 60 * 60 * 1000

// retryAfter is the delay in ms that a response's headers request, -1 for none. A date counts from the date of the
// response, whatever the local clock says, or else from now, in ms since the Unix epoch.
func retryAfter(headers [][2]string, now int64) int64 {
	ms, until := int64(-1), int64(-1)
	for _, h := range headers {
		unit := 1000
		switch h[0] {
		case "date":
			if date := httpDate(h[1]); date >= 0 {
				now = date
			}
			continue
		case "retry-after-ms":
			unit = 1
		case "retry-after":
		default:
			continue
		}
		n, err := strconv.Atoi(h[1])
		if err != nil && unit > 1 {
			until = httpDate(h[1])
		} else if err == nil && n >= 0 && (ms < 0 || unit == 1) {
			ms = int64(min(n, maxRetryAfter) * unit)
		}
	}
	if ms < 0 && until >= 0 {
		ms = min(max(until-now, 0), maxRetryAfter)
	}
	return ms
}

const months = "JanFebMarAprMayJunJulAugSepOctNovDec"

// httpDate parses an HTTP date in any of its three forms (RFC 9110, section 5.6.7), as ms since the Unix epoch; -1 if
// invalid.
func httpDate(text string) int64 {
	f := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '-' || r == ':' })
	if len(f) < 7 {
		return -1
	}
	if f[1][0] > '9' { // Sun Nov  6 08:49:37 1994
		f[1], f[2], f[3], f[4], f[5], f[6] = f[2], f[1], f[6], f[3], f[4], f[5]
	}
	month := strings.Index(months, f[2])
	var n [7]int
	for i, limit := range [...]int{1: 31, 3: 9999, 4: 23, 5: 59, 6: 60} {
		if limit == 0 {
			continue
		}
		v, err := strconv.Atoi(f[i])
		if err != nil || v < 0 || v > limit {
			return -1
		}
		n[i] = v
	}
	if len(f[2]) != 3 || month < 0 || month%3 != 0 || n[1] == 0 {
		return -1
	}
	year, month := n[3], month/3-2 // counted from March, so that leap days come last
	if len(f[3]) == 2 {
		if year += 1900; year < 1970 {
			year += 100
		}
	}
	if month < 0 {
		month, year = month+12, year-1
	}
	days := year*365 + year/4 - year/100 + year/400 + (153*month+2)/5 + n[1] - 719469
	return (int64(days)*86400 + int64(n[4]*3600+n[5]*60+n[6])) * 1000
}
