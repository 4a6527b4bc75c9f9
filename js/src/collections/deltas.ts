/**
 * The writes that storage callbacks get.
 */
import { Write } from '../abi/frames.gen.js';
import type { Delta as WireDelta } from '../codec/tuples.gen.js';
import { wrongFrame } from '../codec/decoder.js';
import type { HandleTable } from './handle-table.js';
import type { Entry } from './kinds.js';
import type { ToolCall } from '../primitives/tool-call.js';

/** The name of a record of each kind, as deltas and discarded writes use it. */
const singular = [
  'standingInstruction',
  'memory',
  'retrievable',
  'message',
  'thought',
  'toolCall',
] as const;

/** The name of one record of a kind. */
export type RecordName = (typeof singular)[number];

/** The name of one record of the collection with this number. @throws CodecError if it has no records */
export function recordName(collection: number): RecordName {
  const name = singular[collection];
  if (name === undefined) {
    throw wrongFrame(`unknown collection ${collection}`);
  }
  return name;
}

/** A record was stored. */
export interface StoreDelta {
  readonly op: 'store';
  readonly kind: RecordName;
  readonly record: Entry;
}

/** A record replaced the one with its id; a standing instruction replaced the one with the text `old`. */
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

/** Tool calls replaced others. */
export interface ReplaceGroupDelta {
  readonly op: 'replaceToolCallGroup';
  readonly kind: 'toolCall';
  readonly ids: string[];
  readonly records: ToolCall[];
}

/** One queued write. */
export type Delta = StoreDelta | MutateDelta | DeleteDelta | ReplaceGroupDelta;

/** The write of a frame. @throws CodecError if it names an unknown record */
export function deltaOf(wire: WireDelta, handles: HandleTable): Delta {
  const { write, handle, id } = wire;
  const kind = recordName(wire.collection);
  switch (write) {
    case Write.Store:
      return { op: 'store', kind, record: entryOf(handles, handle) };
    case Write.Mutate: {
      const record = entryOf(handles, handle);
      if (kind === 'standingInstruction') return { op: 'mutate', kind, record, old: id };
      return { op: 'mutate', kind, record };
    }
    case Write.Delete:
      return { op: 'delete', kind, id };
    case Write.ReplaceGroup: {
      const records = wire.handles.map((each) => entryOf(handles, each));
      return {
        op: 'replaceToolCallGroup',
        kind: 'toolCall',
        ids: [...wire.ids],
        records: records as ToolCall[],
      };
    }
    default:
      throw wrongFrame(`unknown write ${write}`);
  }
}

function entryOf(handles: HandleTable, handle: number): Entry {
  const entry = handles.entryOf(handle);
  if (entry === undefined) throw wrongFrame(`unknown handle ${handle}`);
  return entry;
}
