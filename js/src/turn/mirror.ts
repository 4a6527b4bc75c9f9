/**
 * Applies the module's changes to the host's collections.
 */
import { Signal, SyncKind } from '../abi/frames.gen.js';
import { readErrorValue, readToolDef, type SyncFrame } from '../codec/tuples.gen.js';
import { type Decoder, wrongFrame } from '../codec/decoder.js';
import { decodeBody } from '../collections/decode-body.js';
import type { HandleTable } from '../collections/handle-table.js';
import { type Entry, isRecordOf, RECORD_KINDS } from '../collections/kinds.js';
import { type BulkyResults, bulkyResults } from '../primitives/tool-call.js';
import type { ContextState } from './context-state.js';
import type { OpenTurn } from './contract.js';

/**
 * Applies a change to a context.
 *
 * @returns whether user code must be told
 * @throws CodecError if it is malformed
 */
export function applySync(turn: OpenTurn, state: ContextState, frame: SyncFrame): boolean {
  const { sync, data } = frame;
  switch (sync) {
    case SyncKind.Signal:
      return syncSignal(turn, state, frame.handle, data);
    case SyncKind.Define:
      if (data === null) throw wrongFrame('malformed ToolDef');
      turn.tools.define(turn.core.read(data, readToolDef));
      return false;
    case SyncKind.Tools:
      syncTools(turn, state, data);
      return false;
    case SyncKind.Set:
      if (data === null) throw wrongFrame('malformed value');
      turn.core.read(data, (d) =>
        state.stash.share({ ...state.stashSnapshot(), [d.str()]: d.value() }),
      );
      return false;
    default:
      syncRecords(turn, state, frame);
      return false;
  }
}

function syncRecords(turn: OpenTurn, state: ContextState, frame: SyncFrame): void {
  const { collection, sync, handle, other, data } = frame;
  if (collection >= RECORD_KINDS) throw wrongFrame(`unknown collection ${collection}`);
  const items = state.set(collection).mirror;
  const { handles } = turn;
  switch (sync) {
    case SyncKind.Add: {
      const entry = entryOf(handles, collection, handle, data, keptBy(turn, other));
      if (!items.has(entry)) items.push(entry);
      return;
    }
    case SyncKind.Remove:
      items.remove(entryOf(handles, collection, handle, null));
      return;
    case SyncKind.Replace:
      items.replace(
        entryOf(handles, collection, handle, null),
        entryOf(handles, collection, other, data),
      );
      return;
    case SyncKind.Insert: {
      const before = other === 0 ? undefined : entryOf(handles, collection, other, null);
      items.insertBefore(entryOf(handles, collection, handle, data), before);
      return;
    }
    case SyncKind.Name:
      entryOf(handles, collection, handle, data);
      return;
    default:
      throw wrongFrame(`unknown sync ${sync}`);
  }
}

/** The record of a handle. A record of the module comes with its body the first time. */
function entryOf(
  handles: HandleTable,
  collection: number,
  handle: number,
  data: Uint8Array | null,
  kept?: BulkyResults,
): Entry {
  let entry = handles.entryOf(handle);
  if (entry === undefined && handle < 0 && data !== null) {
    entry = decodeBody(collection, data, kept);
    handles.bind(handle, entry);
  }
  if (entry === undefined || !isRecordOf(collection, entry)) {
    throw wrongFrame(`unknown handle ${handle}`);
  }
  return entry;
}

/** Takes the kept result of the effect that a Sync names, for its record. @throws CodecError if there is none */
function keptBy(turn: OpenTurn, effect: number): BulkyResults | undefined {
  if (effect === 0) return undefined;
  const kept = bulkyResults(turn.takeKept(effect));
  if (kept === undefined) throw wrongFrame(`nothing is kept of effect ${effect}`);
  return kept;
}

/** Gives a context's registry the tools of the module's. */
function syncTools(turn: OpenTurn, state: ContextState, data: Uint8Array | null): void {
  const numbers = data === null ? [] : turn.core.read(data, (d) => d.list(readNumber, 1));
  state.tools.mirror(numbers.map((n) => turn.tools.get(n)));
}

function readNumber(d: Decoder): number {
  return d.u32();
}

/** Notes that a dispatch was acked, nacked or aborted. Returns whether ack handlers must run now. */
function syncSignal(
  turn: OpenTurn,
  state: ContextState,
  signal: number,
  data: Uint8Array | null,
): boolean {
  if (signal === Signal.Abort && state.number !== 0 && data !== null) {
    state.expire(turn.errors.decode(turn.core.read(data, readErrorValue)));
    return false;
  }
  if (state.number === 0 || state.acked || state.nacked) {
    throw wrongFrame(`context ${state.number} takes no signal`);
  }
  if (signal === Signal.Ack) {
    state.acked = true;
    return !state.acking;
  }
  if (signal !== Signal.Nack || data === null) {
    throw wrongFrame(`malformed signal ${signal}`);
  }
  state.nackError = turn.errors.decode(turn.core.read(data, readErrorValue));
  state.nacked = true;
  return false;
}
