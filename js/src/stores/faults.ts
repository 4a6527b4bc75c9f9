/**
 * The errors of databases.
 */
import { recordName } from '../collections/deltas.js';
import { isTurncoreError, messageOf } from '../errors.js';
import { storedError } from '../stored-errors.js';
import type { RecordRow } from './tables.js';

/** E_STORED_RECORD_INVALID for a row of a record. */
export function invalidRecord(
  session: string,
  { kind, id }: Pick<RecordRow, 'kind' | 'id'>,
  why: string,
  cause?: unknown,
): Error {
  const name = kind >= 0 && kind < 6 ? recordName(kind) : `kind ${kind}`;
  const text = `session ${JSON.stringify(session)}, ${name} ${JSON.stringify(id)}: ${why}`;
  const details = { session, kind: name, id };
  return storedError('E_STORED_RECORD_INVALID', text, {
    details,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** E_STORED_RECORD_INVALID for the row of a session, or one of its keys. */
export function invalidSession(session: string, why: string): Error {
  const text = `session ${JSON.stringify(session)}: ${why}`;
  return storedError('E_STORED_RECORD_INVALID', text, { details: { session } });
}

/** E_STORED_RECORD_INVALID for an event. */
export function invalidEvent(session: string, id: string, why: string): Error {
  return invalid(why, { session, kind: 'event', id }, ['session', session], ['event', id]);
}

/** E_STORED_RECORD_INVALID for a value, or a version of an artifact, in a scope. */
export function invalidInScope(
  session: string,
  kind: 'state' | 'artifact',
  { scope, name }: { readonly scope: string; readonly name: string },
  why: string,
): Error {
  const place = scope === '' ? [] : [['scope', scope] as const];
  const details = { session, kind, id: name, ...(scope === '' ? {} : { scope }) };
  return invalid(why, details, ['session', session], ...place, [kind, name]);
}

/** E_STORED_RECORD_INVALID for a journal, or an entry of it. */
export function invalidJournal(turn: string, why: string, entry?: number): Error {
  if (entry === undefined) return invalid(why, { turn }, ['turn', turn]);
  return invalid(why, { turn, entry }, ['turn', turn], ['entry', entry]);
}

function invalid(
  why: string,
  details: Readonly<Record<string, unknown>>,
  ...names: readonly (readonly [string, string | number])[]
): Error {
  const what = names.map(([kind, name]) => `${kind} ${JSON.stringify(name)}`).join(', ');
  return storedError('E_STORED_RECORD_INVALID', `${what}: ${why}`, { details });
}

/** E_RECORD_UNSTORABLE for a record that is longer than a row of the database. */
export function tooLong(
  session: string,
  kind: string,
  id: string,
  size: number,
  most: number,
): Error {
  const name = `${kind} ${JSON.stringify(id.slice(0, 64))}`;
  const why = `the record has ${size} bytes, and a row of the database takes ${most}`;
  const details = { session, kind, id };
  return storedError('E_RECORD_UNSTORABLE', `session ${JSON.stringify(session)}, ${name}: ${why}`, {
    details,
  });
}

/** E_RECORD_UNSTORABLE for an entry of a journal, by its number, or a checkpoint that is longer than a row. */
export function tooLongInJournal(
  turn: string,
  entry: number | undefined,
  size: number,
  most: number,
): Error {
  const why = `it has ${size} bytes, and a row of the database takes ${most}`;
  const part = entry === undefined ? 'the checkpoint' : `entry ${entry}`;
  const text = `turn ${JSON.stringify(turn)}, ${part}: ${why}`;
  const details = { turn, ...(entry !== undefined && { entry }) };
  return storedError('E_RECORD_UNSTORABLE', text, { details });
}

/** E_STORED_RECORD_INVALID for bytes. */
export function invalidBytes(session: string, id: string, why: string): Error {
  const text = `session ${JSON.stringify(session)}, bytes ${JSON.stringify(id)}: ${why}`;
  return storedError('E_STORED_RECORD_INVALID', text, { details: { session, kind: 'bytes', id } });
}

/**
 * E_STORE_FAILED for an error of a database. Turncore's own errors stay.
 *
 * @param reason says what the error means; undefined for its own message
 */
export function failure(session: string, error: unknown, reason: string | undefined): unknown {
  if (isTurncoreError(error)) return error;
  const why = reason ?? messageOf(error);
  const at = session === '' ? '' : `session ${JSON.stringify(session)}: `;
  const details = { reason: why, ...(session === '' ? {} : { session }) };
  return storedError('E_STORE_FAILED', `${at}${why}`, { details, cause: error });
}
