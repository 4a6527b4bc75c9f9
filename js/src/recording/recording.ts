/**
 * Recorded conversations with chat completions providers.
 */
import { readFile } from 'node:fs/promises';

import { isObject } from '../simulated/text.js';

/** A recorded conversation. */
export interface Recording {
  readonly name: string;
  readonly interactions: readonly Interaction[];
}

/** A request and its response. */
export interface Interaction {
  readonly request: { readonly url: string; readonly body: unknown };
  readonly response: {
    readonly status: number;
    readonly contentType: string;
    readonly body: string;
  };
}

/**
 * Reads a recording from a file.
 *
 * @throws Error (rejects) when it cannot be read or is none
 */
export async function loadRecording(path: string): Promise<Recording> {
  const text = await readFile(path, 'utf8');
  try {
    return readRecording(JSON.parse(text));
  } catch (error) {
    throw new Error(`recording ${path}: ${(error as Error).message}`, { cause: error });
  }
}

/** Checks the content of a recording's file. @throws Error saying what is wrong */
export function readRecording(value: unknown): Recording {
  if (!isObject(value)) throw new Error('it is no object');
  const { name, interactions } = value;
  if (!Array.isArray(interactions) || interactions.length === 0) {
    throw new Error('it has no interactions');
  }
  return {
    name: typeof name === 'string' ? name : '',
    interactions: interactions.map(readInteraction),
  };
}

function readInteraction(value: unknown, i: number): Interaction {
  const { request, response } = isObject(value) ? value : {};
  if (
    !isObject(request) ||
    !isObject(response) ||
    request['body'] === undefined ||
    typeof response['status'] !== 'number'
  ) {
    throw new Error(`interaction ${i} has no request body or no response status`);
  }
  return {
    request: { url: textOr(request['url']), body: request['body'] },
    response: {
      status: response['status'],
      contentType: textOr(response['contentType']),
      body: textOr(response['body']),
    },
  };
}

function textOr(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
