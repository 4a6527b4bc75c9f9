/**
 * A store in memory.
 */
import type { AnyRecord, HistoryKind } from '../collections/history.js';
import { invalidValue } from '../errors.js';
import { Tokenizable } from '../primitives/tokenizable.js';
import type { Delta } from '../collections/deltas.js';
import { MemoryReader } from '../readers/memory-reader.js';
import type { BytesReader, Conversation, Store } from './store.js';

const kinds = {
  memory: 'memories',
  retrievable: 'retrievables',
  message: 'messages',
  thought: 'thoughts',
  toolCall: 'toolCalls',
} as const satisfies Record<string, HistoryKind>;

/** Keeps conversations in memory during its lifetime. */
export function memoryStore(): Store {
  return new MemoryStore();
}

/** A write of a record. */
type RecordDelta = Exclude<Delta, { kind: 'standingInstruction' }>;

class MemoryStore implements Store {
  readonly #sessions = new Map<string, Session>();
  /** Number of the last write to any session. */
  #revision = 0;

  load(session: string, after = ''): Conversation {
    return this.#sessions.get(session)?.load(after) ?? new Session(0).load('');
  }

  commit(session: string, deltas: readonly Delta[]): void {
    const of = this.#session(session);
    of.revision = ++this.#revision;
    for (const delta of deltas) of.apply(delta);
  }

  /** Deleting a record does not move the time back. */
  newest(session: string): number | undefined {
    return this.#sessions.get(session)?.newest;
  }

  writeBytes(session: string, id: string, bytes: string | Uint8Array): BytesReader {
    const reader = new MemoryReader(bytes);
    this.#session(session).bytes.set(id, reader);
    return reader;
  }

  #session(id: string): Session {
    let session = this.#sessions.get(id);
    if (session === undefined) {
      session = new Session(++this.#revision);
      this.#sessions.set(id, session);
    }
    return session;
  }
}

class Session {
  revision: number;
  /** The revision since which records were only added. */
  #settled: number;
  newest: number | undefined;
  readonly bytes = new Map<string, BytesReader>();
  readonly #lists: Record<HistoryKind, RecordList> = {
    messages: new RecordList(),
    thoughts: new RecordList(),
    toolCalls: new RecordList(),
    memories: new RecordList(),
    retrievables: new RecordList(),
  };
  readonly #instructions: Tokenizable[] = [];

  constructor(revision: number) {
    this.revision = revision;
    this.#settled = revision;
  }

  load(after: string): Conversation {
    const { messages, thoughts, toolCalls, memories, retrievables } = this.#lists;
    const asked = after === '' ? 0 : Number(after);
    const known = asked >= this.#settled && asked <= this.revision;
    const from = known ? asked : 0;
    return {
      revision: String(this.revision),
      ...(known && after !== '' ? { after } : {}),
      messages: messages.after(from) as Conversation['messages'],
      thoughts: thoughts.after(from) as Conversation['thoughts'],
      toolCalls: toolCalls.after(from) as Conversation['toolCalls'],
      memories: memories.after(from) as Conversation['memories'],
      retrievables: retrievables.after(from) as Conversation['retrievables'],
      instructions: this.#instructions.slice(),
    };
  }

  apply(delta: Delta): void {
    if (delta.kind === 'standingInstruction') {
      this.#applyInstruction(delta);
      return;
    }
    this.#note(delta);
    const list = this.#lists[kinds[delta.kind]];
    if (!list.apply(delta, this.revision)) this.#settled = this.revision;
  }

  /** Tracks the time of records that belong to the conversation. */
  #note(delta: Delta): void {
    if (delta.op === 'delete' || delta.kind === 'memory' || delta.kind === 'retrievable') return;
    const records = delta.op === 'replaceToolCallGroup' ? delta.records : [delta.record];
    for (const record of records as readonly AnyRecord[]) {
      const at = record.createdAt.getTime();
      if (this.newest === undefined || at > this.newest) this.newest = at;
    }
  }

  #applyInstruction(delta: Delta): void {
    switch (delta.op) {
      case 'store':
        this.#instructions.push(Tokenizable.from(delta.record as Tokenizable));
        return;
      case 'mutate': {
        const at = this.#find(delta.old ?? '');
        const text = delta.record as Tokenizable;
        if (at >= 0) this.#instructions[at] = text;
        else this.#instructions.push(text);
        return;
      }
      case 'delete': {
        const at = this.#find(delta.id);
        if (at >= 0) this.#instructions.splice(at, 1);
        return;
      }
      case 'replaceToolCallGroup':
        throw invalidValue('delta', 'standing instructions have no groups');
    }
  }

  #find(text: string): number {
    return this.#instructions.findIndex((each) => each.toString() === text);
  }
}

/** Records of one kind, in order. */
class RecordList {
  #records: AnyRecord[] = [];
  /** The revision that added them. */
  #revisions: number[] = [];
  /** By id; undefined when out of date. */
  #places: Map<string, number> | undefined;

  /** The records that were added after a revision. */
  after(revision: number): AnyRecord[] {
    let from = this.#records.length;
    while (from > 0 && this.#revisions[from - 1]! > revision) from--;
    return this.#records.slice(from);
  }

  /** Applies a write of a revision. Returns false if it changed existing records or their order. */
  apply(delta: RecordDelta, revision: number): boolean {
    switch (delta.op) {
      case 'store':
      case 'mutate':
        return this.#put(delta.record as AnyRecord, revision);
      case 'delete':
        return this.#delete(delta.id);
      case 'replaceToolCallGroup':
        this.#replaceGroup(delta.ids, delta.records);
        this.#revisions = this.#records.map(() => revision);
        return false;
    }
  }

  #place(id: string): number | undefined {
    this.#places ??= new Map(this.#records.map((record, place) => [record.id, place]));
    return this.#places.get(id);
  }

  #put(record: AnyRecord, revision: number): boolean {
    const place = this.#place(record.id);
    if (place !== undefined) {
      this.#records[place] = record;
      return false;
    }
    this.#places!.set(record.id, this.#records.length);
    this.#records.push(record);
    this.#revisions.push(revision);
    return true;
  }

  #delete(id: string): boolean {
    const place = this.#place(id);
    if (place === undefined) return true;
    this.#records.splice(place, 1);
    this.#revisions.splice(place, 1);
    this.#places = undefined;
    return false;
  }

  #replaceGroup(ids: readonly string[], records: readonly AnyRecord[]): void {
    const gone = new Set(ids);
    const first = this.#records.findIndex(({ id }) => gone.has(id));
    const rest = this.#records.filter(({ id }) => !gone.has(id));
    rest.splice(first < 0 ? rest.length : first, 0, ...records);
    this.#records = rest;
    this.#places = undefined;
  }
}
