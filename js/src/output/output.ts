/**
 * Structured output: the schema of an answer, and its object.
 */
import { messageOf, TurncoreError } from '../errors.js';
import {
  inputJsonSchema,
  isStandardSchema,
  issueList,
  type StandardSchema,
} from '../tools/standard-schema.js';

/** A JSON Schema 2020-12, as data. */
export type JSONSchema = Readonly<Record<string, unknown>>;

/** The schema of an answer: a JSON Schema, or a Standard Schema (of Zod, Valibot, ArkType …), which types it. */
export type OutputSchema<Output = unknown> = JSONSchema | StandardSchema<unknown, Output>;

/**
 * The JSON Schema with which the module checks answers.
 *
 * @throws TurncoreError E_CHAT_INVALID_OPTIONS for a Standard Schema that provides none
 */
export function outputJsonSchema(schema: OutputSchema): unknown {
  if (!isStandardSchema(schema)) return schema;
  let why = `${schema['~standard'].vendor} gives none`;
  try {
    const json = inputJsonSchema(schema);
    if (json !== undefined) return json;
  } catch (error) {
    why = messageOf(error);
  }
  throw TurncoreError.of('E_CHAT_INVALID_OPTIONS', `\`schema\` has no JSON Schema: ${why}`);
}

/**
 * The object of an answer.
 *
 * @throws TurncoreError (rejects) E_CHAT_INVALID_OUTPUT with the details {text, violations} if the schema's own
 * validation rejects it
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

/** The fence of code in Markdown. */
export const FENCE = '```';

/** The JSON of an answer: the whole text, or the contents of a code fence around it. */
function jsonIn(answer: string): string {
  const text = answer.trim();
  const line = text.indexOf('\n');
  if (!text.startsWith(FENCE) || line < 0) return text;
  const body = text.slice(line + 1).trim();
  return body.endsWith(FENCE) ? body.slice(0, -FENCE.length) : body;
}
