package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/suggestion"
)

var stateScopes = []string{"app:", "user:", "temp:"}

// ScopeOf is the scope that a name of the state begins with, "" for none: "app:", "user:" or "temp:".
func ScopeOf(name string) string {
	i := slices.IndexFunc(stateScopes, func(scope string) bool { return strings.HasPrefix(name, scope) })
	if i < 0 {
		return ""
	}
	return stateScopes[i]
}

// StateName says why nothing in the state can have a name, as the core does; "" for one that is right.
func StateName(name string) string {
	scope := ScopeOf(name)
	switch {
	case name == scope:
		return "a name must not be empty"
	case len(name) > abi.MaxStateName:
		return fmt.Sprintf("a name has at most %d bytes", abi.MaxStateName)
	case scope != "":
		return ""
	}
	meant := meantName(name)
	if meant == "" {
		return ""
	}
	return string(value.AppendJSONString([]byte("a scope is app:, user: or temp:; did you mean "), meant)) + "?"
}

// meantName is the name that was probably meant by one whose scope is not known, "" for none.
func meantName(name string) string {
	if rest, ok := strings.CutPrefix(name, "temp_"); ok {
		return "temp:" + rest
	}
	prefix, rest, ok := strings.Cut(name, ":")
	if !ok || len(prefix) > 8 {
		return ""
	}
	for _, scope := range stateScopes {
		if suggestion.Typos(prefix+":", scope) <= 1 {
			return scope + rest
		}
	}
	return ""
}
