/**
 * What runners take as wrappers around single calls.
 */
import type { DispatchContext } from '../context/dispatch-context.js';
import type { AnyTool } from '../tools/tool.js';

export type { ModelChunk, ModelInvocation, ModelWrapper, Wrappers } from '../turn/wrap.js';

/** One call of a tool's handler, as a wrapper sees it. */
export interface ToolInvocation {
  readonly tool: AnyTool;
  /** The arguments, validated, defaults filled in. What a wrapper gives `next` is not validated again. */
  readonly args: unknown;
  /** The checksum: equal calls share it. */
  readonly callId: string;
  /** Identifies this execution in its events. */
  readonly executionId: string;
  /** The provider's id of the call; empty if it gave none. */
  readonly providerCallId: string;
  /** Undefined in a standalone dispatch. */
  readonly turnId: string | undefined;
  readonly dispatchId: string;
  /** From 0. */
  readonly iteration: number;
  /** The number of the call among equal calls of the iteration, from 1. */
  readonly attempt: number;
  /** As the handler's context has it. */
  readonly idempotencyKey: string;
  /** Fires when the dispatch is aborted or the call is given up. */
  readonly signal: AbortSignal;
  /** The handler's context. */
  readonly ctx: DispatchContext;
}

/**
 * Runs around one call of a tool's handler, between its toolExecutionStart and toolExecutionEnd, and returns its
 * result, or a promise of it. It may answer without `next`, call `next` several times, and give it other arguments.
 *
 * What `next` throws goes on unchanged. Any other error becomes a WrapperError, whose message begins with the wrapper's
 * place, such as "wrapTool[0]". When the wrapper has ended, `next` rejects with E_CALL_AFTER_END.
 */
export type ToolWrapper = (
  call: ToolInvocation,
  next: (call: ToolInvocation) => Promise<unknown>,
) => unknown;
