package wire

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/turncore/turncore/abi"
)

const errCycle = "the value contains itself"

// cycle finds the first part of a value that is one of those around it. within are these, and path names the value.
func cycle(v any, path string, within []uintptr) (at string, found bool) {
	if len(within) > abi.MaxValueDepth {
		return "", false
	}
	if of, is := v.(Former); is {
		v = members(of)
	}
	var self uintptr
	switch v := v.(type) {
	case map[string]any:
		self = reflect.ValueOf(v).Pointer()
	case []any:
		if len(v) > 0 {
			self = reflect.ValueOf(v).Pointer()
		}
	case Map:
	default:
		return "", false
	}
	if self != 0 && slices.Contains(within, self) {
		return path, true
	}
	within = append(within, self)
	switch v := v.(type) {
	case map[string]any:
		for _, m := range sorted(v) {
			if at, found = cycle(m.Value, path+pathStep(m.Key), within); found {
				return at, true
			}
		}
	case []any:
		for i := range v {
			if at, found = cycle(v[i], path+"["+strconv.Itoa(i)+"]", within); found {
				return at, true
			}
		}
	case Map:
		for _, m := range v {
			if at, found = cycle(m.Value, path+pathStep(m.Key), within); found {
				return at, true
			}
		}
	}
	return "", false
}
