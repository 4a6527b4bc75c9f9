package turn

import (
	"errors"
	"strconv"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
)

// recordFields are the fields of a turn's or a dispatch's input that hold records.
var recordFields = map[uint8]string{
	abi.CollectionMemories:     "memories",
	abi.CollectionRetrievables: "retrievables",
	abi.CollectionMessages:     "messages",
	abi.CollectionThoughts:     "thoughts",
	abi.CollectionToolCalls:    "toolCalls",
}

// refusedStart is what a start that the core did not take is refused with. One that breaks a limit of the ABI is told
// with the field that has most of its bytes, which Details have as field.
func refusedStart(err error, f *abi.StartTurn) error {
	if !errors.Is(err, host.CodeABILimitExceeded) {
		return err
	}
	field, most := "", 0
	measure := func(name string, size int) {
		if size > most {
			field, most = name, size
		}
	}
	instructions := 0
	for _, i := range f.Instructions {
		instructions += len(i.Text)
	}
	measure("systemPrompt", len(f.SystemPrompt))
	measure("standingInstructions", instructions)
	measure("stash", len(f.Stash))
	measure("message", len(f.Message.Data))
	for _, block := range f.Initial {
		measure(recordFields[block.Collection], len(block.Data))
	}
	return tooLargeStart(field, most, err)
}

// tooLargeStart names the field that makes a start too large.
func tooLargeStart(field string, size int, cause error) error {
	err := host.NewError(host.CodeABILimitExceeded,
		"the start of the turn is too large; "+field+" has "+strconv.Itoa(size)+" bytes of it", cause)
	err.Details = map[string]any{"field": field}
	return err
}

// TooLarge is the error of data that no frame can hold: of a field, or of what else is named if field is "".
func TooLarge(field, what string, actual, most int, cause error) error {
	if field != "" {
		what = field
	}
	text := what + " of " + strconv.Itoa(actual) + " bytes is over the limit of " + strconv.Itoa(most)
	err := host.NewError(host.CodeABILimitExceeded, text, cause)
	details := map[string]any{"limit": "frame", "max": most, "actual": actual}
	if field != "" {
		details["field"] = field
	}
	err.Details = details
	return err
}
