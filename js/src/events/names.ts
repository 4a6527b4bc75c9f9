/**
 * The names of events in configurations and listeners.
 */
import { TurncoreError } from '../errors.js';
import { suggest } from '../validation/suggest.js';
import type { FunctionalEvents, ObservabilityEvents } from './events.js';

/** Names of the functional events. */
export const functionalNames = 'message thought toolCall'.split(
  ' ',
) as readonly (keyof FunctionalEvents)[];

/** Names of the observability events. */
export const observabilityNames = (
  'turnStart turnEnd dispatchStart dispatchEnd iterationStart iterationEnd toolExecutionStart toolExecutionEnd ' +
  'turnGateOpen turnGateClosed error log warning generationStats modelCallStart modelCallEnd'
).split(' ') as readonly (keyof ObservabilityEvents)[];

/** @throws TurncoreError E_INVALID_VALUE unless `on`, `off` and `once` know events of this name */
export function requireFunctional(name: unknown): void {
  require(name, functionalNames, observabilityNames, 'observability', 'observe');
}

/** @throws TurncoreError E_INVALID_VALUE unless `observe`, `unobserve` and `observeOnce` know events of this name */
export function requireObservability(name: unknown): void {
  require(name, observabilityNames, functionalNames, 'functional', 'on');
}

function require(
  name: unknown,
  names: readonly unknown[],
  others: readonly unknown[],
  bus: string,
  method: string,
): void {
  if (names.includes(name)) return;
  const other = others.includes(name)
    ? `it is one of the ${bus} events, which "${method}" listens to`
    : undefined;
  throw TurncoreError.of('E_INVALID_VALUE', unknownEvent(name, names as readonly string[], other), {
    details: { field: 'name' },
  });
}

/** The message for an unknown event name. @param hint replaces the list of known names */
export function unknownEvent(name: unknown, names: readonly string[], hint?: string): string {
  const meant = typeof name === 'string' ? suggest(name, names) : undefined;
  const known = names.map((n) => `"${n}"`).join(', ');
  const more =
    hint ?? (meant === undefined ? `must be one of ${known}` : `did you mean "${meant}"?`);
  return `unknown event name ${typeof name === 'string' ? `"${name}"` : String(name)}; ${more}`;
}
