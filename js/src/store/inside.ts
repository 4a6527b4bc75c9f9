/**
 * Turns that are started inside others.
 */
import type { storeError } from '../store-errors.js';
import type { OpenTurn } from '../turn/contract.js';

/** The turns of a session that wait for the one that runs, and that one, once it has loaded the session. */
export type Line = Set<() => void> & { turn?: OpenTurn | undefined };

/** By session. */
type Lines = ReadonlyMap<string, Line>;

/**
 * Takes a turn out of the line of a session whose running turn it is inside of, as far as its signal tells.
 *
 * @param outers are the signals that turns were given, by their own
 * @param makeError is handed over: a file that loads late imports nothing that the first one has
 * @param signal the turn's own
 * @param enter its place in the line
 * @param reject gets E_SESSION_BUSY
 */
export function refuseInside(
  lines: Lines,
  outers: WeakMap<AbortSignal, AbortSignal>,
  makeError: typeof storeError,
  session: string,
  signal: AbortSignal,
  enter: () => void,
  reject: (error: Error) => void,
): void {
  if (!isInside(lines, outers, session, signal) || !lines.get(session)!.delete(enter)) return;
  const why = `session ${JSON.stringify(session)}: the turn is started inside another one of it`;
  reject(makeError('E_SESSION_BUSY', why, { details: { session } }));
}

function isInside(
  lines: Lines,
  outers: WeakMap<AbortSignal, AbortSignal>,
  session: string,
  signal: AbortSignal | undefined,
): boolean {
  const outer = signal && outers.get(signal);
  const found = outer && turnWith(lines, outer);
  if (found === undefined) return false;
  const [id, turn] = found;
  return id === session || isInside(lines, outers, session, signalOf(turn.contexts[0]));
}

/** The turn, and its session, of which a signal is: that of a context, or of a running call of a tool. */
function turnWith(lines: Lines, signal: AbortSignal): readonly [string, OpenTurn] | undefined {
  for (const [id, { turn }] of lines) {
    const all = [...(turn?.contexts ?? []), ...(turn?.requests?.values() ?? [])];
    if (all.some((each) => signalOf(each) === signal)) return [id, turn!];
  }
  return undefined;
}

function signalOf(of: { readonly facade?: object } | undefined): AbortSignal | undefined {
  return (of?.facade as { readonly abortSignal?: AbortSignal } | undefined)?.abortSignal;
}
