/**
 * The bound that every example uses.
 */
import { asBuiltin } from '../builtin.js';
import type { DispatchPipelineMiddlewareFn } from '../context/functions.js';
import { TurncoreError } from '../errors.js';
import { inputOnly, requireCount } from './options.js';

/**
 * A dispatch input middleware that nacks with E_MAX_ITERATIONS when a dispatch begins an iteration after its n-th, so
 * that the work of the n iterations is kept. It runs inside the module.
 *
 * @param n the largest number of iterations, at least 1
 * @throws TurncoreError E_INVALID_VALUE unless n is a whole number from 1
 */
export function maxIterations(n: number): DispatchPipelineMiddlewareFn {
  requireCount('maxIterations', n);
  return asBuiltin({ name: 'maxIterations', argument: n, pipelines: inputOnly }, (ctx, next) => {
    if (ctx.iteration >= n && !ctx.isSignalled) {
      ctx.nack(TurncoreError.of('E_MAX_ITERATIONS', String(n)));
    }
    return next();
  });
}
