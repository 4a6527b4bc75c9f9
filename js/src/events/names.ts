/**
 * The names of events, as configurations and listeners give them.
 */
import { invalidValue } from '../errors.js';
import type { FunctionalEvents, ObservabilityEvents } from './events.js';

const functional: Readonly<Record<keyof FunctionalEvents, true>> = {
  message: true,
  thought: true,
  toolCall: true,
};

const observability: Readonly<Record<keyof ObservabilityEvents, true>> = {
  turnStart: true,
  turnEnd: true,
  dispatchStart: true,
  dispatchEnd: true,
  iterationStart: true,
  iterationEnd: true,
  toolExecutionStart: true,
  toolExecutionEnd: true,
  turnGateOpen: true,
  turnGateClosed: true,
  error: true,
  log: true,
  warning: true,
  generationStats: true,
};

/** Names of the functional events. */
export const functionalNames = Object.keys(functional) as readonly (keyof FunctionalEvents)[];

/** Names of the observability events. */
export const observabilityNames = Object.keys(
  observability,
) as readonly (keyof ObservabilityEvents)[];

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
  const list = names.map((known) => `"${String(known)}"`).join(', ');
  const hint = others.includes(name)
    ? `; "${String(name)}" is one of the ${bus} events, which "${method}" listens to`
    : '';
  throw invalidValue('name', `must be one of ${list}${hint}`);
}
