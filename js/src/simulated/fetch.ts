/**
 * The simulated provider as a `fetch`.
 */
import type { TypeRules } from '../abi/rules.gen.js';
import { check } from '../validation/rules.js';
import { pause, type SimulatedProviderOptions } from './pause.js';
import { type Reply, replyTo } from './reply.js';

const rules = {
  title: 'options of simulatedFetch',
  code: 'E_INVALID_VALUE',
  fields: { pauseMs: { kind: 'number' } },
} as const satisfies TypeRules;

/**
 * A `fetch` that the simulated provider answers, without a network: it is for the option `fetch` of a runner's host, on
 * every platform. It answers POST requests whose path ends in `/chat/completions`, whatever host their address names.
 *
 * @example
 * const runner = createRunner({
 *   model: { baseURL: 'http://simulated/v1', model: 'simulated' },
 *   host: { fetch: simulatedFetch() },
 * });
 *
 * @throws TurncoreError E_INVALID_VALUE listing every wrong option
 */
export function simulatedFetch(options: SimulatedProviderOptions = {}): typeof fetch {
  const pauseMs = check(rules, options).pauseMs ?? 0;
  return async (input, init) => {
    const request = new Request(input, init);
    const { method, signal, url } = request;
    signal.throwIfAborted();
    const reply = await replyTo(method, new URL(url).pathname, () => request.text());
    signal.throwIfAborted();
    return new Response(bodyOf(reply, pauseMs, signal), reply);
  };
}

/** A reply's parts as a stream, which gives a part when it is read, and fails with the reason of the signal. */
function bodyOf(
  { parts }: Reply,
  pauseMs: number,
  signal: AbortSignal,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  const gone = new AbortController();
  let next = 0;
  return new ReadableStream(
    {
      start(controller) {
        signal.addEventListener('abort', () => {
          controller.error(signal.reason);
          gone.abort();
        });
      },
      async pull(controller) {
        if (next > 0 && pauseMs > 0) await pause(pauseMs, gone.signal);
        if (gone.signal.aborted) return;
        controller.enqueue(encoder.encode(parts[next++]));
        if (next === parts.length) controller.close();
      },
      cancel: () => gone.abort(),
    },
    { highWaterMark: 0 },
  );
}
