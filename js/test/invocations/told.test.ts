/**
 * What crosses of a session: each event and each content once, and nothing of a session that is gone.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { Op } from '../../src/abi/frames.gen.js';
import { Decoder } from '../../src/codec/decoder.js';
import { type AgentRequest, Runner, SessionService } from '../../src/entries/sessions.js';
import type { Host } from '../../src/index.js';
import { answers, calls, KEY, llm, sessionHost, stage, WHO } from './setup.js';

/** Counts the frames of an op that an instance takes from here on. */
async function countFrames(host: Host, op: number): Promise<() => number> {
  const { instance } = await host.acquire();
  const step = instance.step.bind(instance);
  let count = 0;
  instance.step = (batch) => {
    for (const d = new Decoder(batch.slice()); !d.done; d.value()) if (d.op() === op) count++;
    return step(batch);
  };
  return () => count;
}

describe('what crosses of a session', () => {
  it('is each event once: those of the invocations themselves not at all', async () => {
    const host = await sessionHost();
    const service = new SessionService({ host });
    const model = answers(...Array.from({ length: 5 }, (_, n) => `answer ${n}`));
    const runner = new Runner({ appName: 'app', agent: llm('a', model), sessionService: service });
    await service.createSession(KEY);
    const histories = await countFrames(host, Op.History);
    for (let n = 0; n < 5; n++) await runner.run({ ...WHO, newMessage: `message ${n}` });
    assert.equal(histories(), 1, 'the event that creates the session');
    assert.equal(model.requests[4]!.split(' | ').length, 9);
  });

  it('is what was appended in between, also behind an invocation that was stopped', async () => {
    const host = await sessionHost();
    const service = new SessionService({ host });
    const model = answers('one', 'two', calls('t'), 'three', 'four');
    const runner = new Runner({ appName: 'app', agent: llm('a', model), sessionService: service });
    await service.createSession(KEY);
    await runner.run({ ...WHO, newMessage: 'first' });
    const event = { author: 'a', content: { parts: [{ text: 'between' }] } };
    await service.appendEvent((await service.getSession(KEY))!, event);
    for await (const { author } of runner.runAsync({ ...WHO, newMessage: 'second' })) {
      assert.equal(author, 'a');
      break;
    }
    await runner.run({ ...WHO, newMessage: 'third' });
    assert.equal(
      model.requests.at(-1),
      'user: first | model: one | model: between | user: second | model: two | user: third | ' +
        'model: t() | user: t = {"error":"no tool is named \\"t\\""}',
    );
  });

  it('is forgotten with the session', async () => {
    const host = await sessionHost();
    const service = new SessionService({ host });
    const runner = new Runner({
      appName: 'app',
      agent: llm('a', () => 'yes'),
      sessionService: service,
    });
    const drops = await countFrames(host, Op.DropHistory);
    for (let n = 0; n < 3; n++) {
      await service.createSession(KEY);
      await runner.run({ ...WHO, newMessage: 'hello' });
      await service.deleteSession(KEY);
      assert.equal(drops(), n + 1);
    }
  });

  it('is more than a list in a frame holds', async () => {
    const said = 4_200; // invocations, of two contents each: a list has 8,192 elements at most
    const counts: number[] = [];
    const model = (request: AgentRequest): string => {
      counts.push(request.contents.length);
      return 'yes';
    };
    const { runner, service, load } = await stage({ agent: llm('a', model) });
    for (let n = 0; n < said; n++) await runner.run({ ...WHO, newMessage: 'hello' });
    assert.equal(counts.at(-1), said * 2 - 1);
    // Another process knows only what the store has.
    const other = new SessionService({ store: service.store, host: await sessionHost(2) });
    const late = new Runner({ appName: 'app', agent: runner.agent, sessionService: other });
    await late.run({ ...WHO, newMessage: 'hello' });
    assert.equal(counts.at(-1), said * 2 + 1);
    // What models were shown may change.
    const rewindBeforeInvocationId = (await load()).events[2]!.invocationId;
    await runner.rewind({ ...WHO, rewindBeforeInvocationId });
    await runner.run({ ...WHO, newMessage: 'hello' });
    assert.equal(counts.at(-1), 3);
  });

  it('is shared by requests, which cannot change it', async () => {
    const texts: unknown[] = [];
    const model = ({ contents, lastContent }: AgentRequest): string => {
      texts.push(contents.length, lastContent?.parts?.[0]?.text);
      assert.equal(contents.at(-1), lastContent);
      assert.ok(Object.isFrozen(lastContent?.parts?.[0]));
      (contents as unknown[]).length = 0; // the list is the model's own
      return 'yes';
    };
    const { say } = await stage({ agent: llm('a', model) });
    await say('one');
    await say('two');
    assert.deepEqual(texts, [1, 'one', 3, 'two']);
  });
});
