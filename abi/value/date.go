package value

// AppendDate appends an instant, ms since the Unix epoch, as "2024-02-29T13:05:09+02:00". minutes is the offset from
// UTC, and offset its text.
func AppendDate(dst []byte, ms, minutes int64, offset string) []byte {
	seconds := floorDiv(ms, 1000) + minutes*60
	days := floorDiv(seconds, 86400)
	year, month, day := civil(days)
	rest := seconds - days*86400
	dst = append(appendDigits(dst, year, 4), '-')
	dst = append(appendDigits(dst, month, 2), '-')
	dst = append(appendDigits(dst, day, 2), 'T')
	dst = append(appendDigits(dst, rest/3600, 2), ':')
	dst = append(appendDigits(dst, rest/60%60, 2), ':')
	return append(appendDigits(dst, rest%60, 2), offset...)
}

// civil returns the Gregorian date of a day since the Unix epoch. It counts in eras of 400 years that begin in March,
// so that leap days come last.
func civil(days int64) (year, month, day int64) {
	days += 719468
	era := floorDiv(days, 146097)
	of := days - era*146097
	years := (of - of/1460 + of/36524 - of/146096) / 365
	inYear := of - (365*years + years/4 - years/100)
	index := (5*inYear + 2) / 153
	day = inYear - (153*index+2)/5 + 1
	month = index + 3
	year = years + era*400
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, day
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// appendDigits appends a number with at least width digits.
func appendDigits(dst []byte, n int64, width int) []byte {
	if n < 0 {
		dst, n = append(dst, '-'), -n
	}
	var digits [20]byte
	i := len(digits)
	for n > 0 || len(digits)-i < width {
		i--
		digits[i] = byte('0' + n%10)
		n /= 10
	}
	return append(dst, digits[i:]...)
}
