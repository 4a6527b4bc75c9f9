/**
 * Gates: who waits where, what settles them, what comes of it.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';

import * as z from 'zod';

import {
  type DispatchContext,
  DispatchRunner,
  Host,
  Tool,
  type TurncoreError,
  type TurnGate,
  type TurnRunnerConfig,
} from '../../src/index.js';
import { type ResolveOptions } from '../../src/entries/events.js';
import { type AnyContext, type RawTurnGate } from '../../src/entries/runners.js';
import {
  codeOf,
  makeRun,
  recordingCallbacks,
  type Run,
  script,
  skip,
  testHost,
} from './harness.js';

const refused = new Error('refused');

const question: RawTurnGate = {
  id: 'g',
  reason: 'Delete the file?',
  payload: { path: '/a' },
  createdAt: 1000,
  schema: { type: 'boolean' },
};

/** Gives the parts of a runner that opens a gate in one place. */
type Place = (wait: (ctx: AnyContext) => Promise<void>) => {
  executor: (ctx: DispatchContext) => unknown;
  config?: Partial<TurnRunnerConfig>;
};

const ack = (ctx: DispatchContext): void => {
  if (!ctx.isSignalled) ctx.ack();
};

const places: Record<string, readonly [Place, code: string]> = {
  'turn middleware': [
    (wait) => ({
      executor: ack,
      config: {
        turnInputPipeline: [
          async (ctx, next) => {
            await wait(ctx);
            await next();
          },
        ],
      },
    }),
    'E_INPUT_PIPELINE_ERROR',
  ],
  'dispatch middleware': [
    (wait) => ({
      executor: ack,
      config: {
        dispatchInputPipeline: [
          async (ctx, next) => {
            await wait(ctx);
            await next();
          },
        ],
      },
    }),
    'E_DISPATCH_PIPELINE_ERROR',
  ],
  executor: [
    (wait) => ({
      executor: async (ctx) => {
        await wait(ctx);
        ack(ctx);
      },
    }),
    'E_LLM_EXECUTION_EXECUTOR_ERROR',
  ],
  tool: [
    (wait) => {
      const tool = new Tool({
        name: 'remove',
        description: 'removes',
        inputSchema: { type: 'object' },
        handler: async (_args, ctx) => {
          await wait(ctx);
        },
      });
      return {
        executor: async (ctx) => {
          await tool.executor(ctx)({});
          ack(ctx);
        },
        config: { tools: [tool] },
      };
    },
    'E_TOOL_DOWNSTREAM_ERROR',
  ],
};

interface Case {
  readonly settle?: (gate: TurnGate, ctx: AnyContext, controller: AbortController) => void;
  readonly timeout?: number;
  readonly closed: string;
  /** What the waiting code is told: a code or an error; nothing when the gate is resolved. */
  readonly told?: string | Error;
  readonly status?: string;
}

const throwsCode = (run: () => void, code: string): TurncoreError => {
  let thrown: unknown;
  assert.throws(run, (error) => {
    thrown = error;
    return codeOf(error) === code;
  });
  return thrown as TurncoreError;
};

/** Whatever is done with a settled gate says how it was settled. */
const settledAs = (gate: TurnGate, result: string): void => {
  const calls = [
    () => gate.resolve('no boolean'),
    () => gate.resolve(() => 1),
    () => gate.resolve(true, { digest: '' }),
    () => gate.reject(refused),
    () => gate.abort(),
  ];
  for (const call of calls) {
    const error = throwsCode(call, 'E_TURN_GATE_SETTLED');
    assert.deepEqual([error.status, error.details], [409, { result }]);
    assert.ok(error.message.endsWith(`: ${result}`), error.message);
  }
};

const cases: Record<string, Case> = {
  'E1 resolve': { settle: (gate) => gate.resolve(true), closed: 'resolved' },
  'E2 a resolution that is refused': {
    settle: (gate) => {
      const error = throwsCode(() => gate.resolve('true'), 'E_INVALID_TURN_GATE_RESOLUTION');
      const [violation] = error.details as { path: string; keyword: string }[];
      assert.deepEqual([violation?.path, violation?.keyword], ['', 'type']);
      for (const digest of ['00', '', null, undefined]) {
        throwsCode(() => gate.resolve(true, { digest }), 'E_INVALID_TURN_GATE_RESOLUTION');
      }
      for (const options of [{ digset: 'x' }, 5, ['x']]) {
        throwsCode(() => gate.resolve(true, options as object), 'E_INVALID_VALUE');
      }
      assert.equal(gate.isSettled, false);
      gate.resolve(true, { digest: gate.digest });
    },
    closed: 'resolved',
  },
  'E3 the first wins': {
    settle: (gate) => {
      gate.resolve(true);
      settledAs(gate, 'resolved');
    },
    closed: 'resolved',
  },
  'E4 E10 reject': {
    settle: (gate) => {
      gate.reject(refused);
      settledAs(gate, 'rejected');
    },
    closed: 'rejected',
    told: refused,
  },
  'E5 abort': { settle: (gate) => gate.abort(), closed: 'aborted', told: 'E_TURN_GATE_ABORTED' },
  'E6 E11 the turn is aborted': {
    settle: (gate, ctx, controller) => {
      if ('iteration' in ctx) {
        ctx.abort(refused); // leaves it open
        assert.equal(gate.isSettled, false);
      }
      controller.abort(refused);
    },
    closed: 'aborted',
    told: 'E_TURN_GATE_ABORTED',
    status: 'aborted',
  },
  'E7 E12 timeout': { timeout: 5, closed: 'timeout', told: 'E_TURN_GATE_TIMEOUT' },
  'settled later': {
    settle: (gate) => void setTimeout(() => gate.resolve(true), 2),
    closed: 'resolved',
  },
};

for (const [place, [open, code]] of Object.entries(places)) {
  describe(`a gate in ${place}`, { skip }, () => {
    for (const [name, want] of Object.entries(cases)) {
      it(name, async () => {
        const controller = new AbortController();
        let seam: AnyContext | undefined;
        let told: unknown;
        let closed = false;
        const { executor, config } = open(async (ctx) => {
          seam = ctx;
          const { timeout } = want;
          try {
            const gate = timeout === undefined ? question : { ...question, timeout };
            assert.equal(await ctx.waitFor(gate), true);
          } catch (error) {
            told = error;
            throw error;
          } finally {
            assert.ok(closed, 'the waiting code went on before turnGateClosed');
          }
        });
        const run = await makeRun(executor as never, config);
        run.runner.observe('turnGateClosed', (event) => {
          closed = true;
          assert.deepEqual([event.gateId, event.turnId], ['g', 'T']);
        });
        run.runner.observe('turnGateOpen', (gate) => {
          const { id, turnId, reason, payload, createdAt, digest } = gate;
          assert.deepEqual([id, turnId, reason, createdAt], ['g', 'T', 'Delete the file?', 1000]);
          assert.deepEqual(payload, { path: '/a' });
          assert.equal(digest, '067437b21ea46bf08811fd88eee24183ca002d43211ee3d7ec6e144a684bfdc9');
          assert.equal(run.runner.gate('g'), gate);
          want.settle?.(gate, seam!, controller);
        });
        const result = await run.runner.stream({
          systemPrompt: 'test',
          turnId: 'T',
          turnAbortController: controller,
        }).result;
        if (typeof want.told === 'string') assert.equal(codeOf(told), want.told);
        else assert.equal(told, want.told);
        assert.deepEqual(
          run.names.filter((n) => n.startsWith('g')),
          ['gO', `gC(${want.closed})`],
        );
        if (want.told === undefined) assert.equal(result.status, 'ack');
        else if (want.status !== undefined) {
          assert.equal(result.status, want.status);
          assert.ok(!run.names.some((n) => n.startsWith('err')), run.names.join(' '));
        } else {
          const nacked = place === 'executor' || place === 'tool';
          assert.equal(result.status, nacked ? 'nack' : 'failed');
          const codes = [];
          for (let e = result.error; e !== undefined; e = (e as Error).cause) codes.push(codeOf(e));
          assert.ok(codes.includes(code) && codes.includes(codeOf(want.told)), codes.join(' '));
        }
        assert.deepEqual(run.runner.gates(), []);
      });
    }
  });
}

/** A runner that waits in turn middleware and keeps what it is told. */
async function waiting(
  gate: RawTurnGate,
  before: (ctx: AnyContext) => void = () => undefined,
): Promise<Run & { told: unknown[] }> {
  const told: unknown[] = [];
  const run = await makeRun(script(), {
    turnInputPipeline: [
      async (ctx, next) => {
        before(ctx);
        await ctx.waitFor(gate).then(
          (value) => told.push(value),
          (error: unknown) => told.push(codeOf(error)),
        );
        await next();
      },
    ],
  });
  return { ...run, told };
}

describe('gates', { skip }, () => {
  it('E6 after the abort a listener may still settle, or else the gate is aborted', async () => {
    for (const inTime of [true, false]) {
      const run = await waiting(question, (ctx) => ctx.abort(refused));
      run.runner.observe('turnGateOpen', (gate) => {
        if (inTime) gate.resolve(true);
      });
      await run.runner.run({ systemPrompt: 'test' });
      assert.deepEqual(run.told, [inTime ? true : 'E_TURN_GATE_ABORTED']);
      const result = inTime ? 'resolved' : 'aborted';
      assert.equal(run.names.join(' '), `tS gO gC(${result}) tE(aborted)`);
    }
  });

  it('E8 bad gates are refused before any event, with all that is wrong', async () => {
    const deep = JSON.parse('['.repeat(10_000) + ']'.repeat(10_000)) as unknown;
    const loop: Record<string, unknown> = {};
    loop['loop'] = loop;
    for (const [raw, words] of [
      [{}, ['`id`', '`reason`', '`payload`', '`createdAt`']],
      [
        { ...question, id: '', timeout: 0.5, schema: 7, more: 1, createdAt: 'soon' },
        ['`id`', '`timeout`', '`schema`', '`more`', '`createdAt`'],
      ],
      [undefined, ['the gate must be an object']],
      [{ ...question, payload: deep }, ['payload']],
      [{ ...question, payload: loop }, ['payload']],
      [{ ...question, payload: () => 1 }, ['payload']],
      [{ ...question, schema: { type: 'nothing' } }, ['`schema`']],
    ] as const) {
      let error: unknown;
      const run = await makeRun(async (ctx) => {
        await ctx.waitFor(raw as never).catch((e: unknown) => (error = e));
        ctx.ack();
      });
      await run.runner.run({ systemPrompt: 'test' });
      assert.equal(codeOf(error), 'E_INVALID_INITIAL_TURN_GATE_VALUE');
      for (const word of words) assert.ok((error as Error).message.includes(word), String(error));
      assert.ok(!run.names.includes('gO'));
    }
  });

  it('null is something to decide on', async () => {
    const run = await waiting({ ...question, payload: null, schema: true });
    run.runner.observe('turnGateOpen', (gate) => {
      assert.equal(gate.payload, null);
      gate.resolve();
    });
    await run.runner.run({ systemPrompt: 'test' });
    assert.deepEqual(run.told, [null]);
  });

  it('prototype keys are data', async () => {
    const payload = JSON.parse('{"__proto__":{"x":1},"constructor":2}') as unknown;
    const run = await waiting({ ...question, payload, schema: true });
    run.runner.observe('turnGateOpen', (gate) => gate.resolve(gate.payload));
    await run.runner.run({ systemPrompt: 'test' });
    assert.equal(JSON.stringify(run.told[0]), JSON.stringify(payload));
  });

  it('a Standard Schema validates on the host, at once', async () => {
    const schema = z.object({ ok: z.boolean(), note: z.string().default('none') });
    const run = await waiting({ ...question, schema });
    run.runner.observe('turnGateOpen', (gate) => {
      const error = throwsCode(() => gate.resolve({ ok: 1 }), 'E_INVALID_TURN_GATE_RESOLUTION');
      assert.equal((error.details as { path: string }[])[0]?.path, '/ok');
      assert.equal(gate.isSettled, false);
      gate.resolve({ ok: true });
    });
    await run.runner.run({ systemPrompt: 'test' });
    assert.deepEqual(run.told, [{ ok: true, note: 'none' }]);
  });

  it('an asynchronous validator is refused by a typed error', async () => {
    const schema = {
      '~standard': { version: 1, vendor: 'test', validate: () => Promise.resolve({ value: 1 }) },
    } as const;
    const run = await waiting({ ...question, schema });
    run.runner.observe('turnGateOpen', (gate) => {
      throwsCode(() => gate.resolve(true), 'E_INVALID_TURN_GATE_RESOLUTION');
      gate.abort();
    });
    await run.runner.run({ systemPrompt: 'test' });
    assert.deepEqual(run.told, ['E_TURN_GATE_ABORTED']);
  });

  it('a validator that gives neither a value nor issues settles nothing', async () => {
    for (const answer of [7, null, undefined, {}, { issues: 1 }]) {
      const schema = {
        '~standard': { version: 1, vendor: 'test', validate: () => answer },
      };
      const run = await waiting({ ...question, schema });
      run.runner.observe('turnGateOpen', (gate) => {
        throwsCode(() => gate.resolve(true), 'E_INVALID_VALUE');
        gate.abort();
      });
      await run.runner.run({ systemPrompt: 'test' });
      assert.deepEqual(run.told, ['E_TURN_GATE_ABORTED']);
    }
  });

  it('a gate that nobody awaits is closed with its turn', async () => {
    let late: Promise<unknown> | undefined;
    let gate: TurnGate | undefined;
    const run = await makeRun((ctx) => {
      late = ctx.waitFor(question).catch(codeOf);
      ctx.ack();
    });
    run.runner.observe('turnGateOpen', (g) => (gate = g));
    await run.runner.run({ systemPrompt: 'test' });
    assert.equal(await late, 'E_TURN_GATE_ABORTED');
    assert.equal(run.names.join(' '), 'tS dS iS(0) gO iE(0,ack) dE(ack,1) gC(aborted) tE(ack)');
    settledAs(gate!, 'aborted');
    assert.equal(gate!.isSettled, true);
  });

  it('are found by id, and never guessed', async () => {
    const run = await waiting(question);
    const turns = ['A', 'B'].map((turnId) => run.runner.run({ systemPrompt: 'test', turnId }));
    while (run.runner.gates().length < 2) await new Promise(setImmediate);
    assert.deepEqual(
      run.runner.gates().map((gate) => gate.turnId),
      ['A', 'B'],
    );
    assert.equal(run.runner.gate('g'), undefined);
    assert.equal(run.runner.gate('g', 'C'), undefined);
    run.runner.gate('g', 'B')!.resolve(true);
    assert.equal(run.runner.gate('g')!.turnId, 'A'); // the only one that is left
    run.runner.gate('g')!.resolve(true);
    await Promise.all(turns);
    assert.deepEqual(run.told, [true, true]);
  });

  it('a stream gives the live gate, and JSON of both events', async () => {
    const run = await waiting(question);
    const lines: unknown[] = [];
    for await (const event of run.runner.stream({ systemPrompt: 'test', turnId: 'T' })) {
      if (event.event === 'turnGateOpen') event.resolve(true);
      if (event.event.startsWith('turnGate')) lines.push(JSON.stringify(event));
    }
    const at = (run.events[0] as { at: number }).at;
    assert.deepEqual(lines, [
      `{"event":"turnGateOpen","seq":2,"at":${at},"turnId":"T","gateId":"g","reason":"Delete the file?","payload":{"path":"/a"},"createdAt":1000,"digest":"067437b21ea46bf08811fd88eee24183ca002d43211ee3d7ec6e144a684bfdc9"}`,
      `{"event":"turnGateClosed","seq":3,"at":${at},"turnId":"T","gateId":"g","result":"resolved","settledAt":${at}}`,
    ]);
  });

  it('an approve button over HTTP', async () => {
    const run = await waiting({ ...question, id: 'delete-1' });
    const server = createServer((request, response) => {
      const url = new URL(request.url!, 'http://localhost');
      const gate = run.runner.gate(url.pathname.replace('/approve/', ''));
      if (gate === undefined) return void response.writeHead(404).end();
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (part: string) => (body += part));
      request.on('end', () => {
        try {
          const digest = url.searchParams.get('digest') ?? undefined;
          gate.resolve(JSON.parse(body), { digest } satisfies ResolveOptions);
          response.writeHead(204).end();
        } catch (error) {
          response.writeHead(409).end(codeOf(error));
        }
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/approve/`;
    const post = async (path: string, body: string): Promise<number> =>
      (await fetch(base + path, { method: 'POST', body })).status;
    const turn = run.runner.run({ systemPrompt: 'test' });
    while (run.runner.gates().length === 0) await new Promise(setImmediate);
    const { digest } = run.runner.gate('delete-1')!;
    const statuses = [
      await post('other', 'true'),
      await post(`delete-1?digest=${digest}`, '"yes"'),
      await post(`delete-1?digest=${'0'.repeat(64)}`, 'true'),
      await post('delete-1', 'true'), // the form lacks the field
      await post(`delete-1?digest=${digest}`, 'true'),
    ];
    await turn;
    server.close();
    assert.deepEqual(statuses, [404, 409, 409, 409, 204]);
    assert.deepEqual(run.told, [true]);
  });

  it('a standalone dispatch waits by a function of its own', async () => {
    const told: unknown[] = [];
    const dispatch = async (waitFor?: (gate: RawTurnGate) => unknown): Promise<void> => {
      const callbacks = Object.fromEntries(
        Object.entries(recordingCallbacks()).map(([k, v]) => [k.replace(/Callback$/, ''), v]),
      );
      await DispatchRunner.dispatch({
        raw: { ...callbacks, systemPrompt: 'test', ...(waitFor && { waitFor }) } as never,
        host: await testHost(),
        executor: async (ctx) => {
          told.push(await ctx.waitFor(question).catch(codeOf));
          ctx.ack();
        },
      });
    };
    await dispatch();
    await dispatch((gate) => `asked ${gate.id}`);
    assert.deepEqual(told, ['E_LLM_EXECUTION_GATE_NOT_SUPPORTED', 'asked g']);
  });

  it('an instance that dies closes them', async () => {
    const host = new Host(await testHost());
    const run = await makeRun(
      async (ctx) => {
        await ctx.waitFor(question);
      },
      { host },
    );
    let gate: TurnGate | undefined;
    run.runner.observe('turnGateOpen', (g) => {
      gate = g;
      setTimeout(() => host.ready()!.fail('killed by the test'), 1);
    });
    const { error } = await run.runner.stream({ systemPrompt: 'test' }).result;
    assert.equal(codeOf(error), 'E_INSTANCE_FAILED');
    assert.match(run.names.join(' '), /gO gC\(aborted\) iE\(0,nack\)/);
    assert.deepEqual([gate!.isSettled, run.runner.gates()], [true, []]);
    settledAs(gate!, 'aborted');
  });
});
