/**
 * What goes wrong between a model and a conversation: the ends of streams, ids of calls, aborts, turns that are stopped
 * between two commits. Go's tests do the same.
 */
import assert from 'node:assert/strict';
import { setImmediate as later, setTimeout as pause } from 'node:timers/promises';
import { describe, it } from 'node:test';

import {
  createRunner,
  Host,
  memoryStore,
  type ModelEngine,
  SpooledArtifact,
  type Store,
  Tool,
} from '../../src/index.js';
import { type ModelPart } from '../../src/entries/models.js';
import { fullModule, skip, testHost } from './harness.js';

const encoder = new TextEncoder();

/** A stream of server-sent events. */
const events = (...chunks: readonly object[]): string =>
  [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'].join('');
const says = (content: string, finish: string | null = null): object => ({
  choices: [{ index: 0, delta: { content }, finish_reason: finish }],
});
const calls = (id: string | undefined, args: object): object => ({
  choices: [
    {
      index: 0,
      delta: {
        tool_calls: [{ index: 0, id, function: { name: 'work', arguments: JSON.stringify(args) } }],
      },
      finish_reason: 'tool_calls',
    },
  ],
});
const eventStream = { headers: { 'content-type': 'text/event-stream' } };

/** A tool that works. */
const workTool = (handler: (n: number) => unknown): Tool<{ n: number }> =>
  new Tool<{ n: number }>({
    name: 'work',
    description: 'works',
    inputSchema: { type: 'object' },
    handler: ({ n }) => handler(n),
  });

/** Ways to come a moment later. */
const delays: Readonly<Record<string, () => Promise<unknown>>> = {
  'at once': () => Promise.resolve(),
  'after microtasks': async () => {
    for (let i = 0; i < 20; i++) await Promise.resolve();
  },
  'in the next round': () => later(),
  'after a while': () => pause(5),
};

describe('the last part of an answer', { skip }, () => {
  const words = Array.from({ length: 20 }, (_, i) => `${i} `);
  const whole = `${words.join('')}end`;

  for (const [how, wait] of Object.entries(delays)) {
    it(`is not lost when it comes ${how} and the end follows it: over the network`, async () => {
      const last = events(says('end', 'stop'));
      for (const end of [last, last.trimEnd(), last.split('\n')[0]!]) {
        const answer: typeof fetch = () => {
          const body = new ReadableStream<Uint8Array>({
            async start(controller) {
              for (const word of words) {
                controller.enqueue(encoder.encode(`data: ${JSON.stringify(says(word))}\n\n`));
              }
              await wait();
              controller.enqueue(encoder.encode(end));
              controller.close();
            },
          });
          return Promise.resolve(new Response(body, eventStream));
        };
        const runner = createRunner({
          model: { baseURL: 'http://127.0.0.1/v1', model: 'm' },
          host: await testHost({ fetch: answer }),
        });
        const stream = runner.stream({ message: 'count' });
        let heard = '';
        for await (const event of stream) if (event.event === 'message') heard += event.aDelta;
        const { status, text, error } = await stream.result;
        assert.equal(status, 'ack', String(error));
        assert.deepEqual([text, heard], [whole, whole]);
      }
    });

    it(`is not lost when it comes ${how} and the end follows it: from an engine`, async () => {
      const generate = async function* (): AsyncGenerator<ModelPart> {
        for (const text of words) yield { text };
        await wait();
        yield { text: 'end', finish: 'stop' };
      };
      const host = await testHost({ module: await fullModule() });
      const runner = createRunner({ model: { engine: { generate } }, host });
      const { text } = await runner.stream({ message: 'count' }).result;
      assert.equal(text, whole);
    });
  }
});

describe('five turns whose calls have one id', { skip }, () => {
  for (const id of ['call_0', '', undefined]) {
    it(`keep their results, in the store and for the model: ${id ?? 'none'}`, async () => {
      const requests: { messages: { role: string; content: string; tool_call_id?: string }[] }[] =
        [];
      const answer: typeof fetch = (_input, init) => {
        const body = new TextDecoder().decode(init?.body as Uint8Array<ArrayBuffer>);
        requests.push(JSON.parse(body) as (typeof requests)[number]);
        const n = requests.length;
        const chunk = n % 2 === 1 ? calls(id, { n: (n + 1) / 2 }) : says('done', 'stop');
        return Promise.resolve(new Response(events(chunk), eventStream));
      };
      const store = memoryStore();
      const text = (n: number): string => `result ${n} `.repeat(50);
      const runner = createRunner({
        model: {
          baseURL: 'http://127.0.0.1/v1',
          model: 'm',
          trust: 'off',
          spoolResultsOver: 100,
        },
        tools: [workTool(text)],
        store,
        host: await testHost({ fetch: answer }),
      });
      for (let turn = 0; turn < 5; turn++) {
        const { status, error } = await runner.stream({ message: 'work' }).result;
        assert.equal(status, 'ack', String(error));
      }
      const { toolCalls } = await store.load('default');
      const kept = [...toolCalls];
      assert.equal(new Set(kept.map((call) => call.id)).size, 5);
      for (const [i, call] of kept.entries()) {
        assert.ok(call.results instanceof SpooledArtifact);
        assert.equal(await call.results.asString(), text(i + 1));
      }
      const told = requests.at(-1)!.messages.filter(({ role }) => role === 'tool');
      assert.equal(new Set(told.map((message) => message.tool_call_id)).size, 5);
      for (const [i, { content }] of told.entries()) {
        assert.ok(content.startsWith(`Artifact ${kept[i]!.id} `), content);
      }
    });
  }
});

describe('a result that is not text', { skip }, () => {
  class Own {
    #hidden = 1;
    get hidden(): number {
      return this.#hidden;
    }
  }

  /** What the model is told of a result. */
  async function told(result: unknown): Promise<string> {
    const bodies: string[] = [];
    const answer: typeof fetch = (_input, init) => {
      bodies.push(new TextDecoder().decode(init?.body as Uint8Array<ArrayBuffer>));
      const chunk = bodies.length === 1 ? calls('c', { n: 1 }) : says('done', 'stop');
      return Promise.resolve(new Response(events(chunk), eventStream));
    };
    const runner = createRunner({
      model: { baseURL: 'http://127.0.0.1/v1', model: 'm', trust: 'off' },
      tools: [workTool(() => result)],
      host: await testHost({ fetch: answer }),
    });
    const { status, error } = await runner.stream({ message: 'work' }).result;
    assert.equal(status, 'ack', String(error));
    const { messages } = JSON.parse(bodies[1]!) as {
      messages: { role: string; content: string }[];
    };
    assert.ok(bodies[1]!.length < 32 << 10);
    return messages.find(({ role }) => role === 'tool')!.content;
  }

  it('is told as data, or as an error that says what it is: never by a text that says nothing', async () => {
    assert.equal(await told({ a: [1, null], b: { c: 'x' } }), '{"a":[1,null],"b":{"c":"x"}}');
    assert.equal(await told([]), '[]');
    const odd = [
      () => 1,
      Symbol('s'),
      new Own(),
      new Map([[1, 2]]),
      new Error('x'),
      { deep: [new Own()] },
    ];
    for (const result of odd) {
      assert.match(await told(result), /cannot be encoded/, Object.prototype.toString.call(result));
    }
  });

  it('of 5 MB stays out of the prompt', async () => {
    const line = '0123456789abcde\n';
    for (const result of [
      line.repeat((5 << 20) / 16),
      { list: Array(8000).fill('x'.repeat(640)) },
    ]) {
      assert.match(await told(result), /^Artifact c \(Spooled(Json)?Artifact, \d{7} bytes, /);
    }
  });
});

describe('an abort of a conversation with a model', { skip }, () => {
  /** Runs a turn with a tool call and aborts it at an event; the number of open things is told when it has ended. */
  async function abortAt(host: Host, at: number, count: { open: number }) {
    const controller = new AbortController();
    const runner = createRunner({
      model: { baseURL: 'http://127.0.0.1/v1', model: 'm' },
      tools: [workTool((n) => later(`result ${n}`))],
      host,
    });
    const stream = runner.stream({ message: 'work', signal: controller.signal });
    let seen = 0;
    for await (const _ of stream) if (seen++ === at) controller.abort(new Error('stop'));
    const { status, error } = await stream.result;
    for (let i = 0; i < 20 && count.open > 0; i++) await later(); // what nobody wants is cancelled then
    assert.equal(count.open, 0, `event ${at}: answers are open`);
    return { seen, status, error };
  }

  it('at any event ends it as aborted, and leaves no answer open, no turn and no timer', async () => {
    const count = { open: 0 };
    let asked = 0;
    const answer: typeof fetch = async (_input, init) => {
      await later();
      init?.signal?.throwIfAborted();
      const chunk = asked++ % 2 === 0 ? calls('c', { n: 1 }) : says('done', 'stop');
      const parts = events(says('Let me see. '), chunk).split(/(?<=\n\n)/);
      count.open++;
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          await later();
          const part = parts.shift();
          if (part !== undefined) controller.enqueue(encoder.encode(part));
          else {
            count.open--;
            controller.close();
          }
        },
        cancel: () => {
          count.open--;
        },
      });
      return new Response(body, eventStream);
    };
    const host = new Host(await testHost({ fetch: answer }));
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    const whole = await abortAt(host, -1, count);
    assert.equal(whole.status, 'ack', String(whole.error));
    const before = timers();
    let aborted = 0;
    for (let at = 0; at < whole.seen - 1; at++) {
      asked = 0;
      const { status, error } = await abortAt(host, at, count);
      // The last events are read when nothing is left to abort.
      assert.ok(
        status === 'aborted' || (status === 'ack' && at > whole.seen / 2),
        `event ${at}: ${status}`,
      );
      if (status === 'aborted') aborted++;
      assert.equal(error, undefined, `event ${at}`);
      assert.equal(host.ready()?.turns, 0, `event ${at}: turns that run`);
    }
    assert.ok(aborted > whole.seen / 2, `${aborted} of ${whole.seen}`);
    assert.ok(timers() <= before, `${timers()} timers, ${before} before`);
  });
});

describe('a turn that is stopped behind any of its commits', { skip }, () => {
  const STEPS = 3;

  /** Stops a session's first turn behind its n-th commit, unless that is 0, and goes on with another one. */
  async function play(stopAt: number) {
    const memory = memoryStore();
    const controller = new AbortController();
    let commits = 0;
    const store: Store = {
      load: (session) => memory.load(session),
      putBytes: (session, id, bytes) => memory.putBytes(session, id, bytes),
      openBytes: (session, id) => memory.openBytes(session, id),
      newest: (session) => memory.newest(session),
      commit: async (session, commit) => {
        const revision = await memory.commit(session, commit);
        if (++commits === stopAt) controller.abort(new Error('stop'));
        return revision;
      },
    };
    let ran = 0;
    // It knows from its context alone how far it is.
    const engine: ModelEngine = {
      capabilities: { tools: 'native' },
      async *generate({ messages }) {
        await later();
        const n = messages.filter(({ role }) => role === 'tool').length;
        if (n === STEPS) yield { text: 'done', finish: 'stop' };
        else {
          const call = { index: 0, id: `c${n}`, name: 'work', arguments: JSON.stringify({ n }) };
          yield { toolCall: call, finish: 'tool_calls' };
        }
      },
    };
    const runner = createRunner({
      model: { engine },
      tools: [workTool((n) => `result ${n} ${++ran}`)],
      store,
      host: await testHost({ module: await fullModule() }),
    });
    let result = await runner.stream({ message: 'work', signal: controller.signal }).result;
    if (result.status !== 'ack') {
      assert.equal(result.status, 'aborted', String(result.error));
      const { messages } = await memory.load('default');
      if ([...messages].at(-1)?.role === 'user') result = await runner.stream({}).result;
    }
    assert.equal(result.error, undefined);
    const { messages, toolCalls } = await memory.load('default');
    const log = [
      ...[...messages].map(({ role, content }) => `${role}: ${String(content)}`),
      ...[...toolCalls].map(({ id, results }) => `${id} ${JSON.stringify(results)}`),
    ];
    return { log, ran, commits };
  }

  it('goes on in another turn, and comes out as if nothing had happened', async () => {
    const want = await play(0);
    assert.equal(want.ran, STEPS);
    assert.equal(want.log.length, 2 + STEPS);
    for (let stopAt = 1; stopAt <= want.commits; stopAt++) {
      const { log, ran } = await play(stopAt);
      assert.deepEqual(log, want.log, `behind commit ${stopAt}`);
      assert.equal(ran, STEPS, `behind commit ${stopAt}`);
    }
  });
});
