/**
 * Lets the module check a tool's arguments against its JSON Schema.
 */
import type { AnyTool } from '../tools/tool.js';
import { hostOf } from './host.js';

/**
 * Returns the arguments for a tool's handler.
 *
 * @param host a Host, or options for one; undefined for the shared default host
 * @throws TurncoreError (rejects) E_INVALID_TOOL_ARGS, E_INVALID_INITIAL_TOOL_VALUE
 */
export async function validateBySchema(
  tool: AnyTool,
  args: unknown,
  host: unknown,
): Promise<unknown> {
  const runs = hostOf(host, undefined);
  const core = runs.ready() ?? (await runs.acquire());
  return core.validate(tool, args);
}
