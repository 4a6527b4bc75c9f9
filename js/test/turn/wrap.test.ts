import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createRunner, type ModelWrapper, Tool, type ToolWrapper } from '../../src/index.js';
import type { ModelChunk, ModelInvocation, ToolInvocation } from '../../src/entries/runners.js';
import type { ModelCallEndEvent } from '../../src/entries/events.js';

const REASON = new Error('not after hours');

const work = (handler: (n: number) => unknown): Tool =>
  new Tool({
    name: 'work',
    description: 'works',
    inputSchema: { type: 'object' },
    handler: (args) => handler((args as { n: number }).n),
  });

/** Calls the tool once inside wrappers. */
async function call(
  wrapTool: readonly ToolWrapper[],
  handler: (n: number) => unknown = (n) => `did ${n}`,
): Promise<{ result?: unknown; error?: Error & { code: string } }> {
  let outcome: { result?: unknown; error?: Error & { code: string } } = {};
  const runner = createRunner({
    tools: [work(handler)],
    wrapTool,
    executor: async (ctx) => {
      const run = ctx.tools.get('work')!.executor(ctx);
      outcome = await run({ n: 4 }).then(
        (result: unknown) => ({ result }),
        (error: unknown) => ({ error: error as Error & { code: string } }),
      );
      ctx.ack();
    },
  });
  await runner.stream({ message: 'go', turnId: 't' }).result;
  return outcome;
}

/** The place of the wrapper that an error leads to. */
function placeOf(error: unknown): string | undefined {
  for (let at = error as Error | undefined; at !== undefined; at = at.cause as Error | undefined) {
    if (at.name === 'WrapperError') return at.message.split(':')[0];
  }
  return undefined;
}

void test('wrappers of tools compose in order, and change arguments and results', async () => {
  const order: string[] = [];
  let seen: ToolInvocation | undefined;
  const { result } = await call([
    async (invocation, next) => {
      order.push('outer');
      seen = invocation;
      return `${String(await next(invocation))}!`;
    },
    (invocation, next) => {
      order.push('inner');
      return next({ ...invocation, args: { n: 5 } });
    },
  ]);
  assert.equal(result, 'did 5!');
  assert.deepEqual(order, ['outer', 'inner']);
  assert.equal(seen?.tool.name, 'work');
  assert.equal(seen.attempt, 1);
  assert.match(seen.idempotencyKey, /^t\.d1\.0\.x\.[0-9a-f]{64}\.1$/);
  assert.equal(seen.signal.aborted, false);
});

void test('a wrapper of tools answers, repeats, refuses and fails', async () => {
  assert.equal((await call([() => 'kept'])).result, 'kept');

  let calls = 0;
  const flaky = (): string => {
    if (++calls === 1) throw REASON;
    return 'done';
  };
  const again: ToolWrapper = (invocation, next) => next(invocation).catch(() => next(invocation));
  assert.equal((await call([again], flaky)).result, 'done');

  for (const wrap of [
    () => {
      throw REASON;
    },
    () => Promise.reject(REASON),
  ]) {
    const { error } = await call([(c, next) => next(c), wrap]);
    assert.equal(error?.code, 'E_TOOL_DOWNSTREAM_ERROR');
    assert.equal(placeOf(error), 'wrapTool[1]');
    assert.equal((error.cause as Error).cause, REASON);
  }

  const { error } = await call([(c, next) => next(c)], () => {
    throw REASON;
  });
  assert.equal(error?.cause, REASON); // it came through unchanged
});

void test('next after the end', async () => {
  let late: (() => Promise<unknown>) | undefined;
  let calls = 0;
  await call(
    [
      (c, next) => {
        late = () => next(c);
        return 'early';
      },
    ],
    () => calls++,
  );
  await assert.rejects(late!(), { code: 'E_CALL_AFTER_END' });
  assert.equal(calls, 0);
});

void test('next without a call, as of middleware', async () => {
  for (const none of [undefined, null, 5]) {
    const { error } = await call([(_, next) => next(none as never)], () => assert.fail());
    assert.equal(error?.code, 'E_TOOL_DOWNSTREAM_ERROR');
    const { message, cause } = error.cause as Error & { cause: { code: string } };
    assert.equal(cause.code, 'E_INVALID_VALUE');
    assert.match(message, /^wrapTool\[0\]: .*: what next was given: must be a call$/);
  }
});

void test('a wrapper of models that gives no answer', async () => {
  const engine = {
    name: 'e',
    generate: () => assert.fail(),
  };
  for (const [wrapper, says] of [
    [() => undefined, 'what the wrapper gave: must be an async iterable of chunks'],
    [() => [], 'what the wrapper gave: must be an async iterable of chunks'],
    [(c, next) => Promise.resolve(next(c)), 'what the wrapper gave: must be an async iterable'],
    [(_, next) => next(undefined as never), 'what next was given: must be a call'],
  ] as [(...args: Parameters<ModelWrapper>) => unknown, string][]) {
    const runner = createRunner({ model: { engine }, wrapModel: [wrapper as ModelWrapper] });
    const { status, error } = await runner.stream({ message: 'go' }).result;
    assert.equal(status, 'nack');
    const { message, cause } = error as Error & { cause: { code: string } };
    assert.ok(message.startsWith('wrapModel[0]: ') && message.includes(says), message);
    assert.equal(cause.code, 'E_INVALID_VALUE');
  }
});

const SSE =
  'data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n' +
  'data: {"choices":[{"delta":{"content":"lo."},"finish_reason":"stop"}]}\n\n' +
  'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}\n\ndata: [DONE]\n\n';

function chat(
  wrapModel: readonly ModelWrapper[],
  answers: (request: Request) => Response,
): ReturnType<typeof createRunner> {
  return createRunner({
    model: { model: 'm', baseURL: 'https://api.example.com/v1', retry: { baseDelayMs: 1 } },
    wrapModel,
    host: { fetch: (url, init) => Promise.resolve(answers(new Request(url, init))) },
  });
}

const sse = (): Response => new Response(SSE, { headers: { 'content-type': 'text/event-stream' } });

void test('wrappers of models: telemetry, a cache, and the events around them', async () => {
  const requests: Request[] = [];
  const spans: unknown[] = [];
  const kept = new Map<string, ModelChunk[]>();
  const telemetry: ModelWrapper = async function* (invocation, next) {
    let status: number | undefined;
    const headers = { ...invocation.headers, traceparent: '00-1' };
    for await (const chunk of next({ ...invocation, headers })) {
      status ??= chunk.status;
      yield chunk;
    }
    spans.push([invocation.provider, invocation.model, invocation.attempt, status]);
  };
  const cache: ModelWrapper = async function* (invocation, next) {
    const hit = kept.get(invocation.body);
    if (hit !== undefined) {
      yield* hit;
      return;
    }
    const all: ModelChunk[] = [];
    for await (const chunk of next(invocation)) {
      all.push(chunk);
      yield chunk;
    }
    if (all[0]?.status === 200) kept.set(invocation.body, all);
  };
  const runner = chat([telemetry, cache], (request) => {
    requests.push(request);
    return requests.length === 1 ? new Response('busy', { status: 503 }) : sse();
  });
  const ends: ModelCallEndEvent[] = [];
  runner.observe('modelCallEnd', (event) => ends.push(event));
  for (const sessionId of ['a', 'b']) {
    const seqs: number[] = [];
    const stream = runner.stream({ message: 'Hi!', sessionId });
    for await (const event of stream) seqs.push(event.seq);
    assert.equal((await stream.result).text, 'Hello.');
    assert.deepEqual(
      seqs,
      seqs.map((_, i) => i + 1),
    );
  }
  assert.equal(requests.length, 2);
  assert.equal(requests[1]?.headers.get('traceparent'), '00-1');
  assert.deepEqual(spans, [
    ['openai', 'm', 1, 503],
    ['openai', 'm', 2, 200],
    ['openai', 'm', 1, 200],
  ]);
  assert.deepEqual(
    ends.map(({ status, httpStatus, usage }) => [status, httpStatus, usage?.totalTokens]),
    [
      ['error', 503, undefined],
      ['ok', 200, 10],
      ['ok', 200, 10],
    ],
  );
  assert.equal(typeof ends[1]?.firstTokenAt, 'number');
  assert.match(
    JSON.stringify(ends[1]),
    /"provider":"openai","model":"m","attempt":2,"status":"ok","httpStatus":200,"startedAt":/,
  );
});

void test('a wrapper of models refuses, and breaks the rules', async () => {
  const cases: [string, ModelWrapper, string | undefined][] = [
    [
      'refuses',
      () => {
        throw REASON;
      },
      'wrapModel[0]',
    ],
    [
      'no status',
      async function* () {
        yield { data: new Uint8Array(1) };
      },
      undefined,
    ],
  ];
  for (const [name, wrap, place] of cases) {
    const { status, error } = await chat([wrap], sse).stream({ message: 'Hi!' }).result;
    assert.equal(status, 'nack', name);
    assert.equal(placeOf(error), place, name);
  }
});

void test('an engine inside wrappers, and an abort while a wrapper waits', async () => {
  const bodies: ModelInvocation[] = [];
  const engine = {
    name: 'own',
    async *generate() {
      await Promise.resolve();
      yield { text: 'Hello.' };
      yield { finish: 'stop' };
    },
  };
  const pass: ModelWrapper = (invocation, next) => {
    bodies.push(invocation);
    return next(invocation);
  };
  const { text } = await createRunner({ model: engine, wrapModel: [pass] }).stream({
    message: 'Hi!',
  }).result;
  assert.equal(text, 'Hello.');
  assert.equal(bodies[0]?.provider, undefined);
  assert.equal(bodies[0]?.model, 'own');

  const statuses: string[] = [];
  const never: ModelWrapper = async function* (invocation, next) {
    await new Promise(() => undefined);
    yield* next(invocation);
  };
  const runner = createRunner({ model: engine, wrapModel: [never] });
  const abort = new AbortController();
  runner.observe('modelCallStart', () => setTimeout(() => abort.abort(), 1));
  runner.observe('modelCallEnd', ({ status }) => statuses.push(status));
  const { status } = await runner.stream({ message: 'Hi!', signal: abort.signal }).result;
  assert.equal(status, 'aborted');
  assert.deepEqual(statuses, ['aborted']);
});
