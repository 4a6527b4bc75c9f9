package record

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/toolargs"
)

// ToolCallChecksum identifies a tool call by its content, for ToolCall.Checksum: the SHA-256 of the canonical JSON
// (RFC 8785) of {"args": args, "tool": tool}, in 64 lower-case hexadecimal digits. Events of the call name it so, and
// ToolCallCount of a dispatch's context counts by it. args are the arguments as they came: JSON text, or anything
// that encodes to an object. Those that have no encoding are E_INVALID_TOOL_ARGS.
func ToolCallChecksum(tool string, args any) (string, error) {
	raw, err := toolargs.Encode(args)
	if err != nil {
		return "", err
	}
	sum, err := value.Checksum(tool, raw)
	if err != nil {
		return "", host.NewError(host.CodeInvalidToolArgs, "args: "+err.Error(), err)
	}
	return sum, nil
}
