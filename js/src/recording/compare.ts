/**
 * How a request differs in meaning from the recorded one.
 */
import { isDeepStrictEqual } from 'node:util';

import { isObject, sortedJSON } from '../simulated/text.js';
import { DIFFERENCES } from './differences.gen.js';
import type { Recording } from './recording.js';

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
  return `request ${d.request}, ${d.path}: sent ${show(d.got)}, recorded ${show(d.want)}${why}`;
}

/**
 * Tells how a request's body differs from the recorded request n. What no reader of the protocol can tell apart is no
 * difference: the order of keys, absent and null fields, content as a string or as text parts, and the spelling of the
 * JSON in a tool call's arguments. Differences in the list of allowed ones say why.
 */
export function compareRequest(recording: Recording, n: number, body: string): Difference[] {
  const interaction = recording.interactions[n];
  if (interaction === undefined) {
    return [{ request: n, path: '', got: 'a request', want: undefined, why: '' }];
  }
  let got: unknown;
  try {
    got = JSON.parse(body);
  } catch (error) {
    const text = `no JSON: ${(error as Error).message}`;
    return [{ request: n, path: '', got: text, want: undefined, why: '' }];
  }
  return [...differences('', normal(got), normal(interaction.request.body))].map((found) => ({
    request: n,
    ...found,
    why: allowance(recording.name, found),
  }));
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

/** Why a difference is allowed; empty if it is not. */
function allowance(recording: string, { path, got, want }: Found): string {
  const found = DIFFERENCES.find(
    (allowed) =>
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

/** Brings a body into the form that is compared. */
function normal(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => normal(item));
  if (isObject(value)) {
    const entries = Object.entries(value).filter(([, item]) => item !== null);
    const out = Object.fromEntries(entries.map(([name, item]) => [name, normal(item, name)]));
    const text = textParts(out['content']);
    return text === undefined ? out : { ...out, content: text };
  }
  if (key === 'arguments' && typeof value === 'string') {
    try {
      return JSON.parse(value);
    } catch {
      return value;
    }
  }
  return value;
}

/** Joins a content list that holds nothing but text. */
function textParts(content: unknown): string | undefined {
  if (!Array.isArray(content)) return undefined;
  let text = '';
  for (const part of content) {
    if (!isObject(part) || part['type'] !== 'text' || Object.keys(part).length !== 2)
      return undefined;
    if (typeof part['text'] !== 'string') return undefined;
    text += part['text'];
  }
  return text;
}
