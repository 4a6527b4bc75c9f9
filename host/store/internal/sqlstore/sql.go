package sqlstore

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
)

//go:embed schema.sql
var schema string

//go:embed statements.sql
var statements string

//go:generate go run ./gen

var (
	version   = regexp.MustCompile(`(?m)^-- version (\d+)$`)
	heading   = regexp.MustCompile(`(?m)^-- ([a-z][A-Za-z]*):.*$`)
	comment   = regexp.MustCompile(`(?m) *--.*$`)
	emptyLine = regexp.MustCompile(`\n\s*\n+`)
)

// Schema returns the statements that make each version of the schema from the one before, beginning with version 1,
// as SQLite takes them.
func Schema() (versions [][]string) {
	begins := version.FindAllStringIndex(schema, -1)
	for i, at := range begins {
		end := len(schema)
		if i+1 < len(begins) {
			end = begins[i+1][0]
		}
		var list []string
		for _, s := range strings.Split(comment.ReplaceAllString(schema[at[1]:end], ""), ";") {
			if s = strings.TrimSpace(emptyLine.ReplaceAllString(s, "\n")); s != "" {
				list = append(list, s)
			}
		}
		versions = append(versions, list)
	}
	return versions
}

// Statement is a statement of a store.
type Statement struct {
	Name string
	// Text is as SQLite takes it, with a question mark for each value.
	Text string
}

// Statements returns the statements of a store.
func Statements() (list []Statement) {
	begins := heading.FindAllStringSubmatchIndex(statements, -1)
	for i, at := range begins {
		end := len(statements)
		if i+1 < len(begins) {
			end = begins[i+1][0]
		}
		text := strings.TrimSuffix(strings.TrimSpace(statements[at[1]:end]), ";")
		list = append(list, Statement{Name: statements[at[2]:at[3]], Text: text})
	}
	return list
}

// numbered has $1, $2, … in place of a statement's question marks.
func numbered(text string) string {
	var b strings.Builder
	for n, part := range strings.Split(text, "?") {
		if n > 0 {
			fmt.Fprintf(&b, "$%d", n)
		}
		b.WriteString(part)
	}
	return b.String()
}
