/**
 * The middleware that puts a session's records into a turn.
 */
import { History } from '../collections/history.js';
import type { AnyRecord } from '../collections/history.js';
import type { RecordSet } from '../collections/record-set.js';
import type { TurnPipelineMiddlewareFn } from '../context/functions.js';
import type { Store } from './store.js';
import { type SessionOptions, sessionOf } from './store-callbacks.js';

/**
 * A turn input middleware that loads the session's conversation from a store into the turn's collections, in front of
 * what they hold already. Records that are there, such as the message that the turn began with, are not doubled.
 *
 * @throws TurncoreError E_INVALID_VALUE for what is no store
 */
export function loadConversation(
  store: Store,
  options: SessionOptions = {},
): TurnPipelineMiddlewareFn {
  const session = sessionOf(store, options);
  return async (ctx, next) => {
    const loaded = await store.load(session(ctx));
    place(ctx.turnMessages, loaded.messages);
    place(ctx.turnThoughts, loaded.thoughts);
    place(ctx.turnToolCalls, loaded.toolCalls);
    place(ctx.turnMemories, loaded.memories);
    place(ctx.turnRetrievables, loaded.retrievables);
    for (const text of loaded.instructions) {
      if (!ctx.standingInstructions.has(text.toString())) ctx.standingInstructions.add(text);
    }
    await next();
  };
}

/** Puts records in front of those that a collection holds. */
function place<T extends AnyRecord>(set: RecordSet<T>, records: Iterable<T>): void {
  if (set.size === 0) {
    set.addAll(records as Iterable<never>);
    return;
  }
  const present = [...set];
  const fresh = withoutCopies(records, present);
  set.clear();
  set.addAll(fresh as Iterable<never>);
  // Those that were loaded too have kept the place they were stored in.
  for (const record of present) set.add(record as never);
}

/** The records without other objects of the same ids: a store may give copies of what it was given. */
function withoutCopies<T extends AnyRecord>(
  records: Iterable<T>,
  present: readonly T[],
): Iterable<T> {
  const history: unknown = records;
  if (history instanceof History && !hasCopies(history as History, present)) return records;
  const own = new Map(present.map((record) => [record.id, record]));
  return Array.from(records, (record) => own.get(record.id) ?? record);
}

/** Tells whether a history's end, where recent records are, has other objects of the same ids. */
function hasCopies(history: History, present: readonly AnyRecord[]): boolean {
  const ids = new Set(present.map((record) => record.id));
  const from = Math.max(0, history.length - 2 * present.length - 8);
  for (let i = from; i < history.length; i++) {
    const record = history.at(i)!;
    if (ids.has(record.id) && !present.includes(record)) return true;
  }
  return false;
}
