/**
 * Recorded conversations with chat completions providers.
 */
import { readFile } from 'node:fs/promises';

import { isObject, sortedJSON, wellFormed } from '../simulated/text.js';

/** A recorded conversation. */
export interface Recording {
  readonly name: string;
  readonly interactions: readonly Interaction[];
}

/** A request and its response. */
export interface Interaction {
  /** The body is null for a request without one. */
  readonly request: { readonly method: string; readonly url: string; readonly body: unknown };
  readonly response: {
    readonly status: number;
    readonly contentType: string;
    readonly body: string;
  };
}

/** Says which field of a recording, such as interactions[0].response.status, is not what it must be. */
export class InvalidRecording extends Error {
  override readonly name = 'InvalidRecording';
  readonly field: string;

  /** @param problem what is wrong with the field, to be read behind it */
  constructor(field: string, problem: string) {
    super(`${field} ${problem}`);
    this.field = field;
  }
}

/**
 * Reads a recording from a file.
 *
 * @throws Error (rejects) when it cannot be read or is none
 */
export async function loadRecording(path: string): Promise<Recording> {
  const text = await readFile(path, 'utf8');
  try {
    return readRecording(parse(text.replace(/^\uFEFF/, '')));
  } catch (error) {
    throw inRecording(path, error as Error);
  }
}

/** An error with the name of the recording in front. */
export function inRecording(path: string, error: Error): Error {
  return new Error(`recording ${path}: ${error.message}`, { cause: error });
}

function parse(text: string): unknown {
  try {
    // A lone surrogate has no encoding in UTF-8.
    return JSON.parse(text, (_, value: unknown) =>
      typeof value === 'string' ? wellFormed(value) : value,
    );
  } catch (error) {
    throw new InvalidRecording('the file', `is no JSON: ${(error as Error).message}`);
  }
}

/** Checks the content of a recording's file. @throws InvalidRecording */
export function readRecording(value: unknown): Recording {
  if (!isObject(value)) throw new InvalidRecording('the file', 'must hold an object');
  const { name, interactions } = value;
  if (!Array.isArray(interactions) || interactions.length === 0) {
    throw new InvalidRecording('interactions', 'must be a list that is not empty');
  }
  return {
    name: typeof name === 'string' ? name : '',
    interactions: interactions.map((item, i) => readInteraction(item, `interactions[${i}]`)),
  };
}

function readInteraction(value: unknown, field: string): Interaction {
  const interaction = objectAt(value, field);
  const request = objectAt(interaction['request'], `${field}.request`);
  const response = objectAt(interaction['response'], `${field}.response`);
  const method = textAt(request, 'method', `${field}.request`);
  const url = textAt(request, 'url', `${field}.request`);
  const contentType = textAt(response, 'contentType', `${field}.response`);
  const body = bodyText(response['body'] ?? '', `${field}.response.body`);
  if (!/^[ -~]*$/.test(contentType)) {
    throw new InvalidRecording(`${field}.response.contentType`, 'must be what a header can hold');
  }
  const { status } = response;
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 200 || status > 599) {
    const problem = 'must be a whole number from 200 to 599';
    throw new InvalidRecording(`${field}.response.status`, problem);
  }
  return {
    request: { method, url, body: parsed(request['body'] ?? null) },
    response: { status, contentType, body },
  };
}

/** The text of a response's body, which some recorders have taken apart. */
function bodyText(body: unknown, field: string): string {
  if (typeof body === 'string') return body;
  if (typeof body === 'object') return sortedJSON(body);
  throw new InvalidRecording(field, 'must be a string, or JSON of an object or a list');
}

/** The body of a request, which may be JSON in a string. */
function parsed(body: unknown): unknown {
  try {
    return typeof body === 'string' ? (JSON.parse(body) as unknown) : body;
  } catch {
    return body;
  }
}

function objectAt(value: unknown, field: string): Record<string, unknown> {
  if (!isObject(value)) throw new InvalidRecording(field, 'must be an object');
  return value;
}

function textAt(from: Record<string, unknown>, key: string, field: string): string {
  const value = from[key] ?? '';
  if (typeof value !== 'string') throw new InvalidRecording(`${field}.${key}`, 'must be a string');
  return value;
}
