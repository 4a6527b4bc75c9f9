/**
 * Checks that host and module have the same collections. For tests.
 */
import { Method, Op } from '../abi/frames.gen.js';
import { writeCall } from '../codec/tuples.gen.js';
import { Encoder } from '../codec/encoder.js';
import { RECORD_KINDS } from '../collections/kinds.js';
import type { Instance } from '../instance/instance.js';
import type { ContextState } from './context-state.js';
import type { Turn } from './turn.js';

/** A number that no other call of a turn has. */
const CALL = 0xffffffff;

/**
 * Compares the order of every collection with the module's. Leaves the queue alone.
 *
 * @returns the difference, or undefined
 */
export function verifyCollections(turn: Turn, instance: Instance): string | undefined {
  for (const state of turn.contexts) {
    if (state === undefined) continue;
    const sums = digests(turn, state, instance);
    if (sums === undefined) return undefined;
    for (let kind = 0; kind < RECORD_KINDS; kind++) {
      if (sums[kind] !== digest(state, kind)) {
        return `collection ${kind} of context ${state.number} differs between host and module`;
      }
    }
  }
  return undefined;
}

/** The module's sums; undefined after the turn's end. */
function digests(turn: Turn, state: ContextState, instance: Instance): number[] | undefined {
  const enc = new Encoder(64);
  writeCall(enc, {
    turn: turn.number,
    call: CALL,
    elapsed: turn.elapsed(),
    context: state.number,
    method: Method.Digest,
    args: null,
  });
  const [reply] = instance.decode(instance.step(enc.bytes()));
  return reply?.op === Op.Reply && reply.error === null ? (reply.value as number[]) : undefined;
}

/** FNV-1a over the handles in order, each as four bytes, little-endian. */
function digest(state: ContextState, kind: number): number {
  let sum = 0x811c9dc5;
  for (const entry of state.set(kind).mirror) {
    const handle = state.turn.handles.handleOf(entry);
    for (let shift = 0; shift < 32; shift += 8) {
      sum = Math.imul(sum ^ ((handle >> shift) & 0xff), 0x01000193);
    }
  }
  return sum >>> 0;
}
