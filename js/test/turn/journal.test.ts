/**
 * What a turn gives depends on what it takes, and on nothing else that runs.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeFrames } from '../codec/frames.js';
import { mulberry32 } from '../../src/entropy.js';
import { type HostOptions, Tool, TurnRunner } from '../../src/index.js';
import { History } from '../../src/entries/records.js';
import { MemoryJournal, replay } from '../../src/entries/replay.js';
import { readJournal } from '../../src/journal/reader.js';
import { coreModule, makeRun, message, recordingCallbacks, skip, testHost } from './harness.js';

const TURNS = 50;

const add = new Tool<{ a: number }, number>({
  name: 'add',
  description: 'adds',
  inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
  handler: async ({ a }) => {
    await pause(a % 3);
    return a + 1;
  },
});

const shared = new History('messages', [message('h1'), message('h2')]);

function pause(ticks: number): Promise<void> {
  return ticks === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ticks));
}

/** A runner whose turns do different things by their ids: `t7` what the number 7 makes of a generator. */
function runnerOf(host: HostOptions): TurnRunner {
  const random = (id: string): (() => number) => mulberry32(Number(id.slice(1)));
  return new TurnRunner({
    ...recordingCallbacks(),
    host,
    tools: [add],
    turnInputPipeline: [
      async (ctx, next) => {
        const n = random(ctx.id)() % 4;
        if (n > 1) ctx.turnMessages.addAll(shared);
        if (n > 2) ctx.stash.set('n', n);
        await pause(n);
        await next();
      },
    ],
    executorCallback: async (ctx, h) => {
      const next = random(ctx.dispatchId.replace(/\.d\d+$/, ''));
      for (let i = 0; i < ctx.iteration * 7; i++) next();
      for (let i = next() % 5; i > 0; i--) {
        h.reportMessage(`m${ctx.iteration}`, `word ${i} `);
        if (next() % 3 === 0) await pause(next() % 2);
      }
      if (next() % 2 === 0) await add.executor(ctx)({ a: next() % 10 });
      await ctx.storeMessage(message(`m${ctx.iteration}`));
      if (next() % 7 === 0) throw new Error('now and then');
      if (ctx.iteration >= next() % 4) ctx.ack();
    },
  });
}

/** The outbound frames of a journal, without the number that the turn has in its instance. */
function outbound(journal: MemoryJournal): string {
  const frames = readJournal(journal.bytes()).entries.flatMap((entry) => decodeFrames(entry.out));
  return JSON.stringify(frames.filter((f) => f[1] !== 0).map((f) => [f[0], ...f.slice(2)]));
}

describe('journals of many turns', { skip }, () => {
  it('are the same alone and side by side, and all replay', async () => {
    const ids = Array.from({ length: TURNS }, (_, i) => `t${i}`);
    const journalled = async (journals: Map<string, MemoryJournal>): ReturnType<typeof testHost> =>
      testHost({
        verify: false,
        journal: (id) => {
          const journal = new MemoryJournal();
          journals.set(id, journal);
          return journal;
        },
      });

    const alone = new Map<string, MemoryJournal>();
    for (const turnId of ids) {
      await runnerOf(await journalled(alone)).run({ systemPrompt: 'x', turnId });
    }
    const together = new Map<string, MemoryJournal>();
    const runner = runnerOf(await journalled(together));
    await Promise.all(ids.map((turnId) => runner.run({ systemPrompt: 'x', turnId })));

    const module = await coreModule();
    let frames = 0;
    for (const id of ids) {
      assert.equal(outbound(together.get(id)!), outbound(alone.get(id)!), id);
      const report = await replay(together.get(id)!.bytes(), module);
      assert.equal(report.difference, undefined, id);
      frames += report.frames;
    }
    assert.ok(frames > TURNS * 10, `${frames} frames`);
  });
});

describe('a journal that cannot be written', { skip }, () => {
  it('does not hold up its turn; run rejects with what the sink threw first, once the turn has ended', async () => {
    const disk = new Error('the disk is full');
    const nothing: unknown = undefined;
    for (const error of [disk, nothing]) {
      for (const later of [false, true]) {
        let failed = 0;
        for (let at = 1; at < 12; at++) {
          let writes = 0;
          const write = (): void | Promise<void> => {
            if (++writes < at) return undefined;
            if (later) return Promise.reject(error); // eslint-disable-line @typescript-eslint/prefer-promise-reject-errors -- what is tested
            throw error;
          };
          const run = await makeRun(
            async (ctx) => {
              await ctx.storeMessage(message('m'));
              await add.executor(ctx)({ a: 1 });
              ctx.ack();
            },
            { host: await testHost({ journal: () => ({ write }) }) },
          );
          let threw: { readonly error: unknown } | undefined;
          try {
            await run.runner.run({ systemPrompt: 'test' });
          } catch (caught) {
            threw = { error: caught };
          }
          if (writes >= at) assert.equal(threw?.error, error, `write ${at}`);
          assert.equal(threw !== undefined, writes >= at, `write ${at}`);
          if (threw !== undefined) failed++;
          // The header is written before the turn begins.
          assert.equal(run.names.at(-1), at === 1 && !later ? undefined : 'tE(ack)', `write ${at}`);
        }
        assert.ok(failed > 5, `${failed} writes failed`);
      }
    }
  });
});
