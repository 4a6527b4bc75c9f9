/**
 * The common part of the middleware that is compiled into the module.
 */
import { asBuiltin } from '../builtin.js';
import type { DispatchPipelineMiddlewareFn } from '../context/functions.js';
import { invalidValue, TurncoreError } from '../errors.js';

export const inputOnly = { input: true, output: false } as const;
export const outputOnly = { input: false, output: true } as const;
export const eitherSide = { input: true, output: true } as const;

/** A middleware that only the module can run. Calling it from a function of the host throws E_INVALID_OPTIONS. */
export function moduleMiddleware(
  name: string,
  argument: unknown,
  pipelines: { readonly input: boolean; readonly output: boolean },
): DispatchPipelineMiddlewareFn {
  return asBuiltin({ name, argument, pipelines }, () => {
    const why = `${name} works only as an entry of a pipeline, not when another function calls it`;
    throw TurncoreError.of('E_INVALID_OPTIONS', why);
  });
}

/** @throws TurncoreError E_INVALID_VALUE unless n is a whole number from 1 to 2,147,483,647 */
export function requireCount(field: string, n: unknown): void {
  if (!Number.isInteger(n) || (n as number) < 1 || (n as number) > 0x7fffffff) {
    throw invalidValue(field, 'must be a whole number from 1');
  }
}
