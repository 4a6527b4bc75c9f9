package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestTableIsSortedAndComplete(t *testing.T) {
	if !slices.IsSortedFunc(table[:], func(a, b info) int { return strings.Compare(string(a.code), string(b.code)) }) {
		t.Error("the table is not sorted, so that codes are not found")
	}
	for _, f := range table {
		if e := New(f.code); e.Message != f.message || e.Status != f.status || e.Fatal != f.fatal {
			t.Errorf("New(%s) = %+v, want %+v", f.code, e, f)
		}
		if f.code.Error() != f.message {
			t.Errorf("%s says %q", f.code, f.code.Error())
		}
	}
}

func TestMessages(t *testing.T) {
	static := PipelineShortCircuited.Error()
	stem := strings.TrimSuffix(static, ".")
	for _, tt := range []struct {
		name string
		err  *Error
		want string
	}{
		{"no detail", New(PipelineShortCircuited), static},
		{"one", New(PipelineShortCircuited, "turn-input"), stem + ": turn-input"},
		{"two", New(PipelineShortCircuited, "a", "b"), stem + ": a; b"},
		{"no cause", Wrap(PipelineShortCircuited, nil), static},
		{"cause", Wrap(PipelineShortCircuited, errors.New(" boom\n")), stem + ": boom"},
		{"cause without text", Wrap(PipelineShortCircuited, errors.New(" ")), static},
		{"cause with the same text", Wrap(PipelineShortCircuited, errors.New(static)), static},
		{"cause with a code", Wrap(ToolDownstreamError, Plain("boom")), "The tool's handler failed: boom"},
		{"unknown code", New("E_OWN", "why"), "E_OWN: why"},
	} {
		if tt.err.Message != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, tt.err.Message, tt.want)
		}
	}
}

func TestIs(t *testing.T) {
	inner := New(TurnGateAborted)
	err := fmt.Errorf("outer: %w", Wrap(LLMExecutionExecutorError, inner))
	for code, want := range map[Code]bool{LLMExecutionExecutorError: true, TurnGateAborted: true, StorageCommitError: false} {
		if errors.Is(err, code) != want || Is(err, code) != want {
			t.Errorf("Is(%s) = %t, want %t", code, !want, want)
		}
	}
	if errors.Is(Plain("x"), Code("")) {
		t.Error("an error without a code has the empty code")
	}
	if !errors.Is(err, inner) {
		t.Error("the cause itself is not found")
	}
	if !IsAbort(err) || IsAbort(Plain("x")) || !IsAbort(&Error{Abort: true}) || IsAbort(nil) {
		t.Error("IsAbort is wrong")
	}
}

func TestDetailsOf(t *testing.T) {
	inner := &Error{Details: []byte{1}}
	if got := DetailsOf(Wrap(StorageCommitError, inner)); !slices.Equal(got, []byte{1}) {
		t.Errorf("details %v", got)
	}
	if DetailsOf(&StreamSealed{}) != nil {
		t.Error("details out of nothing")
	}
}
