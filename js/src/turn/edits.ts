/**
 * Changes by host code that the module does not know yet. They go in front of the turn's next frame.
 */
import { Collection, EditKind } from '../abi/frames.gen.js';
import { writeEdit } from '../codec/tuples.gen.js';
import { Encoder, type Write } from '../codec/encoder.js';
import type { HandleTable } from '../collections/handle-table.js';
import type { AnyRecord, History, HistoryRun } from '../collections/history.js';
import type { Entry } from '../collections/kinds.js';
import { mostBytes } from '../collections/record-size.js';
import type { EditSink } from '../collections/record-set.js';
import { invalidValue, tooLarge } from '../errors.js';
import { encodeBody } from '../primitives/body.js';
import { type BulkyResults, encodeResults } from '../primitives/tool-call.js';

/** Gives a history its number in an instance, and uploads what the instance lacks. */
export interface HistorySink {
  number(history: History, length: number): number;
  /** An Edit frame that names the history is written. */
  named(history: History): void;
}

/** A future Edit frame. Records appended in a row share one. */
interface Edit {
  readonly context: number;
  readonly collection: number;
  readonly kind: number;
  readonly handle: number;
  readonly run: HistoryRun<AnyRecord> | undefined;
  /** EditAdd: the appended records. */
  readonly entries: Entry[] | undefined;
  /** Stash, tools and kept results: the argument. */
  readonly argument: Write | null;
  /** Stash, EditSet: the key. */
  readonly key: string | undefined;
}

/** Bytes of bodies after which a run of records continues in another frame. */
const RUN_BYTES = 1 << 20;
/** The most bytes of a frame around its bodies. */
const HEAD = 64;
/** Bytes of a batch that no record may use. */
const MARGIN = 8192;

/** The buffer for bodies. No user code runs while it is in use. */
const bodies = new Encoder(1 << 12);

/** The edits of one turn, in order. */
export class EditQueue implements EditSink {
  readonly handles: HandleTable;
  /** Whether there are changes that the module does not know. */
  pending = false;
  readonly #edits: Edit[] = [];
  /** Bytes that a record may have. */
  readonly #largest: number;
  #closed = false;
  #from = 0;
  // How many records of the edit at #from were written to earlier frames.
  #written = 0;

  /** @param limit bytes of a batch */
  constructor(handles: HandleTable, limit: number) {
    this.handles = handles;
    this.#largest = limit - MARGIN;
  }

  /** Forgets everything and accepts nothing more, at the turn's end. */
  close(): void {
    this.#closed = true;
    this.#edits.length = 0;
    this.pending = false;
  }

  added(context: number, collection: number, handle: number, entry: Entry): void {
    const last = this.#edits.at(-1);
    if (
      last?.entries !== undefined &&
      last.context === context &&
      last.collection === collection &&
      last.handle + last.entries.length === handle
    ) {
      last.entries.push(entry);
      return;
    }
    this.#push(context, collection, EditKind.Add, handle, { entries: [entry] });
  }

  addedKnown(context: number, collection: number, handle: number): void {
    this.#push(context, collection, EditKind.AddKnown, handle);
  }

  addedHistory(
    context: number,
    collection: number,
    handle: number,
    run: HistoryRun<AnyRecord>,
  ): void {
    this.#push(context, collection, EditKind.AddHistory, handle, { run });
  }

  removed(context: number, collection: number, handle: number): void {
    this.#push(context, collection, EditKind.Remove, handle);
  }

  cleared(context: number, collection: number): void {
    this.#push(context, collection, EditKind.Clear, 0);
  }

  /**
   * Notes a stash key that was set. It replaces an unsent change of the same key.
   *
   * @throws TurncoreError E_INVALID_VALUE for a value that no frame can hold; then nothing changes
   */
  stashSet(context: number, key: string, value: unknown): void {
    bodies.reset();
    bodies.str(key);
    bodies.value(value, key);
    const n = bodies.length;
    if (!this.fits(n)) throw invalidValue(key, `${n} bytes, at most ${this.#largest} fit a frame`);
    const parts = bodies.copy();
    const last = this.#edits.at(-1);
    if (last?.kind === EditKind.Set && last.context === context && last.key === key) {
      this.#edits.pop();
    }
    const argument: Write = (enc) => enc.raw(parts);
    this.#push(context, Collection.Stash, EditKind.Set, 0, { argument, key });
  }

  /** Notes a stash key that was deleted. */
  stashUnset(context: number, key: string): void {
    this.#push(context, Collection.Stash, EditKind.Unset, 0, { argument: (enc) => enc.str(key) });
  }

  /** Notes that a defined tool was registered in a context. */
  toolRegistered(context: number, number: number): void {
    this.#push(context, Collection.Tools, EditKind.Register, number);
  }

  /** Notes that a tool was removed from a context's registry. */
  toolUnregistered(context: number, name: string): void {
    const argument: Write = (enc) => enc.str(name);
    this.#push(context, Collection.Tools, EditKind.Unregister, 0, { argument });
  }

  /** Notes the hidden names of a context's registry. */
  toolsHidden(context: number, names: readonly string[]): void {
    this.#push(context, Collection.Tools, EditKind.Hidden, 0, {
      argument: (enc) => enc.strs(names),
    });
  }

  /**
   * Notes a handler's result that stays on the host. The module gets a description of it.
   *
   * @throws TurncoreError E_ABI_LIMIT_EXCEEDED
   */
  kept(context: number, effect: number, results: BulkyResults): void {
    bodies.reset();
    encodeResults(bodies, results);
    const parts = bodies.copy();
    if (!this.fits(parts.length)) throw tooLarge('a result', parts.length, this.#largest);
    const argument: Write = (enc) => enc.raw(parts);
    this.#push(context, Collection.ToolCalls, EditKind.Keep, effect, { argument });
  }

  fits(bytes: number): boolean {
    return bytes < this.#largest;
  }

  admit(entry: Entry): void {
    if (this.fits(mostBytes(entry))) return;
    bodies.reset();
    entry[encodeBody](bodies);
    const actual = bodies.length;
    if (this.fits(actual)) return;
    throw tooLarge('a record', actual, this.#largest);
  }

  /**
   * Writes Edit frames, as many as fit.
   *
   * @param limit bytes that the encoder may hold
   * @returns true when nothing is left
   */
  encode(enc: Encoder, turn: number, limit: number, histories: HistorySink): boolean {
    while (this.#from < this.#edits.length) {
      const edit = this.#edits[this.#from]!;
      const start = enc.length;
      let done = true;
      if (edit.entries === undefined) this.#encodeOne(enc, turn, edit, histories);
      else done = this.#encodeRun(enc, turn, edit, edit.entries, limit);
      if (start > 0 && enc.length > limit) {
        enc.truncate(start);
        return false;
      }
      if (edit.run !== undefined) histories.named(edit.run.history);
      if (done) {
        this.#from++;
        this.#written = 0;
      } else if (enc.length === start) return false;
    }
    this.#edits.length = 0;
    this.pending = false;
    this.#from = 0;
    return true;
  }

  #encodeOne(enc: Encoder, turn: number, edit: Edit, histories: HistorySink): void {
    // A history is uploaded in frames of its own before this one begins.
    const history =
      edit.run === undefined ? 0 : histories.number(edit.run.history, edit.run.length);
    put(enc, turn, edit, edit.handle, edit.run?.length ?? 1, history, edit.argument);
  }

  /** Writes one frame of records, or none if no record fits. Returns true when the run is complete. */
  #encodeRun(
    enc: Encoder,
    turn: number,
    edit: Edit,
    entries: readonly Entry[],
    limit: number,
  ): boolean {
    const from = this.#written;
    const room = limit - enc.length - HEAD;
    const most = Math.min(RUN_BYTES, room);
    bodies.reset();
    let n = from;
    while (n < entries.length) {
      const before = bodies.length;
      entries[n]![encodeBody](bodies);
      if (bodies.length > most && (n > from || (enc.length > 0 && bodies.length > room))) {
        bodies.truncate(before);
        break;
      }
      n++;
    }
    if (n === from) return false;
    put(enc, turn, edit, edit.handle + from, n - from, 0, bodies.bytes());
    this.#written = n;
    return n === entries.length;
  }

  #push(
    context: number,
    collection: number,
    kind: number,
    handle: number,
    { run, entries, argument = null, key }: Partial<Edit> = {},
  ): void {
    if (this.#closed) return;
    this.#edits.push({ context, collection, kind, handle, run, entries, argument, key });
    this.pending = true;
  }
}

function put(
  enc: Encoder,
  turn: number,
  { context, collection, kind: edit }: Edit,
  handle: number,
  count: number,
  history: number,
  data: Uint8Array | Write | null,
): void {
  writeEdit(enc, { turn, context, collection, edit, handle, other: 0, count, history, data });
}
