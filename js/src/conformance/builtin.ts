/**
 * Middleware of the module's own among the entries of dispatch pipelines.
 */
import {
  ackOnNoToolCalls,
  deadline,
  maxIterations,
  maxRepeats,
  spendLimit,
  tokenBudget,
} from '../index.js';
import { Malformed, only } from './scenario.js';

const makers: Readonly<Record<string, (arg: never) => unknown>> = {
  maxIterations,
  maxRepeats,
  deadline,
  ackOnNoToolCalls: () => ackOnNoToolCalls(),
  tokenBudget,
  spendLimit,
};

/** Makes the middleware that `{name: argument}` describes. */
export function builtin(entry: unknown): unknown {
  const [name, arg] = only(entry);
  const make = Object.hasOwn(makers, name) ? makers[name] : undefined;
  if (make === undefined) throw new Malformed(`the module has no middleware ${name}`);
  return make(arg as never);
}
