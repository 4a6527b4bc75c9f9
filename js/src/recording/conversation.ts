/**
 * What a recording says apart from the wire: the conversation before its first request, and how the tool calls in it
 * were answered.
 */
import { isObject } from '../simulated/text.js';
import { sameValue } from './compare.js';
import type { Recording } from './recording.js';

/** What a recording's first request holds. */
export interface Conversation {
  readonly system: string;
  /** What came before the last user message. */
  readonly history: readonly HistoryEntry[];
  readonly user: string;
  readonly tools: readonly RecordedTool[];
  readonly model: string;
  /** Where the provider is, without the path of the request. */
  readonly baseURL: string;
  /** What else the request asks for, such as temperature. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** A message of the history, or a tool call with its result. */
export type HistoryEntry =
  | { readonly role: 'user' | 'assistant'; readonly content: string }
  | { readonly call: RecordedCall };

/** A recorded tool call. */
export interface RecordedCall {
  readonly id: string;
  readonly tool: string;
  /** JSON text. */
  readonly args: string;
  readonly result: string;
}

/** A tool that the request offers. */
export interface RecordedTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly parameters: unknown;
  /** Other wire keys of the function, such as strict. */
  readonly extra: Readonly<Record<string, unknown>>;
}

/** Keys of a request that are not options. */
const NO_OPTIONS = new Set(['model', 'messages', 'tools', 'stream']);
const PATH = '/chat/completions';

/** What the first request of a recording says. @throws Error when that is no request of a user */
export function conversationOf(recording: Recording): Conversation {
  const { url, body } = recording.interactions[0]!.request;
  if (!isObject(body)) throw new Error('first request: it is no object');
  const messages = listOf(body['messages']).map(readMessage);
  const last = messages.findLastIndex((message) => message.role === 'user');
  if (last < 0) throw new Error('first request: it has no user message');
  if (last !== messages.length - 1) {
    throw new Error("first request: its last message is not the user's");
  }
  const before = messages.slice(0, last);
  const system = before.filter(({ role }) => role === 'system' || role === 'developer');
  return {
    system: system.map((message) => message.text).join('\n\n'),
    history: historyOf(before),
    user: messages[last]!.text,
    tools: listOf(body['tools']).map(readTool),
    model: textOf(body['model']),
    baseURL: url.endsWith(PATH) ? url.slice(0, -PATH.length) : url,
    body: Object.fromEntries(Object.entries(body).filter(([key]) => !NO_OPTIONS.has(key))),
  };
}

interface WireMessage {
  readonly role: string;
  readonly text: string;
  readonly callId: string;
  readonly calls: readonly { readonly id: string; readonly tool: string; readonly args: string }[];
}

function historyOf(messages: readonly WireMessage[]): HistoryEntry[] {
  const results = resultsIn(messages);
  const history: HistoryEntry[] = [];
  for (const { role, text, calls } of messages) {
    if (role !== 'user' && role !== 'assistant') continue;
    if (text !== '') history.push({ role, content: text });
    for (const call of calls) {
      history.push({ call: { ...call, result: results.get(call.id) ?? '' } });
    }
  }
  return history;
}

/** What tools answered, by the ids of their calls. */
function resultsIn(messages: readonly WireMessage[]): Map<string, string> {
  const answers = messages.filter(({ role }) => role === 'tool');
  return new Map(answers.map(({ callId, text }) => [callId, text]));
}

/** Gives each tool call the result that a recording holds for it. */
export class Answers {
  readonly #calls: RecordedCall[] = [];

  /** Takes the calls of the later requests, in order, each call once. */
  constructor(recording: Recording) {
    const seen = new Set<string>();
    for (const { request } of recording.interactions.slice(1)) {
      const body = isObject(request.body) ? request.body : {};
      const messages = listOf(body['messages']).map(readMessage);
      const results = resultsIn(messages);
      for (const call of messages.flatMap(({ calls }) => calls)) {
        const result = results.get(call.id);
        if (result === undefined || seen.has(call.id)) continue;
        seen.add(call.id);
        this.#calls.push({ ...call, result });
      }
    }
  }

  /** The result of the first call of a tool with equal arguments that was not taken yet; undefined if there is none. */
  take(tool: string, args: unknown): string | undefined {
    const at = this.#calls.findIndex(
      (call) => call.tool === tool && sameValue(parse(call.args), args),
    );
    return at < 0 ? undefined : this.#calls.splice(at, 1)[0]!.result;
  }
}

function readMessage(value: unknown): WireMessage {
  const message = isObject(value) ? value : {};
  return {
    role: textOf(message['role']),
    text: contentText(message['content']),
    callId: textOf(message['tool_call_id']),
    calls: listOf(message['tool_calls']).map((item) => {
      const call = isObject(item) ? item : {};
      const fn = isObject(call['function']) ? call['function'] : {};
      return {
        id: textOf(call['id']),
        tool: textOf(fn['name']),
        args: textOf(fn['arguments']),
      };
    }),
  };
}

/** The text of a content: a string, or the text parts of a list. */
function contentText(content: unknown): string {
  if (!Array.isArray(content)) return textOf(content);
  return content.map((part) => (isObject(part) ? textOf(part['text']) : '')).join('');
}

function readTool(value: unknown): RecordedTool {
  const fn = isObject(value) && isObject(value['function']) ? value['function'] : {};
  const { name, description, parameters, ...extra } = fn;
  return { name: textOf(name), description: textOf(description), parameters, extra };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** JSON text as data; a text that is no JSON stands for itself. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
