/**
 * A store in memory.
 */
import { type AnyRecord, History, type HistoryKind } from '../collections/history.js';
import { invalidValue } from '../errors.js';
import { Tokenizable } from '../primitives/tokenizable.js';
import type { Delta } from '../pump/deltas.js';
import { MemoryReader } from '../readers/memory-reader.js';
import type { BytesReader, Conversation, Store } from './store.js';

const kinds = {
  memory: 'memories',
  retrievable: 'retrievables',
  message: 'messages',
  thought: 'thoughts',
  toolCall: 'toolCalls',
} as const satisfies Record<string, HistoryKind>;

/**
 * Keeps conversations in memory for as long as it lives. Sessions that go on are cheap: their records are held as
 * histories, which only get longer.
 */
export function memoryStore(): Store {
  return new MemoryStore();
}

class MemoryStore implements Store {
  readonly #sessions = new Map<string, Session>();

  load(session: string): Conversation {
    return this.#sessions.get(session)?.load() ?? new Session().load();
  }

  commit(session: string, deltas: readonly Delta[]): void {
    const of = this.#session(session);
    for (const delta of deltas) of.apply(delta);
  }

  /** Deleting a record does not turn the time back. */
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
      session = new Session();
      this.#sessions.set(id, session);
    }
    return session;
  }
}

class Session {
  newest: number | undefined;
  readonly bytes = new Map<string, BytesReader>();
  readonly #lists: Record<HistoryKind, RecordList> = {
    messages: new RecordList('messages'),
    thoughts: new RecordList('thoughts'),
    toolCalls: new RecordList('toolCalls'),
    memories: new RecordList('memories'),
    retrievables: new RecordList('retrievables'),
  };
  readonly #instructions: Tokenizable[] = [];

  load(): Conversation {
    const { messages, thoughts, toolCalls, memories, retrievables } = this.#lists;
    return {
      messages: messages.history() as Conversation['messages'],
      thoughts: thoughts.history() as Conversation['thoughts'],
      toolCalls: toolCalls.history() as Conversation['toolCalls'],
      memories: memories.history() as Conversation['memories'],
      retrievables: retrievables.history() as Conversation['retrievables'],
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
    switch (delta.op) {
      case 'store':
      case 'mutate':
        list.put(delta.record as AnyRecord);
        return;
      case 'delete':
        list.delete(delta.id);
        return;
      case 'replaceToolCallGroup':
        list.replaceGroup(delta.ids, delta.records);
    }
  }

  /** Keeps the time of records that are part of the conversation. */
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

/** Records of one kind by id, in order. */
class RecordList {
  readonly #kind: HistoryKind;
  #records = new Map<string, AnyRecord>();
  /** What {@link history} returned last; gone when something but an append has happened since. */
  #history: History | undefined;

  constructor(kind: HistoryKind) {
    this.#kind = kind;
  }

  put(record: AnyRecord): void {
    if (this.#records.has(record.id)) this.#history = undefined;
    else this.#history?.append(record);
    this.#records.set(record.id, record);
  }

  delete(id: string): void {
    if (this.#records.delete(id)) this.#history = undefined;
  }

  replaceGroup(ids: readonly string[], records: readonly AnyRecord[]): void {
    const gone = new Set(ids);
    const before = [...this.#records.values()];
    const first = before.findIndex((record) => gone.has(record.id));
    const at = first < 0 ? before.length : first;
    const rest = before.filter((record) => !gone.has(record.id));
    const kept = before.slice(0, at).filter((record) => !gone.has(record.id)).length;
    rest.splice(kept, 0, ...records);
    this.#records = new Map(rest.map((record) => [record.id, record]));
    this.#history = undefined;
  }

  history(): History {
    this.#history ??= new History<AnyRecord>(this.#kind, this.#records.values());
    return this.#history;
  }
}
