/**
 * What a turn begins with that plays a recorded conversation.
 */
import type { DispatchContext } from '../context/dispatch-context.js';
import { Media } from '../primitives/media.js';
import { Message } from '../primitives/message.js';
import { Thought } from '../primitives/thought.js';
import { ToolCall } from '../primitives/tool-call.js';
import type { Delta } from '../pump/deltas.js';
import { MemoryReader } from '../readers/memory-reader.js';
import { isObject } from '../simulated/text.js';
import { toolCallChecksum } from '../tools/checksum.js';
import type { StandardSchema } from '../tools/standard-schema.js';
import { type AnyTool, type ObjectSchema, Tool } from '../tools/tool.js';
import type { Conversation, HistoryEntry, Saying } from './conversation.js';
import type { RecordedCall } from './messages.js';

/** What the recorded user says: nothing where all is history. */
export function userMessageOf({ user }: Conversation, now: number): string | Message | undefined {
  if (user === undefined) return undefined;
  if (user.media.length === 0 && user.name === '') return user.content;
  return messageOf(user, 'recorded-user', now);
}

/** Has the user say what the recorded client goes on with: behind all that was said and done. */
export async function goOn(
  ctx: DispatchContext,
  list: readonly Saying[],
  now: number,
): Promise<void> {
  for (const said of list) {
    const records = [...ctx.turnMessages, ...ctx.turnToolCalls];
    const times = records.map(({ createdAt }) => createdAt.getTime() + 1);
    const at = times.reduce((latest, time) => Math.max(latest, time), now);
    await ctx.storeMessage(messageOf(said, `recorded-user-${said.message}`, at));
  }
}

function messageOf(
  { message, role, name, content, media }: Saying,
  id: string,
  at: number,
): Message {
  return new Message({
    id,
    role,
    ...(content === '' ? {} : { content }),
    ...(name === '' ? {} : { identity: name }),
    ...(media.length === 0
      ? {}
      : {
          attachments: media.map(({ data, source, ...what }, k) =>
            Media.userAttachment({
              ...what,
              id: `media-${message}-${k}`,
              ...(source === '' ? {} : { source }),
              reader: new MemoryReader(Uint8Array.from(atob(data), (c) => c.charCodeAt(0))),
            }),
          ),
        }),
    createdAt: at,
    updatedAt: at,
  });
}

/** What was said before, a millisecond apart and ending at now. */
export function historyOf({ history, baseURL }: Conversation, now: number): Delta[] {
  const records = new Records(givenTag(baseURL));
  return history.map((entry, i) => records.deltaOf(entry, i, now - (history.length - i)));
}

/** The tag of what the provider openai keeps to give it back to the host of an address. */
function givenTag(baseURL: string): string {
  const host = URL.canParse(baseURL) ? new URL(baseURL).hostname : 'api.openai.com';
  return `chat-completions-reasoning-v1@${host}`;
}

/** Makes records of a history. */
class Records {
  /** Ids of the calls. */
  readonly #ids = new Set<string>();
  /** Ids of messages by the number of the recorded message. */
  readonly #messages = new Map<number, string>();
  /** Likewise of the first call. */
  readonly #groups = new Map<number, string>();
  /** The tag of what the provider gave to have it back. */
  readonly #given: string;

  constructor(given: string) {
    this.#given = given;
  }

  deltaOf(entry: HistoryEntry, i: number, at: number): Delta {
    const id = `history-${i}`;
    const times = { createdAt: at, updatedAt: at };
    if ('call' in entry) {
      const record = this.#call(entry.call, entry.message, id, times);
      return { op: 'store', kind: 'toolCall', record };
    }
    if ('thought' in entry) {
      const { thought: content, given: payload } = entry;
      const record =
        payload === undefined
          ? new Thought({ id, content, ...times })
          : new Thought({ id, content, payload, replayCompatibility: this.#given, ...times });
      return { op: 'store', kind: 'thought', record };
    }
    this.#messages.set(entry.message, id);
    return { op: 'store', kind: 'message', record: messageOf(entry, id, at) };
  }

  /** The record of a call has the recorded id unless that is missing or taken. */
  #call(
    { id, tool, args: text, result, given: extra }: RecordedCall,
    message: number,
    other: string,
    times: { createdAt: number; updatedAt: number },
  ): ToolCall {
    const own = id !== '' && !this.#ids.has(id);
    const record = own ? id : other;
    this.#ids.add(record);
    // This is how the chat executor notes which calls were made by one answer.
    const group = this.#groups.get(message) ?? record;
    this.#groups.set(message, group);
    const said = this.#messages.get(message);
    const given = objectOf(text);
    const args = given ?? {};
    return new ToolCall({
      id: record,
      tool,
      args,
      checksum: toolCallChecksum(tool, args),
      isComplete: true,
      isError: false,
      results: result,
      payload: {
        group,
        ...(said === undefined ? {} : { message: said }),
        ...(own || id === '' ? {} : { id }),
        ...(given === undefined ? { rejected: text } : {}),
        ...(extra === undefined ? {} : { [this.#given]: extra }),
      },
      replayCompatibility: 'chat-completions-v1',
      ...times,
      completedAt: times.createdAt,
    });
  }
}

/** An object in JSON, undefined for anything else. */
function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The tools that the recorded request offers, and those that may be called all the same, which are to be hidden. They take
 * any arguments: the recorded client has judged those.
 *
 * @param called names of tools that may be called
 * @param answer gives a call's result
 */
export function toolsOf(
  { tools: offered }: Conversation,
  called: readonly string[],
  answer: (name: string, args: Record<string, unknown>) => unknown,
): { tools: AnyTool[]; hidden: string[] } {
  const names = new Set(offered.map(({ name }) => name));
  const hidden = called.filter((name) => !names.has(name));
  const missing = hidden.map((name) => ({ name, description: '', parameters: {} }));
  const tools = [...offered, ...missing].map(
    ({ name, description, parameters }) =>
      new Tool({
        name,
        // A tool must have one.
        description: description === '' ? name : description,
        inputSchema: ANYTHING,
        jsonSchema: objectSchema(parameters),
        handler: (args) => answer(name, args),
      }),
  );
  return { tools, hidden };
}

/** Takes arguments as they are. */
const ANYTHING: StandardSchema<Record<string, unknown>> = {
  '~standard': {
    version: 1,
    vendor: 'turncore',
    validate: (value) => ({ value: value as Record<string, unknown> }),
  },
};

/** A schema of objects: a recorded one may leave the type out, or be none at all. */
function objectSchema(parameters: unknown): ObjectSchema {
  if (!isObject(parameters)) return { type: 'object' };
  return { ...parameters, type: 'object' };
}
