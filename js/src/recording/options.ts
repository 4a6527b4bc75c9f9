/**
 * The options of the chat executor that a recorded conversation is played with.
 */
import type { ChatOptions } from '../models/chat-options.gen.js';
import { type Conversation, sendsThoughts } from './conversation.js';
import type { Recording } from './recording.js';
import { retriesOf } from './thread.js';

/**
 * The options that make the executor ask for what the recording's first request asks for, and ask again when, and as often
 * as, the recorded client did so.
 */
export function chatOptionsOf(conversation: Conversation, recording: Recording): ChatOptions {
  const { baseURL, model, stream, body, tools } = conversation;
  const extras = tools.filter(({ extra }) => Object.keys(extra).length > 0);
  const { attempts, statuses } = retriesOf(recording);
  return {
    ...(baseURL === '' ? {} : { baseURL }),
    model,
    stream,
    // Whether the recorded client asked for the usage is in the body.
    includeUsage: false,
    body,
    toolExtras: Object.fromEntries(extras.map(({ name, extra }) => [name, extra])),
    // It sent texts bare, and whole.
    trust: 'off',
    spoolResultsOver: 0,
    thoughts: sendsThoughts(recording) ? 'reasoning_content' : 'off',
    retry: {
      maxAttempts: attempts,
      baseDelayMs: 0,
      ...(statuses.length > 0 ? { statuses } : {}),
    },
  };
}
