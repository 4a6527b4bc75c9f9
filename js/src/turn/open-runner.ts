/**
 * The frame that tells the module of a runner.
 */
import { Callback, ExecutorKind, MiddlewareKind } from '../abi/frames.gen.js';
import { builtinOf } from '../builtin.js';
import { ChatExecutor } from '../chat/chat-executor.js';
import type { Encoder } from '../codec/encoder.js';
import { type Middleware, writeOpenRunner } from '../codec/tuples.gen.js';
import { toolDef } from '../tools/tool-def.js';
import type { Definition, MiddlewareFn } from './definition.js';

/** Writes an OpenRunner frame. */
export function encodeOpenRunner(
  enc: Encoder,
  runner: number,
  call: number,
  definition: Definition,
): void {
  const chat = definition.executor instanceof ChatExecutor ? definition.executor : undefined;
  const { commit, discard, replaceToolCallGroup } = definition.callbacks;
  const [turnInput, turnOutput, dispatchInput, dispatchOutput] = definition.pipelines.map(
    (pipeline) => pipeline.map(middlewareDef),
  );
  writeOpenRunner(enc, {
    runner,
    call,
    executor: chat === undefined ? ExecutorKind.Host : ExecutorKind.Chat,
    chat: chat === undefined ? null : (e) => e.value(chat.options, 'model'),
    tools: definition.tools.map((tool) => toolDef(definition.toolNumbers.get(tool)!, tool)),
    turnInput: turnInput ?? [],
    turnOutput: turnOutput ?? [],
    dispatchInput: dispatchInput ?? [],
    dispatchOutput: dispatchOutput ?? [],
    callbacks:
      (commit === undefined ? 0 : Callback.Commit) |
      (discard === undefined ? 0 : Callback.Discard) |
      (replaceToolCallGroup === undefined ? 0 : Callback.Replace),
    encodings: definition.tokenizers.encodings,
  });
}

function middlewareDef(middleware: MiddlewareFn): Middleware {
  const builtin = builtinOf(middleware);
  if (builtin === undefined) return { kind: MiddlewareKind.Host, name: '', arg: null };
  const { name, argument } = builtin;
  return { kind: MiddlewareKind.Builtin, name, arg: (e) => e.value(argument, name) };
}
