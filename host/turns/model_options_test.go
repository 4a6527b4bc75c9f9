package turns_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// optionNames are those of a struct of options.
func optionNames(t reflect.Type) (names []string) {
	for f := range t.Fields() {
		if f.Anonymous {
			names = append(names, optionNames(f.Type)...)
		} else {
			names = append(names, f.Tag.Get("option"))
		}
	}
	slices.Sort(names)
	return names
}

// sampleOption is a value that an option may have: the last of its values, or else any of its type.
func sampleOption(name string, t reflect.Type) any {
	values := optionValues[name]
	switch {
	case name == "toolDelivery":
		return "native" // "prompt" leaves the tools out of the request
	case name == "cache_control":
		return true // the one of several types that takes no text
	case t == reflect.TypeFor[string]() && len(values) > 0:
		return values[len(values)-1]
	case t == reflect.TypeFor[[]string]() && len(values) > 0:
		return values
	}
	switch t {
	case reflect.TypeFor[*int]():
		return new(1)
	case reflect.TypeFor[*float64]():
		return new(0.0)
	case reflect.TypeFor[*bool]():
		return new(false)
	case reflect.TypeFor[*time.Duration]():
		return new(3 * time.Second)
	case reflect.TypeFor[[]string]():
		return []string{"x"}
	case reflect.TypeFor[[]record.MediaKind]():
		return []record.MediaKind{record.Image}
	case reflect.TypeFor[[]map[string]any]():
		return []map[string]any{{"x": 1}}
	case reflect.TypeFor[map[string]any]():
		return map[string]any{"type": "auto", "member_" + name: 1}
	case reflect.TypeFor[map[string]string]():
		return map[string]string{"x-a": "b"}
	case reflect.TypeFor[map[string]map[string]any]():
		return map[string]map[string]any{"get": {"x": 1}}
	case reflect.TypeFor[*model.RetryOptions]():
		return &model.RetryOptions{
			MaxAttempts: new(1), BaseDelay: new(time.Second), MaxDelay: new(time.Second), Statuses: []int{503}, HonorRetryAfter: new(false),
		}
	}
	return "x"
}

func fillOptions(v reflect.Value) {
	for f, field := range v.Fields() {
		if f.Anonymous {
			fillOptions(field)
		} else {
			field.Set(reflect.ValueOf(sampleOption(f.Tag.Get("option"), f.Type)))
		}
	}
}

// The core takes every option of the type that it has, and the members of requests are in the request, zeros too.
func TestTypedOptions(t *testing.T) {
	for provider, typed := range typedOptions {
		if all := typed.Map(); len(all) != 0 {
			t.Errorf("%s: %v of none", provider, all)
		}
		options := reflect.New(reflect.TypeOf(typed).Elem())
		fillOptions(options.Elem())
		var body string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text, _ := io.ReadAll(r.Body)
			body = string(text)
			w.WriteHeader(http.StatusTeapot)
		}))
		runner, err := turns.New(t.Context(), turns.Config{
			Engine: native.New(),
			Model: turns.Model{
				Name: "m", Provider: provider, BaseURL: server.URL, Options: options.Interface().(interface{ Map() map[string]any }).Map(),
			},
			Tools: []*turns.Tool{{
				Name: "get", Description: "d", InputSchema: `{"type":"object"}`,
				Handler: func(*turns.DispatchContext, turns.Args) (any, error) { return nil, nil },
			}},
		})
		if err != nil {
			t.Errorf("%s: %v", provider, err)
			continue
		}
		result, err := finished(runner.Run(t.Context(), turns.Input{Message: "hi"}))
		if err != nil || result.Err == nil || !strings.Contains(result.Err.Error(), "E_CHAT_HTTP_ERROR") {
			t.Errorf("%s: %+v, %v", provider, result, err)
		}
		for _, name := range slices.Concat(optionNames(reflect.TypeOf(typed).Elem()), []string{"member_body"}) {
			isMember := strings.Contains(name, "_") || name == "temperature" || name == "seed"
			if isMember && !strings.Contains(body, `"`+name+`":`) {
				t.Errorf("%s: no %s in %s", provider, name, body)
			}
		}
		_ = runner.Close()
		server.Close()
	}
}
