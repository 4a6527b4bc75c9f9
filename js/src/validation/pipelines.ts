/**
 * Checks in which pipelines the module's middleware may be.
 */
import type { CommonCode } from '../abi/codes.gen.js';
import { builtinOf } from '../builtin.js';
import { type Checked, phrase, violationError } from './rules.js';

/** Names of pipelines: those of a turn, and those around the executor. */
export interface PipelineNames {
  readonly turn: readonly string[];
  readonly input: string;
  readonly output: string;
}

/** Rejects middleware of the module in a pipeline where it does not belong. */
export function requirePlaces(code: CommonCode, values: Checked, names: PipelineNames): void {
  const violations: string[] = [];
  for (const name of [...names.turn, names.input, names.output]) {
    const list = (values[name] ?? []) as readonly ((...args: never[]) => unknown)[];
    list.forEach((middleware, i) => {
      const builtin = builtinOf(middleware);
      const { input = false, output = false } = builtin?.pipelines ?? {};
      if (builtin === undefined || (name === names.input && input)) return;
      if (name === names.output && output) return;
      const right = [...(input ? [names.input] : []), ...(output ? [names.output] : [])];
      const pipelines = right.join(', ');
      violations.push(
        phrase('pipeline', { field: `${name}[${i}]`, name: builtin.name, pipelines }),
      );
    });
  }
  if (violations.length > 0) throw violationError(code, violations);
}
