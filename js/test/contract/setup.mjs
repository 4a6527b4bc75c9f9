// What the programs in this folder share: the package, a host whose clock stands still, and a provider that is
// scripted.
import * as errors from '../../build/src/entries/errors.js';
import * as turncore from '../../build/src/index.js';
import { testHost } from '../../build/test/turn/harness.js';

export { skip } from '../../build/test/turn/harness.js';
export { errors, turncore };

const { memoryStore, storeCallbacks, TurnRunner } = turncore;

/** A runner whose records go to a store in memory. */
export async function runnerOf(config, store = memoryStore()) {
  const runner = new TurnRunner({ ...storeCallbacks(store), host: await testHost(), ...config });
  return runner;
}

/** Runs a turn and returns its events as they came, with their names. */
export async function eventsOf(runner, input = {}) {
  const events = [];
  for (const name of ['message', 'thought', 'toolCall']) runner.on(name, (e) => events.push(e));
  for (const name of [
    'turnStart',
    'turnEnd',
    'dispatchStart',
    'dispatchEnd',
    'iterationStart',
    'iterationEnd',
    'toolExecutionStart',
    'toolExecutionEnd',
    'log',
    'warning',
    'error',
  ]) {
    runner.observe(name, (told, event = told) => events.push(event));
  }
  const result = await runner.run({ systemPrompt: 'You are terse.', ...input });
  if (result !== undefined) throw new Error('run() resolves to nothing');
  return events;
}

/**
 * A client of a model that streams chunks, as those of providers do: one list of chunks for each call.
 *
 * @param signal aborts the stream
 */
export function scriptedClient(...answers) {
  let calls = 0;
  return {
    requests: [],
    async *stream(request, { signal } = {}) {
      this.requests.push(request);
      for (const chunk of answers[Math.min(calls++, answers.length - 1)]) {
        await new Promise((resolve) => setImmediate(resolve));
        signal?.throwIfAborted();
        yield chunk;
      }
    },
  };
}
