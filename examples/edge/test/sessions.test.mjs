// The sessions of the example on workerd, in a Durable Object for each user, and on Node.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, test } from 'node:test';

import { eventsIn, playsSessions, refusesBodies, sessionsOf, textOf } from './sessions.mjs';
import { npmStart, start } from './start.mjs';

const LONG = 'word '.repeat(200);

test('sessions of examples/edge on Node', async () => {
  const server = await start([process.execPath, 'hosts/node.js']);
  try {
    const user = sessionsOf(`${server.address}/users/ann/sessions`);
    await refusesBodies(user);
    await playsSessions(user);
  } finally {
    await server.stop();
  }
});

describe('sessions of examples/edge on workerd', () => {
  let data;
  let server;
  const user = (name) => sessionsOf(`${server.address}/users/${name}/sessions`);
  const restart = async () => {
    await server?.stop();
    server = await start(npmStart, { DATA: data });
  };

  before(async () => {
    data = await mkdtemp(join(tmpdir(), 'turncore-edge-sessions-'));
    await restart();
  });
  after(async () => {
    await server?.stop();
    await rm(data, { recursive: true, force: true });
  });

  it('play', () => playsSessions(user('ann')));

  it('refuse wrong bodies', () => refusesBodies(user('ann')));

  it("are each user's own", async () => {
    assert.deepEqual(await user('bob').list(), []);
    await user('bob').create('first');
    assert.deepEqual((await user('bob').session('first')).state, {});
  });

  it('wait for a person while workerd is killed', async () => {
    await user('cleo').create('kept');
    const { end } = await user('cleo').run('kept', 'Please transfer money to Grace.');
    await restart();
    const { confirm, session } = user('cleo');
    assert.deepEqual((await session('kept')).pending, end.pending);
    const { stored } = await confirm('kept', end.pending[0].id, true);
    assert.match(textOf(stored.at(-1)), /Grace has the money/);
    assert.deepEqual((await session('kept')).state, { transfers: ['Grace'] });
  });

  it('keep what a client has seen that goes away, and go on', async () => {
    const { create, request, run, events } = user('dan');
    await create('left');
    const leaver = new AbortController();
    const { signal } = leaver;
    const response = await request('POST', '/left/run', { message: LONG }, { signal });
    let seen = '';
    for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
      seen += piece;
      if (eventsIn(seen).events.length > 3) break;
    }
    leaver.abort();
    assert.deepEqual(eventsIn(seen).stored, []);
    const next = await run('left', 'hello');
    assert.match(textOf(next.stored.at(-1)), /hello/);
    // The answer that nobody took was never whole.
    const authors = (await events('left')).stored.map(({ author }) => author);
    assert.deepEqual(authors, ['user', 'user', 'clerk']);
  });

  it('have nothing to complain about', () => {
    assert.doesNotMatch(server.said(), /exception|hung|error/i);
  });
});

describe('sessions of examples/edge on workerd, with a model that is silent', () => {
  /** What the model says before it is silent; undefined for nothing, not even a status. */
  let begins;
  let asked;
  let model;
  let server;

  before(async () => {
    model = createServer((request, response) => {
      request.resume();
      const closed = once(response, 'close');
      asked?.([closed]);
      if (begins === undefined) return;
      response.setHeader('content-type', 'text/event-stream');
      response.write(`data: {"choices":[{"delta":{"content":"${begins}"}}]}\n\n`);
    }).listen(0, '127.0.0.1');
    await once(model, 'listening');
    server = await start(npmStart, {
      OPENAI_API_KEY: 'key',
      OPENAI_BASE_URL: `http://127.0.0.1:${model.address().port}/v1`,
      SILENCE_MS: '50',
    });
  });
  after(async () => {
    await server?.stop();
    model?.closeAllConnections();
    model?.close();
  });

  for (const [when, text] of [
    ['at first', undefined],
    ['in the middle', 'Well'],
  ]) {
    it(`have comments, and end when the client goes away, ${when}`, async () => {
      begins = text;
      const cut = new Promise((resolve) => (asked = resolve));
      const { create, request, events } = sessionsOf(`${server.address}/users/eve/sessions`);
      const id = await create();
      const leaver = new AbortController();
      const { signal } = leaver;
      const response = await request('POST', `/${id}/run`, { message: 'hello' }, { signal });
      let seen = '';
      for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
        seen += piece;
        if (/(?:^:\n){3}/m.test(seen)) break;
      }
      assert.equal(seen.includes('Well'), text !== undefined, seen);
      leaver.abort();
      await (
        await cut
      )[0];
      const { stored } = await events(id);
      assert.deepEqual(
        stored.map(({ author }) => author),
        ['user'],
      );
    });
  }
});
