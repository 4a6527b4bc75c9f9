package wire

import (
	"bytes"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"testing"
)

// form writes what a map says.
type form struct {
	list []Former
	more map[string]any
	text string
}

func (f *form) Form(m *Encoder) {
	m.Text("text", f.text)
	m.Number("none", 0)
	m.Flag("none", false)
	m.Object("none", nil)
	if f.list != nil {
		m.List("list", len(f.list), func(i int) Former { return f.list[i] })
	}
	m.Flag("flag", f.more["flag"] == true)
	m.More(f.more)
}

// A Former has the encoding and the errors of the Map of its members.
func TestFormer(t *testing.T) {
	many := map[string]any{"flag": true, "10": 1, "9": 2, "é": 3, "text": "other"}
	for i := range 40 {
		many["k"+strconv.Itoa(i)] = i
	}
	inner := &form{text: "x", more: map[string]any{"a": []any{1}}}
	rows := func(f *form) Map {
		m := Map{{"text", f.text}}
		if f.list != nil {
			var list []any
			for _, of := range f.list {
				list = append(list, Map{{"text", of.(*form).text}, {"a", of.(*form).more["a"]}})
			}
			m = append(m, Member{"list", list})
		}
		if f.more["flag"] == true {
			m = append(m, Member{"flag", true})
		}
		for _, key := range slices.Sorted(maps.Keys(f.more)) {
			if key != "flag" && key != "text" {
				m = append(m, Member{key, f.more[key]})
			}
		}
		return m
	}
	ring := map[string]any{}
	ring["b c"] = []any{ring}
	for name, f := range map[string]*form{
		"members":         {text: "t", list: []Former{inner, inner}},
		"many":            {text: "t", more: many},
		"text not UTF-8":  {text: "t", more: map[string]any{"\xff": 1, "\xfe": 2, "�": 3}},
		"a number":        {text: "t", list: []Former{inner, &form{text: "y", more: map[string]any{"a": math.NaN()}}}},
		"a cycle":         {text: "t", list: []Former{&form{text: "y", more: map[string]any{"a": ring}}}},
		"a cycle in more": {text: "t", more: ring},
	} {
		got, err := Append([]byte("x"), f, "v")
		want, failure := Append([]byte("x"), rows(f), "v")
		if !bytes.Equal(got, want) || (err == nil) != (failure == nil) {
			t.Errorf("%s: %x, %v, want %x, %v", name, got, err, want, failure)
		} else if err != nil && err.Error() != failure.Error() {
			t.Errorf("%s: %v, want %v", name, err, failure)
		}
	}
	wide := &form{more: map[string]any{}}
	for i := range 8193 {
		wide.more["k"+strconv.Itoa(i)] = i
	}
	var e *Error
	if _, err := Append(nil, Map{{"m", wide}}, "v"); !errors.As(err, &e) || e.Field != "v.m" || e.Reason != "8193 elements are more than 8192" {
		t.Errorf("too many members: %v", err)
	}
}
