/**
 * Bounds on a dispatch.
 */
import type { DispatchPipelineMiddlewareFn } from '../context/functions.js';
import { eitherSide, inputOnly, moduleMiddleware, outputOnly, requireCount } from './options.js';

/**
 * A middleware that nacks with E_MAX_REPEATS when the same tool call (tool and arguments) was stored more than n
 * times in the dispatch. In a dispatch output pipeline it discards the iteration that repeated the call; in an input
 * pipeline that iteration is kept, and no further one begins. It runs inside the module.
 *
 * @param n how often the same call is allowed, at least 1
 * @throws TurncoreError E_INVALID_VALUE unless n is a whole number from 1
 */
export function maxRepeats(n: number): DispatchPipelineMiddlewareFn {
  requireCount('maxRepeats', n);
  return moduleMiddleware('maxRepeats', n, eitherSide);
}

/**
 * A dispatch input middleware that nacks with E_DEADLINE when the dispatch has run for some time, by the host's
 * clock. A running model call or tool is aborted: its `abortSignal` fires with that error as the reason. A dispatch
 * that has already acked ends as usual, and the dispatch waits for an open gate. It runs inside the module.
 *
 * @param ms milliseconds, at least 1
 * @throws TurncoreError E_INVALID_VALUE unless ms is a whole number from 1
 */
export function deadline(ms: number): DispatchPipelineMiddlewareFn {
  requireCount('deadline', ms);
  return moduleMiddleware('deadline', ms, inputOnly);
}

/**
 * A dispatch output middleware that acks if the executor has not signalled and its iteration stored a message and no
 * tool call: the model has answered and asks for nothing more. It runs inside the module.
 */
export function ackOnNoToolCalls(): DispatchPipelineMiddlewareFn {
  return moduleMiddleware('ackOnNoToolCalls', undefined, outputOnly);
}
