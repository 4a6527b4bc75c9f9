package catalogue

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
)

var weekdays = [...]string{"Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"}

// tellTime tells the time of the turn's clock, at a fixed offset from UTC.
func tellTime(_ runtime.Task, d *runtime.Dispatch, args []byte) ([]byte, error) {
	t := d.Turn()
	offset := runtime.TextArgument(args, "offset")
	if len(offset) != len("+00:00") {
		offset = "+00:00"
	}
	shift := (int64(offset[1]-'0')*10+int64(offset[2]-'0'))*60 + int64(offset[4]-'0')*10 + int64(offset[5]-'0')
	if offset[0] == '-' {
		shift = -shift
	}
	return value.AppendText(nil, appendTime(nil, t.Now+int64(t.Elapsed()), shift, offset)), nil
}

// appendTime writes an instant, ms since the Unix epoch, as "2024-02-29T13:05:09+02:00, Thursday".
func appendTime(dst []byte, ms, minutes int64, offset string) []byte {
	dst = value.AppendDate(dst, ms, minutes, offset)
	const day = 86_400_000
	days := (ms + minutes*60_000) / day
	if (ms+minutes*60_000)%day < 0 {
		days--
	}
	return append(append(dst, ", "...), weekdays[(days%7+7)%7]...)
}
