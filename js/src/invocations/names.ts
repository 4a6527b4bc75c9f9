/**
 * Checks the names of what is given as an object: one that is not known is likely misspelled, and would have no effect.
 */
import type { SessionErrorCode } from '../abi/session-codes.gen.js';
import { invocationError } from '../session-errors.js';
import { suggest } from '../validation/suggest.js';

/** Names that other kits have for members of runners, tools and inputs. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  abortSignal: 'signal',
  contextCompactors: 'compaction',
  eventsCompactionConfig: 'compaction',
  execute: 'runAsync',
  fn: 'runAsync',
  func: 'runAsync',
  handler: 'runAsync',
  id: 'sessionId',
  initialState: 'state',
  maxLlmCalls: 'maxModelCalls',
  message: 'newMessage',
  needsApproval: 'requireConfirmation',
  requireConfirm: 'requireConfirmation',
  rootAgent: 'agent',
  run: 'runAsync',
  schema: 'inputSchema',
  session: 'sessionId',
  user: 'userId',
};

/** The members of an object that are not known, with why each is refused. */
export function unknownNames(given: object, known: readonly string[]): [string, string][] {
  return Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const elsewhere = Object.hasOwn(ELSEWHERE, name) ? ELSEWHERE[name]! : '';
      const meant = known.includes(elsewhere) ? elsewhere : suggest(name, known);
      return [name, `is not a known field${meant === undefined ? '' : `; did you mean ${meant}?`}`];
    });
}

/** Whether a value is an object that has members. */
export function isData(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Whether a value is an object whose members can be read by name. Those of a list are not named, and a Map, a generator
 * or the answer to a request holds what it has in another way.
 */
export function hasNames(value: unknown): value is object {
  if (!isData(value)) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return true;
  return Object.keys(value).length > 0;
}

/** E_INVALID_INVOCATION, or another code, of a member. */
export function invalidMember(
  field: string,
  why: string,
  code: SessionErrorCode = 'E_INVALID_INVOCATION',
): Error {
  return invocationError(code, `${field}: ${why}`, { details: { field } });
}

/** @throws TurncoreError of the code unless a value is an object whose members can be read by name */
export function requireNames(
  given: unknown,
  field: string,
  code?: SessionErrorCode,
): asserts given is object {
  if (!hasNames(given)) throw invalidMember(field, 'must be an object', code);
}

/**
 * Requires an object whose members are all known.
 *
 * @param field what it is, for errors
 * @param prefix of its members in errors: ends with a dot, or is empty
 * @throws TurncoreError of the code, which names the member
 */
export function requireKnown(
  given: unknown,
  field: string,
  known: readonly string[],
  { prefix = '', code }: { readonly prefix?: string; readonly code?: SessionErrorCode } = {},
): void {
  requireNames(given, field, code);
  const [unknown] = unknownNames(given, known);
  if (unknown !== undefined) throw invalidMember(`${prefix}${unknown[0]}`, unknown[1], code);
}

/** @throws TurncoreError E_INVALID_INVOCATION unless a number is missing or an integer from 1 on */
export function requireCount(given: unknown, field: string): void {
  if (given === undefined || (Number.isInteger(given) && (given as number) > 0)) return;
  throw invalidMember(field, 'must be an integer from 1 on');
}
