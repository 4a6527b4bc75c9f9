/**
 * Effects of tools: calls of their handlers, and their own validation.
 */
import type { EffectFrame, ToolArgs, ValidateArgs } from '../codec/tuples.gen.js';
import { wrongFrame } from '../codec/decoder.js';
import { copyValue } from '../stash/copy-value.js';
import { isStandardSchema, validateArguments } from '../tools/standard-schema.js';
import type { Effect } from './effect.js';
import { settleForModel } from './kept-results.js';
import { TimedCall } from './timed-call.js';
import { wrappedTool } from './wrap.js';

/** Calls the handler of a tool. */
export function runTool(effect: Effect, args: ToolArgs, { path, ordinal }: EffectFrame): void {
  const { turn, state } = effect;
  const { keep, spool } = args;
  const tool = turn.tools.get(args.tool);
  const valid = turn.kept.has(args.valid) ? turn.takeKept(args.valid) : args.args;
  const key = (): string => `${turn.id}.${path}.${args.callId}.${ordinal}`;
  const timed = args.timed ? new TimedCall(effect, key) : undefined;
  const settle = (value: unknown): void => {
    if (timed?.late === true) effect.settle();
    else if (!keep) settleForModel(effect, tool, value, spool);
    else {
      turn.kept.set(effect.number, value);
      effect.settle();
    }
  };
  const facade = timed?.facade ?? turn.makeFacade(state, key);
  const handler = (given: never): unknown => tool.handler(given, facade as never, tool.meta);
  const { wrapTool } = state.definition.wrappers;
  const call = (): unknown => {
    if (wrapTool.length === 0) return handler(valid as never);
    const { callId, executionId, providerCallId } = args;
    const invocation = {
      tool,
      args: valid,
      callId,
      executionId,
      providerCallId,
      turnId: turn.publicTurnId,
      dispatchId: state.id,
      iteration: state.iteration,
      attempt: ordinal,
      idempotencyKey: key(),
      signal: (facade as { readonly abortSignal: AbortSignal }).abortSignal,
      ctx: facade,
    };
    return wrappedTool(wrapTool, invocation, handler);
  };
  effect.perform(timed === undefined ? call : () => timed.run(call), settle);
}

/** Runs a tool's own validation. Keeps its value for the handler, since the value may have no encoding. */
export function runValidate(effect: Effect, { tool: number, args }: ValidateArgs): void {
  const { turn } = effect;
  const tool = turn.tools.get(number);
  const schema = tool.inputSchema;
  if (!isStandardSchema(schema)) {
    throw wrongFrame(`tool ${tool.name} has no validation`);
  }
  validateArguments(schema, tool.name, args).then(
    (valid) => {
      turn.kept.set(effect.number, valid);
      effect.settle(isEncodable(valid) ? valid : args);
    },
    (error: unknown) => effect.fail(error),
  );
}

function isEncodable(value: unknown): boolean {
  try {
    copyValue(value, 'args');
    return true;
  } catch {
    return false;
  }
}
