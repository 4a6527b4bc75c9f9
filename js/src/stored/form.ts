/**
 * The stored forms of records as plain objects, and what makes records of them.
 */
import { recordName, type RecordName } from '../collections/deltas.js';
import { type Entry, isRecordOf, RECORD_KINDS } from '../collections/kinds.js';
import { isTurncoreError, messageOf } from '../errors.js';
import { storedError } from '../stored-errors.js';
import { Identity } from '../primitives/identity.js';
import { Media, type MediaStashEntry, type RawMedia } from '../primitives/media.js';
import { Memory } from '../primitives/memory.js';
import { Message, type RawMessage } from '../primitives/message.js';
import { type RawRetrievable, Retrievable } from '../primitives/retrievable.js';
import {
  type ArtifactClass,
  classNameOf,
  jsonForm,
  SpooledArtifact,
} from '../primitives/spooled-artifact.js';
import { SpooledJsonArtifact } from '../primitives/spooled-json-artifact.js';
import { SpooledMarkdownArtifact } from '../primitives/spooled-markdown-artifact.js';
import { Thought } from '../primitives/thought.js';
import { isTokenizable, Tokenizable } from '../primitives/tokenizable.js';
import { ToolCall, type ToolCallResults } from '../primitives/tool-call.js';
import { isObject } from '../validation/field-kinds.js';
import {
  artifactForm,
  identityForm,
  instructionForm,
  mediaForm,
  type Member,
  memoryForm,
  messageForm,
  retrievableForm,
  thoughtForm,
  toolCallForm,
  VERSION,
} from './forms.gen.js';
import type { BytesReference, OpenBytes } from './stored-reader.js';

/** A stored form: its members by name, those without a value left out or undefined. */
export type Form = Readonly<Record<string, unknown>>;

/** The members of the stored form of each kind. */
export const FORMS: Readonly<Record<RecordName, readonly Member[]>> = {
  standingInstruction: instructionForm,
  memory: memoryForm,
  retrievable: retrievableForm,
  message: messageForm,
  thought: thoughtForm,
  toolCall: toolCallForm,
};

/** Gives the reference that is written in place of a reader. */
export type Keep = (reader: unknown, field: string) => BytesReference;

/** The kind of a record; a standing instruction is a Tokenizable. @throws TurncoreError E_RECORD_UNSTORABLE */
export function kindOf(record: Entry): RecordName {
  for (let n = 0; n < RECORD_KINDS; n++) if (isRecordOf(n, record)) return recordName(n);
  throw storedError('E_RECORD_UNSTORABLE', 'the value is no record');
}

/** The number of a kind, as checksums have it. */
export function kindNumber(kind: RecordName): number {
  for (let n = 0; n < RECORD_KINDS; n++) if (recordName(n) === kind) return n;
  throw storedError('E_STORED_RECORD_INVALID', `${JSON.stringify(kind)} is no kind of record`);
}

/** What names a record among those of its kind: its id, of a standing instruction the text. */
export function idOf(record: Entry): string {
  return record instanceof Tokenizable ? (record.dynamic ? '' : record.toString()) : record.id;
}

/** An error of a field that cannot be written down. */
export function unstorable(record: Entry, field: string, why: string, cause?: unknown): Error {
  const kind = kindOf(record);
  const id = idOf(record);
  const text = `${kind} ${JSON.stringify(id)}: ${field}: ${why}`;
  return storedError('E_RECORD_UNSTORABLE', text, { details: { kind, id, field }, cause });
}

/** The values of a form in the order of its table; undefined for members that are left out. */
export type Values = readonly unknown[];

/** The stored form of a record. @throws TurncoreError E_RECORD_UNSTORABLE that names the record and the field */
export function valuesOf(record: Entry, keep: Keep | undefined): Values {
  if (record instanceof Tokenizable) return [VERSION, textOf(record, 'text', record)];
  const { id } = record;
  const createdAt = record.createdAt.getTime();
  const updatedAt = record.updatedAt.getTime();
  const metadata = isEmpty(record.metadata) ? undefined : record.metadata;
  if (record instanceof Message) {
    const { attachments, role } = record;
    const some = attachments.length > 0;
    return [
      VERSION,
      id,
      role,
      optional(textOf(record, 'content', record.content), some),
      identityOf(record, record.ownIdentity),
      createdAt,
      updatedAt,
      some ? partsOf(record, 'attachments', attachments, keep) : undefined,
      metadata,
    ];
  }
  if (record instanceof ToolCall) {
    return [
      VERSION,
      id,
      record.tool,
      record.args,
      record.checksum,
      orNone(record.executionId),
      orNone(record.providerCallId),
      orFalse(record.isComplete),
      orFalse(record.isError),
      contentOf(record, 'results', record.results, keep),
      record.payload ?? undefined,
      record.replayCompatibility,
      orFalse(record.fromArtifactTool),
      orFalse(record.inline),
      createdAt,
      updatedAt,
      record.completedAt.getTime(),
      metadata,
    ];
  }
  if (record instanceof Thought) {
    const payload = record.payload ?? undefined;
    return [
      VERSION,
      id,
      optional(textOf(record, 'content', record.content), payload !== undefined),
      identityOf(record, record.ownIdentity),
      payload,
      record.replayCompatibility,
      createdAt,
      updatedAt,
      metadata,
    ];
  }
  if (record instanceof Memory) {
    const { confidence, importance } = record;
    const content = textOf(record, 'content', record.content);
    return [VERSION, id, content, confidence, importance, createdAt, updatedAt, metadata];
  }
  return [
    VERSION,
    id,
    contentOf(record, 'content', record.content, keep),
    record.trustTier,
    orNone(record.source),
    orNone(record.kind),
    record.score,
    orFalse(record.inline),
    record.artifactConstructor && classNameOf(record.artifactConstructor()),
    createdAt,
    updatedAt,
    metadata,
  ];
}

/** A text that says something. */
function orNone(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

/** A boolean, which is false if it is not there. */
function orFalse(value: boolean): true | undefined {
  return value ? true : undefined;
}

/** A text that may be left out, if it is empty and there is something else. */
function optional(text: string, other: boolean): string | undefined {
  return text === '' && other ? undefined : text;
}

function isEmpty(fields: object | undefined): boolean {
  for (const _name in fields) return false;
  return true;
}

function textOf(record: Entry, field: string, text: Tokenizable | undefined): string {
  if (text === undefined) return '';
  if (text.dynamic) {
    throw unstorable(record, field, 'a text that a function renders; store what it renders');
  }
  return text.toString();
}

function identityOf(record: Entry, identity: Identity | undefined): Values | undefined {
  if (identity === undefined) return undefined;
  const { identifier, representation } = identity;
  return [identifier, textOf(record, 'identity.representation', representation)];
}

/** A part of a record with its table. */
export interface Part {
  readonly table: readonly Member[];
  readonly values: Values;
}

function contentOf(
  record: Entry,
  field: string,
  content: ToolCallResults,
  keep: Keep | undefined,
): string | Part | readonly Part[] {
  if (isTokenizable(content)) return textOf(record, field, content);
  return isList(content)
    ? partsOf(record, field, content, keep)
    : partOf(record, field, content, keep);
}

function partsOf(
  record: Entry,
  field: string,
  list: readonly (SpooledArtifact | Media)[],
  keep: Keep | undefined,
): readonly Part[] {
  return list.map((part, i) => partOf(record, `${field}[${i}]`, part, keep));
}

function partOf(
  record: Entry,
  field: string,
  part: SpooledArtifact | Media,
  keep: Keep | undefined,
): Part {
  const { reader } = part;
  const place = `${field}.reader`;
  const { bytesId, bytesLength } =
    keep === undefined ? referenceOf(record, place, reader) : keep(reader, place);
  if (part instanceof Media) {
    const values = [
      part.id,
      part.kind,
      part.mimeType,
      part.filename,
      part.trustTier,
      part.modalityHazard,
      orNone(part.source),
      bytesId,
      bytesLength,
      stashOf(record, `${field}.stash`, part.stash.all()),
    ];
    return { table: mediaForm, values };
  }
  // Its own toJSON, since a class may have another.
  const described = SpooledArtifact.prototype.toJSON.call(part);
  const size = described['byteLength'] ?? bytesLength;
  const values = [part.kind, part[jsonForm], bytesId, size, described['lineCount']];
  return { table: artifactForm, values };
}

function stashOf(record: Entry, field: string, stash: Form): Form | undefined {
  const names = Object.keys(stash);
  if (names.length === 0) return undefined;
  const facts = names.map((name) => {
    const fact = stash[name];
    if (!isFact(fact)) {
      throw unstorable(record, `${field}.${name}`, 'it has no value and trustTier');
    }
    const { value, trustTier, derivedFromMedia } = fact;
    return [name, { value, trustTier, derivedFromMedia: orFalse(derivedFromMedia === true) }];
  });
  return Object.fromEntries(facts) as Form;
}

function referenceOf(record: Entry, field: string, reader: unknown): BytesReference {
  const { bytesId, bytesLength } = reader as Partial<BytesReference>;
  if (typeof bytesId === 'string' && bytesId !== '') return { bytesId, bytesLength };
  const why = 'it reads what no store has; put the bytes into the store first';
  throw unstorable(record, field, why);
}

function isList(
  content: ToolCallResults,
): content is readonly SpooledArtifact[] | readonly Media[] {
  return Array.isArray(content);
}

function isFact(fact: unknown): fact is MediaStashEntry {
  if (!isObject(fact) || typeof fact['trustTier'] !== 'string') return false;
  const others = Object.keys(fact).filter(
    (key) => !['value', 'trustTier', 'derivedFromMedia'].includes(key),
  );
  return others.length === 0 && fact['value'] !== undefined && fact['value'] !== null;
}

/** How stored forms are read. */
export interface ReadOptions {
  /**
   * Gives the readers of stored bytes; see `openedBy`. Default: readers that fail with E_BYTES_NOT_FOUND.
   */
  readonly open?: OpenBytes | undefined;
  /** The application's own classes of artifacts. Others get a class of their name that adds no reader tools. */
  readonly classes?: readonly ArtifactClass[] | undefined;
}

/** Makes the record of a form. @throws TurncoreError E_STORED_RECORD_INVALID that names the record and the field */
export function recordOf(
  kind: RecordName,
  form: unknown,
  open: OpenBytes,
  options: ReadOptions,
): Entry {
  const table = FORMS[kind];
  try {
    requireVersion(form);
    checkForm(table, form, '');
    return new Reader(open, options.classes ?? []).record(kind, form as Form);
  } catch (error) {
    throw invalidForm(kind, form, error);
  }
}

/** The E_STORED_RECORD_INVALID of a stored form, which names the record as far as it can be read. */
export function invalidForm(kind: RecordName, form: unknown, cause: unknown): Error {
  const name = kind === 'standingInstruction' ? 'text' : 'id';
  const named: unknown = isObject(form) ? form[name] : undefined;
  const id = typeof named === 'string' ? named : '';
  const text = `${kind} ${JSON.stringify(id)}: ${isTurncoreError(cause) ? cause.message : messageOf(cause)}`;
  const details =
    cause instanceof FormError && cause.field !== ''
      ? { kind, id, field: cause.field }
      : { kind, id };
  return storedError('E_STORED_RECORD_INVALID', text, { details, cause });
}

/** Says which member of a stored form is wrong, and how. */
export class FormError extends Error {
  readonly field: string;

  constructor(field: string, why: string) {
    super(field === '' ? why : `${field}: ${why}`);
    this.field = field;
  }
}

function requireVersion(form: unknown): void {
  if (!isObject(form)) throw new FormError('', 'it is not a map');
  const { v } = form;
  if (v === undefined) return;
  if (!isCount(v) || v < 1) throw new FormError('v', 'it is no version');
  if (v > VERSION) throw new FormError('v', `version ${v}: a record of a later version`);
}

/** The latest time that a Date holds, in ms. */
const MAX_TIME = 8.64e15;

/** @throws FormError unless the form has every required member of the table, and none but its members */
function checkForm(table: readonly Member[], form: unknown, path: string): void {
  if (!isObject(form)) throw new FormError(path.slice(0, -1), 'it is not a map');
  let members = 0;
  for (const member of table) {
    const name = member[0];
    const value = Object.hasOwn(form, name) ? form[name] : undefined;
    if (value !== undefined) {
      members++;
      if (!isMember(member[1], value, path, name)) refuse(member[1], path + name);
    } else if (member[2]) {
      requireMembers(table, form, path);
      throw new FormError(path + name, 'it is missing');
    }
  }
  let keys = 0;
  for (const _name in form) keys++;
  if (keys !== members) requireMembers(table, form, path);
}

/** @throws FormError if a form has a key that is no member of the table */
function requireMembers(table: readonly Member[], form: Form, path: string): void {
  for (const key of Object.keys(form)) {
    if (!table.some(([name]) => name === key)) {
      throw new FormError(path + key, 'it is no member of such a record');
    }
  }
}

/** Whether a value is of a type. @throws FormError for what is wrong inside of it */
function isMember(type: Member[1], value: unknown, path: string, name: string): boolean {
  switch (type) {
    case 'text':
      return typeof value === 'string';
    case 'truth':
      return typeof value === 'boolean';
    case 'count':
      return isCount(value);
    case 'number':
      return typeof value === 'number';
    case 'time':
      return Number.isSafeInteger(value) && Math.abs(value as number) <= MAX_TIME;
    case 'free':
      return value !== null;
    case 'identity':
      checkForm(identityForm, value, `${path}${name}.`);
      return true;
    case 'media':
      if (!Array.isArray(value)) return false;
      checkParts(value, path + name, () => mediaForm);
      return true;
    case 'content':
      if (typeof value === 'string') return true;
      if (Array.isArray(value) && value.length > 0) {
        const table = partForm(value[0]);
        checkParts(value, path + name, () => table);
      } else if (isObject(value)) checkForm(partForm(value), value, `${path}${name}.`);
      else return false;
      return true;
  }
}

function refuse(type: Member[1], path: string): never {
  throw new FormError(path, `it is not ${WORDS[type]}`);
}

/** What values of the types are. */
const WORDS: Readonly<Record<Member[1], string>> = {
  text: 'a text',
  truth: 'true or false',
  count: 'an integer from 0',
  number: 'a number',
  time: 'a time',
  free: 'a value',
  identity: 'a map',
  media: 'a list of media',
  content: 'a text, artifacts or media',
};

function checkParts(list: readonly unknown[], path: string, table: () => readonly Member[]): void {
  list.forEach((part, i) => checkForm(table(), part, `${path}[${i}].`));
}

/** The members of an artifact or of a medium, whichever a part is: an artifact has a class. */
export function partForm(part: unknown): readonly Member[] {
  return isObject(part) && Object.hasOwn(part, 'class') ? artifactForm : mediaForm;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

const builtIn: readonly ArtifactClass[] = [
  SpooledArtifact,
  SpooledJsonArtifact,
  SpooledMarkdownArtifact,
];

/** Classes that only have a name, by it. */
const named = new Map<string, ArtifactClass>();
/** How many of them are kept. */
const MOST_NAMED = 100;

function classNamed(name: string): ArtifactClass {
  let found = named.get(name);
  if (found === undefined) {
    found = class extends SpooledArtifact {
      static override readonly className: string = name;
    };
    if (named.size < MOST_NAMED) named.set(name, found);
  }
  return found;
}

class Reader {
  readonly #open: OpenBytes;
  readonly #classes: readonly ArtifactClass[];

  constructor(open: OpenBytes, classes: readonly ArtifactClass[]) {
    this.#open = open;
    this.#classes = classes;
  }

  /** The record of a form that was checked. Its members are named: objects of one shape are made in half the time. */
  record(kind: RecordName, form: Form): Entry {
    const { id, createdAt, updatedAt, metadata } = form;
    switch (kind) {
      case 'standingInstruction':
        if (form['text'] === '') throw new FormError('text', 'it is empty');
        return new Tokenizable(form['text'] as string);
      case 'memory': {
        const { confidence, importance } = form;
        const content = text(form['content']);
        return new Memory({
          id,
          createdAt,
          updatedAt,
          metadata,
          content,
          confidence,
          importance,
        } as unknown as Memory);
      }
      case 'message': {
        const { role, attachments } = form;
        const media = (attachments as Form[] | undefined)?.map((part, i) =>
          this.#media(part, `attachments[${i}]`),
        );
        return new Message({
          id,
          createdAt,
          updatedAt,
          metadata,
          role,
          content: text(form['content']),
          identity: identityIn(form),
          attachments: media,
        } as unknown as RawMessage);
      }
      case 'thought': {
        const { payload, replayCompatibility } = form;
        return new Thought({
          id,
          createdAt,
          updatedAt,
          metadata,
          content: text(form['content']),
          identity: identityIn(form),
          payload,
          replayCompatibility,
        } as unknown as Thought);
      }
      case 'toolCall': {
        const { tool, args, checksum, executionId, providerCallId } = form;
        const { isComplete = false, isError = false, payload, replayCompatibility } = form;
        const { fromArtifactTool, inline, completedAt } = form;
        return new ToolCall({
          id,
          createdAt,
          updatedAt,
          metadata,
          tool,
          args,
          checksum,
          executionId,
          providerCallId,
          isComplete,
          isError,
          payload,
          replayCompatibility,
          fromArtifactTool,
          inline,
          completedAt,
          results: this.#content('results', form['results']),
        } as unknown as ToolCall);
      }
      case 'retrievable': {
        const { v: _v, artifactClass: name, ...raw }: Record<string, unknown> = form;
        raw['content'] = this.#content('content', form['content']);
        if (name !== undefined) {
          const artifactClass = this.#class(name as string);
          raw['artifactConstructor'] = () => artifactClass;
        }
        return new Retrievable(raw as unknown as RawRetrievable);
      }
    }
  }

  #class(name: string): ArtifactClass {
    const own = [...this.#classes, ...builtIn].find((of) => classNameOf(of) === name);
    return own ?? classNamed(name);
  }

  #content(field: string, content: unknown): unknown {
    if (typeof content === 'string') return new Tokenizable(content);
    if (!Array.isArray(content)) return this.#part(content as Form, field);
    return content.map((part: Form, i) => this.#part(part, `${field}[${i}]`));
  }

  #part(form: Form, field: string): SpooledArtifact | Media {
    return partForm(form) === mediaForm ? this.#media(form, field) : this.#artifact(form, field);
  }

  #artifact(form: Form, field: string): SpooledArtifact {
    const lineCount = form['lines'] as number | undefined;
    const byteLength = form['byteLength'] as number | undefined;
    if (lineCount !== undefined && byteLength === undefined) {
      throw new FormError(`${field}.lines`, 'byteLength is missing');
    }
    const hints = lineCount === undefined ? undefined : { byteLength: byteLength!, lineCount };
    const of = this.#class(form['class'] as string);
    const json = of as typeof SpooledJsonArtifact;
    // A hint is what somebody said, not what a store has.
    const size = hints === undefined ? byteLength : undefined;
    return new json(this.#reader(form, field, size), hints, form['form'] as 'json' | undefined);
  }

  #media(form: Form, field: string): Media {
    const { bytes: _bytes, byteLength, stash, ...parts } = form;
    if (stash !== undefined) {
      if (!isObject(stash)) throw new FormError(`${field}.stash`, 'it is not a map');
      for (const [name, fact] of Object.entries(stash)) {
        if (!isFact(fact)) {
          throw new FormError(`${field}.stash.${name}`, 'it is not a value with its trustTier');
        }
      }
    }
    const reader = this.#reader(form, field, byteLength as number | undefined);
    return new Media({ ...parts, stash, reader } as unknown as RawMedia);
  }

  #reader(form: Form, field: string, size: number | undefined): ReturnType<OpenBytes> {
    const id = form['bytes'] as string;
    if (id === '') throw new FormError(`${field}.bytes`, 'it is empty');
    return this.#open(id, size);
  }
}

function identityIn({ identity }: Form): Identity | undefined {
  return identity === undefined ? undefined : new Identity(identity as Identity);
}

function text(content: unknown): Tokenizable | undefined {
  return content === undefined ? undefined : new Tokenizable(content as string);
}
