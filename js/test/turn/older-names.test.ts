/**
 * Types by the names of the overview page are those by the newer names: this file compiles.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';

import type {
  DispatchExecutorFn,
  DispatchPipelineMiddlewareFn,
  LLMExecCtxMiddlewareFn,
  LLMExecutorFn,
} from '../../src/index.js';

it('the older names of types are the same types', () => {
  const executor: DispatchExecutorFn = async (ctx, helpers): Promise<void> => {
    helpers.reportMessage('m', 'text', { isComplete: true });
    await ctx.commit();
    ctx.ack();
  };
  const older: LLMExecutorFn = executor;
  const middleware: DispatchPipelineMiddlewareFn = async (_ctx, next) => next();
  const olderMiddleware: LLMExecCtxMiddlewareFn = middleware;
  assert.deepEqual([older, olderMiddleware], [executor, middleware]);
});
