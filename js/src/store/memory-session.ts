/**
 * A session of the store in memory.
 */
import type { Delta, RecordName } from '../collections/deltas.js';
import type { Entry } from '../collections/kinds.js';
import type { Tokenizable } from '../primitives/tokenizable.js';
import { sessionError } from '../store-errors.js';
import type { Conversation } from '../sessions/conversation.js';
import type { MemoryReader } from '../readers/memory-reader.js';
import type { Commit } from './store.js';

/** What the store in memory has of a session. Revisions are from 1; 0 is that of a session that is not there. */
export class MemorySession {
  title = '';
  revision = 0;
  /** The latest creation of a record of the conversation, in ms since the Unix epoch. */
  newest: number | undefined;
  readonly bytes = new Map<string, MemoryReader>();
  /** Commits by key: who made them, and their revisions. */
  readonly keys = new Map<string, { readonly turn: string; readonly revision: string }>();
  /** The revisions of these with their turns. */
  readonly #own = new Set<string>();
  readonly id: string;
  /** The revision before its first. */
  readonly #began: number;
  readonly created: number;
  updated = 0;
  /** The last revision that changed, moved or deleted something. */
  settled = 0;
  /** Records by kind, as far as there are any. */
  readonly lists: Partial<Record<RecordName, RecordList>> = {};

  constructor(id: string, began: number, created: number) {
    this.id = id;
    this.#began = began;
    this.created = created;
  }

  /** The records of a kind. */
  list(kind: RecordName): RecordList {
    return (this.lists[kind] ??= new RecordList());
  }

  /** Begins a revision. */
  update(revision: number, now: number): void {
    this.revision = revision;
    this.updated = Math.max(this.updated, now);
  }

  load(after: string): Conversation {
    const asked = after === '' ? undefined : this.#known(after);
    const known = asked !== undefined && asked >= this.settled;
    const records = (kind: RecordName): never[] =>
      this.list(kind).after(known ? asked : -1) as never[];
    return {
      revision: String(this.revision),
      ...(known ? { after } : {}),
      messages: records('message'),
      thoughts: records('thought'),
      toolCalls: records('toolCall'),
      memories: records('memory'),
      retrievables: records('retrievable'),
      instructions: this.list('standingInstruction').after(-1) as Tokenizable[],
    };
  }

  /** The number of a revision; undefined for one that the session never had. */
  #known(text: string): number | undefined {
    const revision = Number(text);
    const had = revision > this.#began && revision <= this.revision;
    return had || revision === 0 ? revision : undefined;
  }

  /** Remembers the revision that a commit returned under a key. */
  remember(key: string, turn: string, revision: string): void {
    if (key === '') return;
    this.keys.set(key, { turn, revision });
    this.#own.add(`${revision} ${turn}`);
  }

  /** Forgets the keys of turns. */
  forget(turns: readonly string[]): void {
    if (turns.length === 0) return;
    for (const [key, { turn, revision }] of this.keys) {
      if (!turns.includes(turn)) continue;
      this.keys.delete(key);
      this.#own.delete(`${revision} ${turn}`);
    }
  }

  /** Tells whether a writer has seen a revision, or it is its own. */
  knows({ revision = '', turn = '' }: Pick<Commit, 'revision' | 'turn'>): (at: number) => boolean {
    const seen = revision === '' ? Infinity : (this.#known(revision) ?? -1);
    return (at) => at <= seen || (turn !== '' && this.#own.has(`${at} ${turn}`));
  }

  /** @throws TurncoreError E_SESSION_CONFLICT if a commit changes what another writer has changed */
  check(commit: Commit): void {
    const knows = this.knows(commit);
    const made = new Set<string>();
    for (const delta of commit.deltas) {
      const { kind } = delta;
      const old = oldOf(delta);
      for (const id of [...old, ...recordsOf(delta).map(keyOf)]) {
        const name = `${kind} ${id}`;
        if (made.has(name)) continue;
        const entry = this.list(kind).find(id);
        const clear =
          entry === undefined
            ? !old.includes(id) || (knows(0) && knows(this.settled))
            : knows(entry.changed) ||
              // Storing one that is there changes nothing.
              (kind === 'standingInstruction' && !old.includes(id));
        if (!clear) {
          throw sessionError('E_SESSION_CONFLICT', { session: this.id, kind, id });
        }
        made.add(name);
      }
    }
  }

  apply(delta: Delta): void {
    const { kind, op } = delta;
    const list = this.list(kind);
    const { revision } = this;
    const records = recordsOf(delta);
    for (const record of records) this.#note(kind, record);
    let added;
    if (
      op === 'replaceToolCallGroup' ||
      (op === 'mutate' && list.find(delta.old ?? '') !== undefined)
    ) {
      added = list.replace(oldOf(delta), records, revision);
    } else if (op === 'delete') added = !list.remove(delta.id);
    else {
      const { record } = delta;
      const same = kind === 'standingInstruction' && list.find(keyOf(record)) !== undefined;
      added = same || list.put(record, revision);
    }
    if (!added) this.settled = revision;
  }

  /** Tracks the time of records that belong to the conversation. */
  #note(kind: RecordName, record: Entry): void {
    if (kind !== 'message' && kind !== 'thought' && kind !== 'toolCall') return;
    const at = (record as { readonly createdAt: Date }).createdAt.getTime();
    if (this.newest === undefined || at > this.newest) this.newest = at;
  }
}

/** A record, and the revisions that added it and wrote it last. */
interface Stored {
  record: Entry;
  readonly added: number;
  changed: number;
}

/** Records of one kind, in order. */
class RecordList {
  /** Their `added` ascends. */
  entries: Stored[] = [];
  #ids = new Map<string, Stored>();

  find(id: string): Stored | undefined {
    return this.#ids.get(id);
  }

  /** The records that were added after a revision. */
  after(revision: number): Entry[] {
    const { entries } = this;
    let from = entries.length;
    while (from > 0 && entries[from - 1]!.added > revision) from--;
    return entries.slice(from).map(({ record }) => record);
  }

  /** Puts a record in the place of the one with its id, or behind the others. Returns whether it was added. */
  put(record: Entry, revision: number): boolean {
    const id = keyOf(record);
    const there = this.#ids.get(id);
    if (there !== undefined) {
      there.record = record;
      there.changed = revision;
      return false;
    }
    const entry = { record, added: revision, changed: revision };
    this.entries.push(entry);
    this.#ids.set(id, entry);
    return true;
  }

  /** Returns whether the record was there. */
  remove(id: string): boolean {
    const there = this.#ids.get(id);
    if (there === undefined) return false;
    this.entries.splice(this.entries.indexOf(there), 1);
    this.#ids.delete(id);
    return true;
  }

  /** Puts records where the first of others was, or each by itself. Returns whether they were only added. */
  replace(old: readonly string[], records: readonly Entry[], revision: number): boolean {
    const fresh = new Map(records.map((record) => [keyOf(record), record]));
    const stays = ({ record }: Stored): boolean =>
      !old.includes(keyOf(record)) && !fresh.has(keyOf(record));
    const { entries } = this;
    const first = entries.findIndex(({ record }) => old.includes(keyOf(record)));
    if (first < 0) return records.filter((record) => !this.put(record, revision)).length === 0;
    const before = entries.slice(0, first).filter(stays);
    const behind = entries.slice(first).filter(stays);
    // What is put in between was there for who knows the one before it.
    const added = before.at(-1)?.added ?? 0;
    for (const record of fresh.values()) before.push({ record, added, changed: revision });
    this.entries = [...before, ...behind];
    this.#ids = new Map(this.entries.map((entry) => [keyOf(entry.record), entry]));
    return false;
  }
}

/** What names a record: its id, or the text of an instruction. */
function keyOf(record: Entry): string {
  return 'id' in record ? record.id : record.toString();
}

/** The records that a write writes. */
function recordsOf(delta: Delta): readonly Entry[] {
  if (delta.op === 'delete') return [];
  return delta.op === 'replaceToolCallGroup' ? delta.records : [delta.record];
}

/** What names the records that a write changes or deletes. */
function oldOf(delta: Delta): readonly string[] {
  switch (delta.op) {
    case 'store':
      return [];
    case 'mutate':
      return [delta.old ?? keyOf(delta.record)];
    case 'delete':
      return [delta.id];
    case 'replaceToolCallGroup':
      return delta.ids;
  }
}
