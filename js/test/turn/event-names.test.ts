/**
 * Names of events that are none: refused where listeners and handlers are given.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { DispatchRunner, TurnRunner } from '../../src/index.js';
import { codeOf, recordingCallbacks, skip, testHost } from './harness.js';

const functional = ['message', 'thought', 'toolCall'];
const observability = [
  'turnStart',
  'turnEnd',
  'dispatchStart',
  'dispatchEnd',
  'iterationStart',
  'iterationEnd',
  'toolExecutionStart',
  'toolExecutionEnd',
  'turnGateOpen',
  'turnGateClosed',
  'error',
  'log',
  'warning',
  'generationStats',
  'modelCallStart',
  'modelCallEnd',
];
const buses = [
  { methods: ['on', 'off', 'once'], own: functional, others: observability, other: 'observe' },
  {
    methods: ['observe', 'unobserve', 'observeOnce'],
    own: observability,
    others: functional,
    other: 'on',
  },
];
const nonsense: readonly unknown[] = [
  'mesage',
  'Message',
  '',
  '__proto__',
  'constructor',
  undefined,
  null,
  3,
  Symbol('message'),
  ['message'],
];

type Listen = (name: unknown, listener: unknown) => unknown;

const runner = new TurnRunner({
  ...recordingCallbacks(),
  executorCallback: (ctx) => {
    ctx.ack();
  },
});

function refusal(method: string, name: unknown, listener: unknown = () => 1): Error {
  const listen = (runner as unknown as Record<string, Listen>)[method]!;
  try {
    listen.call(runner, name, listener);
  } catch (error) {
    assert.equal(codeOf(error), 'E_INVALID_VALUE', `${method} ${String(name)}`);
    return error as Error;
  }
  return assert.fail(`${method} took ${String(name)}`);
}

for (const { methods, own, others, other } of buses) {
  describe(methods.join(', '), () => {
    it('refuse names that no event has, and say which is meant or which there are', () => {
      for (const method of methods) {
        for (const name of nonsense) {
          const { message } = refusal(method, name);
          assert.match(message, /unknown event name .*; (must be one of|did you mean)/);
          const listed = own.filter((known) => message.includes(`"${known}"`));
          assert.ok(listed.length === own.length || listed.length === 1, message);
        }
      }
    });

    it('say which method listens to the events of the other bus', () => {
      for (const method of methods) {
        for (const name of others) {
          assert.ok(refusal(method, name).message.includes(`which "${other}" listens to`));
        }
      }
    });

    it('refuse a listener that is not a function', () => {
      for (const method of methods) {
        for (const listener of [null, 'f', {}]) {
          assert.match(refusal(method, own[0], listener).message, /listener: must be a function/);
        }
      }
    });

    it('take every name of their own', () => {
      const listener = (): number => 1;
      for (const method of methods) {
        for (const name of own) {
          const listen = (runner as unknown as Record<string, Listen>)[method]!;
          assert.equal(listen.call(runner, name, listener), runner);
        }
      }
    });
  });
}

describe('hooks and observers', { skip }, () => {
  const named = Object.fromEntries(
    Object.entries(recordingCallbacks()).map(([name, f]) => [name.replace(/Callback$/, ''), f]),
  );

  async function dispatch(handlers: object): Promise<unknown> {
    return await DispatchRunner.dispatch({
      raw: { ...named, systemPrompt: 'test' } as never,
      executor: (ctx, helpers) => {
        helpers.reportMessage('m', 'hello');
        ctx.ack();
      },
      host: await testHost(),
      ...handlers,
    });
  }

  it('list the names that there are', async () => {
    await assert.rejects(dispatch({ hooks: { mesage: () => 1 } }), {
      code: 'E_INVALID_LLM_DISPATCH_INPUT',
      details: ['`hooks`: unknown event name "mesage"; did you mean "message"?'],
    });
    await assert.rejects(dispatch({ observers: { turnStart: () => 1 } }), {
      details: [
        `\`observers\`: unknown event name "turnStart"; must be one of ` +
          observability
            .slice(2)
            .map((name) => `"${name}"`)
            .join(', '),
      ],
    });
  });

  it('say when a handler is in the wrong one of the two', async () => {
    await assert.rejects(dispatch({ hooks: { error: () => 1 }, observers: { message: () => 1 } }), {
      details: [
        '`hooks`: unknown event name "error"; it belongs in `observers`',
        '`observers`: unknown event name "message"; it belongs in `hooks`',
      ],
    });
  });

  it('refuse a Map, whose entries nobody would read', async () => {
    for (const group of ['hooks', 'observers']) {
      await assert.rejects(dispatch({ [group]: new Map([['message', () => 1]]) }), {
        details: [`\`${group}\` must be an object`],
      });
    }
  });

  it('call the methods of an object that has a class', async () => {
    const heard: string[] = [];
    class Hooks {
      message(event: { full: string }): void {
        heard.push(event.full);
      }
    }
    class Observers {
      dispatchEnd(event: { status: string }): void {
        heard.push(event.status);
      }
    }
    await dispatch({ hooks: new Hooks(), observers: new Observers() });
    assert.deepEqual(heard, ['hello', 'ack']);
  });
});
