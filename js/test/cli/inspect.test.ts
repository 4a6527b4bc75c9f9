/**
 * What turncore inspect shows. The Go command shows the same of the same turns.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { showJournal } from '../../src/cli/inspect.js';
import { FIXED_INSTANT } from '../../src/entropy.js';
import { fixedClock } from '../../src/entries/host.js';
import { MemoryJournal } from '../../src/entries/replay.js';
import { type RawTurnGate } from '../../src/entries/runners.js';
import {
  LlmAgent,
  type ModelFunction,
  Runner,
  SessionService,
} from '../../src/entries/sessions.js';
import { Host } from '../../src/index.js';
import { root } from '../instance/go-guest.js';
import { fullModule, makeRun, skip, testHost } from '../turn/harness.js';

/** What is shown of a journal, without the line that names the engine. */
function shown(journal: Uint8Array): string {
  let text = '';
  showJournal(journal, { file: 'gates.journal', json: false, verbose: false }, (line) => {
    text += `${line.map(([, part]) => part).join('')}\n`;
  });
  return text.replace(/^engine {2}.*\n/m, '');
}

describe('turncore inspect', { skip }, () => {
  it('shows what gates ask, how they were settled and when', async () => {
    const gates: Omit<RawTurnGate, 'createdAt'>[] = [
      {
        id: 'delete',
        reason: 'Delete the file?',
        payload: { path: '/a' },
        schema: { type: 'boolean' },
      },
      { id: 'publish', reason: 'Publish it?', payload: [1], schema: { type: 'boolean' } },
    ];
    const rejected = new Error('not today');
    const journal = new MemoryJournal();
    let now = FIXED_INSTANT;
    let open: Uint8Array | undefined;
    const run = await makeRun(
      async (ctx) => {
        for (const gate of gates) {
          await ctx.waitFor({ ...gate, createdAt: now }).catch((error: unknown) => {
            if (error !== rejected) throw error;
          });
        }
        ctx.ack();
      },
      { host: await testHost({ clock: () => now, journal: () => journal }) },
    );
    run.runner.observe('turnGateOpen', (gate) => {
      now += 1500;
      if (gate.id === 'delete') {
        gate.resolve(true);
        return;
      }
      open = journal.bytes().slice();
      gate.reject(rejected);
    });
    await run.runner.run({ systemPrompt: 'test', turnId: 'T' });
    const want = readFileSync(new URL('runtime/testdata/inspect/gates.txt', root), 'utf8');
    assert.equal(shown(journal.bytes()), want);
    // A journal that stops while the gate is open.
    const half = shown(open!);
    assert.match(half, /gate {8}publish Publish it\? \[1\] → open\n/);
    assert.match(half, /ended {7}not: /);
  });
});

describe('turncore inspect of an invocation', { skip }, () => {
  it('says so, and counts its requests and tool calls', async () => {
    const journal = new MemoryJournal();
    const module = await fullModule();
    const host = new Host({ module, clock: fixedClock(), journal: () => journal });
    const service = new SessionService({ host });
    const usage = { promptTokens: 3, completionTokens: 2, totalTokens: 5 };
    const model: ModelFunction = async function* ({ contents }) {
      const call = { functionCall: { id: 'c', name: 'weather', args: {} } };
      const part = contents.length === 1 ? call : { text: 'It is clear.' };
      yield { content: { role: 'model', parts: [part] }, usage };
      await Promise.resolve();
    };
    const weather = { name: 'weather', description: 'a tool', runAsync: () => ({ sky: 'clear' }) };
    const agent = new LlmAgent({ name: 'guide', model, tools: [weather] });
    const runner = new Runner({ appName: 'app', agent, sessionService: service });
    const who = { userId: 'u', sessionId: 's' };
    await service.createSession({ appName: 'app', ...who });
    await runner.run({ ...who, newMessage: 'How is the weather?' });
    const want = readFileSync(new URL('runtime/testdata/inspect/invocation.txt', root), 'utf8');
    const text = shown(journal.bytes()).replace(/^(?:invocation|began) .*\n/gm, '');
    // Whether the host answers what the module does not wait for differs from run to run.
    const bare = text.replace(/^(.* event .*), \d+ ms$/gm, '$1');
    assert.equal(bare.replace(/\d+ ms|\d+\.\d{3}/g, '0'), want);
  });
});
