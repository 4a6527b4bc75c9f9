package host_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
)

func TestErrorIsItsCode(t *testing.T) {
	cause := errors.New("the disk is full")
	err := fmt.Errorf("turn 7: %w", host.NewError(host.CodeStorageCommitError, "1 of 3 applied", cause))
	if !errors.Is(err, host.CodeStorageCommitError) || errors.Is(err, host.CodeInstanceFailed) {
		t.Error("the code is not found")
	}
	if !errors.Is(err, cause) {
		t.Error("the cause is not found")
	}
	var coded *host.Error
	if !errors.As(err, &coded) {
		t.Fatal("the error is not found")
	}
	if coded.Status != 500 || coded.Fatal || coded.Help == "" {
		t.Errorf("%+v", coded)
	}
	if !strings.HasSuffix(err.Error(), ": 1 of 3 applied") || !strings.Contains(err.Error(), "E_STORAGE_COMMIT_ERROR: ") {
		t.Error(err)
	}
}

func TestErrorTexts(t *testing.T) {
	for want, err := range map[string]*host.Error{
		"E_MINE: broken":    host.NewError("E_MINE", "broken", nil),
		"TypeError: broken": {Name: "TypeError", Message: "broken"},
		"broken":            {Message: "broken"},
		"it is empty":       {Name: "Error", Message: "it is empty"},
		"E_CALL_AFTER_END: The context was used after its end.": host.NewError(host.CodeCallAfterEnd, "", nil),
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}

func TestErrorOf(t *testing.T) {
	own := errors.New("what host code threw")
	lookup := func(handle int64) error {
		if handle == 3 {
			return own
		}
		return nil
	}
	details := abi.Raw("\x81\xa4more\x91\x81\xa1a\x01")
	err := host.ErrorOf(&abi.ErrorValue{
		Handle: -1, Code: "E_LLM_EXECUTION_EXECUTOR_ERROR", Message: "it failed", Details: details,
		Cause:      &abi.ErrorValue{Handle: 3, Name: "Error", Message: "not used"},
		Suppressed: []abi.ErrorValue{{Name: "TypeError", Message: "later", Details: abi.Raw{0xc1}}},
	}, lookup)
	var coded *host.Error
	if !errors.As(err, &coded) || !errors.Is(err, host.CodeLLMExecutionExecutorError) {
		t.Fatalf("%#v", err)
	}
	if errors.Unwrap(err) != own {
		t.Errorf("the cause is %#v", errors.Unwrap(err))
	}
	if coded.Status != 500 || coded.Help == "" || coded.Message != "it failed" {
		t.Errorf("%+v", coded)
	}
	if want := any(map[string]any{"more": []any{map[string]any{"a": int64(1)}}}); !reflect.DeepEqual(coded.Details, want) {
		t.Errorf("details %v", coded.Details)
	}
	if len(coded.Suppressed) != 1 || coded.Suppressed[0].Error() != "TypeError: later" ||
		coded.Suppressed[0].(*host.Error).Details != nil {
		t.Errorf("suppressed %v", coded.Suppressed)
	}
	if back := host.ErrorOf(&abi.ErrorValue{Handle: 3}, lookup); back != own {
		t.Errorf("handle 3 came back as %v", back)
	}
	if foreign := host.ErrorOf(&abi.ErrorValue{Handle: 3, Message: "x"}, nil); foreign.Error() != "x" {
		t.Errorf("without lookup: %v", foreign)
	}
}

// codes_gen.go names every code of the error table and no other.
func TestEveryCodeIsThere(t *testing.T) {
	text, err := os.ReadFile("../abi/errors.json")
	if err != nil {
		t.Fatal(err)
	}
	var table []struct{ Code string }
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, entry := range table {
		if entry.Code != "" {
			want[entry.Code] = true
		}
	}

	file, err := parser.ParseFile(token.NewFileSet(), "codes_gen.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	have := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			have++
			if value, ok := spec.Values[0].(*ast.SelectorExpr); !ok || value.Sel.Name != spec.Names[0].Name {
				t.Errorf("%s is not the code of its name", spec.Names[0])
			}
		}
		return true
	})
	if have != len(want) {
		t.Fatalf("codes_gen.go has %d codes, abi/errors.json %d", have, len(want))
	}
}
