package turns

import (
	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
)

// ToolCallChecksum names a call of a tool by its content, for ToolCall.Checksum: the SHA-256 of the canonical JSON (RFC
// 8785) of {"args": args, "tool": tool}, in 64 lower-case hexadecimal digits. Events of the call name it so, and
// DispatchContext.ToolCallCount counts by it. args are the arguments as they came, in any form that Tool.Executor takes;
// those that have no encoding are E_INVALID_TOOL_ARGS.
func ToolCallChecksum(tool string, args any) (string, error) {
	raw, err := encodeArgs(args)
	if err != nil {
		return "", err
	}
	sum, err := value.Checksum(tool, raw)
	if err != nil {
		return "", newError(abi.CodeInvalidToolArgs, "args: "+err.Error(), err)
	}
	return sum, nil
}
