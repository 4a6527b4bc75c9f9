/**
 * Calls of tools by host code.
 */
import { Method } from '../abi/frames.gen.js';
import type { AnyTool } from '../tools/tool.js';
import { stateOf } from './base-context.js';
import type { DispatchContext } from './dispatch-context.js';

/** Runs a tool within a dispatch: `tool.executor(ctx)(args)`. */
export async function executeTool(
  ctx: DispatchContext,
  tool: AnyTool,
  args: unknown,
): Promise<unknown> {
  const { session, number } = ctx[stateOf];
  const known = session.toolNumber(tool);
  const enc = session.beginCall(number, Method.ExecuteTool);
  const { call } = session;
  enc.arrayHeader(2);
  enc.int(known);
  enc.value(args, 'args');
  const effect = (await session.callLater(enc, call)) as number;
  const result = session.kept?.get(effect);
  session.kept?.delete(effect);
  return result;
}
