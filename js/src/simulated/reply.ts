/**
 * The simulated provider's replies to requests over HTTP.
 */
import { answerTo, type ChatRequest, readRequest } from './answer.js';
import { streamedAnswer, wholeAnswer } from './chunks.js';
import { sortedJSON } from './text.js';

/** A response, in the parts in which it is sent. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly parts: readonly string[];
}

/**
 * The reply to a request: chat completions for a POST whose path ends in `/chat/completions`.
 *
 * @param readBody reads the request's body as text; what it throws makes the request invalid
 */
export async function replyTo(
  method: string | undefined,
  pathname: string,
  readBody: () => Promise<string>,
): Promise<Reply> {
  if (method !== 'POST' || !pathname.endsWith('/chat/completions')) {
    return refusal(404, 'the simulated provider answers POST …/chat/completions');
  }
  let chat: ChatRequest;
  try {
    chat = readRequest(await readBody());
  } catch (error) {
    return refusal(400, `the request is no JSON: ${(error as Error).message}`);
  }
  const answer = answerTo(chat);
  if (!chat.stream) return json(200, wholeAnswer(answer, chat));
  return {
    status: 200,
    headers: { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' },
    parts: streamedAnswer(answer, chat).map((chunk) => `data: ${chunk}\n\n`),
  };
}

function refusal(status: number, message: string): Reply {
  return json(status, sortedJSON({ error: { message, code: status } }));
}

function json(status: number, text: string): Reply {
  return { status, headers: { 'Content-Type': 'application/json' }, parts: [`${text}\n`] };
}
