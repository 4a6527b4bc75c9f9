package turn

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
)

// TestErrorTable takes every code of the table that all hosts share over the wire: what is known of it is the same on
// the other side, and errors.Is and errors.As find it, its cause, and what is below that.
func TestErrorTable(t *testing.T) {
	inner := errors.New("why")
	codes := tableOfErrors(t)
	n := 0
	for _, info := range codes {
		n++
		code := host.Code(info.Code)
		cause := host.NewError(host.CodeInvalidValue, "the cause", inner)
		err := error(host.NewError(code, "the detail", cause))

		raw := describe(err, nil).Append(nil)
		v, decodeErr := abi.Decode[abi.ErrorValue](raw)
		if decodeErr != nil {
			t.Fatal(decodeErr)
		}
		arrived := host.ErrorOf(&v, nil)
		for side, err := range map[string]error{"here": err, "there": arrived} {
			var e, below *host.Error
			switch {
			case !errors.Is(err, code):
				t.Errorf("%s %s: errors.Is does not find it", side, code)
			case !errors.As(err, &e):
				t.Errorf("%s %s: errors.As does not find it", side, code)
			case e.Status != info.Status || e.Fatal != info.Fatal || e.Help != info.Help || e.Help == "":
				t.Errorf("%s %s: %+v, want %+v", side, code, e, info)
			case e.Message != host.NewError(code, "the detail", nil).Message:
				t.Errorf("%s %s: message %q", side, code, e.Message)
			case !errors.Is(err, host.CodeInvalidValue) || !errors.As(e.Cause, &below) || below.Cause.Error() != "why":
				t.Errorf("%s %s: cause %v", side, code, e.Cause)
			}
			for _, other := range codes {
				is := errors.Is(err, host.Code(other.Code))
				if want := other.Code == info.Code || other.Code == string(host.CodeInvalidValue); is != want {
					t.Errorf("%s: errors.Is(%s) is %t", code, other.Code, is)
				}
			}
		}
		if !errors.Is(err, inner) {
			t.Errorf("%s: the error below the cause is not found", code)
		}
	}
	if n < 60 {
		t.Errorf("the table has %d codes", n)
	}
}

// tableOfErrors reads the table that the code on both sides is generated from.
func tableOfErrors(t *testing.T) (codes []abi.CodeInfo) {
	text, err := os.ReadFile("../../../abi/errors.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &codes); err != nil {
		t.Fatal(err)
	}
	list := codes[:0]
	for _, info := range codes {
		if info.Code == "" {
			continue // a heading
		}
		if known, ok := abi.LookupCode(info.Code); !ok || known != info {
			t.Errorf("%s: %+v, want %+v", info.Code, known, info)
		}
		list = append(list, info)
	}
	return list
}

func TestSuppressedErrorsCross(t *testing.T) {
	first := host.NewError(host.CodeInputPipelineError, "first", nil)
	first.Suppressed = []error{errors.New("second"), host.NewError(host.CodeDeadline, "third", nil)}
	v := describe(first, nil)
	arrived, ok := host.ErrorOf(v, nil).(*host.Error)
	if !ok || len(arrived.Suppressed) != 2 || arrived.Suppressed[0].Error() != "second" || !errors.Is(arrived.Suppressed[1], host.CodeDeadline) {
		t.Errorf("%+v", arrived)
	}
	first.Suppressed = make([]error, 1000)
	for i := range first.Suppressed {
		first.Suppressed[i] = errX
	}
	if v := describe(first, nil); len(v.Suppressed) != maxSuppressed {
		t.Errorf("%d errors cross, want %d", len(v.Suppressed), maxSuppressed)
	}
}

var errX = errors.New("X")

// vectorError is an error as abi/testdata/host-errors.json has it.
type vectorError struct {
	Code, Detail, Name, Message string
	Details                     any
	Cause                       *vectorError
	Suppressed                  []*vectorError
}

// plainError is an error without a code or a class.
type plainError struct {
	message string
	cause   error
}

func (e *plainError) Error() string { return e.message }
func (e *plainError) Unwrap() error { return e.cause }

// make makes the error, and lists it with the causes below it.
func (v *vectorError) make() (chain []error) {
	if v == nil {
		return nil
	}
	var cause error
	if chain = v.Cause.make(); len(chain) > 0 {
		cause = chain[0]
	}
	var suppressed []error
	for _, each := range v.Suppressed {
		suppressed = append(suppressed, each.make()[0])
	}
	var err error = &plainError{v.Message, cause}
	switch {
	case v.Code != "" && v.Message == "":
		e := host.NewError(host.Code(v.Code), v.Detail, cause)
		e.Details, e.Suppressed = v.Details, suppressed
		err = e
	case v.Code != "" || v.Name != "":
		err = &host.Error{
			Code: host.Code(v.Code), Name: v.Name, Message: v.Message, Details: v.Details, Cause: cause, Suppressed: suppressed,
		}
	}
	return append([]error{err}, chain...)
}

// Errors of host code cross in the same bytes from every host.
func TestHostErrorVectors(t *testing.T) {
	text, err := os.ReadFile("../../../abi/testdata/host-errors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Name   string
		Error  *vectorError
		Reason *int
		Hex    string
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 10 {
		t.Fatalf("%d vectors", len(vectors))
	}
	for _, v := range vectors {
		chain := v.Error.make()
		var reason error
		if v.Reason != nil {
			reason = chain[*v.Reason]
		}
		table := errorTable{most: 1 << 20}
		got := hex.EncodeToString(table.keep(chain[0], describe(chain[0], reason)).Append(nil))
		if got != v.Hex {
			t.Errorf("%s:\n%s, want\n%s", v.Name, got, v.Hex)
		}
		if same := table.decode(&abi.ErrorValue{Handle: 1}); same != chain[0] {
			t.Errorf("%s comes back as %v", v.Name, same)
		}
	}
}
