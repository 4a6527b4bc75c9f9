package main

import (
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
)

// errorVector is an entry of host-errors.json: an error of host code, and the host's ErrorValue for it.
type errorVector struct {
	Name  string     `json:"name"`
	Error *hostError `json:"error"`
	// Reason is the index in the chain of causes of the error that aborted the context: 0 for the error itself, 1 for
	// its cause; nil for none.
	Reason *int   `json:"reason,omitempty"`
	Hex    string `json:"hex"`
}

// hostError is an error in the host's language: one with a code, one of a class, or a plain one.
type hostError struct {
	Code       string          `json:"code,omitempty"`
	Detail     string          `json:"detail,omitempty"` // of a code in the table: follows its text
	Name       string          `json:"name,omitempty"`   // of the class; empty for a plain error
	Message    string          `json:"message,omitempty"`
	Details    json.RawMessage `json:"details,omitempty"`
	Cause      *hostError      `json:"cause,omitempty"`
	Suppressed []*hostError    `json:"suppressed,omitempty"`
}

func plainError(message string, cause *hostError) *hostError {
	return &hostError{Message: message, Cause: cause}
}

// errorVectors must be the same for all hosts. The values are handwritten, not made by a host.
func errorVectors() ([]errorVector, error) {
	plain := func(message string) abi.ErrorValue {
		return abi.ErrorValue{Name: "Error", Message: message, Status: 500}
	}
	own := func(message string) abi.ErrorValue {
		return abi.ErrorValue{Code: "E_OF_THE_CALLER", Message: message, Status: 500}
	}
	coded := func(code, detail string) abi.ErrorValue {
		info, _ := abi.LookupCode(code)
		v := abi.ErrorValue{Code: code, Message: info.Message, Status: uint16(info.Status), Fatal: info.Fatal}
		if detail != "" {
			v.Message = strings.TrimSuffix(info.Message, ".") + ": " + detail
		}
		return v
	}
	with := func(v abi.ErrorValue, change func(*abi.ErrorValue)) abi.ErrorValue { change(&v); return v }
	chain := func(n int) (e *hostError, v *abi.ErrorValue) {
		for i := range n {
			e = plainError(string(rune('a'+i)), e)
			next := plain(string(rune('a' + i)))
			if next.Cause = v; i >= n-8 {
				v = &next
			}
		}
		return e, v
	}
	long, longValue := chain(10)
	details, err := value.FromJSON(nil, []byte(`{"field":"url","tries":2}`))
	if err != nil {
		return nil, err
	}
	zero, one := 0, 1
	var list []errorVector
	add := func(name string, e *hostError, reason *int, v abi.ErrorValue) {
		v.Handle = 1
		list = append(list, errorVector{name, e, reason, hex.EncodeToString(v.Append(nil))})
	}
	add("a plain error", plainError("no route", nil), nil, plain("no route"))
	add("without a message", plainError("", nil), nil, plain(""))
	add("of a class", &hostError{Name: "TypeError", Message: "x is no function"}, nil,
		abi.ErrorValue{Name: "TypeError", Message: "x is no function", Status: 500})
	add("of a code of the table", &hostError{Code: abi.CodeHTTPNotAllowed}, nil,
		coded(abi.CodeHTTPNotAllowed, ""))
	add("with a detail in the place of the period", &hostError{Code: abi.CodeCallAfterEnd, Detail: "the turn has ended"}, nil,
		coded(abi.CodeCallAfterEnd, "the turn has ended"))
	add("of the caller's own code", &hostError{Code: "E_OF_THE_CALLER", Message: "No."}, nil, own("No."))
	add("with details", &hostError{Code: "E_OF_THE_CALLER", Message: "No.", Details: json.RawMessage(`{"field":"url","tries":2}`)}, nil,
		with(own("No."), func(v *abi.ErrorValue) { v.Details = details }))
	cause := plain("refused")
	add("a cause has no handle", &hostError{Code: abi.CodeHTTPTransport, Detail: "connection lost", Cause: plainError("refused", nil)}, nil,
		with(coded(abi.CodeHTTPTransport, "connection lost"), func(v *abi.ErrorValue) { v.Cause = &cause }))
	add("eight errors of a chain cross", long, nil, *longValue)
	second, followed := plain("second"), plain("followed")
	followed.Cause = &second
	add("errors that followed", &hostError{
		Code: "E_OF_THE_CALLER", Message: "first",
		Suppressed: []*hostError{{Message: "followed", Cause: plainError("second", nil)}, {Code: abi.CodeDeadline, Suppressed: []*hostError{plainError("lost", nil)}}},
	}, nil, with(own("first"), func(v *abi.ErrorValue) {
		v.Suppressed = []abi.ErrorValue{followed, coded(abi.CodeDeadline, "")}
	}))
	add("an AbortError", &hostError{Name: "AbortError", Message: "gone"}, nil,
		abi.ErrorValue{Name: "AbortError", Message: "gone", Status: 500, Abort: true})
	add("a gate that was aborted", &hostError{Code: abi.CodeTurnGateAborted}, nil,
		with(coded(abi.CodeTurnGateAborted, ""), func(v *abi.ErrorValue) { v.Abort = true }))
	add("the reason of the abort", plainError("stop", nil), &zero, with(plain("stop"), func(v *abi.ErrorValue) { v.Abort = true }))
	inner := with(plain("stop"), func(v *abi.ErrorValue) { lower := plain("why"); v.Abort, v.Cause = true, &lower })
	add("an error around the reason, and what is below it", plainError("failed", plainError("stop", plainError("why", nil))), &one,
		with(plain("failed"), func(v *abi.ErrorValue) { v.Abort, v.Cause = true, &inner }))
	return list, nil
}
