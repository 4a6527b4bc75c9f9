/**
 * Structured output: what an answer must be, and the object that it is.
 */
import { TurncoreError } from '../errors.js';
import type { MessageEvent } from '../events/events.js';
import {
  inputJsonSchema,
  isStandardSchema,
  issueList,
  type StandardSchema,
} from '../tools/standard-schema.js';
import { PartialJSON } from './partial-json.js';

/** A JSON Schema 2020-12, as data. */
export type JSONSchema = Readonly<Record<string, unknown>>;

/** What an answer must be: a JSON Schema, or a Standard Schema (of Zod, Valibot, ArkType …), which gives it its type. */
export type OutputSchema<Output = unknown> = JSONSchema | StandardSchema<unknown, Output>;

/**
 * The JSON Schema that the module checks answers by.
 *
 * @throws TurncoreError E_CHAT_INVALID_OPTIONS for a Standard Schema that gives none
 */
export function outputJsonSchema(schema: OutputSchema): unknown {
  if (!isStandardSchema(schema)) return schema;
  let why = `${schema['~standard'].vendor} gives none`;
  try {
    const json = inputJsonSchema(schema);
    if (json !== undefined) return json;
  } catch (error) {
    why = error instanceof Error ? error.message : String(error);
  }
  throw TurncoreError.of('E_CHAT_INVALID_OPTIONS', `\`schema\` has no JSON Schema: ${why}`);
}

/**
 * The object that an answer is.
 *
 * @throws TurncoreError (rejects) E_CHAT_INVALID_OUTPUT when the schema's own validation refuses it, whose details are
 *   {text, violations}
 */
export async function outputOf<Output>(
  schema: OutputSchema<Output>,
  text: string,
): Promise<Output | undefined> {
  const refuse = (violations: readonly { path: string; message: string }[]): TurncoreError =>
    TurncoreError.of('E_CHAT_INVALID_OUTPUT', violations.map(words).join('; '), {
      details: { text, violations },
    });
  let value: unknown;
  try {
    value = JSON.parse(jsonIn(text));
  } catch (error) {
    throw refuse([{ path: '', message: `it is no JSON: ${String(error)}` }]);
  }
  if (!isStandardSchema(schema)) return value as Output;
  const result = await schema['~standard'].validate(value);
  if (result.issues === undefined) return result.value;
  throw refuse(issueList(result.issues));
}

function words({ path, message }: { path: string; message: string }): string {
  return path === '' ? message : `${path}: ${message}`;
}

const FENCE = '```';

/** The part of an answer that is JSON: all of it, or what is in a code fence around it. */
function jsonIn(answer: string): string {
  const text = answer.trim();
  const line = text.indexOf('\n');
  if (!text.startsWith(FENCE) || line < 0) return text;
  const body = text.slice(line + 1).trim();
  return body.endsWith(FENCE) ? body.slice(0, -FENCE.length) : body;
}

/** The part of an object, one in so many, that has to come before it is shown again. */
const GROWTH = 32;

/** Finds objects in messages that come. The Go package turns has the same. */
export class ObjectReader {
  #message: string | undefined;
  /** The message, as long as it is open whether it begins with a fence. */
  #head: string | undefined = '';
  #text = new PartialJSON();
  /** Bytes that were shown. */
  #shown = 0;

  /** Takes a delta of a message. @returns the object so far when there is enough of it that was not shown */
  next(event: Pick<MessageEvent, 'dispatchId' | 'id' | 'aDelta' | 'isComplete'>): unknown {
    const message = `${event.dispatchId ?? ''} ${event.id}`;
    if (message !== this.#message) {
      this.#message = message;
      this.#head = '';
      this.#text = new PartialJSON();
      this.#shown = 0;
    }
    const text = this.#text;
    if (text.failed) return undefined;
    let delta = event.aDelta;
    if (this.#head !== undefined) {
      const rest = behindFence((this.#head += delta));
      if (rest === undefined) return undefined;
      delta = rest;
      this.#head = undefined;
    }
    text.write(delta);
    if (event.isComplete && !text.failed && text.bytes === 0) text.end(); // a number on its own
    if (text.failed && !text.complete) return undefined;
    const grown = text.bytes - this.#shown;
    if (grown === 0 || (grown < Math.floor(this.#shown / GROWTH) && !text.complete)) {
      return undefined;
    }
    this.#shown = text.bytes;
    return JSON.parse(text.value) as unknown;
  }
}

/** What follows the line of a fence that a text begins with, or all of the text; undefined as long as that is open. */
function behindFence(text: string): string | undefined {
  const start = text.replace(/^[ \t\r\n]+/, '');
  if (start.startsWith(FENCE)) {
    const line = start.indexOf('\n');
    return line < 0 ? undefined : start.slice(line + 1);
  }
  return FENCE.startsWith(start) ? undefined : text;
}
