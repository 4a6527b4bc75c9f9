/**
 * Writes records down, and reads what was written: in MessagePack for stores, and in JSON for people.
 */
import type { RecordName } from '../collections/deltas.js';
import type { Entry } from '../collections/kinds.js';
import { decodeValue } from '../codec/decoder.js';
import { Encoder } from '../codec/encoder.js';
import { messageOf } from '../errors.js';
import { Media } from '../primitives/media.js';
import { Message } from '../primitives/message.js';
import { Retrievable } from '../primitives/retrievable.js';
import { SpooledArtifact } from '../primitives/spooled-artifact.js';
import { ToolCall } from '../primitives/tool-call.js';
import { isObject } from '../validation/field-kinds.js';
import {
  type Form,
  FORMS,
  FormError,
  invalidForm,
  type Keep,
  kindOf,
  type Part,
  partForm,
  type ReadOptions,
  recordOf,
  unstorable,
  type Values,
  valuesOf,
} from './form.js';
import { identityForm, mediaForm, type Member } from './forms.gen.js';
import { fromSpelled, spell, unspell } from './spelling.js';
import { type BytesReference, unopened } from './stored-reader.js';

export type { ReadOptions } from './form.js';

const encoder = new Encoder();

/**
 * The stored form of a record in MessagePack, the same bytes as in Go: see docs/records.md.
 *
 * @throws TurncoreError E_RECORD_UNSTORABLE, naming the record and the field: a reader without a reference to stored
 * bytes, a text that a function renders, a value without an encoding
 */
export function encodeRecord(record: Entry): Uint8Array<ArrayBuffer> {
  return encodeKeeping(record);
}

/** @internal {@link encodeRecord} with the references that a function gives in place of readers. */
export function encodeKeeping(record: Entry, keep?: Keep): Uint8Array<ArrayBuffer> {
  const values = valuesOf(record, keep);
  encoder.reset();
  write(FORMS[kindOf(record)], values, '', record);
  return encoder.copy();
}

/**
 * Makes the record of a kind from its stored form.
 *
 * @throws TurncoreError E_STORED_RECORD_INVALID that names the record and the field: what is malformed, breaks the
 * rules of a record, or is of a later version
 */
export function decodeRecord(
  kind: RecordName,
  bytes: Uint8Array,
  options: ReadOptions = {},
): Entry {
  let form: unknown;
  try {
    form = decodeValue(bytes);
  } catch (error) {
    throw invalidForm(kind, undefined, error);
  }
  return recordOf(kind, form, options.open ?? unopened, options);
}

/** The stored form of a record as JSON data: what {@link encodeRecord} writes, times and bytes as text. */
export function recordToJSON(record: Entry): Record<string, unknown> {
  return jsonKeeping(record);
}

/** @internal {@link recordToJSON} with the references that a function gives in place of readers. */
export function jsonKeeping(record: Entry, keep?: Keep): Record<string, unknown> {
  const form = decodeValue(encodeKeeping(record, keep)) as Form;
  return translate(FORMS[kindOf(record)], form, toText);
}

/** Makes the record of a kind from what {@link recordToJSON} gave. @throws TurncoreError E_STORED_RECORD_INVALID */
export function recordFromJSON(kind: RecordName, data: unknown, options: ReadOptions = {}): Entry {
  let form: unknown;
  try {
    if (!isObject(data)) throw new FormError('', 'it is not an object');
    form = translate(FORMS[kind], data, fromText);
  } catch (error) {
    throw invalidForm(kind, data, error);
  }
  return recordOf(kind, form, options.open ?? unopened, options);
}

/** The ids of the bytes that a record refers to, each once, in their order. */
export function bytesOf(record: Entry): string[] {
  const ids = readersOf(record).map(([, reader]) => (reader as Partial<BytesReference>).bytesId);
  return [...new Set(ids)].filter((id) => typeof id === 'string' && id !== '') as string[];
}

/** @internal The readers of a record, in their order, with the names of their fields. */
export function readersOf(record: Entry): readonly (readonly [field: string, reader: unknown])[] {
  let content: unknown;
  let field = 'content';
  if (record instanceof Message) [field, content] = ['attachments', record.attachments];
  else if (record instanceof ToolCall) [field, content] = ['results', record.results];
  else if (record instanceof Retrievable) content = record.content;
  const parts = Array.isArray(content)
    ? content.map((part: unknown, i) => [`${field}[${i}]`, part] as const)
    : [[field, content] as const];
  return parts.flatMap(([name, part]) =>
    part instanceof SpooledArtifact || part instanceof Media
      ? [[`${name}.reader`, part.reader] as const]
      : [],
  );
}

function write(table: readonly Member[], values: Values, path: string, record: Entry): void {
  let n = 0;
  for (let i = 0; i < table.length; i++) if (values[i] !== undefined) n++;
  encoder.mapHeader(n);
  for (let i = 0; i < table.length; i++) {
    const value = values[i];
    if (value === undefined) continue;
    const [name, type] = table[i]!;
    encoder.str(name);
    switch (type) {
      case 'text':
        encoder.str(value as string);
        break;
      case 'truth':
        encoder.bool(value as boolean);
        break;
      case 'number':
        encoder.float(value as number);
        break;
      case 'count':
      case 'time':
        encoder.int(value as number);
        break;
      case 'free':
        writeFree(value, path + name, record);
        break;
      case 'identity':
        write(identityForm, value as Values, `${path}${name}.`, record);
        break;
      default:
        writeContent(value as string | Part | readonly Part[], path + name, record);
    }
  }
}

function writeFree(value: unknown, field: string, record: Entry): void {
  try {
    encoder.value(value, field);
  } catch (error) {
    throw unstorable(record, field, messageOf(error), error);
  }
}

function writeContent(
  content: string | Part | readonly Part[],
  field: string,
  record: Entry,
): void {
  if (typeof content === 'string') encoder.str(content);
  else if ('table' in content) write(content.table, content.values, `${field}.`, record);
  else {
    encoder.arrayHeader(content.length);
    content.forEach(({ table, values }, i) => write(table, values, `${field}[${i}].`, record));
  }
}

/** Translates a member that JSON spells differently. */
type Translation = (type: Member[1], value: unknown, field: string) => unknown;

const toText: Translation = (type, value) => {
  if (type === 'time') return new Date(value as number).toISOString();
  return type === 'free' ? spell(value) : value;
};

const fromText: Translation = (type, value, field) => {
  if (type === 'time') {
    const ms = typeof value === 'string' ? fromSpelled(value) : Number.NaN;
    if (Number.isNaN(ms)) {
      throw new FormError(field, 'it is not a time such as 2006-01-02T15:04:05.000Z');
    }
    return ms;
  }
  try {
    return type === 'free' ? unspell(value) : value;
  } catch (error) {
    throw new FormError(field, (error as Error).message);
  }
};

/** Members in the order of the table; those that it lacks follow, to be named as unknown. */
function translate(
  table: readonly Member[],
  form: Form,
  how: Translation,
): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [name, type] of table) {
    const value = Object.hasOwn(form, name) ? form[name] : undefined;
    if (value !== undefined) out[name] = translateMember(type, value, name, how);
  }
  for (const name of Object.keys(form)) {
    if (!Object.hasOwn(out, name)) {
      Object.defineProperty(out, name, { value: form[name], enumerable: true });
    }
  }
  return out;
}

function translateMember(type: Member[1], value: unknown, name: string, how: Translation): unknown {
  if (type === 'identity') {
    return isObject(value) ? translate(identityForm, value, how) : value;
  }
  if (type !== 'media' && type !== 'content') return how(type, value, name);
  const part = (one: unknown): unknown =>
    isObject(one) ? translate(type === 'media' ? mediaForm : partForm(one), one, how) : one;
  return Array.isArray(value) ? value.map(part) : part(value);
}
