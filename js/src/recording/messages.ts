/**
 * Messages of recorded requests, read whatever they hold.
 */
import { isObject, sortedJSON } from '../simulated/text.js';
import { mediaIn, type RecordedMedia } from './media.js';
import type { Interaction } from './recording.js';

/**
 * What the provider gave with an answer, or a call, to have it back, as the request has it, by the names of its members:
 * reasoning_details and extra_content.
 */
export type Given = Readonly<Record<string, unknown>>;

/** A recorded tool call. */
export interface RecordedCall {
  readonly id: string;
  readonly tool: string;
  /** As the request has them, which may be no JSON. */
  readonly args: string;
  readonly result: string;
  /** Whether the request holds a result. */
  readonly answered: boolean;
  readonly given: Given | undefined;
}

/** A message of a recorded request. */
export interface WireMessage {
  readonly role: string;
  /** Of who speaks; empty for none. */
  readonly name: string;
  readonly text: string;
  readonly media: readonly RecordedMedia[];
  /** Reasoning that the client sent back. */
  readonly thought: string;
  readonly given: Given | undefined;
  /** Of a tool's message. */
  readonly callId: string;
  readonly calls: readonly RecordedCall[];
}

/** The body of a request; empty when it is no object. */
export function bodyOf({ request }: Interaction): Record<string, unknown> {
  return isObject(request.body) ? request.body : {};
}

/**
 * The messages of a request. What cannot be read is left out. Media of tools' results are in a message of the user behind
 * the results.
 */
export function messagesOf(interaction: Interaction): WireMessage[] {
  const list: WireMessage[] = [];
  let behind: RecordedMedia[] = [];
  const flush = (): void => {
    if (behind.length > 0) list.push({ ...NOTHING, role: 'user', media: behind });
    behind = [];
  };
  for (const message of listOf(bodyOf(interaction)['messages']).map(readMessage)) {
    if (message.role === 'tool') {
      behind.push(...message.media);
      list.push({ ...message, media: [] });
    } else {
      flush();
      list.push(message);
    }
  }
  flush();
  return list;
}

const NOTHING: Omit<WireMessage, 'role' | 'media'> = {
  name: '',
  text: '',
  thought: '',
  callId: '',
  given: undefined,
  calls: [],
};

function readMessage(value: unknown): WireMessage {
  const message = isObject(value) ? value : {};
  const role = textOf(message['role']);
  return {
    role,
    name: textOf(message['name']),
    text:
      plainText(message['content'], role === 'tool') ||
      (role === 'assistant' ? textOf(message['refusal']) : ''),
    media: mediaIn(message['content']),
    thought: textOf(message['reasoning_content']) || textOf(message['reasoning']),
    given: role === 'assistant' ? givenIn(message) : undefined,
    callId: textOf(message['tool_call_id']),
    calls: listOf(message['tool_calls']).map((item) => {
      const call = isObject(item) ? item : {};
      const fn = isObject(call['function']) ? call['function'] : {};
      const given = fn['arguments'] ?? '';
      const args = typeof given === 'string' ? given : JSON.stringify(given);
      return {
        id: textOf(call['id']),
        tool: textOf(fn['name']),
        args: args === '' ? '{}' : args,
        result: '',
        answered: false,
        given: givenIn(call),
      };
    }),
  };
}

/** What the provider gave: reasoning_details of which any is signed or encrypted, and extra_content. */
function givenIn(message: Record<string, unknown>): Given | undefined {
  const { reasoning_details: details, extra_content: extra } = message;
  const signed = listOf(details).some(
    (detail) =>
      isObject(detail) && (textOf(detail['signature']) !== '' || textOf(detail['data']) !== ''),
  );
  const given = {
    ...(signed ? { reasoning_details: details } : {}),
    ...(isObject(extra) && Object.keys(extra).length > 0 ? { extra_content: extra } : {}),
  };
  return Object.keys(given).length > 0 ? given : undefined;
}

/** The text of a content: a string, or the texts of a list's parts. A tool's result that is neither is JSON. */
export function plainText(content: unknown, result: boolean): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) {
    return content.map(partText).join('');
  }
  return result && content !== null && content !== undefined ? sortedJSON(content) : '';
}

function partText(part: unknown): string {
  if (typeof part === 'string') return part;
  if (!isObject(part)) return '';
  if (typeof part['text'] !== 'string' && part['type'] === 'refusal') {
    return textOf(part['refusal']);
  }
  return textOf(part['text']);
}

/** Whether a role is one of who writes the system prompt. */
export function isSystem(role: unknown): boolean {
  return role === 'system' || role === 'developer';
}

/**
 * The calls that each message makes, with the results that the messages behind it hold. Results belong to calls of the
 * answer before them: by the id, or by the order where ids are missing, or are given twice.
 */
export function answered(messages: readonly WireMessage[]): RecordedCall[][] {
  return messages.map(({ calls }, i) => {
    if (calls.length === 0) return [];
    const next = messages.findIndex(({ role }, k) => k > i && role === 'assistant');
    const behind = messages.slice(i + 1, next < 0 ? undefined : next);
    let results = behind.filter(({ role }) => role === 'tool');
    const list = [...calls];
    for (const byId of [true, false]) {
      list.forEach((call, k) => {
        if (call.answered) return;
        const found = results.find(({ callId }) => !byId || callId === call.id);
        if (found === undefined) return;
        list[k] = { ...call, result: found.text, answered: true };
        results = results.filter((result) => result !== found);
      });
    }
    return list;
  });
}

/** A string, empty for anything else. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A list, empty for anything else. */
export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
