// Clients that go away from turns in a Worker, and retry: a turn ends with its request, unless the platform lets it go
// on.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { startWorkerd } from './start.mjs';

const LONG = 'word '.repeat(60).trim();
/** Its turn takes much longer than a platform needs to notice that a client has gone. */
const LONGER = 'word '.repeat(500).trim();
/** Milliseconds within which a retry must be answered. */
const PATIENCE = 60_000;

for (const flags of [[], ['enable_request_signal']]) {
  describe(`turns in a Worker with the flags [${flags}]`, () => {
    let workerd;
    before(async () => {
      workerd = await startWorkerd('127.0.0.1:9', { worker: 'turns.worker.mjs', flags });
    });
    after(() => workerd?.stop());

    const post = (path, turnId, message, signal = AbortSignal.timeout(PATIENCE)) =>
      fetch(workerd.address + path, {
        method: 'POST',
        body: JSON.stringify({ message, turnId }),
        signal,
      });
    const text = async (path, turnId, message = 'again') => {
      const response = await post(path, turnId, message);
      return `${response.status} ${await response.text()}`;
    };
    /** Begins a turn and goes away after the first words. */
    const leave = async (path, turnId, message = LONGER) => {
      const leaver = new AbortController();
      const response = await post(path, turnId, message, leaver.signal);
      const decoder = new TextDecoder();
      let read = '';
      for await (const piece of response.body) {
        read += decoder.decode(piece, { stream: true });
        if (read.includes('"event":"message"')) break;
      }
      leaver.abort();
      await new Promise((resolve) => setTimeout(resolve, 1000));
    };

    it('are aborted when their client goes away', async () => {
      for (const path of ['/served/abort/turns', '/bare/abort/turns']) {
        await leave(path, path);
        assert.match(await text(path, path), /^200 .*event:end\ndata:{"status":"aborted"/s);
      }
    });

    it('go on by waitUntil, if they are to', async () => {
      await leave('/served/continue/turns', 'go on', LONG);
      const again = await text('/served/continue/turns', 'go on');
      assert.match(again, /^200 .*event:end\ndata:{"status":"ack"/s);
      assert.ok(again.match(/word/g).length >= 60, again);
    });

    it('are abandoned without it, and never run again', async () => {
      const path = '/bare/continue/turns';
      await leave(path, 'gone');
      const refusals = await Promise.all([
        text(path, 'gone'),
        text(path, 'gone'),
        fetch(`${workerd.address}${path}/gone/events`).then((response) => response.text()),
      ]);
      for (const refusal of refusals) assert.match(refusal, /"code":"E_TURN_ABANDONED"/);
      assert.match(await text(path, 'gone'), /^410 /);
      const stop = await post(`${path}/gone/abort`);
      assert.equal(stop.status, 410);
    });

    it('are abandoned for those who attach by the runner, too', async () => {
      await leave('/stream/continue', 'left');
      const [streamed, result, run] = await Promise.all(
        ['/stream/continue', '/result', '/run'].map((path) => text(path, 'left')),
      );
      assert.match(streamed, /event:end\ndata:{"status":"failed".*"code":"E_TURN_ABANDONED"/s);
      assert.match(result, /"status":"failed".*"code":"E_TURN_ABANDONED"/);
      assert.match(run, /"code":"E_TURN_ABANDONED"/);
      assert.match(await text('/run', 'left'), /"code":"E_TURN_ABANDONED"/);
      assert.match(await text('/run', 'another'), /"ended":true/);
    });

    it('are attached to while they run', async () => {
      const [first, second, result, run] = await Promise.all(
        ['/stream/abort', '/stream/abort', '/result', '/run'].map((path) =>
          text(path, 'live', LONG),
        ),
      );
      for (const events of [first, second]) {
        assert.match(events, /^200 .*event:end\ndata:{"status":"ack"/s);
        assert.ok(events.match(/word/g).length >= 60, events);
      }
      assert.match(result, /"status":"ack"/);
      assert.ok(result.includes(LONG), result);
      assert.match(run, /"ended":true/);
    });
  });
}
