/**
 * Effects of tools: calls of their handlers, and their own validation.
 */
import type { EffectFrame, ToolArgs, ValidateArgs } from '../codec/tuples.gen.js';
import { wrongFrame } from '../codec/decoder.js';
import { copyValue } from '../stash/copy-value.js';
import type { AnyTool } from '../tools/tool.js';
import { isStandardSchema, validateArguments } from '../tools/standard-schema.js';
import type { Effect } from './effect.js';
import { settleForModel } from './kept-results.js';
import { TimedCall } from './timed-call.js';
import { wrappedTool } from './wrap.js';

/** Calls the handler of a tool. */
export function runTool(effect: Effect, args: ToolArgs, { path, ordinal }: EffectFrame): void {
  const { turn, state } = effect;
  const { keep, spool, callId } = args;
  const tool = turn.tools.get(args.tool);
  const valid = turn.kept?.has(args.valid) === true ? turn.takeKept(args.valid) : args.args;
  const key = (): string => `${turn.id}.${path}.${callId}.${ordinal}`;
  const timed = args.timed ? new TimedCall(effect, key) : undefined;
  const settle = (value: unknown): void => {
    if (timed?.late !== true) {
      if (!keep) {
        settleForModel(effect, tool, value, spool);
        return;
      }
      turn.keep(effect.number, value);
    }
    effect.settle();
  };
  const facade = timed?.facade ?? turn.makeFacade(state, key);
  const call =
    state.definition.wrappers.wrapTool.length === 0
      ? () => tool.handler(valid, facade as never, tool.meta)
      : wrapped(effect, args, tool, valid, ordinal, key, facade);
  effect.perform(timed === undefined ? call : () => timed.run(call), settle);
}

/** What calls a handler inside the wrappers of tools. It keeps more than a call without them needs. */
function wrapped(
  { turn, state }: Effect,
  { callId, executionId, providerCallId }: ToolArgs,
  tool: AnyTool,
  args: unknown,
  attempt: number,
  key: () => string,
  ctx: object,
): () => unknown {
  return () => {
    const invocation = {
      tool,
      args,
      callId,
      executionId,
      providerCallId,
      turnId: turn.publicTurnId,
      dispatchId: state.id,
      iteration: state.iteration,
      attempt,
      idempotencyKey: key(),
      signal: (ctx as { readonly abortSignal: AbortSignal }).abortSignal,
      ctx,
    };
    return wrappedTool(state.definition.wrappers.wrapTool, invocation, (given) =>
      tool.handler(given, ctx as never, tool.meta),
    );
  };
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
      turn.keep(effect.number, valid);
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
