/**
 * The bodies of requests.
 */
import { joined } from '../bytes.js';
import { TurncoreError } from '../errors.js';
import { isMembers, type Members } from '../sse/event-from-json.js';

/** The error for a request that breaks the rules. */
export function invalidRequest(why: string, status = 400): TurncoreError {
  return TurncoreError.of('E_TURN_REQUEST_INVALID', why, { status });
}

/** Bytes of a body at most, unless something else is said. */
export const MAX_BODY = 2 ** 20;

/** What a member of a body is: `any` is whatever JSON has. */
export type MemberKind = 'string' | 'number' | 'boolean' | 'object' | 'any';

/** The members that a body may have, by name; one with a question mark may be missing. */
export type BodyMembers = Readonly<Record<string, MemberKind | `${MemberKind}?`>>;

/** The values of a body's members. */
export interface MemberTypes {
  readonly string: string;
  readonly number: number;
  readonly boolean: boolean;
  readonly object: Readonly<Record<string, unknown>>;
  readonly any: unknown;
}

/** A body with its members. */
export type BodyOf<M extends BodyMembers> = {
  readonly [Name in keyof M]: M[Name] extends MemberKind
    ? MemberTypes[M[Name]]
    : M[Name] extends `${infer Kind extends MemberKind}?`
      ? MemberTypes[Kind] | undefined
      : never;
};

/**
 * The JSON object in a request's body, with the members that it may have. What is over the bound is not read.
 *
 * @param maxBytes bytes of the body at most. Default 1 MiB
 * @throws TurncoreError (rejects) E_TURN_REQUEST_INVALID for anything else, which names the member that is wrong; its
 *   `status` is 413 for a body that is too long, and otherwise 400
 */
export async function jsonBody<const M extends BodyMembers>(
  request: Request,
  members: M,
  maxBytes = MAX_BODY,
): Promise<BodyOf<M>> {
  return checkBody(await objectIn(request, maxBytes), members);
}

/**
 * Checks the members of a body: for the option `input` of a turn server, whose bodies have `turnId` as well.
 *
 * @throws TurncoreError E_TURN_REQUEST_INVALID, which names the member that is wrong
 */
export function checkBody<const M extends BodyMembers>(
  body: Readonly<Record<string, unknown>>,
  members: M,
): BodyOf<M> {
  for (const name of Object.keys(body)) {
    if (Object.hasOwn(members, name)) continue;
    const known = Object.keys(members).map((each) => `\`${each}\``);
    throw invalidRequest(
      `\`${name}\` is not known: a body has ${known.join(', ') || 'no members'}`,
    );
  }
  for (const [name, kind] of Object.entries<string>(members)) {
    const value = body[name];
    const [needed, optional] = kind.split('?');
    if (value === undefined ? optional !== undefined : isOf(value, needed!)) continue;
    throw invalidRequest(`\`${name}\` must be ${NAMES[needed as MemberKind]}`);
  }
  return body as BodyOf<M>;
}

const NAMES: Readonly<Record<MemberKind, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  any: 'given',
};

function isOf(value: unknown, kind: string): boolean {
  return kind === 'any' || (kind === 'object' ? isMembers(value) : typeof value === kind);
}

/** The JSON object in a request. @throws TurncoreError (rejects) E_TURN_REQUEST_INVALID for anything else */
export async function objectIn(request: Request, most: number): Promise<Members> {
  const text = new TextDecoder().decode(await bytesOf(request, most));
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw invalidRequest('the body must be JSON');
  }
  if (!isMembers(json)) throw invalidRequest('the body must be a JSON object');
  return json;
}

async function bytesOf(request: Request, most: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const body = request.body?.getReader();
  if (body === undefined) return new Uint8Array();
  for (;;) {
    const { done, value } = await body.read();
    if (done) return joined(parts);
    size += value.length;
    if (size > most) {
      await body.cancel().catch(() => undefined);
      throw invalidRequest(`the body is over the limit of ${most} bytes`, 413);
    }
    parts.push(value);
  }
}
