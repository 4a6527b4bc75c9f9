/**
 * What a turn begins with that plays a recorded conversation.
 */
import type { ChatOptions } from '../models/chat-options.js';
import { Message } from '../primitives/message.js';
import { ToolCall } from '../primitives/tool-call.js';
import type { Delta } from '../pump/deltas.js';
import { toolCallChecksum } from '../tools/checksum.js';
import type { Conversation, HistoryEntry } from './conversation.js';

/** The options that make the executor ask for what the recording's first request asks for. */
export function chatOptionsOf({ baseURL, model, body, tools }: Conversation): ChatOptions {
  const extras = tools.filter(({ extra }) => Object.keys(extra).length > 0);
  const toolExtras = Object.fromEntries(extras.map(({ name, extra }) => [name, extra]));
  // Whether the recorded client asked for the usage is in the body. It sent texts bare.
  return { baseURL, model, includeUsage: false, body, toolExtras, trust: 'off' };
}

/** What was said before, a millisecond apart and ending at now. */
export function historyOf({ history }: Conversation, now: number): Delta[] {
  return history.map((entry, i) => deltaOf(entry, i, now - (history.length - i)));
}

function deltaOf(entry: HistoryEntry, i: number, at: number): Delta {
  const times = { createdAt: at, updatedAt: at };
  if (!('call' in entry)) {
    const { role, content } = entry;
    const record = new Message({ id: `history-${i}`, role, content, ...times });
    return { op: 'store', kind: 'message', record };
  }
  const { id, tool, result } = entry.call;
  const args: unknown = JSON.parse(entry.call.args || '{}');
  const record = new ToolCall({
    id,
    tool,
    args: args as Record<string, unknown>,
    checksum: toolCallChecksum(tool, args),
    isComplete: true,
    isError: false,
    results: result,
    ...times,
    completedAt: at,
  });
  return { op: 'store', kind: 'toolCall', record };
}
