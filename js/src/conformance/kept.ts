/**
 * What a store keeps of the writes of a scenario.
 */
import { type Delta, isTurncoreError, memoryStore, type Store } from '../index.js';
import { type Entry, rowsOf } from '../entries/records.js';
import type { Conversation } from '../entries/stores.js';

const kinds = ['memories', 'retrievables', 'messages', 'thoughts', 'toolCalls'] as const;

/**
 * Has a store keep what storage callbacks got, and a store in memory too: in the end both have the same. Writes are
 * committed after the scenario, whose log does not wait for a database.
 */
export class Kept {
  readonly #store: Store;
  readonly #memory = memoryStore();
  readonly #session: string;
  readonly #commits: (readonly Delta[])[] = [];

  constructor(store: Store, session: string) {
    this.#store = store;
    this.#session = session;
  }

  /** Notes writes of one transaction. */
  add(deltas: readonly Delta[]): void {
    if (deltas.length > 0) this.#commits.push(deltas);
  }

  /**
   * Commits what was noted, each twice under its key, and compares. A commit with a record that cannot be written down
   * is none that a database must keep: it is left out.
   *
   * @returns how many commits there were
   * @throws Error (rejects) for a store that has anything else than the one in memory
   */
  async check(): Promise<number> {
    for (const [n, deltas] of this.#commits.entries()) {
      const commit = { deltas, key: `${this.#session}.${n}`, turn: this.#session };
      let revision: string;
      try {
        revision = await this.#store.commit(this.#session, commit);
      } catch (error) {
        if (unstorable(error)) continue;
        throw error;
      }
      const again = await this.#store.commit(this.#session, commit);
      if (again !== revision) throw new Error(`commit ${n} again: ${again}, not ${revision}`);
      await this.#memory.commit(this.#session, commit);
    }
    if (this.#commits.length === 0) return 0;
    const got = await this.#store.load(this.#session);
    const want = await this.#memory.load(this.#session);
    const texts = ({ instructions }: Conversation): string =>
      JSON.stringify(instructions.map(String));
    if (texts(got) !== texts(want)) {
      throw new Error(`the store has the instructions ${texts(got)}, not ${texts(want)}`);
    }
    for (const kind of kinds) await this.#same(got[kind], want[kind]);
    return this.#commits.length;
  }

  /** Compares records by what is stored of them, and reads the bytes that they refer to. */
  async #same(got: readonly Entry[], want: readonly Entry[]): Promise<void> {
    if (got.length !== want.length) {
      throw new Error(`the store has ${got.length} records of a kind, not ${want.length}`);
    }
    for (const [i, record] of want.entries()) {
      let wanted: string;
      try {
        [wanted] = await this.#stored(record);
      } catch (error) {
        if (unstorable(error)) continue; // the store keeps records themselves
        throw error;
      }
      const [body, bytes] = await this.#stored(got[i]!);
      if (body !== wanted) throw new Error(`the store has ${body}, not ${wanted}`);
      for (const id of bytes) {
        const reader = await this.#store.openBytes(this.#session, id);
        const { byteLength } = await new Response(await reader.stream()).arrayBuffer();
        const size = await reader.byteLength();
        if (byteLength !== size) throw new Error(`bytes ${id}: ${byteLength}, not ${size}`);
      }
    }
  }

  /** The stored form of a record as characters, and the ids of the bytes that it refers to. */
  async #stored(record: Entry): Promise<[body: string, bytes: readonly string[]]> {
    const delta = { op: 'store', record } as unknown as Delta;
    const [row] = await rowsOf(this.#store, this.#session, [delta]);
    return [String.fromCharCode(...row!.body!), row!.bytes];
  }
}

function unstorable(error: unknown): boolean {
  return isTurncoreError(error) && error.code === 'E_RECORD_UNSTORABLE';
}
