/**
 * Structured output: what an answer must be, and the object that it is.
 */
import { TurncoreError } from '../errors.js';
import {
  inputJsonSchema,
  isStandardSchema,
  issueList,
  type StandardSchema,
} from '../tools/standard-schema.js';

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

/** Begins and ends code in Markdown. */
export const FENCE = '```';

/** The part of an answer that is JSON: all of it, or what is in a code fence around it. */
function jsonIn(answer: string): string {
  const text = answer.trim();
  const line = text.indexOf('\n');
  if (!text.startsWith(FENCE) || line < 0) return text;
  const body = text.slice(line + 1).trim();
  return body.endsWith(FENCE) ? body.slice(0, -FENCE.length) : body;
}
