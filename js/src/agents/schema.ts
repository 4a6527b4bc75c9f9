/**
 * Documents of agents, manifests and grants, and the part of JSON Schema that their schemas use. Go's is
 * host/agents/schema.go: both say the same about the same text.
 */
import type { AgentErrorCode } from '../abi/agent-codes.gen.js';
import { TurncoreError } from '../errors.js';
import { agentError } from '../agent-errors.js';
import { compareNames } from '../store/by-name.js';

/** A kind of document. */
export interface DocumentKind {
  /** For errors: `manifest`. */
  readonly what: string;
  readonly code: AgentErrorCode;
  /** Bytes of the text. */
  readonly most: number;
  /** The text of its JSON Schema. */
  readonly schema: string;
}

type Json = null | boolean | number | string | Json[] | JsonObject;

interface JsonObject {
  readonly [name: string]: Json;
}

/** A JSON Schema. A title says what a value must be. */
interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly title?: string;
  readonly type?: string | readonly string[];
  readonly const?: string | number;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly propertyNames?: Schema;
  readonly additionalProperties?: boolean | Schema;
}

/** Levels of lists and objects. */
const MAX_NESTING = 64;
/** Violations that an error lists. */
const MAX_VIOLATIONS = 32;

/**
 * Parses a text and checks it against the schema of its kind.
 *
 * @throws TurncoreError with the kind's code, listing every violation in its details
 */
export function readDocument(kind: DocumentKind, text: string | Uint8Array): unknown {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  if (bytes.length > kind.most) {
    throw wrong(kind, [`it has ${bytes.length} bytes, at most ${kind.most} are allowed`]);
  }
  let value: Json;
  let decoded: string;
  try {
    decoded = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    if (isDeeper(decoded, MAX_NESTING)) {
      throw wrong(kind, [`it is nested more than ${MAX_NESTING} levels deep`]);
    }
    value = parse(decoded);
  } catch (error) {
    if (error instanceof TurncoreError) throw error;
    throw wrong(kind, [error instanceof SyntaxError ? 'it is no JSON' : 'it is no UTF-8']);
  }
  requireNone(kind, repeated(decoded));
  requireNone(kind, new Checker(kind).violations(value));
  return value;
}

/** Parses JSON. A number that is too large for a double is no number. @throws SyntaxError */
function parse(text: string): Json {
  return JSON.parse(text, (_, value: Json) => {
    if (typeof value === 'number' && !Number.isFinite(value)) throw new SyntaxError('a number');
    return value;
  }) as Json;
}

/** A token of JSON: a text, a bracket, a comma, or another value. Colons and white space do not matter. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],]|[^\s{}[\],:"]+/g;

/** Lists the members of a JSON text that occur twice in their object: readers would disagree about which counts. */
function repeated(text: string): string[] {
  const list: string[] = [];
  const tokens = text.match(TOKEN) ?? [];
  let at = 0;
  const read = (path: string): void => {
    const opening = tokens[at++];
    if (opening !== '{' && opening !== '[') return;
    const seen = new Set<string>();
    for (let i = 0; tokens[at] !== '}' && tokens[at] !== ']'; i++) {
      if (tokens[at] === ',') at++;
      if (opening === '[') {
        read(`${path}[${i}]`);
        continue;
      }
      const name = JSON.parse(tokens[at++]!) as string;
      const member = memberPath(path, name);
      if (seen.has(name)) list.push(`\`${member}\` occurs twice`);
      seen.add(name);
      read(member);
    }
    at++;
  };
  read('');
  return list;
}

/** @throws TurncoreError with the kind's code if there are violations */
export function requireNone(kind: DocumentKind, violations: readonly string[]): void {
  if (violations.length > 0) throw wrong(kind, violations);
}

function wrong(kind: DocumentKind, violations: readonly string[]): TurncoreError {
  const shown =
    violations.length > MAX_VIOLATIONS
      ? [...violations.slice(0, MAX_VIOLATIONS), 'and more']
      : violations;
  return agentError(kind.code, shown.join('; '), { details: shown });
}

/** Whether lists and objects of a JSON text are nested more than so many levels deep. */
export function isDeeper(text: string, most: number): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const c = text[at];
    if (quoted && c === '\\') at++;
    else if (c === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (c === '[' || c === '{') {
      if (++depth > most) return true;
    } else if (c === ']' || c === '}') depth--;
  }
  return false;
}

/** Collects violations, in an order that depends on the document alone. */
class Checker {
  readonly #what: string;
  readonly #root: Schema;
  readonly #list: string[] = [];

  constructor({ what, schema }: DocumentKind) {
    this.#what = `the ${what}`;
    this.#root = JSON.parse(schema) as Schema;
  }

  violations(value: Json): readonly string[] {
    this.#check('', value, this.#root);
    return this.#list;
  }

  get #full(): boolean {
    return this.#list.length > MAX_VIOLATIONS;
  }

  #add(path: string, text: string): void {
    this.#list.push(`${path === '' ? this.#what : `\`${path}\``} ${text}`);
  }

  /** What a schema refers to. */
  #resolved(schema: Schema): Schema {
    const name = schema.$ref?.slice('#/$defs/'.length);
    return name === undefined ? schema : this.#root.$defs![name]!;
  }

  #check(path: string, value: Json, given: Schema): void {
    if (this.#full) return;
    const schema = this.#resolved(given);
    const violation = violationOf(value, schema);
    if (violation !== '') {
      const { title } = schema;
      this.#add(path, title !== undefined && path !== '' ? `must be ${title}` : violation);
    } else if (Array.isArray(value)) this.#entries(path, value, schema);
    else if (typeof value === 'object' && value !== null) this.#members(path, value, schema);
  }

  #entries(path: string, list: readonly Json[], { items, uniqueItems }: Schema): void {
    const seen = new Set<Json>();
    list.forEach((entry, i) => {
      const at = `${path}[${i}]`;
      if (uniqueItems === true && typeof entry === 'string') {
        if (seen.has(entry)) {
          this.#add(at, 'occurs twice');
          return;
        }
        seen.add(entry);
      }
      if (items !== undefined) this.#check(at, entry, items);
    });
  }

  #members(path: string, object: JsonObject, schema: Schema): void {
    for (const name of schema.required ?? []) {
      if (!Object.hasOwn(object, name)) this.#add(memberPath(path, name), 'is missing');
    }
    for (const name of Object.keys(object).sort(compareNames)) {
      const at = memberPath(path, name);
      const { properties = {}, propertyNames, additionalProperties } = schema;
      const value = object[name]!;
      if (Object.hasOwn(properties, name)) this.#check(at, value, properties[name]!);
      else if (additionalProperties === false) this.#add(at, 'is unknown');
      else if (propertyNames !== undefined && this.#misnamed(name, propertyNames)) {
        this.#add(at, `is not ${this.#resolved(propertyNames).title}`);
      } else if (typeof additionalProperties === 'object') {
        this.#check(at, value, additionalProperties);
      }
      if (this.#full) return;
    }
  }

  #misnamed(name: string, schema: Schema): boolean {
    return violationOf(name, this.#resolved(schema)) !== '';
  }
}

/** What is wrong with a value itself, not with its contents; empty for nothing. */
function violationOf(value: Json, schema: Schema): string {
  if (schema.const !== undefined && value !== schema.const) {
    return `must be ${String(schema.const)}`;
  }
  if (schema.enum?.includes(value as string) === false) {
    return `must be one of ${schema.enum.join(', ')}`;
  }
  const { type } = schema;
  if (type !== undefined) {
    const types = typeof type === 'string' ? [type] : type;
    const is = typeOf(value);
    if (!types.includes(is) && !(is === 'integer' && types.includes('number'))) {
      return `must be ${WORDS[types[0]!] ?? 'a number'}`;
    }
  }
  if (typeof value === 'string') return textViolation(value, schema);
  if (typeof value === 'number') {
    const { minimum = value, maximum = value } = schema;
    if (value < minimum) return `must be at least ${minimum}`;
    return value > maximum ? `must be at most ${maximum}` : '';
  }
  if (typeof value !== 'object' || value === null) return '';
  return Array.isArray(value)
    ? sizeViolation(value.length, schema.minItems, schema.maxItems, 'entries')
    : sizeViolation(
        Object.keys(value).length,
        schema.minProperties,
        schema.maxProperties,
        'members',
      );
}

function textViolation(text: string, { minLength, maxLength, pattern }: Schema): string {
  const size = sizeViolation(Array.from(text).length, minLength, maxLength, 'characters');
  if (size !== '') return size;
  const matches = pattern === undefined || new RegExp(pattern, 'u').test(text);
  return matches ? '' : 'must be one line of plain text';
}

function sizeViolation(size: number, min = 0, max = size, unit = ''): string {
  if (size < min) return `must have at least ${min} ${unit}`;
  return size > max ? `must have at most ${max} ${unit}` : '';
}

/** Types in words. */
const WORDS: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'a list',
  string: 'a text',
  boolean: 'true or false',
  integer: 'a whole number',
};

/** The JSON Schema type of a value. */
function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (Number.isSafeInteger(value)) return 'integer';
  return typeof value;
}

/** The path of a member. */
export function memberPath(path: string, name: string): string {
  if (!/^[A-Za-z_$][A-Za-z0-9_$-]{0,63}$/.test(name)) return `${path}["${shown(name)}"]`;
  return path === '' ? name : `${path}.${name}`;
}

/** Characters of a name that an error shows. */
const SHOWN = 64;

/** A name as an error shows it: cut, and without what would do something to a terminal. */
function shown(name: string): string {
  const characters = Array.from(name);
  const text = characters
    .slice(0, SHOWN)
    .map((c) => (isShowable(c.codePointAt(0)!) ? c : '?'))
    .join('');
  return characters.length > SHOWN ? `${text}…` : text;
}

/** Whether a character does nothing but show itself. */
function isShowable(code: number): boolean {
  const within = (first: number, last: number): boolean => code >= first && code <= last;
  const controls = code < 0x20 || within(0x7f, 0x9f);
  const directions = within(0x2028, 0x202e) || within(0x2066, 0x2069);
  return !controls && !directions && !within(0xd800, 0xdfff) && code !== 0x60 && code !== 0xfffd;
}
