package wire

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
)

var (
	errDepth  = errors.New("the value is nested deeper than " + strconv.Itoa(abi.MaxValueDepth) + " levels")
	errLength = errors.New("a list or map has more than " + strconv.Itoa(abi.MaxArray) + " elements")
)

// FromJSON appends the encoding of a JSON text, which must be a value that frames can carry. After an error dst is
// returned as it was.
func FromJSON(dst, text []byte) ([]byte, error) { return appendJSONText(dst, text, 0) }

// appendJSONText appends the encoding of a JSON text that stands within so many lists and maps.
func appendJSONText(dst, text []byte, depth int) ([]byte, error) {
	out, err := value.FromJSON(dst, text)
	switch {
	case errors.Is(err, value.ErrTooDeep):
		return dst, errDepth
	case err != nil:
		return dst, errors.New("not JSON: " + err.Error())
	case value.Fits(out[len(dst):], abi.MaxValueDepth-depth, abi.MaxArray):
		return out, nil
	case value.Fits(out[len(dst):], abi.MaxValueDepth-depth, math.MaxInt):
		return dst, errLength
	}
	return dst, errDepth
}

// JSON returns an encoded value as JSON text; nil for no value.
func JSON(v []byte) (json.RawMessage, error) {
	if len(v) == 0 {
		return nil, nil
	}
	return value.AppendJSON(make([]byte, 0, len(v)+len(v)/2), v)
}
