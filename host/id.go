package host

import (
	"encoding/binary"
	"encoding/hex"
)

// gregorianOffset is the Unix epoch in 100 ns units since 1582-10-15, which UUIDs of version 6 count from.
const gregorianOffset = 0x01B21DD213814000

// NewTurnID makes the id of a turn: a UUID of version 6 (RFC 9562), which sorts by time. It reads the clock once and
// draws ten bytes of entropy: two for the clock sequence, six for the node, and two that are not used.
func NewTurnID(clock Clock, entropy Entropy) string {
	ticks := uint64(clock())*10_000 + gregorianOffset
	var random [10]byte
	entropy(random[:])

	var id [16]byte
	binary.BigEndian.PutUint32(id[0:], uint32(ticks>>28))
	binary.BigEndian.PutUint16(id[4:], uint16(ticks>>12))
	binary.BigEndian.PutUint16(id[6:], 6<<12|uint16(ticks)&0xfff)
	copy(id[8:], random[:8])
	id[8] = id[8]&0x3f | 0x80 // variant
	id[10] |= 1               // multicast: no network card has this address

	var text [36]byte
	hex.Encode(text[0:], id[0:4])
	hex.Encode(text[9:], id[4:6])
	hex.Encode(text[14:], id[6:8])
	hex.Encode(text[19:], id[8:10])
	hex.Encode(text[24:], id[10:16])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return string(text[:])
}
