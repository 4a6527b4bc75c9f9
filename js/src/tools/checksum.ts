/**
 * Checksums of tool calls.
 */
import { canonicalJSON } from '../codec/canonical-json.js';
import { decodeValue } from '../codec/decoder.js';
import { Encoder } from '../codec/encoder.js';
import { invalidValue } from '../errors.js';
import { sha256 } from './sha256.js';

/**
 * Identifies a tool call by its content, for {@link ToolCall.checksum}: the SHA-256 of the canonical JSON (RFC 8785)
 * of `{"args": args, "tool": tool}`, in 64 lower-case hexadecimal digits. Events of the call have it as `callId`, and
 * `ctx.toolCallCount` counts by it.
 *
 * @param args the original arguments: a JSON-like value
 * @throws TurncoreError E_INVALID_VALUE naming the part of the arguments that is not JSON-like
 */
export function toolCallChecksum(tool: string, args: unknown): string {
  if (typeof tool !== 'string') throw invalidValue('tool', 'must be a string');
  const enc = new Encoder();
  enc.arrayHeader(2);
  enc.value(args, 'args');
  enc.str(tool);
  const [crossed, name] = decodeValue(enc.bytes()) as [unknown, string];
  return sha256(canonicalJSON({ args: crossed, tool: name }));
}
