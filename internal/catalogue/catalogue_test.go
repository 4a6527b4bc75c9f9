package catalogue

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/runtime/fault"
)

func TestCalculate(t *testing.T) {
	deep := strings.Repeat("(", 10_000) + "1"
	for _, c := range []struct {
		expression, want string
	}{
		{"1", "1"},
		{" 1 + 2 * 3 - 4 / 8 ", "6.5"},
		{"(1 + 2) * 3", "9"},
		{"-2 ^ 2", "-4"},
		{"2 ^ -1", "0.5"},
		{"2 ^ 3 ^ 2", "512"},
		{"--3", "3"},
		{"7 % 4 + -7 % 4", "0"},
		{"1.5e3 + .5", "1500.5"},
		{"max(1, 2 + 3, -4) * min(2, 1)", "5"},
		{"abs(-2) + ceil(1.2) + floor(1.8) + round(2.5) + sqrt(9)", "11"},
		{"0.1 + 0.2", "0.30000000000000004"},

		{"", "a number is missing, not end at character 1"},
		{"1 +", "a number is missing, not end at character 4"},
		{"1 2", `unexpected "2" at character 3`},
		{"1 / (2 - 2)", "division by zero at character 3"},
		{"1 % 0", "division by zero at character 3"},
		{"sqrt(-1)", "the square root of a negative number at character 1"},
		{"sqrt 4", `( is missing, not "4" at character 6`},
		{"(1", ") is missing, not end at character 3"},
		{"sin(1)", `there is no function "sin" at character 1`},
		{"sqrt(1, 2)", `) is missing, not "," at character 7`},
		{"1e999", `"1e999" is no number at character 1`},
		{"1e", `"1e" is no number at character 1`},
		{".", `"." is no number at character 1`},
		{"2 * ü", `a number is missing, not "ü" at character 5`},
		{"10 ^ 400", "the result is not a finite number"},
		{"(0-8) ^ 0.5", "the result is not a finite number"},
		{deep, "more than 100 levels at character 101"},
		{strings.Repeat("-", 10_000) + "1", "more than 100 levels"},
		{"1" + strings.Repeat("^1", 10_000), "more than 100 levels"},
	} {
		f, err := calculate(c.expression)
		got := strconv.FormatFloat(f, 'g', -1, 64)
		if err != nil {
			got = err.Error()
			if !fault.Is(err, fault.ToolCalculation) {
				t.Errorf("%.20q: %v", c.expression, err)
			}
		}
		if got != c.want && (err == nil || !strings.Contains(got, ": "+c.want)) {
			t.Errorf("%.20q: %s, want %s", c.expression, got, c.want)
		}
	}
}

// Whatever is calculated ends, with a number or an error.
func FuzzCalculate(f *testing.F) {
	for _, s := range []string{"1+2*(3-4)^5%6", "max(1,2,3)", "sqrt(", "-.e5", "1e400"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		if n, err := calculate(expression); err == nil && n-n != 0 {
			t.Errorf("%q is %v", expression, n)
		}
	})
}

// The calendar is that of package time.
func TestAppendTime(t *testing.T) {
	for _, minutes := range []int64{0, 120, -90} {
		offset := map[int64]string{0: "+00:00", 120: "+02:00", -90: "-01:30"}[minutes]
		zone := time.FixedZone("", int(minutes)*60)
		for ms := int64(-62_135_596_800_000); ms < 253_402_300_799_999-86_400_000; ms += 86_399_999*97 + 1 {
			at := time.UnixMilli(ms).In(zone)
			if at.Year() < 1 {
				continue
			}
			want := at.Format("2006-01-02T15:04:05") + offset + at.Format(", Monday")
			if got := string(appendTime(nil, ms, minutes, offset)); got != want {
				t.Fatalf("%d: %s, want %s", ms, got, want)
			}
		}
	}
}

func TestHandler(t *testing.T) {
	if _, err := Handler("shell", nil); !fault.Is(err, fault.InvalidInitialToolValue) {
		t.Error(err)
	}
}
