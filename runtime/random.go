package runtime

// Random returns the next of the turn's random numbers (splitmix64). They derive from its seed, so a replay gets the
// same ones. They are for spreading values, not for secrets.
func (t *Turn) Random() uint64 {
	if !t.noisy {
		t.noise, t.noisy = hash(t.Seed), true
	}
	t.noise += 0x9e3779b97f4a7c15
	z := t.noise
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
