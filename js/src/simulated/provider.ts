/**
 * The simulated provider as a request handler of Node.
 */
import { pause, type SimulatedProviderOptions } from './pause.js';
import { readBody } from './read-body.js';
import { replyTo } from './reply.js';

/** The used part of a request: an `IncomingMessage` of `node:http` has it. */
export interface ProviderRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
}

/** The used part of a response: a `ServerResponse` of `node:http` has it. */
export interface ProviderResponse {
  writeHead(status: number, headers: Readonly<Record<string, string>>): unknown;
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
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  const { status, headers, parts } = await replyTo(request.method, pathname, () =>
    readBody(request, MAX_REQUEST),
  );
  response.writeHead(status, headers);
  for (const part of parts.slice(0, -1)) {
    response.write(part);
    if (pauseMs > 0) await pause(pauseMs, gone.signal);
    if (gone.signal.aborted) return;
  }
  response.end(parts.at(-1));
}
