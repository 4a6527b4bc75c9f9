/**
 * What stores of sessions can do, and what they keep.
 */
import type { Appender } from '../store/appender.js';
import type { Sessions } from '../store/store.js';
import { bytesOf } from './event-bytes.js';

/** A store of sessions: that of `turncore/stores/memory`, and all others of the package. */
export type SessionStore = Sessions & Appender;

/** Encoded values of a session's state, by name with scope. */
export type EncodedState = readonly (readonly [name: string, value: Uint8Array])[];

/** A value as a store keeps it; null deletes. */
export function encoded(value: unknown): Uint8Array<ArrayBuffer> | null {
  return value === null ? null : bytesOf(value, 'value');
}
