package sqlstore

import (
	"hash/crc32"
	"strconv"
)

// sum is the checksum of a row as schema.sql has it: columns are int64, []byte, or nil for NULL.
func sum(columns ...any) int64 {
	var crc uint32
	var digits [20]byte
	for _, column := range columns {
		switch c := column.(type) {
		case int64:
			crc = crc32.Update(crc, crc32.IEEETable, strconv.AppendInt(digits[:0], c, 10))
		case []byte:
			crc = crc32.Update(crc, crc32.IEEETable, c)
		}
		crc = crc32.Update(crc, crc32.IEEETable, end)
	}
	return int64(crc)
}

// end ends a column in a checksum.
var end = []byte{0}
