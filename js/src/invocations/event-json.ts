/**
 * Events as JSON, which has no bytes: they are base64. Go's `host/sessions` reads and writes the same.
 */
import { toBase64 } from '../codec/base64.js';
import type {
  Content,
  EventUsage,
  FileData,
  FunctionCall,
  FunctionResponse,
  Part,
} from './content.js';

/** The members of an event in the order of its JSON. */
const ORDER = [
  'id',
  'invocationId',
  'author',
  'timestamp',
  'branch',
  'content',
  'partial',
  'turnComplete',
  'interrupted',
  'finishReason',
  'errorCode',
  'errorMessage',
  'usage',
  'longRunningToolIds',
  'customMetadata',
  'actions',
];

/** How the members are written that are more than their values. What becomes undefined is left out. */
const WRITTEN: Readonly<Record<string, (value: never, part: Part) => unknown>> = {
  content: ({ parts, ...others }: Content) => ({
    ...members(others),
    parts: filled(Array.isArray(parts) ? parts.map(partJson) : plain(parts)),
  }),
  usage: (usage: EventUsage) =>
    Object.fromEntries(Object.entries(usage).filter(([, count]) => count !== 0)),
  longRunningToolIds: filled,
  customMetadata: (value: object) => filled(plain(value)),
  // A text beside something else is none.
  text: (text: string, part) =>
    text === '' && Object.keys(part).some((name) => !OF_TEXT.has(name)) ? undefined : text,
  fileData: (file: FileData) => members(file),
  functionCall: (call: FunctionCall) => ({ ...members(call), args: plain(call.args ?? {}) }),
  functionResponse: (answer: FunctionResponse) => ({
    ...members(answer),
    response: plain(answer.response ?? {}),
  }),
};

/** The members of a part that is a text. */
const OF_TEXT = new Set(['text', 'thought', 'thoughtSignature']);

/** Members that are left out where they are false, empty or nothing. */
const UNLESS_EMPTY = new Set([...ORDER, 'role', 'id', 'thought', 'thoughtSignature', 'mimeType']);

/** What JSON.stringify writes of an event. @param event as it crosses */
export function eventJson(event: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const ordered = ORDER.filter((name) => name in event).map((name) => [name, event[name]]);
  return members({ ...(Object.fromEntries(ordered) as object), ...event });
}

function partJson(part: Part): unknown {
  return isObject(part) ? members(part, part) : part;
}

function members(object: object, part: Part = {}): Record<string, unknown> {
  const written: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(object)) {
    const isEmpty = value === '' || value === false || value === null || value === undefined;
    if (isEmpty && UNLESS_EMPTY.has(name)) continue;
    const isKnown = Object.hasOwn(WRITTEN, name) && (isObject(value) || name === 'text');
    const write = isKnown ? WRITTEN[name]! : plain;
    const json = write(value as never, part);
    if (json !== undefined) written[name] = json;
  }
  return written;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** A list or a map, unless it is empty. */
function filled<T>(value: T): T | undefined {
  const isEmpty = isObject(value) && Object.keys(value).length === 0;
  return isEmpty ? undefined : value;
}

/** A value with its bytes in base64. */
function plain<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return toBase64(value) as T;
  if (Array.isArray(value)) return value.map(plain) as T;
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, plain(of)])) as T;
}
