// Package methods says why a value is no implementation of an interface that it is meant to be.
package methods

import (
	"fmt"
	"reflect"
	"strings"
)

// Lacking tells what a value lacks to be an I: methods that are not there, and those with another signature. It is
// empty where nothing is lacking.
func Lacking[I any](value any) string {
	if _, is := value.(I); is {
		return ""
	}
	if value == nil {
		return "it is nil"
	}
	wanted, got := reflect.TypeFor[I](), reflect.ValueOf(value)
	var missing, others []string
	for i := range wanted.NumMethod() {
		want := wanted.Method(i)
		method := got.MethodByName(want.Name)
		switch {
		case !method.IsValid():
			missing = append(missing, want.Name)
		case method.Type() != want.Type:
			others = append(others, fmt.Sprintf("its %s is a %s, not a %s", want.Name, method.Type(), want.Type))
		}
	}
	if len(missing) > 0 {
		others = append([]string{"it lacks " + strings.Join(missing, ", ")}, others...)
	}
	return strings.Join(others, "; ")
}
