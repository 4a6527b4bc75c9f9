package value

import general "github.com/turncore/turncore/abi/value"

// Plain decodes a value as plain data: nil, bool, int64, float64, string, []byte, []any, map[string]any. No value is nil.
func Plain(data []byte) (any, error) {
	if IsNil(data) {
		return nil, nil
	}
	v, err := general.Read(data)
	if err != nil {
		return nil, err
	}
	return general.Plain(v), nil
}
