/** Loading, which all adapters share. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  type EngineProgress,
  type PageEngine,
  promptAPIEngine,
  transformersEngine,
  webLLMEngine,
  wllamaEngine,
} from '../../src/entries/models.js';
import { pageEngine, settingRules, type TellProgress } from '../../src/local-models/page-engine.js';
import { isTurncoreError } from '../../src/index.js';
import { all, later, request } from './harness.js';

const rules = { title: 'settings', code: 'E_INVALID_VALUE', fields: settingRules };

/** An engine whose loads a function answers. */
function counted(
  load: (count: number, tell: TellProgress, signal: AbortSignal) => Promise<string>,
  onProgress?: TellProgress,
): { engine: PageEngine; loads: () => number; unloaded: string[] } {
  let loads = 0;
  const unloaded: string[] = [];
  const engine = pageEngine({ rules }, { onProgress }, () => ({
    name: 'counted',
    capabilities: { grammar: 'gbnf', tools: 'text' },
    load: (tell, signal) => load(++loads, tell, signal),
    unload: (thing) => unloaded.push(thing),
    async *generate(thing) {
      await Promise.resolve();
      yield { text: thing };
    },
  }));
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
    await disposed;
    finish[0]!('model 1');
    await later();
    assert.deepEqual(unloaded, ['model 1']);
    assert.deepEqual(await all(engine.generate(request())), [{ text: 'model 2' }]);
    assert.deepEqual(phases, ['loading', 'disposed', 'loading', 'ready']);
  });

  it('is disposed of at once when its library never loads, and frees what it loads in the end', async () => {
    const phases: string[] = [];
    let finish!: (thing: string) => void;
    const { engine, unloaded } = counted(
      () => new Promise((resolve) => (finish = resolve)),
      ({ phase }) => phases.push(phase),
    );
    const loading = engine.load();
    await later();
    await Promise.all([engine.dispose(), assert.rejects(loading, /disposed of/)]);
    assert.deepEqual(phases, ['loading', 'disposed']);
    assert.deepEqual(unloaded, []);
    finish('late');
    await later();
    assert.deepEqual(unloaded, ['late']);
    assert.deepEqual(phases, ['loading', 'disposed']);
  });

  it('says nothing of a library that fails, or cannot be freed, when nobody wants it any more', async () => {
    let settle!: (thing: Promise<string>) => void;
    const engine = pageEngine({ rules }, {}, () => ({
      name: 'stubborn',
      capabilities: {},
      load: () => new Promise<string>((resolve) => (settle = resolve)),
      unload: () => Promise.reject(new Error('still in use')),
      generate: () => assert.fail(),
    }));
    const ends = [() => Promise.resolve('late'), () => Promise.reject(new Error('no network'))];
    for (const end of ends) {
      const loading = assert.rejects(engine.load(), /disposed of/);
      await later();
      await engine.dispose();
      await loading;
      settle(end());
      await later();
    }
  });

  it('must load something', async () => {
    const engine = wllamaEngine({ load: (() => Promise.resolve()) as never });
    const wrong = { code: 'E_INVALID_VALUE', message: /load: must give what it has loaded/ };
    await assert.rejects(engine.load(), wrong);
    await assert.rejects(all(engine.generate(request())), wrong);
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
    const engine = pageEngine(
      { rules },
      { name: 'mine', capabilities: { tools: 'native', toolFormat: 'hermes' } },
      () => ({
        name: 'adapter',
        capabilities: { grammar: 'gbnf', tools: 'text' },
        load: () => Promise.resolve(null),
        unload: () => undefined,
        generate: () => assert.fail(),
      }),
    );
    assert.equal(engine.name, 'mine');
    assert.deepEqual(engine.capabilities, {
      grammar: 'gbnf',
      tools: 'native',
      toolFormat: 'hermes',
    });
  });
});

describe('the settings of an engine in the page', () => {
  const load = (): Promise<never> => assert.fail();
  const transformers = { TextStreamer: Date, InterruptableStoppingCriteria: Date };
  const wrong: [string, () => unknown, string[]][] = [
    [
      'misspelled names',
      () => promptAPIEngine({ onprogress: load, creates: {} } as never),
      [
        '`onprogress` is not a known field; did you mean `onProgress`?',
        '`creates` is not a known field; did you mean `create`?',
      ],
    ],
    [
      'wrong types',
      () => wllamaEngine({ name: '', load: 'wllama', onProgress: true, needs: 2e9 } as never),
      [
        '`name` must be a non-empty string',
        '`onProgress` must be a function',
        '`load` must be a function',
        '`needs` must be an object or a function',
      ],
    ],
    ['no load', () => webLLMEngine({} as never), ['`load` is required']],
    [
      'no settings',
      () => webLLMEngine(undefined as never),
      ['the settings of webLLMEngine must be an object'],
    ],
    [
      'capabilities',
      () => wllamaEngine({ load, capabilities: { gramar: 'gbnf', tools: 'yes' } } as never),
      [
        '`capabilities.tools` must be one of "native", "text"',
        '`capabilities.gramar` is not a known field; did you mean `grammar`?',
      ],
    ],
    [
      'needs',
      () => webLLMEngine({ load, needs: { webGPU: [true], memory: '2GB', disk: 1 } } as never),
      [
        '`needs.memory` must be a number',
        '`needs.disk` is not a known field',
        '`needs.webGPU[0]` must be a string',
      ],
    ],
    [
      'a library that is not one',
      () => transformersEngine({ transformers: { pipeline: load }, load } as never),
      [
        '`transformers.TextStreamer` must be a function',
        '`transformers.InterruptableStoppingCriteria` must be a function',
      ],
    ],
    [
      'settings of another engine',
      () => transformersEngine({ transformers, load, create: {} } as never),
      ['`create` is not a known field'],
    ],
    [
      'an API that is not one',
      () => promptAPIEngine({ languageModel: {} } as never),
      ['`languageModel` must have the functions availability and create'],
    ],
    [
      'what the engine sets itself',
      () => promptAPIEngine({ create: { signal: null, initialPrompts: [] } }),
      ['`create.initialPrompts` is set by the engine', '`create.signal` is set by the engine'],
    ],
  ];
  for (const [what, make, details] of wrong) {
    it(`are checked at once: ${what}`, () => {
      assert.throws(make, (error) => {
        assert.ok(isTurncoreError(error, 'E_INVALID_VALUE'));
        assert.deepEqual(error.details, details);
        return true;
      });
    });
  }

  it('may be null', () => {
    promptAPIEngine({ name: null, needs: null, create: null, languageModel: null } as never);
    wllamaEngine({ load, capabilities: null, onProgress: null } as never);
  });

  it('may have a function that says what the model needs: it is checked when it has said it', async () => {
    const engine = wllamaEngine({ load, needs: () => ({ memori: 1 }) as never });
    await assert.rejects(engine.load(), {
      code: 'E_INVALID_VALUE',
      message: /`memori` is not a known field; did you mean `memory`\?/,
    });
  });
});
