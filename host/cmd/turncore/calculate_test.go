package main

import (
	"strings"
	"testing"
)

func TestCalculate(t *testing.T) {
	for expression, want := range map[string]string{
		"1 + 2 * 3":                    "7",
		"(1 + 2) * 3":                  "9",
		"8 / 4 / 2":                    "1",
		"8 - 4 - 2":                    "2",
		"2 * -3":                       "-6",
		"--2+-+-2":                     "4",
		"-(2 + 1)":                     "-3",
		"0 * -1":                       "0",
		".5 + 1.":                      "1.5",
		"0.1 + 0.2":                    "0.30000000000000004",
		"1 / 3":                        "0.3333333333333333",
		"1 / 10000000":                 "1e-7",
		"1000000 * 1000000":            "1000000000000",
		"100000000000 * 1000000000000": "1e+23",
		" \t7\n":                       "7",
		strings.Repeat("(", 100) + "1" + strings.Repeat(")", 100): "1",
	} {
		if got, err := calculate(expression); err != nil || got != want {
			t.Errorf("%s = %s, %v, want %s", expression, got, err, want)
		}
	}
	for expression, want := range map[string]string{
		"":        "ends too early",
		"1 +":     "ends too early",
		"(1":      "ends too early",
		"1 2":     `unexpected "2"`,
		"1)":      `unexpected ")"`,
		"two":     `unexpected "t"`,
		"1 × 2":   `unexpected "×"`,
		"1e5":     `unexpected "e"`,
		"1.2.3":   `"1.2.3" is no number`,
		".":       `"." is no number`,
		"1 / 0":   "division by zero",
		"1/(2-2)": "division by zero",
		"1 / (1":  "ends too early",
		strings.Repeat("9", 200) + "*" + strings.Repeat("9", 200): "not a finite number",
		strings.Repeat("9", 400):                                  "is no number",
		strings.Repeat("(", 101) + "1" + strings.Repeat(")", 101): "nest deeper than 100",
		strings.Repeat("-", 100000):                               "ends too early",
	} {
		if got, err := calculate(expression); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s = %s, %v, want %s", expression, got, err, want)
		}
	}
}
