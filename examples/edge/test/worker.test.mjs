// The example on workerd, started by `npm start`.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

import { clientOf } from './client.mjs';
import { npmStart, start } from './start.mjs';

const LONG = 'word '.repeat(100);
/** Milliseconds until a server knows that a client has gone away. */
const NOTICE = 300;

const noticed = () => new Promise((resolve) => setTimeout(resolve, NOTICE));

describe('examples/edge on workerd', () => {
  let server;
  const conversation = (id) => clientOf(`${server.address}/conversations/${id}/turns`);

  before(async () => (server = await start(npmStart)));
  after(() => server?.stop());

  it('says where it listens', () => {
    assert.match(server.said(), new RegExp(`^Talk to it: ${server.address}/$`, 'm'));
  });

  it('has a page with its script', async () => {
    const page = await fetch(server.address);
    assert.match(page.headers.get('content-type'), /^text\/html/);
    assert.match(await page.text(), /<script type="module" src="page.js">/);
    const script = await fetch(`${server.address}/page.js`);
    assert.match(script.headers.get('content-type'), /^text\/javascript/);
    assert.match(await script.text(), /conversations/);
    assert.equal((await fetch(`${server.address}/else`)).status, 404);
  });

  it('answers a message, with a tool', async () => {
    const { say } = conversation('tool');
    const { status, answer, tools } = await say('How is the weather in Oslo?', 't1');
    assert.deepEqual([status, tools], ['ack', ['get_weather']]);
    assert.match(answer, /4 degrees in Oslo/);
  });

  it('asks before it acts', async () => {
    const { sayAndAnswer } = conversation('gate');
    const yes = await sayAndAnswer('Please transfer money to Grace.', true, 'yes');
    assert.equal(yes.status, 'ack');
    assert.match(yes.answer, /Grace has the money/);
    const no = await sayAndAnswer('Please transfer money to Ada.', false, 'no');
    assert.match(no.answer, /the visitor refused/);
  });

  it('aborts the turn of a client that goes away, and says so to its retry', async () => {
    const { say, sayAndLeave } = conversation('left');
    await sayAndLeave(LONG, 'left');
    await noticed();
    const { status, answer } = await say(LONG, 'left');
    assert.equal(status, 'aborted');
    assert.ok(answer.length < LONG.length, answer);
    assert.equal((await say('hello', 'next')).status, 'ack');
  });

  it('answers a retry by what came of the turn, and runs it once', async () => {
    const { say } = conversation('retry');
    const first = await say('hello', 'same');
    assert.deepEqual(await say('something else', 'same'), first);
    const [one, other] = await Promise.all([say('at once', 'two'), say('at once', 'two')]);
    assert.deepEqual(one, other);
    assert.match(one.answer, /at once/);
  });

  it('keeps conversations apart', async () => {
    assert.match((await conversation('one').say('hello one', 'same')).answer, /hello one/);
    assert.match((await conversation('other').say('hello other', 'same')).answer, /hello other/);
    const refusal = await conversation('third').post('/same/abort', {});
    assert.equal(refusal.status, 404);
    assert.equal((await refusal.json()).error.code, 'E_TURN_UNKNOWN');
  });

  it('refuses an empty message', async () => {
    const refusal = await conversation('bad').post('', { message: '' });
    assert.equal(refusal.status, 400);
    assert.match((await refusal.json()).error.message, /message/);
  });

  it('refuses bodies that are wrong, and names what is wrong', async () => {
    for (const [body, status, why] of [
      ['no', 400, /the body must be JSON$/],
      ['null', 400, /the body must be a JSON object$/],
      ['[]', 400, /the body must be a JSON object$/],
      ['{}', 400, /`message` must be a string$/],
      ['{"message":5}', 400, /`message` must be a string$/],
      ['{"message":"hi","sessionId":"x"}', 400, /`sessionId` is not known/],
      ['{"message":"hi","turnId":5}', 400, /`turnId` must be a string/],
      [JSON.stringify({ message: 'x'.repeat(2 ** 20) }), 413, /over the limit of 1048576 bytes$/],
    ]) {
      const turns = `${server.address}/conversations/bad/turns`;
      const refusal = await fetch(turns, { method: 'POST', body });
      const { error } = await refusal.json();
      assert.deepEqual([refusal.status, error.code], [status, 'E_TURN_REQUEST_INVALID'], body);
      assert.match(error.message, why);
    }
  });

  it('has nothing to complain about', () => {
    assert.doesNotMatch(server.said(), /exception|hung|error/i);
  });
});

describe('examples/edge on workerd with ON_DISCONNECT=continue', () => {
  let server;
  before(async () => (server = await start(npmStart, { ON_DISCONNECT: 'continue' })));
  after(() => server?.stop());

  it('lets the turn of a client that goes away go on, and its retry attaches', async () => {
    const { say, sayAndLeave } = clientOf(`${server.address}/conversations/left/turns`);
    await sayAndLeave(LONG, 'left');
    await noticed();
    const { status, answer } = await say(LONG, 'left');
    assert.equal(status, 'ack');
    assert.ok(answer.includes(LONG.trim()), answer);
  });
});

describe('examples/edge on workerd that is killed', () => {
  let data;
  before(async () => (data = await mkdtemp(join(tmpdir(), 'turncore-edge-test-'))));
  after(() => rm(data, { recursive: true, force: true }));

  it('goes on with its conversations', async () => {
    let known = 0;
    for (let round = 0; round < 4; round++) {
      const server = await start(npmStart, { DATA: data });
      try {
        const { say, sayAndLeave } = clientOf(`${server.address}/conversations/kept/turns`);
        const { status, promptTokens } = await say(`message ${round}`, `t${round}`);
        assert.equal(status, 'ack');
        assert.ok(promptTokens > known, `${promptTokens} tokens after ${known}`);
        known = promptTokens;
        // It is killed while a turn runs, whose retry runs it again.
        if (round % 2 === 1) await sayAndLeave(LONG, `long ${round}`);
        else if (round > 0) assert.equal((await say(LONG, `long ${round - 1}`)).status, 'ack');
      } finally {
        await server.stop();
      }
    }
    assert.ok(known > 20, `${known} tokens`);
  });
});
