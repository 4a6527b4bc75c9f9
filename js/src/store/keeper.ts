/**
 * What a process has of a store's sessions: those that it loaded last, the turns that wait for each other, and what turns
 * have written.
 */
import { engine } from '#engine';

import { isThenable } from '../awaitable.js';
import type { Delta } from '../collections/deltas.js';
import { stateOf } from '../context/state-of.js';
import type { TurnContext } from '../context/turn-context.js';
import { isBound } from '../runners/owner.js';
import { sessionError } from '../store-errors.js';
import type { SessionLoader } from '../sessions/session-loader.js';
import type { Store } from './store.js';

/** How many sessions with ended turns are remembered. Beyond them all are forgotten, and the store keeps their keys. */
const MOST_ENDED = 10_000;

const keepers = new WeakMap<Store, Keeper>();
/** Stores of Durable Objects, in which turns do not end with their requests. */
const inObjects = new WeakSet<Store>();

/** Says that a store is one of a Durable Object. */
export function waitsInObject(store: Store): void {
  inObjects.add(store);
}

/** The keeper of a store, which all runners with the store share. */
export function keeperOf(store: Store): Keeper {
  let keeper = keepers.get(store);
  if (keeper === undefined) keepers.set(store, (keeper = new Keeper(store)));
  return keeper;
}

/** What a process has of a store's sessions. */
export class Keeper {
  readonly store: Store;
  #loader: SessionLoader | undefined;
  readonly #turns = new WeakMap<object, Map<string, Writer>>();
  /** The turns of a session that wait for the one that runs. */
  readonly #lines = new Map<string, Set<() => void>>();
  /** Runs of turns that write no more and that the store has not been told of, by session. */
  readonly #ended = new Map<string, Set<string>>();

  constructor(store: Store) {
    this.store = store;
  }

  /** What loads sessions. Only what runs in a turn may ask for it. */
  get loader(): SessionLoader {
    return (this.#loader ??= new (engine()!.SessionLoader)(this.store));
  }

  /** What writes a turn's records to a session. */
  writer(ctx: TurnContext, session: string): Writer {
    const { turn } = ctx[stateOf];
    let writers = this.#turns.get(turn);
    if (writers === undefined) this.#turns.set(turn, (writers = new Map<string, Writer>()));
    let writer = writers.get(session);
    if (writer === undefined) {
      const { run } = turn;
      writers.set(session, (writer = new Writer(this, session, run)));
      void turn.done.then(() => this.#end(session, run));
    }
    return writer;
  }

  /**
   * Lets a turn run when no other turn of its session does. Where a turn ends with its request, and may be gone without a
   * word, requests are kept apart by revisions, as processes are.
   *
   * @param signal takes it out of the line: then it runs at once
   * @returns what it calls at its end
   * @throws TurncoreError E_SESSION_BUSY if another runs, and `refuse`
   */
  enter(
    session: string,
    refuse: boolean,
    signal: AbortSignal | undefined,
  ): (() => void) | Promise<() => void> {
    if (isBound([]) && !inObjects.has(this.store)) return nothing;
    const line = this.#lines.get(session);
    if (line === undefined) {
      this.#lines.set(session, new Set());
      return () => this.#leave(session);
    }
    if (refuse) throw sessionError('E_SESSION_BUSY', { session });
    return new Promise((resolve) => {
      const enter = (): void => {
        signal?.removeEventListener('abort', give);
        resolve(() => this.#leave(session));
      };
      const give = (): void => {
        if (line.delete(enter)) resolve(nothing);
      };
      line.add(enter);
      signal?.addEventListener('abort', give, { once: true });
      if (signal?.aborted === true) give();
    });
  }

  #leave(session: string): void {
    const line = this.#lines.get(session)!;
    for (const enter of line) {
      line.delete(enter);
      enter();
      return;
    }
    this.#lines.delete(session);
  }

  /** The runs of turns of a session that have ended. */
  ended(session: string): string[] {
    return [...(this.#ended.get(session) ?? [])];
  }

  /** Forgets what the store was told. */
  told(session: string, runs: readonly string[]): void {
    const ended = this.#ended.get(session);
    for (const run of runs) ended?.delete(run);
    if (ended?.size === 0) this.#ended.delete(session);
  }

  #end(session: string, run: string): void {
    const ended = this.#ended.get(session) ?? new Set();
    this.#ended.set(session, ended.add(run));
    if (this.#ended.size > MOST_ENDED) this.#ended.clear();
  }
}

/** Writes a turn's records to a session: one commit after the other. */
class Writer {
  readonly #keeper: Keeper;
  readonly #session: string;
  readonly #run: string;
  #commits = 0;
  /** The revision that the turn has seen. */
  #revision = '';
  /** The revisions of its commits since. */
  #own: string[] = [];
  #pending: Promise<unknown> | undefined;

  constructor(keeper: Keeper, session: string, run: string) {
    this.#keeper = keeper;
    this.#session = session;
    this.#run = run;
  }

  /**
   * Notes the revision that the session was loaded with.
   *
   * @param whole if only a part was loaded, an earlier revision stays
   */
  saw(revision: string, whole: boolean): void {
    if (!whole && this.#revision !== '') return;
    this.#revision = revision;
    this.#own = [];
  }

  /** Commits writes in one transaction. */
  commit(deltas: readonly Delta[]): unknown {
    // The same when the turn is replayed.
    const key = `${this.#run}.c${++this.#commits}`;
    const before = this.#pending;
    const sent =
      before === undefined ? this.#send(key, deltas) : before.then(() => this.#send(key, deltas));
    if (!isThenable(sent)) return sent;
    const settle = (): void => {
      if (this.#pending === pending) this.#pending = undefined;
    };
    const pending = Promise.resolve(sent).then(settle, settle);
    this.#pending = pending;
    return sent;
  }

  #send(key: string, deltas: readonly Delta[]): unknown {
    const ended = this.#keeper.ended(this.#session);
    const done = (revision: string | undefined): void => {
      this.#keeper.told(this.#session, ended);
      if (revision && this.#revision !== '') this.#own.push(revision);
    };
    const [revision, own] = [this.#revision, [...this.#own]];
    const commit = { deltas, key, turn: this.#run, ended, revision, own };
    const result = this.#keeper.store.commit(this.#session, commit);
    if (isThenable(result)) return Promise.resolve(result).then(done);
    done(result);
    return undefined;
  }
}

function nothing(): void {
  // The turn was not in line.
}
