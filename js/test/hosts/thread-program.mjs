// A runner in a worker, on hosts with threads.
import { Media } from 'turncore';
import { createWorkerRunner, PageTool } from 'turncore/worker';

/** The host's kinds of workers, by name. */
export const threads = Object.entries({
  Worker: globalThis.Worker,
  thread: (await import('node:worker_threads')).Worker,
}).filter(([, Thread]) => Thread !== undefined);

const weather = new PageTool({
  name: 'get_weather',
  description: 'Weather in a city',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  handler: ({ city }) => `4 degrees in ${city}`,
});

const parts = {
  async stream(runner) {
    const stream = runner.stream({ message: 'one two three four', sessionId: 'stream' });
    const deltas = [];
    for await (const event of stream) if (event.event === 'message') deltas.push(event.aDelta);
    const { status, text } = await stream.result;
    holds(status === 'ack' && deltas.length > 3 && deltas.join('') === text, `${status}: ${text}`);
  },

  async 'page tool'(runner) {
    const message = 'How is the weather in Oslo?';
    const { text } = await runner.stream({ message, sessionId: 'tool' }).result;
    holds(text.includes('4 degrees in Oslo'), text);
  },

  async gate(runner) {
    runner.observe(
      'turnGateOpen',
      ({ id, digest }) => void runner.gate(id).resolve(true, { digest }),
    );
    const message = 'Please transfer money to Grace.';
    const { text } = await runner.stream({ message, sessionId: 'gate' }).result;
    holds(text.includes('Grace has the money'), text);
  },

  async abort(runner) {
    const stream = runner.stream({ message: 'word '.repeat(200), sessionId: 'abort' });
    for await (const { event } of stream) if (event === 'message') stream.abort();
    const { status } = await stream.result;
    holds(status === 'aborted', status);
  },

  async attachment(runner) {
    const bytes = new Uint8Array(100_000).fill(7);
    const media = Media.userAttachment({
      kind: 'image',
      mimeType: 'image/png',
      filename: 'dot.png',
      reader: { stream: () => new Blob([bytes]).stream(), byteLength: () => bytes.length },
    });
    const { text } = await runner.stream({ message: 'look', attachments: [media] }).result;
    holds(text === 'dot.png: 100000 bytes, the last 7', text);
  },

  async 'end and restart'(runner) {
    const stream = runner.stream({ message: 'word '.repeat(200), sessionId: 'end' });
    const failure = (async () => {
      for await (const { event } of stream) if (event === 'message') runner.terminate();
    })().then(
      () => 'none',
      ({ code }) => code,
    );
    holds((await failure) === 'E_WORKER_ENDED', await failure);
    const { status } = await runner.stream({ message: 'again', sessionId: 'again' }).result;
    holds(status === 'ack', status);
  },
};

/** Plays all parts on one kind of workers. @returns the names of those that passed, and what is wrong with the others */
export async function playInThread(Thread) {
  const url = new URL('./thread-agent.mjs', import.meta.url);
  const runner = createWorkerRunner(() => new Thread(url, { type: 'module' }), {
    tools: [weather],
  });
  const passed = [];
  const failures = [];
  for (const [name, part] of Object.entries(parts)) {
    try {
      await part(runner);
      passed.push(name);
    } catch (error) {
      failures.push(`${name}: ${error.stack ?? error}`);
    }
  }
  runner.terminate();
  return { passed, failures };
}

function holds(condition, message) {
  if (!condition) throw new Error(message);
}
