// Package toolargs encodes the arguments of tool calls.
package toolargs

import (
	"encoding/json"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/wire"
)

// Empty are the arguments of a call without any.
func Empty() abi.Raw { return abi.Raw{0x80} }

// Encode encodes arguments: JSON text, or anything that encodes to an object; nil for none. What has no encoding is
// E_INVALID_TOOL_ARGS.
func Encode(args any) (abi.Raw, error) {
	switch a := args.(type) {
	case nil:
		return Empty(), nil
	case string:
		args = json.RawMessage(a)
	}
	raw, err := wire.Append(nil, args, "args")
	if err != nil {
		return nil, host.NewError(host.CodeInvalidToolArgs, err.Error(), err)
	}
	return raw, nil
}
