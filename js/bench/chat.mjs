/**
 * Turns with the chat executor, whose model answers from memory, and deltas by what 480 of them add.
 */
import { ChatExecutor, Host } from 'turncore';
import { Conversation } from './conversation.mjs';
import { measure, micros, once, paired, timedAsync } from './meter.mjs';

/** How much of a response arrives at once, in bytes: some twenty deltas. */
const PART = 4 << 10;
/** The same where a response arrives in tiny parts. */
const TINY = 100;

const HEAD =
  'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1767225600,"model":"m","choices":[{"index":0,"delta":';
const DELTA = `${HEAD}{"content":"a word "},"finish_reason":null}]}\n\n`;
const end = (reason) => `${HEAD}{},"finish_reason":"${reason}"}]}\n\ndata: [DONE]\n\n`;
const CALL = `${HEAD}${JSON.stringify({
  role: 'assistant',
  tool_calls: [
    { index: 0, id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1,"b":2}' } },
  ],
})},"finish_reason":null}]}\n\n${end('tool_calls')}`;

export async function measureChat(pace) {
  const subjects = [20, 500].map((deltas) => {
    const conversation = chat(deltas, PART);
    return timedAsync(`chat-${deltas}`, () => conversation.ask());
  });
  await measure(pace, ...subjects);
  const delta = (many, few) => Math.max(many - few, 0) / 480 / 1e3;
  return [
    ...subjects.map(micros),
    paired('chat-delta', 'µs', subjects[1], subjects[0], delta),
    await measureLong(pace),
  ];
}

/** Compares what a delta costs in a stream of 10 MB and in one of 1 MB, the best of some. */
async function measureLong(pace) {
  const streams = [pace.stream / 10, pace.stream].map((bytes) => {
    const deltas = Math.floor(bytes / DELTA.length);
    return { deltas, conversation: chat(deltas, TINY), best: Infinity };
  });
  for (let i = 0; i < 5; i++) {
    for (const stream of streams) {
      const start = performance.now();
      await stream.conversation.ask();
      stream.best = Math.min(stream.best, (performance.now() - start) / stream.deltas);
    }
  }
  const [short, long] = streams;
  return once('chat-long', '×', long.best / short.best);
}

/** A `fetch` that answers with a tool call and with deltas in turn, from memory. */
export function provider(deltas, part = PART) {
  const encode = (text) => new TextEncoder().encode(text);
  const responses = [encode(CALL), encode(DELTA.repeat(deltas) + end('stop'))];
  let requests = 0;
  return async () => {
    const bytes = responses[requests++ % 2];
    let at = 0;
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(bytes.slice(at, at + part));
        at += part;
        if (at >= bytes.length) controller.close();
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
}

/** A conversation whose model is behind the chat executor. */
export function chat(deltas, part = PART, module) {
  const host = new Host({ fetch: provider(deltas, part), module });
  const executorCallback = new ChatExecutor({ model: 'm', baseURL: 'http://provider/v1' });
  return new Conversation(deltas, { host, executorCallback });
}
