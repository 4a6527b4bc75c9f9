/**
 * Checks the names of what callers give as an object: one that is not known is likely misspelled, and would have no
 * effect.
 */
import { TurncoreError } from '../errors.js';
import { unknownField } from '../validation/rules.js';
import { requireObject } from './arguments.js';

/** @throws TurncoreError E_INVALID_VALUE unless options are an object with known names only */
export function requireOptions(name: string, options: unknown, known: readonly string[]): void {
  requireObject(options, name);
  for (const key of Object.keys(options as object)) {
    if (known.includes(key)) continue;
    throw TurncoreError.of('E_INVALID_VALUE', unknownField(`${name}.`, key, known), {
      details: { field: `${name}.${key}` },
    });
  }
}
