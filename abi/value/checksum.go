package value

// Checksum identifies a tool call by its content: the SHA-256 of the canonical JSON of {"tool": tool, "args": args}, in
// 64 lower-case hexadecimal digits. Equal tools and arguments give equal checksums, whatever the order of members. The
// error is one of this package's and describes the fault of args.
func Checksum(tool string, args []byte) (string, error) {
	// Room for the text of most calls and the padding of the hash.
	text := append(make([]byte, 0, 128+len(tool)+2*len(args)), `{"args":`...)
	text, err := AppendCanonical(text, args)
	if err != nil {
		return "", err
	}
	text = AppendJSONString(append(text, `,"tool":`...), tool)
	return digest(append(text, '}')), nil
}

// GateDigest identifies what a gate shows to the decider: the SHA-256 of the canonical JSON of {"id": id, "payload":
// payload, "reason": reason}, in 64 lower-case hexadecimal digits. The error describes the fault of payload.
func GateDigest(id, reason string, payload []byte) (string, error) {
	text := append(make([]byte, 0, 128+len(id)+len(reason)+2*len(payload)), `{"id":`...)
	text = append(AppendJSONString(text, id), `,"payload":`...)
	text, err := AppendCanonical(text, payload)
	if err != nil {
		return "", err
	}
	text = AppendJSONString(append(text, `,"reason":`...), reason)
	return digest(append(text, '}')), nil
}

// digest is the SHA-256 of text in lower-case hexadecimal digits. It may overwrite the spare capacity of text.
func digest(text []byte) string {
	// Written out because encoding/hex would link fmt into the guest.
	digits := make([]byte, 0, 64)
	for _, x := range sha256(text) {
		// Each digit gets a byte of its own, the first one the lowest, and then its character.
		n := uint64(x)
		n = (n>>16 | n<<32) & 0x0000ffff0000ffff
		n = (n>>8 | n<<16) & 0x00ff00ff00ff00ff
		n = (n>>4 | n<<8) & 0x0f0f0f0f0f0f0f0f
		n += ones*'0' + (n+ones*6)>>4&ones*('a'-'9'-1)
		digits = append(digits, byte(n), byte(n>>8), byte(n>>16), byte(n>>24),
			byte(n>>32), byte(n>>40), byte(n>>48), byte(n>>56))
	}
	return string(digits)
}
