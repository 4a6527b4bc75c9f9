// Package check checks fields against the rules of the ABI and words the violations.
package check

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/wire"
)

// Given is the value of one field as the rules see it. What Go's types already say is not checked again.
type Given struct {
	Present bool
	Text    string
	Number  float64
}

// Text is a text that is there.
func Text[S ~string](s S) Given { return Given{Present: true, Text: string(s)} }

// OptionalText is a text that is there unless it is empty.
func OptionalText[S ~string](s S) Given { return Given{Present: s != "", Text: string(s)} }

// Number is a number that is there.
func Number(n float64) Given { return Given{Present: true, Number: n} }

// Time is a time that is there unless it is zero.
func Time(t time.Time) Given { return Given{Present: !t.IsZero()} }

// If is a value of which only its presence matters.
func If(present bool) Given { return Given{Present: present} }

// OptionalNumber is a number that is there unless it is nil.
func OptionalNumber(n *float64) (g Given) {
	if n != nil {
		g = Number(*n)
	}
	return g
}

// Violations lists what is wrong with values, which stand in the order of the table's fields. The names of the fields
// are prefixed with path.
func Violations(rules *abi.Rules, path string, values []Given) (list []string) {
	for i := range rules.Fields {
		f := &rules.Fields[i]
		if i < len(values) && obeys(f, values[i]) {
			continue
		}
		list = append(list, violation(f, path, values[min(i, len(values)-1)]))
	}
	at := func(name string) Given {
		i := slices.IndexFunc(rules.Fields, func(f abi.Field) bool { return f.Name == name })
		return values[i]
	}
	for _, c := range rules.Cross {
		field, other := at(c.Field), at(c.Other)
		broken := false
		switch c.Rule {
		case abi.RuleRequires:
			broken = field.Present && !other.Present
		case abi.RuleRequiredWithout:
			broken = !other.Present && field.Text == ""
		case abi.RuleExactlyOne:
			broken = field.Present == other.Present
		case abi.RuleEither:
			broken = !field.Present && !other.Present
		}
		if broken {
			list = append(list, abi.Violation(c.Rule, "field", path+c.Field, "other", path+c.Other))
		}
	}
	return list
}

func obeys(f *abi.Field, v Given) bool {
	switch {
	case !v.Present:
		return !f.Required
	case f.Name == "id" && !utf8.ValidString(v.Text):
		return false
	case f.NonEmpty && v.Text == "" && f.Kind.IsText():
		return false
	case f.Range != nil && !(v.Number >= f.Range.Min && v.Number <= f.Range.Max): // also refuses NaN
		return false
	case len(f.Enum) > 0 && !slices.Contains(f.Enum, v.Text):
		return false
	}
	return true
}

func violation(f *abi.Field, path string, v Given) string {
	name := path + f.Name
	switch {
	case !v.Present:
		return abi.Violation(abi.RuleRequired, "field", name)
	case f.NonEmpty && v.Text == "":
		return abi.Violation(abi.RuleNonEmpty, "field", name)
	case f.Name == "id" && !utf8.ValidString(v.Text):
		return NoUTF8(name)
	case f.Range != nil:
		return abi.Violation(abi.RuleRange, "field", name, "min", number(f.Range.Min), "max", number(f.Range.Max))
	}
	quoted := make([]string, len(f.Enum))
	for i, s := range f.Enum {
		quoted[i] = strconv.Quote(s)
	}
	return abi.Violation(abi.RuleEnum, "field", name, "values", strings.Join(quoted, ", "))
}

// NoUTF8 is the violation of an id that would be another one once it has gone through the core.
func NoUTF8(field string) string { return "`" + field + "` must be valid UTF-8" }

func number(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }

// Invalid makes the error of a type whose rules are broken; nil if list is empty.
func Invalid(rules *abi.Rules, list []string) error {
	if len(list) == 0 {
		return nil
	}
	cause := host.NewError(host.CodeValidationException, strings.Join(list, " and "), nil)
	return host.NewError(host.Code(rules.Code), strings.Join(list, "; "), cause)
}

// Missing is the error for a nil where a type should be.
func Missing(rules *abi.Rules) error {
	return Invalid(rules, []string{abi.Violation(abi.RuleType, "type", rules.Title)})
}

// IsObject tells whether text is the JSON text of an object.
func IsObject(text json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte{'{'}) && json.Valid(text)
}

// AppendUnencodable appends to list why a value has no encoding, nothing if it has one.
func AppendUnencodable(list []string, field string, v any) []string {
	if v == nil {
		return list
	}
	if _, err := wire.Append(nil, v, field); err != nil {
		list = append(list, err.Error())
	}
	return list
}

// At names the i-th element of a field.
func At(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }

// Elements lists what is wrong with the elements of a field.
func Elements[V interface{ Validate() error }](field string, elements []V) (list []string) {
	for i, v := range elements {
		if err := v.Validate(); err != nil {
			list = append(list, At(field, i)+": "+err.Error())
		}
	}
	return list
}
