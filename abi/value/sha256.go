package value

import "math/bits"

// The guest has its own SHA-256 because crypto/sha256 links FIPS 140 machinery: 110 KB of the compressed module for one
// hash of a few hundred bytes per tool call. Its time depends only on the length of the text. The tests compare it with
// crypto/sha256.

var sha256Rounds = [64]uint32{
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
}

// sha256Padding is appended to a text: one bit, and zeros up to the length of the text.
var sha256Padding = [64]byte{0x80}

// Hash returns the SHA-256 hash of text.
func Hash(text []byte) (sum [32]byte) {
	for i, x := range sha256(text[:len(text):len(text)]) {
		sum[4*i], sum[4*i+1], sum[4*i+2], sum[4*i+3] = byte(x>>24), byte(x>>16), byte(x>>8), byte(x)
	}
	return sum
}

// sha256 returns the hash of text as eight words. It appends the padding to text, so it may overwrite its spare
// capacity.
//
// What repeats is written out eight times, since a loop costs WebAssembly as much as a round: each round then names the
// variables that the one before has moved, and the compiler checks the bounds of arrays once.
func sha256(text []byte) [8]uint32 {
	h := [8]uint32{
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	}
	size := len(text)
	text = append(text, sha256Padding[:1+(55-size)&63]...)
	text = append64(text, uint64(size)*8)
	var w [64]uint32
	for ; len(text) >= 64; text = text[64:] {
		for i := 0; i < 16; i += 4 {
			b, w := text[4*i:4*i+16], w[i:i+4]
			w[0] = uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
			w[1] = uint32(b[4])<<24 | uint32(b[5])<<16 | uint32(b[6])<<8 | uint32(b[7])
			w[2] = uint32(b[8])<<24 | uint32(b[9])<<16 | uint32(b[10])<<8 | uint32(b[11])
			w[3] = uint32(b[12])<<24 | uint32(b[13])<<16 | uint32(b[14])<<8 | uint32(b[15])
		}
		for i := 16; i < 64; i += 8 {
			w := (*[24]uint32)(w[i-16:])
			w[16] = w[0] + mixed(w[1], 7, 18, 3) + w[9] + mixed(w[14], 17, 19, 10)
			w[17] = w[1] + mixed(w[2], 7, 18, 3) + w[10] + mixed(w[15], 17, 19, 10)
			w[18] = w[2] + mixed(w[3], 7, 18, 3) + w[11] + mixed(w[16], 17, 19, 10)
			w[19] = w[3] + mixed(w[4], 7, 18, 3) + w[12] + mixed(w[17], 17, 19, 10)
			w[20] = w[4] + mixed(w[5], 7, 18, 3) + w[13] + mixed(w[18], 17, 19, 10)
			w[21] = w[5] + mixed(w[6], 7, 18, 3) + w[14] + mixed(w[19], 17, 19, 10)
			w[22] = w[6] + mixed(w[7], 7, 18, 3) + w[15] + mixed(w[20], 17, 19, 10)
			w[23] = w[7] + mixed(w[8], 7, 18, 3) + w[16] + mixed(w[21], 17, 19, 10)
		}
		// The compiler keeps variables in registers, but not an array.
		a, b, c, d, e, f, g, k := h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7]
		for i := 0; i < 64; i += 8 {
			w, add := (*[8]uint32)(w[i:]), (*[8]uint32)(sha256Rounds[i:])
			d, k = round(a, b, c, d, e, f, g, k+add[0]+w[0])
			c, g = round(k, a, b, c, d, e, f, g+add[1]+w[1])
			b, f = round(g, k, a, b, c, d, e, f+add[2]+w[2])
			a, e = round(f, g, k, a, b, c, d, e+add[3]+w[3])
			k, d = round(e, f, g, k, a, b, c, d+add[4]+w[4])
			g, c = round(d, e, f, g, k, a, b, c+add[5]+w[5])
			f, b = round(c, d, e, f, g, k, a, b+add[6]+w[6])
			e, a = round(b, c, d, e, f, g, k, a+add[7]+w[7])
		}
		h = [8]uint32{h[0] + a, h[1] + b, h[2] + c, h[3] + d, h[4] + e, h[5] + f, h[6] + g, h[7] + k}
	}
	return h
}

// mixed is a word of the text turned twice, and shifted once.
func mixed(x uint32, turned, again, shifted int) uint32 {
	return bits.RotateLeft32(x, -turned) ^ bits.RotateLeft32(x, -again) ^ x>>shifted
}

// round is one round with a word that is already added to the last variable. It returns the two that change.
func round(a, b, c, d, e, f, g, k uint32) (newD, newK uint32) {
	k += (bits.RotateLeft32(e, -6) ^ bits.RotateLeft32(e, -11) ^ bits.RotateLeft32(e, -25)) + (g ^ e&(f^g))
	return d + k, k + (bits.RotateLeft32(a, -2) ^ bits.RotateLeft32(a, -13) ^ bits.RotateLeft32(a, -22)) + (a&b ^ c&(a^b))
}
