/**
 * Agents in workers of Node: the same turns, the same grants, and a bound on time.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { after, describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';

import { loadAgent, meterAgent } from 'turncore/agents';
import {
  E_AGENT_GRANT,
  E_AGENT_NOT_GRANTED,
  E_INSTANCE_FAILED,
  E_INVALID_VALUE,
  E_NOT_CLONEABLE,
  E_WORKER_ENDED,
  E_WORKER_FAILED,
} from 'turncore/errors';
import { simulatedProvider } from 'turncore/simulated';
import { createWorkerRunner, PageTool, WorkerTimeoutError } from 'turncore/worker';

import { example, names, unnamed } from './examples.mjs';
import { withManifest } from './manifest.mjs';
import { playOn } from './play.mjs';

const root = new URL('../../../', import.meta.url);
const read = async (path) => new Uint8Array(await readFile(new URL(path, root)));
const script = new URL('./agent-worker.mjs', import.meta.url);
const makeWorker = (play) => () => new Worker(script, { workerData: { play } });
const ended = [];
after(() => ended.forEach((agent) => agent.terminate()));

/** Loads an agent that ends with this file. */
async function load(file, options) {
  const agent = await loadAgent(file, { worker: makeWorker(), ...options });
  ended.push(agent);
  return agent;
}

/** An agent whose model is a provider of this process. */
async function withProvider(t, options) {
  const server = createServer(simulatedProvider()).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => server.close());
  const { grant, ...others } = options;
  const asks = {
    models: [{ name: 'default', why: '' }],
    tools: (grant?.tools ?? []).map((name) => ({ name, why: '' })),
  };
  return load(withManifest(await read('js/dist/turncore.wasm'), asks), {
    ...others,
    grant: { agent: 'bare', models: { default: 'openai/simulated' }, ...grant },
    model: (provider, model) => ({
      provider,
      model,
      apiKey: 'key',
      baseURL: `http://127.0.0.1:${server.address().port}/v1`,
    }),
  });
}

describe('an agent in a worker', () => {
  for (const name of names) {
    it(`gives the event log of ${name}`, async () => {
      const { file, grant, play, log } = await example(name);
      const agent = await load(file, { grant, options: play.options, worker: makeWorker(play) });
      assert.equal(agent.manifest.name, name);
      assert.deepEqual(unnamed(await playOn(agent.createRunner(), play)), unnamed(log));
    });
  }

  it('has a worker for each runner, and takes what meterAgent made', async () => {
    const { file, grant, play, log } = await example('research');
    const module = new WebAssembly.Module(meterAgent(file));
    const agent = await load(module, { grant, worker: makeWorker(play) });
    const [one, two] = [agent.createRunner(), agent.createRunner()];
    const logs = await Promise.all([playOn(one, play), playOn(two, play)]);
    assert.deepEqual(logs.map(unnamed), [unnamed(log), unnamed(log)]);
  });

  it('gets models with their keys, and the tools that its grant names, of either side', async (t) => {
    const called = [];
    const tool = (name) =>
      new PageTool({
        name,
        description: 'Answers in the page.',
        inputSchema: { type: 'object' },
        handler: () => (called.push(name), 'from the page'),
      });
    const agent = await withProvider(t, {
      grant: { tools: ['of_the_page', 'of_the_worker'] },
      tools: [tool('of_the_page'), tool('hidden')],
    });
    const runner = agent.createRunner();
    const answers = {};
    for (const name of ['of_the_page', 'of_the_worker', 'hidden']) {
      answers[name] = (await runner.stream({ message: `Call ${name}.` }).result).text;
    }
    assert.match(answers.of_the_page, /^The tool answered: from the page/);
    assert.match(answers.of_the_worker, /^The tool answered: from the worker/);
    assert.match(answers.hidden, /^You said: Call hidden/);
    assert.deepEqual(called, ['of_the_page']);
  });

  it('is aborted for its quota, with the limit', async (t) => {
    const agent = await withProvider(t, { grant: { quota: { frames: 3 } } });
    const { status, error } = await agent.createRunner().stream({ message: 'hello' }).result;
    assert.equal(status, 'aborted');
    assert.equal(error.code, 'E_AGENT_LIMIT');
    assert.deepEqual(error.details, { limit: 'frames', most: 3 });
  });

  it('is refused before a worker is made, or by the worker', async () => {
    const { file, grant } = await example('research');
    const worker = () => assert.fail('a worker was made');
    await assert.rejects(loadAgent(file, { worker }), E_AGENT_NOT_GRANTED);
    await assert.rejects(load(file, { grant: { ...grant, tools: ['none'] } }), (error) => {
      assert.ok(error instanceof E_AGENT_GRANT, String(error));
      assert.match(error.message, /the program has no tool none/);
      return true;
    });
    await assert.rejects(
      loadAgent(file, { grant, worker: new MessageChannel().port1 }),
      E_INVALID_VALUE,
    );
    const model = () => ({ name: 'engine', generate: () => undefined });
    await assert.rejects(load(file, { grant, model }), (error) => {
      assert.ok(error instanceof E_NOT_CLONEABLE, String(error));
      assert.match(error.message, /generate/);
      return true;
    });
  });

  it('needs serveAgent, and serveAgent needs it', async () => {
    const { file, grant } = await example('research');
    const other = new URL('./runner-worker.mjs', import.meta.url);
    await assert.rejects(load(file, { grant, worker: () => new Worker(other) }), E_WORKER_FAILED);
    const runner = createWorkerRunner(makeWorker());
    const { error } = await runner.stream({ message: 'hello' }).result;
    runner.terminate();
    assert.ok(error instanceof E_WORKER_FAILED, String(error));
  });

  it('that spins ends by its fuel', async () => {
    const file = withManifest(await read('build/hostile/spin-start.wasm'));
    await assert.rejects(load(file, { fuel: { start: 1_000_000 } }), E_INSTANCE_FAILED);
  });

  it('that spins with all the fuel that there is ends by the time', async () => {
    const fuel = { start: Number.MAX_SAFE_INTEGER };
    const file = withManifest(await read('build/hostile/spin-start.wasm'));
    await assert.rejects(load(file, { fuel, stepTimeout: 500 }), (error) => timedOut(error, 500));
  });

  it('whose thread hangs in a turn ends by the time, and the next turn has another worker', async (t) => {
    let made = 0;
    const agent = await withProvider(t, {
      grant: { tools: ['spins'] },
      stepTimeout: 3000,
      worker: () => (made++, makeWorker()()),
    });
    const runner = agent.createRunner();
    const { status, error } = await runner.stream({ message: 'Call spins.' }).result;
    assert.equal(status, 'failed');
    assert.ok(timedOut(error, 3000));
    const next = await runner.stream({ message: 'hello' }).result;
    assert.deepEqual([next.status, made], ['ack', 2], String(next.error));
  });
});

/** Whether a worker was ended because its thread did not answer in time. */
function timedOut(error, timeout) {
  assert.ok(error instanceof E_WORKER_ENDED, String(error));
  assert.ok(error.cause instanceof WorkerTimeoutError, String(error.cause));
  return error.cause.limit === 'stepTimeout' && error.cause.timeout === timeout;
}
