package turns

import (
	"context"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/internal/turn"
	"github.com/turncore/turncore/host/internal/wire"
	"github.com/turncore/turncore/host/record"
)

// mostJSON is how many bytes of JSON a byte of a value can be: six for a control character in a text, and a comma.
const mostJSON = 7

// tellResult returns what a core-side executor gets of a tool's result. An artifact, a medium or a list of either stays
// here, and so does a result whose text has more bytes than spool, if that is not 0, as an artifact: the core is told
// what stands for it.
func tellResult(e *turn.Effect, tool *Tool, result any, spool uint64) (abi.Raw, error) {
	result, err := tool.Keep(result)
	if err != nil {
		return nil, err
	}
	switch r := result.(type) {
	case *record.Tokenizable:
		if r == nil {
			return value.AppendNil(nil), nil
		}
		if result, err = r.Render(context.Background()); err != nil {
			return nil, err
		}
	case []byte:
		if spool > 0 && uint64(len(r)) > spool && utf8.Valid(r) {
			result = string(r)
		}
	case []*record.SpooledArtifact:
		result = slices.Clone(r)
		if len(r) == 0 {
			return value.AppendListHeader(nil, 0), nil
		}
	case []*record.Media:
		result = slices.Clone(r)
		if len(r) == 0 {
			return value.AppendListHeader(nil, 0), nil
		}
	}
	text, isText := result.(string)
	switch result.(type) {
	case *record.SpooledArtifact, []*record.SpooledArtifact, *record.Media, []*record.Media:
	default:
		if isText && spool > 0 && uint64(len(text)) > spool {
			result = spooledText(record.SpooledText, value.UTF8(text))
			break
		}
		raw, err := tool.encodeResult(result)
		if err != nil {
			return nil, err
		}
		if spool == 0 || isText || isScalar(raw) || uint64(len(raw))*mostJSON <= spool {
			return raw, nil
		}
		text, err := wire.JSON(raw)
		if err != nil || uint64(len(text)) <= spool {
			return raw, nil
		}
		result = spooledText(record.SpooledJSON, string(text))
	}
	if err := record.ValidateResults(result); err != nil {
		return nil, newError(abi.CodeInvalidValue, "the result of "+tool.Name+": "+err.Error(), nil)
	}
	parts, err := record.AppendResults(nil, result)
	if err != nil {
		return nil, newError(abi.CodeInvalidValue, "the result of "+tool.Name+": "+err.Error(), err)
	}
	return nil, e.StandFor(result, parts)
}

// encodeResult encodes what the tool's handler returned.
func (t *Tool) encodeResult(result any) (raw abi.Raw, err error) {
	if t.encode == nil || reflect.TypeOf(result) != t.out {
		raw, err = wire.Append(nil, result, "result")
		if err != nil {
			return nil, newError(abi.CodeInvalidValue, err.Error(), err)
		}
		return raw, nil
	}
	if raw, err = t.encode(nil, result); err != nil {
		return nil, newError(abi.CodeInvalidValue, "the result of "+t.Name+": "+err.Error(), err)
	}
	return raw, nil
}

// isScalar tells whether an encoded value is nil, a truth value or a number, which is never long.
func isScalar(raw abi.Raw) bool {
	switch c := raw[0]; {
	case c < 0x80, c >= 0xe0, c >= 0xc0 && c <= 0xc3, c >= 0xca && c <= 0xd3:
		return true
	}
	return false
}
