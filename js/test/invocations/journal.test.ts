/**
 * Journals of invocations, and their replay.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { Host } from '../../src/index.js';
import { fixedClock, seededEntropy } from '../../src/entries/host.js';
import { MemoryJournal, replay } from '../../src/entries/replay.js';
import { AgentTool, type BaseAgent } from '../../src/entries/sessions.js';
import { fullModule, skip } from '../turn/harness.js';
import { answers, calls, lines, llm, Script, stage, text } from './setup.js';

const module = skip === false ? await fullModule() : undefined!;

function hostWith(journal: (id: string) => { write: (bytes: Uint8Array) => void }): Host {
  return new Host({ module, clock: fixedClock(), entropy: seededEntropy(1), journal });
}

/** An agent with a tool, an agent that is one, and one that runs another. */
function team(): BaseAgent {
  const look = {
    name: 'look',
    description: 'looks',
    runAsync: (_: unknown, ctx: { state: Record<string, unknown> }) => {
      ctx.state['seen'] = 1;
      return { ok: true };
    },
  };
  const expert = llm('expert', answers('very', 'very much'));
  const model = answers(calls('look'), 'one', calls('look'), 'two');
  const root = llm('root', model, { tools: [look, new AgentTool({ agent: expert })] });
  return new Script(
    'script',
    async function* (ctx, agent) {
      yield text('before', { actions: { stateDelta: { 'user:n': 1 } } });
      for await (const event of agent.subAgents[0]!.runAsync(ctx)) yield event;
    },
    [root],
  );
}

describe('journals of invocations', { skip }, () => {
  it('replay, also those of an invocation behind others of its session', async () => {
    const journals = new Map<string, MemoryJournal>();
    const host = hostWith((id) => {
      const journal = new MemoryJournal();
      journals.set(id, journal);
      return journal;
    });
    const { say, load } = await stage({ agent: team(), host });
    const first = await say('q1');
    const second = await say('q2');
    assert.deepEqual(lines(first.slice(1)), [
      'root: look()',
      'root: look = {"ok":true} {"seen":1}',
      'root: one',
    ]);
    assert.deepEqual([...journals.keys()], [first[0]!.invocationId, second[0]!.invocationId]);
    for (const journal of journals.values()) {
      const report = await replay(journal.bytes(), module);
      assert.equal(report.difference, undefined);
      assert.equal(report.torn, false);
      assert.ok(report.frames > 10, `${report.frames} frames`);
    }
    assert.equal((await load()).events.length, 10);
  });

  it('hold up nobody if they cannot be written; the error comes behind the last event', async () => {
    let writes = 0;
    const host = hostWith(() => ({
      write: () => {
        if (++writes > 3) throw new Error('the disk is full');
      },
    }));
    const { runner, load } = await stage({ agent: team(), host });
    const seen: string[] = [];
    await assert.rejects(async () => {
      for await (const event of runner.runAsync({
        userId: 'u',
        sessionId: 's',
        newMessage: 'q1',
      })) {
        seen.push(event.author);
      }
    }, /the disk is full/);
    assert.deepEqual(seen, ['script', 'root', 'root', 'root']);
    assert.equal((await load()).events.length, 5);
  });
});
