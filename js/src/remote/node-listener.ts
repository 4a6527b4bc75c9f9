/**
 * A fetch handler as a listener of Node's HTTP server.
 */

import { invalidValue } from '../errors.js';

/** What a listener needs of Node's `IncomingMessage`. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** What a listener needs of Node's `ServerResponse`. */
export interface NodeResponse {
  statusCode: number;
  setHeader(name: string, value: string | readonly string[]): unknown;
  flushHeaders(): void;
  write(bytes: Uint8Array): boolean;
  end(): unknown;
  destroy(error?: Error): unknown;
  on(event: 'close' | 'drain', listener: () => void): unknown;
  readonly writableFinished: boolean;
}

/**
 * A listener for `http.createServer` that answers by a fetch handler: `createServer(nodeListener(server.fetch))`. The
 * request's signal aborts when the client goes away, and the response goes no faster than the client reads. A request
 * that no handler can take, such as one with a wrong `Host`, gets 400. An error of the handler is logged, and gives
 * 500.
 *
 * @throws TurncoreError E_INVALID_VALUE unless the handler is a function
 */
export function nodeListener(
  fetch: (request: Request) => Promise<Response>,
): (request: NodeRequest, response: NodeResponse) => void {
  if (typeof fetch !== 'function') throw invalidValue('fetch', 'must be a function');
  return (request, response) => {
    let begun = false;
    const refuse = (status: number): void => {
      response.statusCode = status;
      response.end();
    };
    const gone = new AbortController();
    let drained: () => void = () => undefined;
    response.on('drain', () => drained());
    response.on('close', () => {
      if (!response.writableFinished) gone.abort();
      drained();
    });
    const answer = async (): Promise<void> => {
      let asked: Request;
      try {
        asked = requestOf(request, gone.signal);
      } catch {
        refuse(400);
        return;
      }
      const given = await fetch(asked);
      begun = true;
      response.statusCode = given.status;
      for (const [name, value] of given.headers) {
        if (name !== 'set-cookie') response.setHeader(name, value);
      }
      const cookies = given.headers.getSetCookie();
      if (cookies.length > 0) response.setHeader('set-cookie', cookies);
      response.flushHeaders();
      const body = given.body?.getReader();
      for (let read; body !== undefined && !(read = await body.read()).done;) {
        if (gone.signal.aborted) return void body.cancel().catch(() => undefined);
        if (response.write(read.value)) continue;
        await new Promise<void>((resolve) => (drained = resolve));
      }
      response.end();
    };
    answer().catch((error: unknown) => {
      console.error(error);
      if (begun) response.destroy();
      else refuse(500);
    });
  };
}

function requestOf(request: NodeRequest, signal: AbortSignal): Request {
  const { method = 'GET', url = '/', headers: given } = request;
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith(':')) continue; // HTTP/2
    for (const one of Array.isArray(value) ? (value as string[]) : [value as string]) {
      headers.append(name, one);
    }
  }
  const init = { method, headers, signal };
  const address = new URL(url, `http://${headers.get('host') ?? 'localhost'}`);
  if (method === 'GET' || method === 'HEAD') return new Request(address, init);
  const parts = request[Symbol.asyncIterator]();
  const body = new ReadableStream<Uint8Array>({
    async pull(stream) {
      const part: IteratorResult<Uint8Array, unknown> = await parts.next();
      if (part.done === true) stream.close();
      else stream.enqueue(part.value);
    },
    cancel: async () => {
      await parts.return?.();
    },
  });
  return new Request(address, { ...init, body, duplex: 'half' } as RequestInit);
}
