package turns

import (
	"bytes"
	"slices"
	"strings"
)

// Credential is a secret that requests of the core may carry. The core only ever knows its name: the host adds the secret
// to a request on its way out, and takes it out of what comes back.
type Credential struct {
	Header  string   // "authorization" if empty
	Value   string   // of the header
	Origins []string // it is sent to, like "https://api.example.com"
}

// Bearer returns the credential of a bearer token.
func Bearer(token string, origins ...string) Credential {
	return Credential{Value: "Bearer " + token, Origins: origins}
}

func (c *Credential) header() string {
	if c.Header == "" {
		return "authorization"
	}
	return c.Header
}

// What a secret is replaced with, and how long one must be, in bytes: a shorter one would be found in ordinary text.
const (
	redacted  = "[redacted]"
	minSecret = 8
)

// redactor takes a secret out of what goes to the core. A nil one takes nothing out.
type redactor struct {
	secret []byte
	held   []byte // end of what was written that may be the beginning of the secret
}

// newRedactor returns the redactor of a header's value: of what follows the scheme in "Bearer token".
func newRedactor(value string) *redactor {
	if scheme, token, ok := strings.Cut(value, " "); ok && scheme != "" {
		value = token
	}
	if value = strings.TrimSpace(value); len(value) < minSecret {
		return nil
	}
	return &redactor{secret: []byte(value)}
}

// text returns a text without the secret.
func (r *redactor) text(s string) string {
	if r == nil {
		return s
	}
	return strings.ReplaceAll(s, string(r.secret), redacted)
}

// write takes the next part of a body and returns what can be passed on, which is valid until data changes. What may be
// the beginning of the secret waits for the next part.
func (r *redactor) write(data []byte) []byte {
	if r == nil || len(data) == 0 {
		return data
	}
	if len(r.held) > 0 {
		data = slices.Concat(r.held, data)
		r.held = nil
	}
	var done []byte
	for {
		before, after, found := bytes.Cut(data, r.secret)
		if !found {
			break
		}
		done = append(append(done, before...), redacted...)
		data = after
	}
	n := len(data) - r.beginning(data)
	r.held = bytes.Clone(data[n:])
	if done == nil {
		return data[:n]
	}
	return append(done, data[:n]...)
}

// beginning returns how many bytes at the end of data the secret may begin with.
func (r *redactor) beginning(data []byte) int {
	for n := min(len(data), len(r.secret)-1); n > 0; n-- {
		if bytes.HasSuffix(data, r.secret[:n]) {
			return n
		}
	}
	return 0
}

// rest returns what waits, at the end of a body.
func (r *redactor) rest() []byte {
	if r == nil {
		return nil
	}
	return r.held
}
