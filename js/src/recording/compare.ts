/**
 * How a request differs in meaning from the recorded one.
 */
import { isDeepStrictEqual } from 'node:util';

import { isObject, sortedJSON } from '../simulated/text.js';
import { alignArguments, callsIn, messagesIn } from './arguments.js';
import { DIFFERENCES } from './differences.gen.js';
import { normalBody, oneSystem } from './normal.js';
import { leaveOutMedia, takeNotes } from './notes.js';
import type { Recording } from './recording.js';
import { alignThoughts } from './thoughts.js';

/** A place where a request differs in meaning from the recorded one. */
export interface Difference {
  /** Number of the interaction, from 0. */
  readonly request: number;
  /** JSON Pointer within the request's body. */
  readonly path: string;
  /** What was sent; undefined if absent. */
  readonly got: unknown;
  /** What was recorded; undefined if absent. */
  readonly want: unknown;
  /** Why it is allowed; empty if it is not. */
  readonly why: string;
}

/** A difference as a line for people. */
export function describeDifference(d: Difference): string {
  const why = d.why === '' ? '' : ` (allowed: ${d.why})`;
  return `request ${d.request}, ${d.path}: sent ${shown(d.got)}, recorded ${shown(d.want)}${why}`;
}

/** Characters that are shown of a value at most, and of each end of one that is longer. */
const SHOWN = 8000;
const SIDE = 2000;

/** A value's JSON text, without the middle of one that is very long. */
function shown(value: unknown): string {
  const text = show(value);
  if (text.length <= SHOWN) return text;
  const rest = text.length - 2 * SIDE;
  return `${text.slice(0, SIDE)} (${rest} characters) ${text.slice(-SIDE)}`;
}

/**
 * Tells how a request's body differs from the recorded request n. What no reader of the protocol can tell apart is no
 * difference: the order of keys and of tools' results, absent, null and empty fields, content as a string or as text parts,
 * the spelling of the JSON in a tool call's arguments, and that of the bytes of media. Differences in the list of allowed
 * ones say why. Media are compared as the member media of a message, with the order of texts and media as the member order.
 */
export function compareRequest(recording: Recording, n: number, body: string): Difference[] {
  const interaction = recording.interactions[n];
  if (interaction === undefined) {
    return [{ request: n, path: '', got: 'a request', want: undefined, why: '' }];
  }
  let got: unknown;
  try {
    const sent: unknown = JSON.parse(body);
    takeNotes(messagesIn(sent));
    got = normalBody(sent);
  } catch (error) {
    const text = `no JSON: ${(error as Error).message}`;
    return [{ request: n, path: '', got: text, want: undefined, why: '' }];
  }
  const want = normalBody(interaction.request.body);
  const found: Difference[] = [];
  const report = (difference: Found, made: boolean): unknown =>
    found.push({
      request: n,
      ...difference,
      why: allowance(recording.name, difference, made),
    });
  if (isObject(want) && Array.isArray(want['messages'])) {
    const { messages, moved } = oneSystem(want['messages']);
    for (const [i, message] of moved) {
      report({ path: `/messages/${i}`, got: undefined, want: message }, false);
    }
    want['messages'] = messages;
    const sent = messagesIn(got);
    for (const difference of alignIds(recording, n, sent, messages)) report(difference, true);
    for (const difference of leaveOutMedia(sent, messages, recordedMessages(recording, n - 1))) {
      report(difference, false);
    }
    const first = recordedMessages(recording, 0);
    for (const difference of alignArguments(sent, messages, first)) report(difference, true);
    for (const difference of alignThoughts(recording, n, sent, messages)) report(difference, true);
  }
  for (const difference of differences('', got, want)) report(difference, false);
  return found;
}

/** The messages of a recorded request as they are compared, none where there is no such request. */
function recordedMessages({ interactions }: Recording, n: number): readonly unknown[] {
  return oneSystem(messagesIn(normalBody(interactions[n]?.request.body ?? null))).messages;
}

/**
 * Gives the calls in got the ids of those in want where the executor and the recorded client both had to make one, as the
 * provider gave none or gave one twice, and tells of them.
 */
function* alignIds(
  recording: Recording,
  n: number,
  got: readonly unknown[],
  want: readonly unknown[],
): Generator<Found> {
  const all = want.flatMap(callsIn).map(({ id }) => id);
  for (let i = 0; i < Math.min(got.length, want.length); i++) {
    const sent = callsIn(got[i]);
    const recorded = callsIn(want[i]);
    if (sent.length !== recorded.length) continue;
    const renamed = new Map<unknown, unknown>();
    for (const [k, call] of sent.entries()) {
      const { id } = call;
      const { id: own } = recorded[k]!;
      if (id === own || gave(recording, n, id)) continue;
      if (gave(recording, n, own) && all.filter((other) => other === own).length < 2) continue;
      yield { path: `/messages/${i}/tool_calls/${k}/id`, got: id, want: own };
      renamed.set(id, own);
      rename(call, 'id', own);
    }
    for (const message of got.slice(i + 1)) {
      if (!isObject(message) || message['role'] !== 'tool') break;
      const id = message['tool_call_id'];
      if (renamed.has(id)) rename(message, 'tool_call_id', renamed.get(id));
    }
  }
}

function rename(fields: Record<string, unknown>, key: string, id: unknown): void {
  if (id === undefined) Reflect.deleteProperty(fields, key);
  else fields[key] = id;
}

/** Whether a provider's response before request n has an id. */
function gave({ interactions }: Recording, n: number, id: unknown): boolean {
  if (id === undefined || id === '') return false;
  const text = sortedJSON(id);
  return interactions.slice(0, n).some(({ response }) => response.body.includes(text));
}

/** Tells whether two JSON values mean the same. */
export function sameValue(a: unknown, b: unknown): boolean {
  return differences('', a, b).next().done === true;
}

interface Found {
  readonly path: string;
  readonly got: unknown;
  readonly want: unknown;
}

function* differences(path: string, got: unknown, want: unknown): Generator<Found> {
  if (isObject(got) && isObject(want)) {
    const keys = new Set([...Object.keys(got), ...Object.keys(want)]);
    for (const key of [...keys].sort()) {
      const part = key.replaceAll('~', '~0').replaceAll('/', '~1');
      yield* differences(`${path}/${part}`, got[key], want[key]);
    }
  } else if (Array.isArray(got) && Array.isArray(want)) {
    for (let i = 0; i < Math.max(got.length, want.length); i++) {
      yield* differences(`${path}/${i}`, got[i], want[i]);
    }
  } else if (!isDeepStrictEqual(got, want)) {
    yield { path, got, want };
  }
}

/** Why a difference is allowed; empty if it is not. made says that it is one of what was made equal. */
function allowance(recording: string, { path, got, want }: Found, made: boolean): string {
  const found = DIFFERENCES.find(
    (allowed) =>
      allowed.made === made &&
      (allowed.recording === '*' || allowed.recording === recording) &&
      matchesPath(allowed.path, path) &&
      new RegExp(allowed.got).test(show(got)) &&
      new RegExp(allowed.want).test(show(want)),
  );
  return found?.why ?? '';
}

function matchesPath(pattern: string, path: string): boolean {
  const expected = pattern.split('/');
  const parts = path.split('/');
  return expected.length === parts.length && expected.every((p, i) => p === '*' || p === parts[i]);
}

function show(value: unknown): string {
  return value === undefined ? 'null' : sortedJSON(value);
}
