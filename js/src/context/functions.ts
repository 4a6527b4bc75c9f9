/**
 * The functions that run on contexts: executors, middleware and callbacks.
 */
import type { Awaitable, NextFn } from '../awaitable.js';
import type { DispatchContext } from './dispatch-context.js';
import type { DispatchExecutorHelpers } from './executor-helpers.js';
import type { TurnContext } from './turn-context.js';

/** A context of either kind. */
export type AnyContext = TurnContext | DispatchContext;

export type { Awaitable, NextFn };

/**
 * A model call. It runs once per iteration and signals with `ctx.ack()` or `ctx.nack(error)`; if it returns without a
 * signal, it runs again.
 */
export type DispatchExecutorFn = (
  ctx: DispatchContext,
  helpers: DispatchExecutorHelpers,
) => Awaitable<void>;

/** A step of a turn's pipelines. */
export type TurnPipelineMiddlewareFn = (ctx: TurnContext, next: NextFn) => Awaitable<void>;
/** A step of a dispatch's pipelines, run once per iteration. */
export type DispatchPipelineMiddlewareFn = (ctx: DispatchContext, next: NextFn) => Awaitable<void>;
