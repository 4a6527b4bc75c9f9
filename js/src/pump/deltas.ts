/**
 * Writes as storage callbacks see them.
 */
import { Write } from '../abi/frames.gen.js';
import { CodecError } from '../codec/decoder.js';
import { requireShape } from '../codec/shape.js';
import type { HandleTable } from '../collections/handle-table.js';
import { type Entry, recordName, type RecordName } from '../collections/kinds.js';
import type { ToolCall } from '../primitives/tool-call.js';

/** A record was stored. */
export interface StoreDelta {
  readonly op: 'store';
  readonly kind: RecordName;
  readonly record: Entry;
}

/** A record took the place of the one with its id; a standing instruction that of the one with the text `old`. */
export interface MutateDelta {
  readonly op: 'mutate';
  readonly kind: RecordName;
  readonly record: Entry;
  readonly old?: string;
}

/** A record was deleted, by its id; a standing instruction by its text. */
export interface DeleteDelta {
  readonly op: 'delete';
  readonly kind: RecordName;
  readonly id: string;
}

/** Tool calls took the place of others. */
export interface ReplaceGroupDelta {
  readonly op: 'replaceToolCallGroup';
  readonly kind: 'toolCall';
  readonly ids: string[];
  readonly records: ToolCall[];
}

/** One queued write. */
export type Delta = StoreDelta | MutateDelta | DeleteDelta | ReplaceGroupDelta;

/** A write as it came, with its collection's number. */
export interface WireDelta {
  readonly write: number;
  readonly collection: number;
  readonly delta: Delta;
}

/** Reads a write. @throws CodecError when it is malformed or names a record that does not exist */
export function readDelta(value: unknown, handles: HandleTable): WireDelta {
  const d = requireShape(value, 'nnisaa', 'Delta');
  const write = d[0] as number;
  const collection = d[1] as number;
  const kind = kindOf(collection);
  return { write, collection, delta: deltaOf(write, kind, d, handles) };
}

function deltaOf(
  write: number,
  kind: RecordName,
  d: readonly unknown[],
  handles: HandleTable,
): Delta {
  const id = d[3] as string;
  switch (write) {
    case Write.Store:
      return { op: 'store', kind, record: entryOf(handles, d[2]) };
    case Write.Mutate: {
      const record = entryOf(handles, d[2]);
      if (kind === 'standingInstruction') return { op: 'mutate', kind, record, old: id };
      return { op: 'mutate', kind, record };
    }
    case Write.Delete:
      return { op: 'delete', kind, id };
    case Write.ReplaceGroup: {
      const ids = ((d[4] ?? []) as unknown[]).map(String);
      const records = ((d[5] ?? []) as unknown[]).map((handle) => entryOf(handles, handle));
      return { op: 'replaceToolCallGroup', kind: 'toolCall', ids, records: records as ToolCall[] };
    }
    default:
      throw new CodecError('frame', 0, `unknown write ${write}`);
  }
}

function kindOf(collection: number): RecordName {
  if (collection > 5) throw new CodecError('frame', 0, `collection ${collection} has no records`);
  return recordName(collection);
}

function entryOf(handles: HandleTable, handle: unknown): Entry {
  const entry = typeof handle === 'number' ? handles.entryOf(handle) : undefined;
  if (entry === undefined) throw new CodecError('frame', 0, `unknown handle ${String(handle)}`);
  return entry;
}
