package main

import (
	"bytes"
	"fmt"
	"go/constant"
	"slices"
	"strings"
)

// hostEvents returns the enumerations of package event: the kinds of event with their names and the methods of their
// types, and the names of other numbers in events.
func (s *source) hostEvents() []byte {
	// The event itself says that a stream was interrupted.
	kinds := slices.DeleteFunc(slices.Clone(s.group("EventKind").Consts), func(c enumerator) bool {
		return strings.HasSuffix(c.Name, "Interrupted")
	})
	var b bytes.Buffer
	fmt.Fprintf(&b, goHeader, "the types of abi", "event")
	b.WriteString(`import "github.com/turncore/turncore/abi"

// Kinds of event. An application shows the first three (register with On); the others report the progress of the turn
// (register with Observe). The comment names the event's type.
const (
`)
	for _, c := range kinds {
		fmt.Fprintf(&b, "Kind%[1]s = Kind(abi.Event%[1]s) // *%[1]s\n", c.Name)
	}
	b.WriteString(")\n")
	for _, table := range []struct {
		name   string
		consts []enumerator
	}{{"kindNames", kinds}, {"statusNames", s.group("Status").Consts}, {"gateResultNames", s.group("GateResult").Consts}} {
		fmt.Fprintf(&b, "\nvar %s = [...]string{", table.name)
		for _, c := range table.consts {
			n, _ := constant.Int64Val(c.Value)
			fmt.Fprintf(&b, "%d: %q,", n, lowerCamel(c.Name))
		}
		b.WriteString("}\n")
	}
	for _, c := range kinds {
		fmt.Fprintf(&b, "\n// Kind is Kind%[1]s.\nfunc (*%[1]s) Kind() Kind { return Kind%[1]s }\n", c.Name)
	}
	return b.Bytes()
}
