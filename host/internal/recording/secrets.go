package recording

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// redacted stands where a secret was.
const redacted = "REDACTED"

// Secrets are taken out of what is recorded. The zero value knows none. Its methods may be called from many goroutines.
type Secrets struct {
	mu    sync.Mutex
	forms []string // the longest in front: one may be part of another
}

// Keep notes a secret. What is shorter than 8 characters is no key, and taking it out would spoil texts.
func (s *Secrets) Keep(secret string) {
	for _, scheme := range []string{"Bearer ", "Basic "} {
		if len(secret) > len(scheme) && strings.EqualFold(secret[:len(scheme)], scheme) {
			secret = secret[len(scheme):]
		}
	}
	if secret = strings.TrimSpace(secret); len(secret) < 8 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, form := range []string{secret, url.QueryEscape(secret), escaped(secret), strings.ReplaceAll(escaped(secret), "/", `\/`)} {
		if !slices.Contains(s.forms, form) {
			s.forms = append(s.forms, form)
		}
	}
	slices.SortStableFunc(s.forms, func(a, b string) int { return len(b) - len(a) })
}

// escaped is how JSON writes a text.
func escaped(text string) string {
	quoted, _ := json.Marshal(text) // a string can always be written
	return string(quoted[1 : len(quoted)-1])
}

// keyHeaders are the headers that keys come in, in the order in which a provider is most likely to have them.
var keyHeaders = []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key", "Cookie", "Proxy-Authorization"}

// keyParameters are the parameters of a query that keys come in.
var keyParameters = []string{"key", "api_key", "api-key", "apikey", "access_token", "token"}

// keyMembers are the members of JSON that keys come in, in lower case.
var keyMembers = []string{
	"api_key", "api-key", "apikey", "access_token", "accesstoken", "refresh_token", "id_token", "client_secret", "authorization", "password",
}

// KeepOf notes the keys that a request brings in its header and in the query of its address.
func (s *Secrets) KeepOf(header http.Header, at *url.URL) {
	for _, name := range keyHeaders {
		for _, v := range header[name] {
			s.Keep(v)
		}
	}
	query := at.Query()
	for _, name := range keyParameters {
		for _, v := range query[name] {
			s.Keep(v)
		}
	}
}

// WithoutKeys is a URL without the keys in its query.
func WithoutKeys(at *url.URL) string {
	u := *at
	u.User = nil
	query := u.Query()
	for _, name := range keyParameters {
		query.Del(name)
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// Redact takes all secrets out of a text.
func (s *Secrets) Redact(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, form := range s.forms {
		text = strings.ReplaceAll(text, form, redacted)
	}
	return text
}

// RedactBody is Redact for a body, from which it takes the members of keys too if it is JSON: their values become
// secrets, and are taken out however short they are.
func (s *Secrets) RedactBody(body string) string {
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	var v any
	if d.Decode(&v) == nil && !d.More() && s.takeMembers(v) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		_ = e.Encode(v) // it came out of JSON
		body = strings.TrimSuffix(b.String(), "\n")
	}
	return s.Redact(body)
}

// takeMembers replaces the members of keys in a value. It tells whether there were any.
func (s *Secrets) takeMembers(v any) (found bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			text, is := member.(string)
			if is && slices.Contains(keyMembers, strings.ToLower(name)) {
				s.Keep(text)
				v[name], found = redacted, true
				continue
			}
			found = s.takeMembers(member) || found
		}
	case []any:
		for _, e := range v {
			found = s.takeMembers(e) || found
		}
	}
	return found
}
