/** Loading, which all adapters share. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { EngineProgress } from '../../src/entries/models.js';
import { pageEngine, type TellProgress } from '../../src/local-models/page-engine.js';
import type { PageEngine } from '../../src/entries/models.js';
import { all, later, request } from './harness.js';

/** An engine whose loads a function answers. */
function counted(
  load: (count: number, tell: TellProgress, signal: AbortSignal) => Promise<string>,
  onProgress?: TellProgress,
): { engine: PageEngine; loads: () => number; unloaded: string[] } {
  let loads = 0;
  const unloaded: string[] = [];
  const engine = pageEngine<string>(
    { onProgress },
    {
      name: 'counted',
      capabilities: { grammar: 'gbnf', tools: 'text' },
      load: (tell, signal) => load(++loads, tell, signal),
      unload: (thing) => unloaded.push(thing),
      async *generate(thing) {
        await Promise.resolve();
        yield { text: thing };
      },
    },
  );
  return { engine, loads: () => loads, unloaded };
}

describe('an engine in the page', () => {
  it('is loaded once, when it is first needed', async () => {
    const phases: string[] = [];
    const { engine, loads } = counted(
      async (count, tell) => {
        tell({ phase: 'loading', progress: 0.5 });
        await later();
        tell({ phase: 'compiling' });
        return `model ${count}`;
      },
      ({ phase }) => phases.push(phase),
    );
    assert.equal(loads(), 0);
    const answers = await Promise.all([
      all(engine.generate(request())),
      engine.load(),
      all(engine.generate(request())),
    ]);
    assert.deepEqual(answers, [[{ text: 'model 1' }], undefined, [{ text: 'model 1' }]]);
    assert.equal(loads(), 1);
    assert.deepEqual(phases, ['loading', 'loading', 'compiling', 'ready']);
  });

  it('is loaded again after a load that failed', async () => {
    const told: EngineProgress[] = [];
    const { engine, loads } = counted(
      (count) => (count < 3 ? Promise.reject(new Error(`no ${count}`)) : Promise.resolve('model')),
      (progress) => told.push(progress),
    );
    await assert.rejects(engine.load(), /no 1/);
    await assert.rejects(all(engine.generate(request())), /no 2/);
    assert.deepEqual(await all(engine.generate(request())), [{ text: 'model' }]);
    assert.equal(loads(), 3);
    assert.deepEqual(
      told.map(({ phase }) => phase),
      ['loading', 'failed', 'loading', 'failed', 'loading', 'ready'],
    );
    assert.match(String(told[1]!.error), /no 1/);
  });

  it('that cannot even begin to load fails the same way', async () => {
    const { engine } = counted(() => {
      throw new Error('at once');
    });
    await assert.rejects(engine.load(), /at once/);
    await assert.rejects(engine.load(), /at once/);
  });

  it('can be disposed of at any time, and used again', async () => {
    const phases: string[] = [];
    const { engine, loads, unloaded } = counted(
      async (count) => {
        await later();
        return `model ${count}`;
      },
      ({ phase }) => phases.push(phase),
    );
    await engine.dispose(); // nothing is there
    const loading = engine.load();
    const disposed = engine.dispose();
    await assert.rejects(loading, /disposed of while it was loading/);
    await disposed;
    assert.equal(loads(), 0, 'it was disposed of before it began');
    assert.deepEqual(await all(engine.generate(request())), [{ text: 'model 1' }]);
    await Promise.all([engine.dispose(), engine.dispose()]);
    assert.deepEqual(unloaded, ['model 1']);
    assert.equal(loads(), 1);
    assert.deepEqual(phases, ['loading', 'disposed', 'loading', 'ready', 'disposed']);
  });

  it('cancels a download when it is disposed of, and says no more of it', async () => {
    const told: EngineProgress[] = [];
    const { engine, unloaded } = counted(
      (_, tell, signal) =>
        new Promise((_, reject) => {
          tell({ phase: 'loading', progress: 0.1 });
          signal.addEventListener('abort', () => {
            tell({ phase: 'loading', progress: 0.2 });
            reject(signal.reason as Error);
          });
        }),
      (progress) => told.push(progress),
    );
    const waiting = [engine.load(), all(engine.generate(request()))];
    const left = Promise.allSettled(waiting);
    await later();
    await engine.dispose();
    for (const settled of await left) {
      assert.equal(settled.status, 'rejected');
      assert.match(String(settled.reason), /disposed of while it was loading/);
    }
    assert.deepEqual(unloaded, []);
    assert.deepEqual(told, [
      { phase: 'loading' },
      { phase: 'loading', progress: 0.1 },
      { phase: 'disposed' },
    ]);
  });

  it('does not wait for a library that loads on after it was cancelled', async () => {
    const phases: string[] = [];
    const finish: ((thing: string) => void)[] = [];
    const { engine, unloaded } = counted(
      () => new Promise((resolve) => finish.push(resolve)),
      ({ phase }) => phases.push(phase),
    );
    const first = engine.load();
    await later();
    const disposed = engine.dispose();
    await assert.rejects(first, /disposed of while it was loading/);
    const second = engine.load();
    await later();
    finish[1]!('model 2');
    await second;
    finish[0]!('model 1');
    await disposed;
    assert.deepEqual(unloaded, ['model 1']);
    assert.deepEqual(await all(engine.generate(request())), [{ text: 'model 2' }]);
    assert.deepEqual(phases, ['loading', 'loading', 'ready']);
  });

  it('does not generate for who has left while it was loading', async () => {
    const { engine } = counted(() => Promise.resolve('model'));
    const controller = new AbortController();
    const answer = all(engine.generate(request({ signal: controller.signal })));
    controller.abort();
    await assert.rejects(answer, { name: 'AbortError' });
  });

  it('loads whatever its listener does', async () => {
    const { engine } = counted(
      () => Promise.resolve('model'),
      () => {
        throw new Error('no interest');
      },
    );
    await engine.load();
  });

  it('has the capabilities of its adapter, but for what is set', () => {
    const engine = pageEngine<null>(
      { name: 'mine', capabilities: { tools: 'native', toolFormat: 'hermes' } },
      {
        name: 'adapter',
        capabilities: { grammar: 'gbnf', tools: 'text' },
        load: () => Promise.resolve(null),
        unload: () => undefined,
        generate: () => assert.fail(),
      },
    );
    assert.equal(engine.name, 'mine');
    assert.deepEqual(engine.capabilities, {
      grammar: 'gbnf',
      tools: 'native',
      toolFormat: 'hermes',
    });
  });
});
