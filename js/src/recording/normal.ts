/**
 * The form in which requests are compared: what no reader of the protocol can tell apart is the same in it.
 */
import { isObject } from '../simulated/text.js';
import { isMedia, normalMedia } from './media.js';
import { isSystem, listOf, plainText, textOf } from './messages.js';

type Fields = Record<string, unknown>;

/** Brings a request's body into the form that is compared. */
export function normalBody(value: unknown): unknown {
  const body = withoutNull(value);
  if (!isObject(body)) return body;
  if (body['stream'] === false) delete body['stream'];
  if (Array.isArray(body['tools'])) normalTools(body, body['tools']);
  if (Array.isArray(body['messages'])) body['messages'] = normalMessages(body['messages']);
  return body;
}

/** Copies a value without the members of objects that are null. */
function withoutNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNull);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(entries.map(([name, item]) => [name, withoutNull(item)]));
}

/** Puts tools that the provider runs itself into a member of their own, and takes empty lists away. */
function normalTools(body: Fields, tools: readonly unknown[]): void {
  const functions: unknown[] = [];
  const others: unknown[] = [];
  for (const tool of tools) {
    const type = isObject(tool) ? tool['type'] : undefined;
    if (
      isObject(tool) &&
      type !== undefined &&
      type !== 'function' &&
      tool['function'] === undefined
    ) {
      others.push(tool);
      continue;
    }
    if (isObject(tool)) {
      tool['type'] ??= 'function';
      if (isObject(tool['function'])) normalSchema(tool['function']['parameters']);
    }
    functions.push(tool);
  }
  delete body['tools'];
  if (functions.length > 0) body['tools'] = functions;
  if (others.length > 0) body['provider_tools'] = others;
}

const SCHEMAS_BY_NAME = new Set(['properties', 'patternProperties', '$defs', 'definitions']);
const SCHEMA = new Set(['items', 'additionalProperties', 'not']);
const SCHEMAS = new Set(['anyOf', 'allOf', 'oneOf', 'prefixItems']);

/** Takes out of a JSON Schema what it says where it says nothing: that there are no properties, or any items. */
function normalSchema(schema: unknown): void {
  if (!isObject(schema)) return;
  for (const [key, value] of Object.entries(schema)) {
    if (isObject(value) && Object.keys(value).length === 0) {
      if (key === 'properties' || key === 'items') Reflect.deleteProperty(schema, key);
    } else if (SCHEMAS_BY_NAME.has(key) && isObject(value)) {
      Object.values(value).forEach(normalSchema);
    } else if (SCHEMA.has(key)) {
      normalSchema(value);
    } else if (SCHEMAS.has(key) && Array.isArray(value)) {
      value.forEach(normalSchema);
    }
  }
}

function normalMessages(list: readonly unknown[]): unknown[] {
  const messages: unknown[] = [];
  let behind: unknown[] = [];
  const flush = (): void => {
    if (behind.length > 0) messages.push(movedMedia(behind));
    behind = [];
  };
  for (const message of list) {
    if (isObject(message)) {
      normalMessage(message);
      if (message['role'] === 'tool') {
        behind.push(...listOf(message['media']));
        delete message['media'];
        delete message['order'];
      } else {
        flush();
        if (isEmpty(message)) continue;
      }
    }
    messages.push(message);
  }
  flush();
  messages.forEach((message, i) => {
    if (isObject(message) && Array.isArray(message['tool_calls'])) {
      normalResults(messages, i + 1, message['tool_calls']);
    }
  });
  return messages;
}

/** A message of the user with the media of the results before it, which says that they were moved. */
function movedMedia(media: readonly unknown[]): Fields {
  const order = media.map((one) => (isObject(one) ? one['kind'] : undefined));
  return { role: 'user', content: '', media, order, moved_from_results: true };
}

/** Whether a message says nothing. */
function isEmpty(message: Fields): boolean {
  const { role } = message;
  if (role !== 'user' && role !== 'assistant' && !isSystem(role)) return false;
  return Object.entries(message).every(
    ([key, value]) => key === 'role' || (key === 'content' && value === ''),
  );
}

function normalMessage(message: Fields): void {
  if (Array.isArray(message['content'])) normalParts(message, message['content']);
  const { role, content } = message;
  if (role === 'tool' && typeof content !== 'string' && !Array.isArray(content)) {
    message['content'] = plainText(content, true);
  }
  if (role === 'assistant') {
    if (textOf(message['refusal']) !== '' && (message['content'] ?? '') === '') {
      message['content'] = message['refusal'];
      delete message['refusal'];
    }
    for (const key of ['content', 'refusal', 'reasoning', 'reasoning_content']) {
      if (message[key] === '') Reflect.deleteProperty(message, key);
    }
    // Which it is by default.
    if (message['prefix'] === false) delete message['prefix'];
    for (const key of ['annotations', 'reasoning_details', 'tool_calls']) {
      const list = message[key];
      if (Array.isArray(list) && list.length === 0) Reflect.deleteProperty(message, key);
    }
  }
  withoutEmptyExtra(message);
  const calls = message['tool_calls'];
  if (Array.isArray(calls)) calls.filter(isObject).forEach(normalCall);
}

function withoutEmptyExtra(fields: Fields): void {
  const extra = fields['extra_content'];
  if (isObject(extra) && Object.keys(extra).length === 0) delete fields['extra_content'];
}

function normalCall(call: Fields): void {
  withoutEmptyExtra(call);
  delete call['index'];
  call['type'] ??= 'function';
  const fn = call['function'];
  if (!isObject(fn)) return;
  const args = fn['arguments'] ?? '';
  if (args === '') fn['arguments'] = {};
  else if (typeof args === 'string') {
    try {
      fn['arguments'] = JSON.parse(args);
    } catch {
      // What is no JSON is compared as it is.
    }
  }
}

/**
 * Takes a list of parts apart: texts are joined; reasoning, media, and what says where to cache, are members of their own.
 * A list with anything else in it stays.
 */
function normalParts(message: Fields, parts: readonly unknown[]): void {
  const reasoning: unknown[] = [];
  const media: Fields[] = [];
  const order: unknown[] = [];
  let hint: unknown;
  let words = '';
  for (const part of parts) {
    if (typeof part === 'string') {
      words += part;
      if (part !== '') order.push('text');
      continue;
    }
    if (!isObject(part)) return;
    const { type, text, cache_control: cache, ...rest } = part;
    hint = cache ?? hint;
    if (type === 'thinking' || type === 'reasoning') reasoning.push(part);
    else if (isMedia(part)) {
      delete part['cache_control'];
      const one = normalMedia(part);
      media.push(one);
      order.push(one['kind']);
    } else {
      const said = plainPart(type, text, rest);
      if (said === undefined) return;
      words += said;
      if (said !== '') order.push('text');
    }
  }
  message['content'] = words;
  if (media.length > 0) Object.assign(message, { media, order });
  if (reasoning.length > 0) message['reasoning'] ??= reasoning;
  if (hint !== undefined) message['cache_control'] = hint;
}

/** The words of a part that says nothing else; undefined for others. */
function plainPart(type: unknown, text: unknown, rest: Fields): string | undefined {
  const others = Object.keys(rest).length;
  if (type === 'text' && typeof text === 'string' && others === 0) return text;
  if (type === 'refusal' && text === undefined && others === 1) return textOf(rest['refusal']);
  return undefined;
}

/** Puts what tools answered into the order of the calls, and takes the names away that say what the calls say. */
function normalResults(messages: unknown[], from: number, calls: readonly unknown[]): void {
  const order = new Map<string, { place: number; name: unknown }>();
  for (const [place, call] of calls.entries()) {
    const { id, function: fn } = isObject(call) ? call : {};
    // The order says which is which.
    if (typeof id !== 'string' || order.has(id)) return;
    order.set(id, { place, name: isObject(fn) ? fn['name'] : undefined });
  }
  const results: { place: number; message: Fields }[] = [];
  for (const message of messages.slice(from)) {
    if (!isObject(message) || message['role'] !== 'tool') break;
    const call = order.get(message['tool_call_id'] as string);
    if (call === undefined) break;
    if (message['name'] === call.name) delete message['name'];
    results.push({ place: call.place, message });
  }
  results.sort((a, b) => a.place - b.place);
  results.forEach(({ message }, i) => (messages[from + i] = message));
}

/** Joins the texts of all system messages into the first message, and tells which messages were not there. */
export function oneSystem(list: readonly unknown[]): {
  messages: readonly unknown[];
  moved: ReadonlyMap<number, unknown>;
} {
  const texts: string[] = [];
  const others: unknown[] = [];
  const moved = new Map<number, unknown>();
  list.forEach((message, i) => {
    const { role, content } = isObject(message) ? message : {};
    if (!isSystem(role) || typeof content !== 'string') {
      others.push(message);
      return;
    }
    texts.push(content);
    if (texts.length > 1 || i > 0) moved.set(i, message);
  });
  if (moved.size === 0) return { messages: list, moved };
  return { messages: [{ role: 'system', content: texts.join('\n\n') }, ...others], moved };
}
