/**
 * What a recording says apart from the wire: the conversation before its first request.
 */
import { isObject } from '../simulated/text.js';
import {
  answered,
  bodyOf,
  type Given,
  isSystem,
  listOf,
  messagesOf,
  type RecordedCall,
  textOf,
  type WireMessage,
} from './messages.js';
import type { RecordedMedia } from './media.js';
import { type Interaction, InvalidRecording, type Recording } from './recording.js';

/** What a recording's first request holds. */
export interface Conversation {
  readonly system: string;
  /** What came before the last user message. */
  readonly history: readonly HistoryEntry[];
  /** What the user says at the end; undefined when the request does not end with that: all is history then. */
  readonly user: Saying | undefined;
  readonly tools: readonly RecordedTool[];
  readonly model: string;
  /** Where the provider is, without the path of the request. */
  readonly baseURL: string;
  /** Whether the answers were asked for as streams. */
  readonly stream: boolean;
  /** What else the request asks for, such as temperature. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** What somebody says. */
export interface Saying {
  /** Number of the request's message. */
  readonly message: number;
  readonly role: 'user' | 'assistant';
  /** Of who speaks; empty for none. */
  readonly name: string;
  readonly content: string;
  readonly media: readonly RecordedMedia[];
}

/** A message of the history, or a piece of reasoning, or a tool call with its result. */
export type HistoryEntry =
  | Saying
  | { readonly message: number; readonly thought: string; readonly given: Given | undefined }
  | { readonly message: number; readonly call: RecordedCall };

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
/** The model of requests that name none, as where the address does. */
const UNNAMED = 'unnamed';

/** Whether an interaction asks for chat completions. */
export function isChat({ request: { method, url, body } }: Interaction): boolean {
  if (method !== '' && method !== 'POST') return false;
  if (!isObject(body) || !Array.isArray(body['messages'])) return false;
  return url === '' || addressOf(url).path.endsWith(PATH);
}

/** A URL without its query and without a slash at its end, and the query with its question mark. */
function addressOf(url: string): { path: string; query: string } {
  const whole = url.split('#', 1)[0]!;
  const at = whole.indexOf('?');
  const path = at < 0 ? whole : whole.slice(0, at);
  return { path: path.replace(/\/$/, ''), query: at < 0 ? '' : whole.slice(at) };
}

/** What the first request of a recording says, which must be one for chat completions. @throws InvalidRecording */
export function conversationOf(recording: Recording): Conversation {
  const first = recording.interactions[0]!;
  if (!isObject(first.request.body)) {
    throw new InvalidRecording("the first chat request's body", 'must be an object');
  }
  const body = bodyOf(first);
  const { path, query } = addressOf(first.request.url);
  const conversation = {
    ...said(messagesOf(first)),
    tools: toolsIn(body),
    model: textOf(body['model']) || UNNAMED,
    baseURL: (path.endsWith(PATH) ? path.slice(0, -PATH.length) : path) + query,
    stream: body['stream'] === true,
    // The executor reads one answer.
    body: Object.fromEntries(
      Object.entries(body).filter(
        ([key, value]) => !NO_OPTIONS.has(key) && (key !== 'n' || value === 1),
      ),
    ),
  };
  const { system, history, user } = conversation;
  if (system === '' && user === undefined && history.length === 0) {
    const problem = 'must hold a text or a media';
    throw new InvalidRecording("the first chat request's messages", problem);
  }
  return conversation;
}

/** What messages say, apart from who speaks. */
function said(messages: readonly WireMessage[]): Pick<Conversation, 'system' | 'history' | 'user'> {
  const calls = answered(messages);
  const last = messages.findLastIndex(({ role }) => !isSystem(role));
  const system: string[] = [];
  const history: HistoryEntry[] = [];
  let user: Saying | undefined;
  messages.forEach((message, i) => {
    const { role, text, thought, given } = message;
    const says = sayingOf(message, i);
    if (isSystem(role)) {
      if (text !== '') system.push(text);
    } else if (i === last && role === 'user') {
      user = says;
    } else if (role === 'user' || role === 'assistant') {
      if (role === 'assistant' && (thought !== '' || given !== undefined)) {
        history.push({ message: i, thought, given });
      }
      if (says !== undefined) history.push(says);
      for (const call of calls[i]!) history.push({ message: i, call });
    }
  });
  return { system: system.join('\n\n'), history, user };
}

/** What a message of a user or an assistant says; undefined for nothing. */
export function sayingOf(
  { role, name, text, media }: WireMessage,
  message: number,
): Saying | undefined {
  if (text === '' && media.length === 0) return undefined;
  return { message, role: role === 'assistant' ? role : 'user', name, content: text, media };
}

/** The functions that the client runs, without tools of the provider's own, and those that have no name. */
function toolsIn(body: Record<string, unknown>): RecordedTool[] {
  const tools = new Map<string, RecordedTool>();
  for (const value of listOf(body['tools'])) {
    if (!isObject(value) || !isObject(value['function'])) continue;
    if (textOf(value['type']) !== '' && value['type'] !== 'function') continue;
    const { name, description, parameters, ...extra } = value['function'];
    const tool = { name: textOf(name), description: textOf(description), parameters, extra };
    if (tool.name !== '' && !tools.has(tool.name)) tools.set(tool.name, tool);
  }
  return [...tools.values()];
}

/**
 * Whether the recorded client sent the model's reasoning back in its own field: of every answer of the conversation, or of
 * the history when there is no second request.
 */
export function sendsThoughts({ interactions }: Recording): boolean {
  const first = listOf(bodyOf(interactions[0]!)['messages']).length;
  const answers = listOf(bodyOf(interactions.at(-1)!)['messages']).map((value, i) => {
    const message = isObject(value) ? value : {};
    const has = textOf(message['reasoning_content']) !== '';
    return { before: i < first, assistant: message['role'] === 'assistant', has };
  });
  const mine = answers.filter(({ before, assistant }) => assistant && !before);
  if (mine.length > 0) return mine.every(({ has }) => has);
  return answers.some(({ assistant, has }) => assistant && has);
}
