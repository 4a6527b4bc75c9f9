/**
 * The context of a dispatch.
 */
import { Method } from '../abi/frames.gen.js';
import { toExecuteToolResult } from '../codec/tuples.gen.js';
import {
  type AnyTool,
  type CallOptions,
  executeTool,
  requireArguments,
  writeArguments,
} from '../tools/tool.js';
import { optionalString, requireFunction, requireString } from './arguments.js';
import { BaseContext } from './base-context.js';
import { stateOf } from './state-of.js';
import { DispatchExecutorHelpers } from './executor-helpers.js';
import { requireOptions } from './options.js';
import { requireOwner } from './own-methods.js';

/**
 * The executor, dispatch middleware and tools work on this context: copies of the source's collections, stash and
 * tools, and the signals that end the dispatch. There is one per dispatch, shared by its iterations, and one more for
 * each call of a tool, with the call's idempotencyKey.
 */
export class DispatchContext extends BaseContext {
  static {
    requireOwner(this.prototype, 'ctx');
  }

  #helpers: DispatchExecutorHelpers | undefined;

  /** The dispatch's id, which events carry. */
  get dispatchId(): string {
    return this.id;
  }

  /** The current iteration, from 0. */
  get iteration(): number {
    return this[stateOf].iteration;
  }

  /** Whether the dispatch was acked or nacked, by user code or inside the module. */
  get isSignalled(): boolean {
    const { acked, nacked } = this[stateOf];
    return acked || nacked;
  }

  /** Whether the dispatch was acked. */
  get isAcked(): boolean {
    return this[stateOf].acked;
  }

  /** The error of the nack. */
  get nackError(): unknown {
    return this[stateOf].nackError;
  }

  /**
   * Ends the dispatch successfully after the current iteration. Running code is not stopped.
   *
   * @throws TurncoreError E_LLM_EXECUTION_ALREADY_SIGNALLED, E_CALL_AFTER_END
   */
  ack(): void {
    const state = this[stateOf];
    state.acking = true;
    try {
      state.turn.callNow(state.number, Method.Ack, null);
    } finally {
      state.acking = false;
    }
    state.callAckHandlers();
  }

  /**
   * Fails the dispatch once the running code has returned; the iteration's writes are discarded. Running code is not
   * stopped.
   *
   * @param error the error of the dispatch, which stays the same object
   * @throws TurncoreError E_LLM_EXECUTION_ALREADY_SIGNALLED, E_CALL_AFTER_END
   */
  nack(error?: unknown): void {
    const state = this[stateOf];
    const { turn } = state;
    const cause = error ?? new Error('the dispatch was nacked without an error');
    turn.callNow(state.number, Method.Nack, {
      error: turn.errors.wireOf(cause, state.reason),
    });
  }

  /**
   * Calls a function once when the dispatch is acked: before `ack` returns or, for an ack inside the module, before
   * the next event. Does not call it if the dispatch has already been acked, or on nack.
   *
   * @returns a function that removes it
   * @throws TurncoreError E_INVALID_VALUE for anything that is not a function
   */
  onAck(handler: () => void): () => void {
    requireFunction(handler, 'handler');
    return this[stateOf].onAck(handler);
  }

  /**
   * The number of the dispatch's current tool calls with a checksum: how often the model has made the same call.
   *
   * @throws TurncoreError E_CALL_AFTER_END; E_INVALID_VALUE for anything that is not a string
   */
  toolCallCount(checksum: string): number {
    requireString(checksum, 'checksum');
    const { turn, number } = this[stateOf];
    return turn.callNow(number, Method.ToolCallCount, { checksum }) as number;
  }

  /**
   * Commits the iteration's writes so far: resolves when storage has them. A later nack does not take them back.
   * Rejects with E_STORAGE_COMMIT_ERROR.
   */
  async commit(): Promise<void> {
    const { turn, number } = this[stateOf];
    await turn.callLater(number, Method.Commit, null);
  }

  /** @internal Checks a tool's arguments, notifies observers and runs its handler, for {@link Tool.executor}. */
  async [executeTool](tool: AnyTool, args: unknown, options?: CallOptions): Promise<unknown> {
    requireArguments(tool.name, args);
    requireOptions('options', options ?? {}, ['providerCallId']);
    const providerCallId = optionalString(options?.providerCallId, 'providerCallId') ?? '';
    const { turn, number } = this[stateOf];
    const reply = await turn.callLater(number, Method.ExecuteTool, {
      tool: turn.tools.numberOf(tool),
      providerCallId,
      args: writeArguments(args),
    });
    const { effect, value } = toExecuteToolResult(reply);
    // A handler in the module is not an effect.
    return effect === 0 ? (value ?? undefined) : turn.takeKept(effect);
  }

  /** @internal The executor's second argument. */
  get helpers(): DispatchExecutorHelpers {
    this.#helpers ??= new DispatchExecutorHelpers(this[stateOf]);
    return this.#helpers;
  }
}
