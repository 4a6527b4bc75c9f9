package address

import "strings"

// Rule allows the addresses of an origin, all of them or those below a path.
type Rule struct{ prefix Address }

// ParseRule reads a rule: "https://example.com" or "https://example.com/docs", which allows /docs and what is below it.
// One that ends with a slash allows what is below it only.
func ParseRule(text string) (Rule, error) {
	a, err := Parse(text)
	if err == nil && (strings.ContainsAny(text, "?#") || ambiguous(a.text[a.path:])) {
		err = badRule
	}
	return Rule{a}, err
}

// String returns the rule in its one spelling.
func (r Rule) String() string { return r.prefix.text }

// Allows tells whether the rule allows an address.
func (r Rule) Allows(a Address) bool {
	prefix, page := r.prefix.text, a.text[:a.query]
	if !strings.HasPrefix(page, prefix) {
		return false
	}
	// An origin ends where its path begins, so that all of it is compared.
	rest := page[len(prefix):]
	if rest != "" && rest[0] != '/' && prefix[len(prefix)-1] != '/' {
		return false
	}
	return len(prefix) == r.prefix.path+1 || !ambiguous(rest)
}

// ambiguous tells of a path that some servers take for one with other segments: they read escaped slashes and
// backslashes as slashes, or drop what follows a semicolon, an escaped one too, and then resolve dots.
func ambiguous(path string) bool {
	path = strings.ToLower(path)
	for _, s := range [...]string{"%2f", "%5c", ".;", "%2e;", ".%3b", "%2e%3b"} {
		if strings.Contains(path, s) {
			return true
		}
	}
	return false
}
