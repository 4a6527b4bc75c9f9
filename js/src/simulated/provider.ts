/**
 * A model provider that needs no network and no key, for Node: it speaks OpenAI's chat completions and answers by
 * simple rules. It calls a tool that the user's text mentions, with arguments found in that text, reports a tool's
 * answer, and otherwise repeats the text. The same request gets the same answer, also from its twin in the Go module.
 *
 * @packageDocumentation
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { answerTo, type ChatRequest, readRequest } from './answer.js';
import { streamedAnswer, wholeAnswer } from './chunks.js';
import { readBody } from './read-body.js';
import { sortedJSON } from './text.js';

export { SIMULATED_MODEL } from './answer.js';

/** Settings of {@link simulatedProvider}. */
export interface SimulatedProviderOptions {
  /** Milliseconds between two parts of a streamed answer. Default 0. */
  readonly pauseMs?: number | undefined;
}

/** The used part of a request: an `IncomingMessage` of `node:http` has it. */
export interface ProviderRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
}

/** The used part of a response: a `ServerResponse` of `node:http` has it. */
export interface ProviderResponse {
  writeHead(status: number, headers: Record<string, string>): unknown;
  write(text: string): unknown;
  end(text?: string): unknown;
  destroy(): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** Answers a request; never throws. */
export type RequestHandler = (request: ProviderRequest, response: ProviderResponse) => void;

/** Largest size of a request in bytes. */
const MAX_REQUEST = 32 << 20;

/**
 * A request handler for Node's `http.createServer`, which answers POST requests whose path ends in `/chat/completions`.
 */
export function simulatedProvider(options: SimulatedProviderOptions = {}): RequestHandler {
  const pauseMs = options.pauseMs ?? 0;
  return (request, response) => {
    // Only the connection can fail here: the client has gone.
    handle(request, response, pauseMs).catch(() => response.destroy());
  };
}

async function handle(
  request: ProviderRequest,
  response: ProviderResponse,
  pauseMs: number,
): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  if (request.method !== 'POST' || !pathname.endsWith('/chat/completions')) {
    refuse(response, 404, 'the simulated provider answers POST …/chat/completions');
    return;
  }
  let chat: ChatRequest;
  try {
    chat = readRequest(await readBody(request, MAX_REQUEST));
  } catch (error) {
    refuse(response, 400, `the request is no JSON: ${(error as Error).message}`);
    return;
  }
  const answer = answerTo(chat);
  if (!chat.stream) {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(`${wholeAnswer(answer, chat)}\n`);
    return;
  }
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  for (const chunk of streamedAnswer(answer, chat)) {
    response.write(`data: ${chunk}\n\n`);
    if (pauseMs > 0) await sleep(pauseMs, undefined, { signal: gone.signal });
  }
  response.end();
}

function refuse(response: ProviderResponse, status: number, message: string): void {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(`${sortedJSON({ error: { message, code: status } })}\n`);
}
