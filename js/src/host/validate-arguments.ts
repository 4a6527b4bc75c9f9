/**
 * Checks a tool's arguments by its JSON Schema, which the module does.
 */
import type { AnyTool } from '../tools/tool.js';
import { hostOf } from './host.js';

/**
 * Gives what a tool's handler would get.
 *
 * @param host a Host, or options for one; undefined for the one that all share which name none
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
