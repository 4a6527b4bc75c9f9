// Package tokens estimates how many tokens texts have.
package tokens

import (
	"context"
	"unicode/utf16"
)

// Claude is the encoding that is estimated by length everywhere.
const Claude = "claude"

// Estimate estimates a text's tokens by its length.
func Estimate(encoding, text string) int {
	units := 0
	for _, r := range text {
		units += utf16.RuneLen(r)
	}
	if encoding == Claude {
		return (units*2 + 6) / 7
	}
	return (units + 3) / 4
}

// Scope is a context of a turn in which tokens are counted. Texts are counted anew in each.
type Scope struct {
	// Count counts the tokens of texts with the tokenizers of the turn's runner.
	Count func(encoding string, texts ...string) ([]int, error)
}

// ScopeKey is the key of a context's *Scope.
type ScopeKey struct{}

// ScopeOf returns the scope of a context, nil for a context outside turns.
func ScopeOf(ctx context.Context) *Scope {
	if ctx == nil {
		return nil
	}
	s, _ := ctx.Value(ScopeKey{}).(*Scope)
	return s
}

// In estimates a text's tokens in a scope, by its length without one.
func In(s *Scope, encoding, text string) (int, error) {
	if s == nil {
		return Estimate(encoding, text), nil
	}
	counts, err := s.Count(encoding, text)
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}
