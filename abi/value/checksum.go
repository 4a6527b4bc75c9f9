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
	sum := sha256(text)
	// Written out because encoding/hex would link fmt into the guest.
	var digits [2 * len(sum)]byte
	for i, b := range sum {
		digits[2*i], digits[2*i+1] = hexDigits[b>>4], hexDigits[b&15]
	}
	return string(digits[:])
}
