/**
 * Handlers of a dispatch's events, from its input.
 */
import type { Bus, Listener } from '../events/bus.js';
import type { FunctionalEvents, ObservabilityEvents, TurnEvents } from '../events/events.js';
import { functionalNames, observabilityNames, unknownEvent } from '../events/names.js';
import { phrase } from '../validation/rules.js';

/** One handler, or several; a handler listed twice is called once. */
export type Handlers<E> = Listener<E> | readonly Listener<E>[];

/** Handlers of a dispatch's functional events. */
export type DispatchHooks = {
  readonly [N in keyof FunctionalEvents]?: Handlers<FunctionalEvents[N]>;
};

/** Names of a dispatch's observability events. */
export type DispatchEventName = Exclude<keyof ObservabilityEvents, 'turnStart' | 'turnEnd'>;

/** Handlers of a dispatch's observability events. */
export type DispatchObservers = {
  readonly [N in DispatchEventName]?: Handlers<ObservabilityEvents[N]>;
};

const observerNames = observabilityNames.filter(
  (name): name is DispatchEventName => name !== 'turnStart' && name !== 'turnEnd',
);
/** The groups of handlers, and the events of each. */
const groups: readonly (readonly [string, readonly string[]])[] = [
  ['hooks', functionalNames],
  ['observers', observerNames],
];

type Fields = Readonly<Record<string, unknown>>;

/** Lists the violations of an input's hooks and observers. */
export function handlerViolations(input: Fields): string[] {
  const violations: string[] = [];
  for (const [group, names] of groups) {
    const handlers = input[group] as Fields | null | undefined;
    if (typeof handlers !== 'object' || handlers === null || Array.isArray(handlers)) continue;
    if (Symbol.iterator in handlers) {
      violations.push(phrase('object', { field: group }));
      continue;
    }
    for (const name of Object.keys(handlers)) {
      if (!names.includes(name)) violations.push(strangeName(group, name, names));
    }
    for (const name of names) handlerViolation(`${group}.${name}`, handlers[name], violations);
  }
  return violations;
}

function strangeName(group: string, name: string, names: readonly string[]): string {
  const other = groups.find(([, events]) => events.includes(name));
  const hint = other && `it belongs in \`${other[0]}\``;
  return `\`${group}\`: ${unknownEvent(name, names, hint)}`;
}

function handlerViolation(field: string, value: unknown, violations: string[]): void {
  if (Array.isArray(value)) {
    value.forEach((handler, i) => {
      if (typeof handler !== 'function') {
        violations.push(phrase('function', { field: `${field}[${i}]` }));
      }
    });
  } else if (value !== undefined && typeof value !== 'function') {
    violations.push(phrase('function', { field }));
  }
}

/** Adds the handlers of checked inputs to a bus, in order. A handler listed twice for an event is called once. */
export function addHandlers(bus: Bus<TurnEvents>, ...inputs: readonly Fields[]): void {
  const added = new Map<string, Set<unknown>>();
  for (const input of inputs) {
    for (const [group, names] of groups) {
      const handlers = input[group] as Fields | null | undefined;
      if (handlers === undefined || handlers === null) continue;
      for (const name of names) {
        const value = handlers[name];
        if (value === undefined) continue;
        let known = added.get(name);
        if (known === undefined) added.set(name, (known = new Set()));
        for (const handler of Array.isArray(value) ? (value as unknown[]) : [value]) {
          if (handler === undefined || known.has(handler)) continue;
          known.add(handler);
          bus.add(name as 'message', handler as Listener<TurnEvents['message']>);
        }
      }
    }
  }
}
