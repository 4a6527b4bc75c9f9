/**
 * The simulated provider's answer to a request.
 */
import { findArguments } from './arguments.js';
import { byteLength, isObject, lowerCase, wellFormed } from './text.js';

/** The used parts of a chat completions request. */
export interface ChatRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ChatTool[];
}

/** A message with the text of its content. */
export interface ChatMessage {
  readonly role: string;
  readonly text: string;
}

/** An available tool. */
export interface ChatTool {
  readonly name: string;
  readonly parameters: unknown;
}

/** An answer, before it is cut into chunks. */
export interface Answer {
  readonly thought: string;
  readonly text: string;
  /** Tool to call; empty for none. */
  readonly tool: string;
  /** JSON text. */
  readonly args: string;
}

/** The model's name in answers to requests without one. */
export const SIMULATED_MODEL = 'simulated';

/**
 * Reads a request's body.
 *
 * @throws Error if it is not JSON, or not shaped like a request
 */
export function readRequest(body: string): ChatRequest {
  const value: unknown = JSON.parse(body, (_key, part: unknown) =>
    isString(part) ? wellFormed(part) : part,
  );
  if (!isObject(value)) throw new Error('it must be an object');
  const { model, stream, messages, tools } = value;
  return {
    model: optional(model, 'model', isString, '') || SIMULATED_MODEL,
    stream: optional(stream, 'stream', isBoolean, false),
    messages: optional(messages, 'messages', isList, []).map(readMessage),
    tools: optional(tools, 'tools', isList, []).map(readTool),
  };
}

const isString = (value: unknown): value is string => typeof value === 'string';
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
const isList = (value: unknown): value is unknown[] => Array.isArray(value);

function optional<T>(value: unknown, name: string, is: (v: unknown) => v is T, absent: T): T {
  if (value === undefined || value === null) return absent;
  if (is(value)) return value;
  throw new Error(`${name} is of another type`);
}

function readMessage(value: unknown, i: number): ChatMessage {
  const message = optional(value, `messages[${i}]`, isObject, {});
  const role = optional(message['role'], `messages[${i}].role`, isString, '');
  return { role, text: textOf(message['content']) };
}

function readTool(value: unknown, i: number): ChatTool {
  const tool = optional(value, `tools[${i}]`, isObject, {});
  const fn = optional(tool['function'], `tools[${i}].function`, isObject, {});
  const name = optional(fn['name'], `tools[${i}].function.name`, isString, '');
  return { name, parameters: fn['parameters'] };
}

/** The text of a message's content: a string, or the text parts of a list. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part) => (isObject(part) && isString(part['text']) ? part['text'] : ''))
    .join('');
}

/** A tool's result without its marks, which are separate lines. */
function unmarked(text: string): string {
  if (!/^<(un)?trusted_content_/.test(text)) return text;
  const start = text.indexOf('\n') + 1;
  return text.slice(start, Math.max(text.lastIndexOf('\n'), start));
}

/**
 * Decides the answer: reports a tool's answer, calls a tool that the text mentions, or repeats the text.
 */
export function answerTo(request: ChatRequest): Answer {
  const { messages, tools } = request;
  const last = messages.at(-1);
  if (last === undefined) return say('There is no message to answer.');
  if (last.role === 'tool') {
    const first = messages.findLastIndex((message) => message.role !== 'tool') + 1;
    const results = messages.slice(first).map((message) => unmarked(message.text));
    return say(
      `${results.length === 1 ? 'The tool' : 'The tools'} answered: ${results.join('; ')}`,
    );
  }
  const { text } = last;
  const lower = lowerCase(text);
  const called = tools.find((tool) => mentions(lower, tool.name));
  if (called !== undefined) {
    return {
      thought: `The text mentions ${called.name}, so I call it.`,
      text: '',
      tool: called.name,
      args: findArguments(text, called.parameters),
    };
  }
  if (tools.length === 0) return say(`You said: ${text}`);
  const names = tools.map((tool) => tool.name).join(', ');
  return say(`You said: ${text}\n\nI can also use tools: ${names}. Mention one and I call it.`);
}

function say(text: string): Answer {
  return { thought: '', text, tool: '', args: '' };
}

/** Whether a text mentions a tool: by its name, or by a word of the name with four letters or more. */
function mentions(lowerText: string, name: string): boolean {
  const lowerName = lowerCase(name);
  const words = lowerName.split(/[_\- ]/).filter((word) => byteLength(word) >= 4);
  return (
    words.some((word) => lowerText.includes(word)) || (name !== '' && lowerText.includes(lowerName))
  );
}
