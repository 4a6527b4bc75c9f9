/**
 * What a process has of a store's sessions: those that it loaded last, the turns that wait for each other, and what
 * turns have written.
 */
import { engine } from '#engine';

import { isThenable } from '../awaitable.js';
import type { Delta } from '../collections/deltas.js';
import { stateOf } from '../context/state-of.js';
import type { TurnContext } from '../context/turn-context.js';
import { isBound } from '../runners/owner.js';
import { sessionError, storeError } from '../store-errors.js';
import type { SessionLoader } from '../sessions/session-loader.js';
import type { OpenTurn } from '../turn/contract.js';
import type { Line } from './inside.js';
import type { Store } from './store.js';

/** How many sessions with ended turns are remembered. Beyond them all are forgotten, and the store keeps their keys. */
const MOST_ENDED = 10_000;

/** The signals that turns were given, by their own. */
export const outers = new WeakMap<AbortSignal, AbortSignal>();
/** How many commits were made under the key of a context, and under none in a turn. */
const commits = new WeakMap<object, number>();
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

/** Writes a turn's records to a session. */
interface Writer {
  /**
   * Notes the revision that the session was loaded with.
   *
   * @param whole if only a part was loaded, an earlier revision stays
   */
  saw(revision: string, whole: boolean): void;
  /** Commits writes in one transaction, for a callback with a context. */
  commit(ctx: TurnContext, deltas: readonly Delta[]): unknown;
}

/** What a process has of a store's sessions. */
export class Keeper {
  readonly store: Store;
  #loader: SessionLoader | undefined;
  readonly #turns = new WeakMap<object, Map<string, Writer>>();
  /** Of the sessions with a turn that runs. */
  readonly #lines = new Map<string, Line>();
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
      const line = this.#lines.get(session);
      if (line !== undefined) line.turn ??= turn;
      writers.set(session, (writer = writerOf(this, session, turn)));
      void turn.done.then(() => this.#end(session, turn.run));
    }
    return writer;
  }

  /**
   * Lets a turn run when no other turn of its session does. Where a turn ends with its request, and may be gone without
   * a word, requests are kept apart by revisions, as processes are.
   *
   * @param signal takes it out of the line: then it runs at once. If it follows that of a context of the session's own
   *   turn, the turn is inside that one
   * @returns what it calls at its end
   * @throws TurncoreError E_SESSION_BUSY if another runs, and `refuse`; (rejects) if the turn is started inside it
   */
  enter(
    session: string,
    refuse: boolean,
    signal: AbortSignal | undefined,
  ): (() => void) | Promise<() => void> {
    if (isBound([]) && !inObjects.has(this.store)) return nothing;
    const line = this.#lines.get(session);
    const leave = (): void => this.#leave(session);
    if (line === undefined) {
      this.#lines.set(session, new Set());
      return leave;
    }
    if (refuse) throw sessionError('E_SESSION_BUSY', { session });
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal?.removeEventListener('abort', give);
        resolve(leave);
      };
      const give = (): void => {
        if (line.delete(enter)) resolve(nothing);
      };
      line.add(enter);
      signal?.addEventListener('abort', give, { once: true });
      if (signal?.aborted) give();
      if (!outers.has(signal!)) return;
      void import('./inside.js').then(({ refuseInside }) =>
        refuseInside(this.#lines, outers, storeError, session, signal!, enter, reject),
      );
    });
  }

  #leave(session: string): void {
    const line = this.#lines.get(session)!;
    line.turn = undefined;
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
function writerOf(keeper: Keeper, session: string, turn: OpenTurn): Writer {
  const { run } = turn;
  /** The revision that the turn has seen. */
  let revision = '';
  let pending: Promise<unknown> | undefined;
  /** The key of a commit: that of its effect, where one made it. It is the same when the turn is replayed. */
  const keyOf = (ctx: TurnContext): string => {
    const { idempotencyKey: key = '' } = ctx;
    // A call of a tool has another: it is the same in the next run of the turn.
    const of = key.startsWith(`${run}.e`) ? ctx : turn;
    const before = commits.get(of) ?? 0;
    commits.set(of, before + 1);
    if (of === turn) return `${run}.c${before + 1}`;
    return before === 0 ? key : `${key}+${before}`;
  };
  const send = (key: string, deltas: readonly Delta[]): unknown => {
    const ended = keeper.ended(session);
    const done = (): void => keeper.told(session, ended);
    const result = keeper.store.commit(session, { deltas, key, turn: run, ended, revision });
    if (isThenable(result)) return Promise.resolve(result).then(done);
    done();
    return undefined;
  };
  return {
    saw(loaded, whole) {
      if (whole || revision === '') revision = loaded;
    },
    commit(ctx, deltas) {
      const key = keyOf(ctx);
      const sent =
        pending === undefined ? send(key, deltas) : pending.then(() => send(key, deltas));
      if (isThenable(sent)) pending = Promise.resolve(sent).catch(nothing);
      return sent;
    },
  };
}

function nothing(): void {
  // The turn was not in line, or its commit has failed, which who made it is told.
}
