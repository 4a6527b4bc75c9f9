package abi

import (
	"slices"
	"strings"
)

// Kind is the type that the value of a field must have.
type Kind string

// IsText reports whether a string is a value of the kind.
func (k Kind) IsText() bool {
	return k == KindString || k == KindText || k == KindIdentifier || k == KindContent
}

// Rules are the rules of a type. Hosts check them before anything reaches the module. All hosts share one table
// (rules.json), so that a violation reads the same everywhere.
type Rules struct {
	Title   string // the type's name in a sentence
	Code    string // of the error that lists the violations
	Convert bool   // accept strings that spell a number or a boolean
	Fields  []Field
	Cross   []CrossRule
}

// Field holds the rules of a field, or of a list's entries.
type Field struct {
	Name     string
	Kind     Kind
	Required bool     // absent and null are violations
	NonEmpty bool     // an empty string or list is a violation; an empty Tokenizable is not
	Range    *Range   // of a number
	Enum     []string // the allowed strings
	Class    string   // KindInstance: name of the class
	Params   int      // KindFunction: most parameters it may declare; 0 if it does not matter
	Default  string   // JSON text of an absent field's value; empty for none
	Aliases  []string // other names of the field
	Item     *Field   // KindList: rules of the entries
}

// Range is a closed interval.
type Range struct{ Min, Max float64 }

// CrossRule concerns two fields.
type CrossRule struct {
	Rule, Field, Other string
}

// Field returns the rules of the field with the given name or alias, nil if there is none.
func (r *Rules) Field(name string) *Field {
	for i := range r.Fields {
		if f := &r.Fields[i]; f.Name == name || slices.Contains(f.Aliases, name) {
			return f
		}
	}
	return nil
}

// Violation returns the text for a broken rule. key is a kind or one of the Rule constants, args are pairs of a
// placeholder's name and its text, such as "field", "tools[2].name".
func Violation(key string, args ...string) string {
	text := phrases[key]
	for i := 0; i+1 < len(args); i += 2 {
		text = strings.ReplaceAll(text, "{"+args[i]+"}", args[i+1])
	}
	return text
}
