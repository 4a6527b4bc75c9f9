/**
 * The errors of appenders and journals.
 */
import { sessionError, storeError } from '../store-errors.js';
import { storedError } from '../stored-errors.js';

/** E_SESSION_CONFLICT of an append: another turn has appended, or there is such an event, or no such next version. */
export function appendConflict(session: string, kind?: 'event' | 'artifact', id?: string): Error {
  if (kind === undefined || id === undefined)
    return sessionError('E_SESSION_CONFLICT', { session });
  return sessionError('E_SESSION_CONFLICT', { session, kind, id });
}

/** E_BYTES_NOT_FOUND for a version of an artifact. */
export function noArtifact(session: string, scope: string, name: string, version: number): Error {
  const place = scope === '' ? '' : `, scope ${JSON.stringify(scope)}`;
  const what = `artifact ${JSON.stringify(name)}, version ${version}`;
  const details = {
    session,
    kind: 'artifact',
    id: name,
    version,
    ...(scope === '' ? {} : { scope }),
  };
  return storeError('E_BYTES_NOT_FOUND', `session ${JSON.stringify(session)}${place}, ${what}`, {
    details,
  });
}

/** E_TURN_FENCED for a turn without a journal. */
export function noJournal(turn: string): Error {
  return fenced(turn, 0, 'it has no journal');
}

/** E_TURN_FENCED for a turn whose journal has another epoch. @param asked by the writer */
export function otherEpoch(turn: string, epoch: number, asked: number): Error {
  return fenced(turn, epoch, `its journal has epoch ${epoch}, not ${asked}`);
}

/** E_TURN_FENCED for a turn whose journal ends elsewhere. @param entry that the writer takes for the next */
export function otherEnd(turn: string, epoch: number, next: number, entry: number): Error {
  return fenced(turn, epoch, `its journal ends at ${next}, not at ${entry}`);
}

function fenced(turn: string, epoch: number, why: string): Error {
  const text = `turn ${JSON.stringify(turn)}: ${why}`;
  return storedError('E_TURN_FENCED', text, { details: { turn, epoch } });
}
