/**
 * The network of scenarios: a provider, or a web server, that answers what the scenario says.
 */
import { canonicalJSON } from '../codec/canonical-json.js';
import { aborted, abortSoon } from './hang.js';
import type { Answer } from './scenario.js';
import type { Stage } from './stage.js';

/** Where requests of scenarios go unless they say otherwise. */
export const PROVIDER = 'http://provider.test';

/** What the host knows for it, by name. */
export const credentials = {
  key: {
    header: 'authorization',
    value: 'Bearer secret-of-the-corpus',
    origins: [PROVIDER],
  },
} as const;

/** Answers requests, one after the other; one more than there are answers fails. */
export class Network {
  readonly #stage: Stage;
  readonly #answers: readonly Answer[];
  #requests = 0;
  /** Body of the last one. */
  #body = '';

  constructor(stage: Stage, answers: readonly Answer[]) {
    this.#stage = stage;
    this.#answers = answers;
  }

  /** Writes a line about a request and gives the next answer. */
  async fetch(url: URL, init: RequestInit): Promise<Response> {
    const body = init.body === undefined ? '' : new TextDecoder().decode(init.body as Uint8Array);
    const headers: Record<string, string> = {};
    for (const [name, value] of init.headers as [string, string][]) {
      const lower = name.toLowerCase();
      headers[lower] = lower in headers ? `${headers[lower]}, ${value}` : value;
    }
    const replaced = this.#replaced(body);
    this.#stage.write({
      request: `${init.method ?? 'GET'} ${url.href}`,
      headers,
      ...(body === '' ? {} : { body }),
      ...(replaced === '' ? {} : { replaced }),
    });
    const answer = this.#answers[this.#requests++];
    if (answer === undefined || answer.fails === true) throw new TypeError(FAILED);
    const { status = 200 } = answer;
    const empty = status === 204 || status === 304;
    return new Response(empty ? null : this.#stream(answer, init.signal ?? undefined), {
      status,
      headers: headersOf(answer),
    });
  }

  /** What of the body of the last request does not begin this one's. */
  #replaced(body: string): string {
    const last = this.#body;
    this.#body = body;
    let same = 0;
    while (same < last.length && last[same] === body[same]) same++;
    return last.slice(same);
  }

  #stream(answer: Answer, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
    const pieces = piecesOf(answer);
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const piece = pieces.shift();
          if (piece !== undefined) {
            controller.enqueue(new TextEncoder().encode(piece));
          } else if (answer.hangs === true) {
            abortSoon(this.#stage.values);
            await aborted(signal);
            controller.error(new TypeError(FAILED));
          } else if (answer.breaks === true) {
            controller.error(new TypeError(FAILED));
          } else {
            controller.close();
          }
        },
      },
      { highWaterMark: 0 },
    );
  }
}

const FAILED = 'the connection failed';

/** The headers that are given, and a type for the body. */
export function headersOf(answer: Answer): Record<string, string> {
  const type = answer.events !== undefined ? 'text/event-stream' : 'application/json';
  const typed = answer.events !== undefined || answer.json !== undefined;
  return { ...(typed ? { 'content-type': type } : {}), ...answer.headers };
}

/** What the body comes in. */
export function piecesOf({ text, json, events = [], chunks = [] }: Answer): string[] {
  return [
    ...(text === undefined ? [] : [text]),
    ...(json === undefined ? [] : [canonicalJSON(json)]),
    ...events.map((e) => `data: ${typeof e === 'string' ? e : canonicalJSON(e)}\n\n`),
    ...chunks,
  ];
}
