/**
 * Values that JSON cannot say, or not briefly.
 */
import type { EventData } from '../entries/sessions.js';
import { Malformed } from './scenario.js';

/** A value in which each object with a member `$` is what that names. */
export function odd(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(odd);
  const { $: kind, bytes = 0 } = value as { $?: string; bytes?: number };
  if (kind !== undefined) return oddOf(kind, bytes);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, odd(item)]));
}

/** A copy of an event, with the values that it names. */
export function oddEvent(event: EventData): EventData {
  return odd(event) as EventData;
}

function oddOf(kind: string, bytes: number): unknown {
  switch (kind) {
    case 'cycle': {
      const map: Record<string, unknown> = {};
      map['self'] = map;
      return map;
    }
    case 'ring': {
      const list: unknown[] = [];
      list.push(list);
      return list;
    }
    case 'deep': {
      let list: unknown[] = [];
      for (let i = 0; i < 60; i++) list = [list];
      return list;
    }
    case 'wide':
      return new Array<null>(8193).fill(null);
    case 'nan':
      return Number.NaN;
    case 'infinity':
      return Number.POSITIVE_INFINITY;
    case 'function':
      return () => undefined;
    case 'text':
      return 'x'.repeat(bytes);
    default:
      throw new Malformed(`there is no value ${kind}`);
  }
}
