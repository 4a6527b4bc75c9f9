/**
 * Loads sessions from a store and remembers those loaded last.
 */
import {
  type AnyRecord,
  History,
  type HistoryKind,
  type RecordOfKind,
} from '../collections/history.js';
import { type RecordKind, requireRecord } from '../collections/kinds.js';
import type { RecordSet } from '../collections/record-set.js';
import { optionalString, requireObject } from '../context/arguments.js';
import type { TurnContext } from '../context/turn-context.js';
import { invalidValue, requireList } from '../errors.js';
import type { Tokenizable } from '../primitives/tokenizable.js';
import { type Awaitable, isThenable } from '../awaitable.js';
import type { Conversation } from './conversation.js';

/**
 * Bounds on the remembered sessions. Beyond them the least recently used session is forgotten, and loaded in full at
 * its next use. The last used session always stays.
 */
const MOST_SESSIONS = 1024;
const MOST_BYTES = 32 << 20;
/** The last instant of a Date. */
const MAX_TIME = 8.64e15;

/** The kinds of record, and a turn's collections of them. */
const collections = {
  memories: 'turnMemories',
  retrievables: 'turnRetrievables',
  messages: 'turnMessages',
  thoughts: 'turnThoughts',
  toolCalls: 'turnToolCalls',
} as const;
const kinds = Object.keys(collections) as HistoryKind[];

/** The first records of a history. A new object replaces it when it gets longer. */
export interface Beginning<T extends AnyRecord> {
  readonly history: History<T>;
  readonly length: number;
}

/** A loaded session. It does not change: its histories may grow, but it refers to their first records. */
interface Loaded {
  readonly revision: string;
  readonly instructions: readonly Tokenizable[];
  readonly records: { readonly [K in HistoryKind]?: Beginning<RecordOfKind[K]> };
}

/** What a store gives, in errors. */
const LOADED = 'what the store loaded';

const nothing: Loaded = { revision: '', instructions: [], records: {} };

/** What sessions are loaded from. */
export interface Source {
  load(session: string, after: string): Awaitable<Conversation>;
  newest?(session: string): Awaitable<number | undefined>;
}

/** Loads sessions from a store. */
export class SessionLoader {
  readonly #store: Source;
  readonly #mostSessions: number;
  readonly #mostBytes: number;
  /** In the order of their last use. */
  readonly #sessions = new Map<string, { readonly loaded: Loaded; readonly bytes: number }>();
  #bytes = 0;

  constructor(store: Source, mostSessions: number = MOST_SESSIONS, mostBytes: number = MOST_BYTES) {
    this.#store = store;
    this.#mostSessions = mostSessions;
    this.#mostBytes = mostBytes;
  }

  /**
   * The contents of a session. No invalidation is needed: the store is asked each time, so writes of other processes
   * are visible, and an unknown revision returns the whole session.
   *
   * @throws TurncoreError (rejects) E_INVALID_VALUE for an answer that does not match the request
   */
  async load(session: string): Promise<Loaded> {
    const before = this.#sessions.get(session)?.loaded ?? nothing;
    const conversation = await this.#store.load(session, before.revision);
    const after = next(before, conversation);
    this.#remember(session, after);
    return after;
  }

  /**
   * When the user's message of a turn is to be created: at the same time as in the turn's first run, if the session has
   * it, or else later than all records of the session.
   *
   * @param turn the turn's id if the caller gave it; another one is not in the session
   * @param now the current time
   */
  timeOf(turn: string | undefined, now: number, session: string): Awaitable<number> {
    const behind = (newest: number | undefined): Awaitable<number> => {
      const none = newest === undefined;
      const time = none ? now : Math.min(Math.max(now, newest + 1), MAX_TIME);
      if (turn === undefined || (none && this.#store.newest != null)) return time;
      return this.load(session).then(({ records: { messages } }) => {
        const place = messages?.history.find(`${turn}.user`) ?? -1;
        return place >= 0 && place < messages!.length
          ? Number(messages!.history.at(place)!.createdAt)
          : time;
      });
    };
    const newest = this.#store.newest?.(session);
    return isThenable(newest) ? Promise.resolve(newest).then(behind) : behind(newest);
  }

  /** Puts a session's records into a turn's collections, in front of their records. */
  enter(ctx: TurnContext, { records }: Loaded): void {
    for (const [kind, collection] of Object.entries(collections)) {
      enter<AnyRecord>(ctx[collection], records[kind as HistoryKind]);
    }
  }

  /** The number of remembered sessions. */
  get size(): number {
    return this.#sessions.size;
  }

  #remember(session: string, loaded: Loaded): void {
    this.#forget(session);
    const bytes = kinds.reduce((sum, kind) => sum + (loaded.records[kind]?.history.bytes ?? 0), 0);
    if (bytes === 0) return;
    this.#sessions.set(session, { loaded, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#sessions.keys()) {
      const size = this.#sessions.size;
      if (size <= this.#mostSessions && (this.#bytes <= this.#mostBytes || size === 1)) return;
      this.#forget(oldest);
    }
  }

  #forget(session: string): void {
    this.#bytes -= this.#sessions.get(session)?.bytes ?? 0;
    this.#sessions.delete(session);
  }
}

/** A session from the store's answer: all records, or the later ones. */
function next(before: Loaded, conversation: Conversation | null | undefined): Loaded {
  const held: Partial<Conversation> = conversation ?? {};
  requireObject(held, LOADED);
  const named = (name: 'revision' | 'after'): string =>
    optionalString(held[name] ?? '', `${LOADED}: ${name}`)!;
  const [revision, after] = [named('revision'), named('after')];
  if (after !== '' && after !== before.revision) {
    const reason = `is ${JSON.stringify(after)}, but revision ${JSON.stringify(before.revision)} was asked for`;
    throw invalidValue(`${LOADED}: after`, reason);
  }
  if (after !== '' && revision === '') {
    throw invalidValue(`${LOADED}: revision`, 'must not be empty where after is set');
  }
  // When a session was loaded in full, its histories stay as far as they hold the same records.
  const listed = <T>(kind: RecordKind, list: Iterable<T> = []): T[] => {
    requireList(`${LOADED}: ${kind}`, list);
    return [...list];
  };
  const follow = <K extends HistoryKind>(kind: K, list: Iterable<RecordOfKind[K]> | undefined) => {
    const known = before.records[kind];
    const records = listed(kind, list);
    for (const [i, record] of records.entries()) {
      requireRecord(kind, record, `${LOADED}: ${kind}[${i}]`);
    }
    return followed(kind, known, after === '' ? 0 : (known?.length ?? 0), records);
  };
  return {
    revision,
    instructions: listed('instructions', held.instructions),
    records: Object.fromEntries(kinds.map((kind) => [kind, follow(kind, held[kind])])),
  };
}

/**
 * The first records of a history with others behind them: in the same history, unless different records follow there.
 */
function followed<K extends HistoryKind>(
  kind: K,
  known: Beginning<RecordOfKind[K]> | undefined,
  from: number,
  records: RecordOfKind[K][],
): Beginning<RecordOfKind[K]> {
  if (known?.history.extend(from, records) === true) {
    return { history: known.history, length: from + records.length };
  }
  const history = new History<RecordOfKind[K]>(kind);
  for (let i = 0; i < from; i++) history.append(known!.history.at(i)!);
  for (const record of records) history.append(record);
  return { history, length: history.length };
}

/** Puts records in front of a collection's own, which win over the store's copies. */
function enter<T extends AnyRecord>(set: RecordSet<T>, records: Beginning<T> | undefined): void {
  if (records === undefined || records.length === 0) return;
  const { history, length } = records;
  const mine = [...set];
  set.clear();
  const own = new Map(mine.map((record) => [record.id, record]));
  let shared = length;
  for (const id of own.keys()) {
    const place = history.find(id);
    if (place >= 0 && place < shared) shared = place;
  }
  set.addFirst(history, shared);
  for (let i = shared; i < length; i++) {
    const record = history.at(i)!;
    set.add((own.get(record.id) ?? record) as never);
  }
  for (const record of mine) set.add(record as never);
}
