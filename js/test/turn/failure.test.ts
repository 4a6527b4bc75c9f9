/**
 * Instances that die, modules that lie, listeners that throw.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EventKind, Op, Scope } from '../../src/abi/frames.gen.js';
import { stateOf } from '../../src/context/state-of.js';
import type { DispatchContext } from '../../src/index.js';
import { batch, fakeInstance, fakeTurn } from './fake-instance.js';
import { isTurncoreError } from '../../src/index.js';
import { codeOf, makeRun, message, runTurn, script, short, skip } from './harness.js';

const start = (turn: unknown): unknown[] => [
  Op.Event,
  turn,
  1,
  EventKind.TurnStart,
  0,
  0,
  -1,
  Scope.Turn,
  null,
];

describe('an instance that dies', { skip }, () => {
  it('closes what is open, innermost first, and later turns get a fresh one', async () => {
    let kill = true;
    let ctx: DispatchContext | undefined;
    const run = await makeRun((c, h) => {
      ctx = c;
      h.reportMessage('m', 'before');
      if (kill) run.runner.host.ready()!.fail('killed by the test');
      else c.ack();
    });
    await run.runner.run({ systemPrompt: 'test' });
    assert.deepEqual(run.names, [
      'tS',
      'dS',
      'iS(0)',
      'msg',
      'iE(0,nack)',
      'dE(nack,1)',
      'err(E_INSTANCE_FAILED)',
      'tE(failed)',
    ]);
    assert.deepEqual(
      run.events.map((e) => e.seq),
      run.events.map((_, i) => i + 1),
    );
    const failures = new Set(run.events.flatMap((e) => ('error' in e ? [e.error] : [])));
    assert.equal(failures.size, 1);
    assert.throws(() => ctx!.ack(), { code: 'E_CALL_AFTER_END' });
    await assert.rejects(ctx!.storeMessage(message('x')), { code: 'E_CALL_AFTER_END' });

    kill = false;
    run.names.length = 0;
    await run.runner.run({ systemPrompt: 'test' });
    assert.equal(run.names.at(-1), 'tE(ack)');
  });

  it('ends every turn that ran in it, and no other', async () => {
    const release: (() => void)[] = [];
    const waiting = (): Promise<void> => new Promise((resolve) => release.push(resolve));
    const doomed = await makeRun(async (ctx) => {
      await waiting();
      ctx.ack();
    });
    const other = await makeRun(async (ctx) => {
      await waiting();
      ctx.ack();
    });
    const runs = [1, 2, 3].map(() => doomed.runner.run({ systemPrompt: 'test' }));
    runs.push(other.runner.run({ systemPrompt: 'test' }));
    while (release.length < 4) await new Promise((resolve) => setImmediate(resolve));
    doomed.runner.host.ready()!.fail('killed by the test');
    assert.equal(doomed.names.filter((n) => n === 'tE(failed)').length, 3);
    for (const go of release) go();
    await Promise.all(runs);
    assert.equal(other.names.at(-1), 'tE(ack)');
  });
});

describe('collections that differ', { skip }, () => {
  it('are found out by the comparison that tests ask for', async () => {
    const { names, events } = await runTurn((ctx) => {
      // Behind the back of the collection: the module does not hear of it.
      ctx[stateOf].set(3).mirror.push(message('only here'));
      ctx.ack();
    });
    assert.equal(names.at(-1), 'tE(failed)');
    const [reported] = events.filter((e) => e.event === 'error');
    assert.match((reported?.error as Error).message, /collection 3 of context 1 differs/);
  });
});

describe('a module that lies', () => {
  const toolCallBody = batch([
    ['c', 't', {}, 's', null, null, true, false, 'r', null, null, false, false, 1, 1, 1],
  ]);
  const end = (turn: unknown): unknown[] => [Op.End, turn, 0, 0, null];

  it('tells its turns when it dies of a runner that nobody has any more', async () => {
    const { core, turn } = fakeTurn(([op, turn]) =>
      op === Op.CloseRunner ? new Error('unreachable') : [start(turn), [Op.Timer, turn, 1e6]],
    );
    assert.ok(core.alive);
    core.closeRunner(turn.root.definition);
    const { status, error } = await turn.done;
    assert.deepEqual([status, codeOf(error), core.alive], ['failed', 'E_INSTANCE_FAILED', false]);
  });

  it('an honest one is believed', async () => {
    const { turn, events } = fakeTurn(([op, turn]) =>
      op === Op.StartTurn ? [start(turn), end(turn)] : [],
    );
    const outcome = await turn.done;
    assert.equal(outcome.status, 'ack');
    assert.deepEqual(events.map(short), ['tS']);
  });

  const lies: Record<string, (turn: unknown) => unknown[][]> = {
    'an op that no module sends': (turn) => [[7, turn]],
    'an unknown op': (turn) => [[55, turn]],
    'a frame that is too short': (turn) => [[Op.Event, turn, 1]],
    'a frame with a field of another type': (turn) => [[Op.Reply, turn, 'one', null, null]],
    'a negative turn': () => [[Op.End, -1, 0, 0, null]],
    'a payload of another shape': (turn) => [[Op.Event, turn, 2, EventKind.Log, 0, 0, -1, 2, [1]]],
    'a mark on a stream that goes on': (turn) => [
      [Op.Event, turn, 2, EventKind.MessageInterrupted, 0, 0, -1, 2, ['m', 0, 'x', 1, false]],
    ],
    'an event of a dispatch that is not open': (turn) => [
      [Op.Event, turn, 2, EventKind.DispatchStart, 0, 7, -1, 3, null],
    ],
    'a context that comes twice': (turn) => [
      [Op.Sync, turn, 1, 0, 3, 0, 0, null],
      [Op.Sync, turn, 1, 0, 3, 0, 0, null],
    ],
    'a context with a hole before it': (turn) => [[Op.Sync, turn, 5000000, 0, 3, 0, 0, null]],
    'a handle that was never given': (turn) => [[Op.Sync, turn, 0, 3, 0, 99, 0, null]],
    'a handle of the module without a body': (turn) => [[Op.Sync, turn, 0, 3, 0, -1, 0, null]],
    'a body that is none': (turn) => [[Op.Sync, turn, 0, 3, 0, -1, 0, Uint8Array.of(0x91, 1)]],
    'a body of another collection': (turn) => [
      [Op.Sync, turn, 0, 3, 0, -1, 0, Uint8Array.of(0x91)],
    ],
    'a record whose result is not kept': (turn) => [[Op.Sync, turn, 0, 5, 0, -1, 7, toolCallBody]],
    'an event whose result is not kept': (turn) => [
      [Op.Sync, turn, 1, 0, 3, 0, 0, null],
      [
        Op.Event,
        turn,
        2,
        EventKind.ToolCall,
        0,
        1,
        0,
        3,
        ['c', '', null, '', 0, true, false, 3, null, 7, '', ''],
      ],
    ],
    'a collection that does not exist': (turn) => [[Op.Sync, turn, 0, 9, 0, 1, 0, null]],
    'an error of another shape': (turn) => [[Op.End, turn, 1, 0, ['x']]],
  };
  for (const [name, lie] of Object.entries(lies)) {
    it(`${name} retires the instance`, async () => {
      const { core, turn, events } = fakeTurnOrFailure(([op, turn]) =>
        op === Op.StartTurn ? [start(turn), ...lie(turn)] : [],
      );
      const outcome = await turn.done;
      assert.equal(core.alive, false);
      assert.equal(codeOf(outcome.error), 'E_INSTANCE_FAILED');
      const names = events.map(short);
      assert.ok(names.length === 0 || names.at(-1) === 'tE(failed)', names.join(' '));
    });
  }

  it('a frame of another turn retires it', async () => {
    const { core, turn } = fakeTurnOrFailure(([op, turn]) =>
      op === Op.StartTurn ? [start(turn), [Op.Cancel, (turn as number) + 1, 1]] : [],
    );
    const { error } = await turn.done;
    assert.equal(core.alive, false);
    assert.match((error as Error).message, /a frame of turn 2 came in answer to those of turn 1/);
  });

  it('a second end retires it, and the first one stands', async () => {
    const { core, turn } = fakeTurnOrFailure(([op, turn]) =>
      op === Op.StartTurn ? [start(turn), end(turn), end(turn)] : [],
    );
    assert.equal((await turn.done).status, 'ack');
    assert.equal(core.alive, false);
    const after = /a frame came after the end of turn 1/;
    assert.throws(() => core.send(undefined, core.frame()), { message: after });
  });

  it('more frames than a step may give retire it before any is delivered', () => {
    const cancel = Uint8Array.of(0x93, Op.Cancel, 1, 1);
    const bytes = new Uint8Array(cancel.length * ((1 << 18) + 1));
    for (let at = 0; at < bytes.length; at += cancel.length) bytes.set(cancel, at);
    const instance = fakeInstance(() => []);
    assert.throws(() => instance.decode(bytes), /more than 262144 frames/);
    assert.equal(instance.decode(bytes.subarray(cancel.length)).length, 1 << 18);
  });

  it('more effects than may be outstanding retire it', async () => {
    const { turn } = fakeTurnOrFailure(([op, turn]) =>
      op === Op.StartTurn
        ? [
            start(turn),
            ...Array.from({ length: 1025 }, (_, i) => [Op.Effect, turn, i, 1, 1, '', 1, [0]]),
          ]
        : [],
    );
    const { error } = await turn.done;
    assert.match((error as Error).message, /more than 1024 effects are outstanding/);
  });

  it('silence retires it, whenever it begins', async () => {
    const scripts: Record<string, (op: unknown, turn: unknown) => unknown[][]> = {
      'from the start': () => [],
      'after a result': (op, turn) =>
        op === Op.StartTurn
          ? [
              start(turn),
              [Op.Sync, turn, 1, 0, 3, 0, 0, null],
              [Op.Effect, turn, 1, 1, 1, '', 1, [0]],
            ]
          : [],
      'after a tick': (op, turn) => (op === Op.StartTurn ? [start(turn), [Op.Timer, turn, 1]] : []),
    };
    for (const [when, script] of Object.entries(scripts)) {
      const { core, turn } = fakeTurn(([op, turn]) => script(op, turn));
      const { error } = await turn.done;
      assert.equal(core.alive, false, when);
      assert.match((error as Error).message, /the turn waits for nothing/, when);
    }
  });

  it('an abort that it does not end the turn for retires it after a while', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let due = 0;
    const scripts: ((op: unknown, turn: unknown) => unknown[][])[] = [
      // Deaf.
      (op, turn) => (op === Op.StartTurn ? [start(turn), [Op.Timer, turn, 1e6]] : []),
      // Busy with timers.
      (op, turn) => [...(op === Op.StartTurn ? [start(turn)] : []), [Op.Timer, turn, ++due]],
    ];
    for (const script of scripts) {
      const { core, turn } = fakeTurn(([op, turn]) => script(op, turn));
      turn.root.abort(new Error('enough'));
      for (let ms = 0; ms < 4999; ms++) t.mock.timers.tick(1);
      assert.equal(core.alive, true);
      t.mock.timers.tick(1);
      assert.equal(core.alive, false);
      const { error } = await turn.done;
      assert.match((error as Error).message, /the turn did not end within 5s of its abort/);
    }
  });

  it(
    'code that is slow to hear of an abort is no lost turn, however long it takes',
    { skip },
    async (t) => {
      t.mock.timers.enable({ apis: ['setTimeout'] });
      const controller = new AbortController();
      let [begin, release] = [(): void => undefined, (): void => undefined];
      const begun = new Promise<void>((resolve) => (begin = resolve));
      const run = await makeRun(async () => {
        begin();
        await new Promise<void>((resolve) => (release = resolve));
      });
      const stream = run.runner.stream({ systemPrompt: 'test', turnAbortController: controller });
      await begun;
      const instance = run.runner.host.ready()!;
      controller.abort(new Error('enough'));
      t.mock.timers.tick(3_600_000);
      assert.equal(instance.alive, true);
      release();
      const { status } = await stream.result;
      assert.equal(status, 'aborted');
      assert.equal(instance.alive, true);
    },
  );

  it('bytes that are no frames retire the instance', () => {
    for (const bytes of [Uint8Array.of(0xc1), Uint8Array.of(0x95, 1), Uint8Array.of(0x01)]) {
      assert.throws(() => fakeTurn(([op]) => (op === Op.StartTurn ? bytes : [])), {
        code: 'E_INSTANCE_FAILED',
      });
    }
  });

  const asking = (effect: readonly unknown[]): ReturnType<typeof fakeTurn> =>
    fakeTurn(([op, turn]) =>
      op === Op.StartTurn
        ? [
            start(turn),
            [Op.Sync, turn, 1, 0, 3, 0, 0, null],
            [Op.Effect, turn, 1, effect[0], effect[1], '', 1, effect[2]],
          ]
        : [],
    );

  it('effects whose arguments are malformed retire it', () => {
    const effects: [unknown[], RegExp][] = [
      [[1, 1, 'x'], /ExecutorArgs: an array is expected/],
      [[3, 1, [5, 'c', null, true]], /ToolArgs: a tuple of 9 elements is expected, there are 4/],
      [[5, 1, [[[7, 3, '1', '', [], []]]]], /Delta: an integer is expected/],
      [[7, 1, ['GET']], /HTTPArgs: a tuple of 8 elements is expected, there are 1/],
    ];
    for (const [effect, message] of effects) {
      assert.throws(() => asking(effect), { code: 'E_INSTANCE_FAILED', message });
    }
  });

  it('effects that make no sense retire it as well', async () => {
    const effects: unknown[][] = [
      [99, 0, null],
      [1, 3, [0]],
      [2, 0, [0, 0]],
      [2, 0, [9, 0]],
      [3, 1, [5, 'c', 'x', '', null, true, 0, 0, false]],
      [4, 0, [0, 3, 99, '', [], []]],
      [5, 1, [[[7, 3, 1, '', [], []]]]],
      [7, 1, ['GET', 'https://a.test/', [['name']], null, '', 0, 0, []]],
      [7, 1, ['GET', 'https://a.test/', [], null, '', 9, 0, []]],
    ];
    for (const effect of effects) {
      const [kind, context, args] = effect;
      const { core, turn } = asking(effect);
      const { error } = await turn.done;
      assert.equal(core.alive, false, JSON.stringify([kind, context, args]));
      assert.equal(codeOf(error), 'E_INSTANCE_FAILED');
    }
  });

  it('a trap says what the guest said last', async () => {
    const { turn } = fakeTurn(
      ([op, turn]) =>
        op === Op.StartTurn
          ? [
              start(turn),
              [Op.Sync, turn, 1, 0, 3, 0, 0, null],
              [Op.Effect, turn, 1, 1, 1, '', 1, [0]],
            ]
          : new Error('unreachable'),
      (ctx) => {
        assert.throws(() => ctx.ack(), { code: 'E_INSTANCE_FAILED' });
      },
    );
    const { error, status } = await turn.done;
    assert.equal(status, 'failed');
    assert.match((error as Error).message, /unreachable[^]*panic: scripted/);
  });

  it('a call that is not answered in its step retires it', async () => {
    const { turn, core } = fakeTurn(
      ([op, turn]) =>
        op === Op.StartTurn
          ? [
              start(turn),
              [Op.Sync, turn, 1, 0, 3, 0, 0, null],
              [Op.Effect, turn, 1, 1, 1, '', 1, [0]],
            ]
          : [],
      (ctx) => {
        assert.throws(() => ctx.toolCallCount('x'), { code: 'E_INSTANCE_FAILED' });
      },
    );
    await turn.done;
    assert.equal(core.alive, false);
  });

  it('a fault fails the call that caused it, and the instance lives on', async () => {
    let codes = '';
    const { turn, core } = fakeTurn(
      ([op, turn]) => {
        if (op === Op.StartTurn) {
          return [
            start(turn),
            [Op.Sync, turn, 1, 0, 3, 0, 0, null],
            [Op.Effect, turn, 1, 1, 1, '', 1, [0]],
          ];
        }
        if (op === Op.Result) return [end(turn)];
        return [[Op.Fault, 0, 'E_ABI_MALFORMED_FRAME', 'no', 0]];
      },
      async (ctx) => {
        try {
          ctx.toolCallCount('x');
        } catch (error) {
          codes += codeOf(error);
        }
        await ctx.storeMessage(message('m')).catch((error: unknown) => (codes += codeOf(error)));
      },
    );
    await turn.done;
    assert.equal(codes, 'E_ABI_MALFORMED_FRAMEE_ABI_MALFORMED_FRAME');
    assert.equal(core.alive, true);
  });

  function fakeTurnOrFailure(answer: Parameters<typeof fakeTurn>[0]): ReturnType<typeof fakeTurn> {
    let second = false;
    // What is wrong with a Sync comes out in the step itself, so the turn is begun first and lied to afterwards.
    const turn = fakeTurn((frame) => {
      if (frame[0] === Op.StartTurn) {
        return [start(frame[1]), [Op.Timer, frame[1], 1e9]];
      }
      if (second) return [];
      second = true;
      return (answer([Op.StartTurn, frame[1]]) as unknown[][]).slice(1);
    });
    turn.turn.sendAbort(0, undefined);
    return turn;
  }
});

describe('listeners that throw', { skip }, () => {
  it('disturb nobody, and are reported once', async () => {
    const heard: string[] = [];
    const cause = new Error('mine');
    const run = await makeRun(
      script((ctx, h) => {
        h.reportMessage('m', 'x');
        ctx.ack();
      }),
    );
    run.runner.on('message', () => {
      throw cause;
    });
    run.runner.on('message', () => heard.push('next'));
    await run.runner.run({ systemPrompt: 'test' });
    assert.deepEqual(heard, ['next']);
    const errors = run.events.filter((e) => e.event === 'error');
    assert.deepEqual(
      errors.map((e) => codeOf(e.error)),
      ['E_LISTENER_ERROR'],
    );
    assert.equal((errors[0]!.error as Error).cause, cause);
    assert.equal(errors[0]!.dispatchId, run.events[1]!.dispatchId);
    assert.equal(run.names.at(-1), 'tE(ack)');
  });

  it('a listener of errors that throws is only logged', async () => {
    const logged: unknown[] = [];
    const { error } = console;
    console.error = (...args: unknown[]) => void logged.push(...args);
    try {
      const run = await makeRun(script((ctx) => ctx.nack(new Error('x'))));
      run.runner.observe('error', () => {
        throw new Error('again');
      });
      await run.runner.run({ systemPrompt: 'test' });
      assert.equal(run.names.filter((n) => n.startsWith('err')).length, 1);
    } finally {
      console.error = error;
    }
    assert.equal(codeOf(logged[0]), 'E_LISTENER_ERROR');
  });

  it('async listeners that reject are reported too', async () => {
    const { names, runner } = await makeRun(async (ctx, h) => {
      h.reportMessage('m', 'x');
      await new Promise((resolve) => setImmediate(resolve));
      ctx.ack();
    });
    runner.on('message', () => Promise.reject(new Error('late')) as unknown as undefined);
    await runner.run({ systemPrompt: 'test' });
    assert.ok(names.includes('err(E_LISTENER_ERROR)'), names.join(' '));
  });
});

describe('values that cannot cross', { skip }, () => {
  it('a record that is larger than a frame is refused, and the turn goes on', async () => {
    const big = message('big', 'user', 'x'.repeat(17 << 20));
    const { names } = await runTurn(
      async (ctx) => {
        await assert.rejects(ctx.storeMessage(big), { code: 'E_ABI_LIMIT_EXCEEDED' });
        ctx.ack();
      },
      {
        turnInputPipeline: [
          (ctx, next) => {
            assert.throws(() => ctx.turnMessages.add(big), { code: 'E_ABI_LIMIT_EXCEEDED' });
            assert.equal(ctx.turnMessages.size, 0);
            return next();
          },
        ],
      },
    );
    assert.equal(names.at(-1), 'tE(ack)');
  });

  it('a start that does not fit a frame names the field that is to blame', async () => {
    const long = 'x'.repeat(17 << 20);
    const { runner } = await makeRun((ctx) => ctx.ack());
    for (const [field, input] of Object.entries({
      message: { systemPrompt: 's', message: long },
      systemPrompt: { systemPrompt: long, message: 'hi' },
      standingInstructions: { systemPrompt: 's', standingInstructions: ['short', long] },
      stash: { systemPrompt: 's', stash: { k: [long.slice(0, 9 << 20), long.slice(0, 9 << 20)] } },
    })) {
      await assert.rejects(runner.run(input), (error) => {
        assert.ok(isTurncoreError(error, 'E_ABI_LIMIT_EXCEEDED'), String(error));
        assert.equal((error.details as { field: string }).field, field);
        assert.match(error.message, new RegExp(`${field} has 1\\d{7} bytes`));
        return true;
      });
    }
    await runner.run({ systemPrompt: 's', message: 'hi' });
  });

  it('a delta that is larger than a frame fails its call', async () => {
    const { names } = await runTurn((ctx, h) => {
      assert.throws(() => h.reportMessage('m', 'x'.repeat(17 << 20)), {
        code: 'E_ABI_LIMIT_EXCEEDED',
      });
      h.reportMessage('m', 'fine', { isComplete: true });
      ctx.ack();
    });
    assert.deepEqual(
      names.filter((n) => n === 'msg'),
      ['msg'],
    );
  });

  it('a large history crosses in parts', async () => {
    const text = 'y'.repeat(1 << 20);
    let bytes = 0;
    await runTurn(
      (ctx) => {
        for (const m of ctx.turnMessages) bytes += m.content!.length;
        ctx.ack();
      },
      {
        turnInputPipeline: [
          (ctx, next) => {
            for (let i = 0; i < 40; i++) ctx.turnMessages.add(message(`m${i}`, 'user', text));
            return next();
          },
        ],
      },
    );
    assert.equal(bytes, 40 << 20);
  });
});
