package model

import (
	"reflect"
	"time"
)

// optionMap is a struct of options by their names, without those that are nil or empty.
func optionMap(options any) map[string]any {
	all := map[string]any{}
	addOptions(all, reflect.ValueOf(options))
	return all
}

func addOptions(all map[string]any, options reflect.Value) {
	for field, v := range options.Fields() {
		if field.Anonymous {
			addOptions(all, v)
			continue
		}
		switch v.Kind() {
		case reflect.String:
			if v.Len() == 0 {
				continue
			}
		case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
			if v.IsNil() {
				continue
			}
		}
		switch o := reflect.Indirect(v).Interface().(type) {
		case time.Duration:
			all[field.Tag.Get("option")] = o.Milliseconds()
		case RetryOptions:
			all[field.Tag.Get("option")] = optionMap(o)
		default:
			all[field.Tag.Get("option")] = o
		}
	}
}

// Map returns the capabilities by their names, without those that have their default.
func (c Capabilities) Map() map[string]any { return optionMap(c) }
