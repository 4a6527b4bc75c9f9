/**
 * The bytes of contents: in the tables of a database, in parts, or in files beside them.
 */
import type { ConduitBytes } from '../primitives/readers.js';
import { RangeReader } from '../readers/range-reader.js';
import { PART, partsOf } from './parts.js';
import { ask, type PartRow, partSum, type Step, type Tables } from './tables.js';

/** Files beside the tables of a database, each with the bytes of a content. Errors name the session that is given. */
export interface Files {
  /** From how many bytes on contents get files; undefined where no files can be written. */
  least(): Promise<number | undefined>;
  /** Writes the file of a content. It is whole and on the disk when that returns. Errors of the parts stay. */
  write(session: string, content: number, parts: AsyncIterable<Uint8Array>): Promise<void>;
  /** Bytes of the file of a content: fewer if it is shorter, undefined if there is none. */
  read(session: string, content: number, from: number, to: number): Promise<Uint8Array | undefined>;
  /** Deletes the file of a content, if there is one. What it cannot delete is left for later. */
  drop(content: number): Promise<void>;
}

/** What contents are written to and read from. Errors name the session that is given. */
export interface ContentPlace {
  view<T>(session: string, run: (tables: Tables) => Step<T>): Promise<T>;
  update<T>(session: string, run: (tables: Tables) => Step<T>): Promise<T>;
  /** Undefined where all contents are in the tables. */
  readonly files: Files | undefined;
}

/**
 * Writes a content. Until `use` has made it known, in the transaction that makes it whole, nobody can read it; if
 * anything fails it is dropped.
 *
 * @param now the time in microseconds
 * @param use says in its transaction whose the content is
 */
export async function putContent(
  place: ContentPlace,
  session: string,
  bytes: ConduitBytes,
  now: () => number,
  use: (tables: Tables, content: number, size: number) => Step<void>,
): Promise<void> {
  const least = await place.files?.least();
  const rest = partsOf(bytes);
  const first = await rest.next();
  const whole = first.done === true ? new Uint8Array(0) : first.value;
  if (whole.length < Math.min(PART, least ?? PART)) {
    await place.update(session, function* (tables) {
      const content = yield* ask(tables.addContent(now()));
      if (whole.length > 0) yield* addPart(tables, content, 0, whole);
      yield* use(tables, content, whole.length);
    });
    return;
  }
  const content = await place.update(session, (tables) => ask(tables.addContent(now())));
  const sums: number[] = [];
  let size = 0;
  const parts = async function* (): AsyncGenerator<Uint8Array> {
    yield whole;
    yield* rest;
  };
  /** The parts, which it counts. */
  const noted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const data of parts()) {
      sums.push(partSum(content, sums.length, data));
      size += data.length;
      yield data;
    }
  };
  try {
    if (least === undefined) {
      // A transaction for each part: none of them is in memory longer than that.
      for await (const data of noted()) {
        const part = sums.length - 1;
        await place.update(session, (tables) => addPart(tables, content, part, data));
      }
      await place.update(session, (tables) => use(tables, content, size));
      return;
    }
    await place.files!.write(session, content, noted());
    await place.update(session, function* (tables) {
      for (const [part, sum] of sums.entries()) {
        yield* ask(tables.addPart(content, part, { data: undefined, sum }));
      }
      yield* use(tables, content, size);
    });
  } catch (error) {
    // Otherwise it would stay until it is collected.
    const drop = place.update(session, (tables) => ask(tables.dropContent(content)));
    await drop.catch(() => undefined);
    if (least !== undefined) await place.files!.drop(content);
    throw error;
  }
}

function* addPart(tables: Tables, content: number, part: number, data: Uint8Array): Step<void> {
  yield* ask(tables.addPart(content, part, { data, sum: partSum(content, part, data) }));
}

/** A content, and what is said of it where it cannot be read. */
export interface Readable {
  readonly session: string;
  readonly content: number;
  readonly size: number;
  /** The number of the content that has taken the place of a dropped one; undefined for none of the same bytes. */
  again(): Promise<number | undefined>;
  /** The error of a content that is not there. */
  missing(): Error;
  /** The error of a damaged content. */
  damaged(why: string): Error;
}

/** Reads a content, a part at a time. It reads nothing in advance. */
export function contentReader(place: ContentPlace, of: Readable): RangeReader {
  const { session, size } = of;
  let { content } = of;
  let held: { readonly part: number; readonly data: Uint8Array } | undefined;
  /** A part with its bytes; without them if its file is missing. */
  const find = async (part: number): Promise<PartRow | undefined> => {
    const row = await place.view(session, (tables) => ask(tables.findPart(content, part)));
    if (row === undefined || row.data !== undefined) return row;
    const [from, to] = [part * PART, Math.min((part + 1) * PART, size)];
    const data = await place.files!.read(session, content, from, to);
    return { data, sum: row.sum };
  };
  const hold = async (part: number): Promise<Uint8Array> => {
    if (held?.part === part) return held.data;
    let found = await find(part);
    if (found?.data === undefined) {
      // Another writer may have put the same bytes.
      const other = await of.again();
      if (other !== undefined) {
        content = other;
        found = await find(part);
      }
    }
    if (found === undefined) throw of.missing();
    const { data, sum } = found;
    if (data === undefined) throw of.damaged('their file is missing');
    if (data.length !== Math.min(PART, size - part * PART)) {
      throw of.damaged(`part ${part} has ${data.length} bytes`);
    }
    if (sum !== partSum(content, part, data)) {
      throw of.damaged(`the checksum of part ${part} is wrong`);
    }
    held = { part, data };
    return data;
  };
  return new RangeReader({
    size: () => size,
    read: async (from, to) => {
      const read = new Uint8Array(to - from);
      for (let at = from; at < to;) {
        const data = await hold(Math.floor(at / PART));
        const piece = data.subarray(at % PART, Math.min(data.length, (at % PART) + to - at));
        read.set(piece, at - from);
        at += piece.length;
      }
      return read;
    },
  });
}
