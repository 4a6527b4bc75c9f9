import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { type EventBlock, eventStream } from '../../src/entries/remote.js';

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function* given(...blocks: EventBlock[]): AsyncGenerator<EventBlock, void> {
  for (const block of blocks) {
    await Promise.resolve();
    yield block;
  }
}

/** Events that come when the test says so, until a signal aborts. */
function waiting(signal?: AbortSignal): {
  events: AsyncGenerator<EventBlock, void>;
  log: string[];
} {
  const log: string[] = [];
  async function* run(): AsyncGenerator<EventBlock, void> {
    try {
      yield { data: 'first' };
      await new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('aborted')));
      });
    } finally {
      log.push('cleaned up');
    }
  }
  return { events: run(), log };
}

describe('a stream of events', () => {
  it('has what it is given', async () => {
    const response = eventStream(
      given({ id: '1', data: '{"a":1}' }, { data: 'two\r\nlines' }, { event: 'end', data: '' }),
      { headers: { 'x-more': '1', 'content-type': 'text/plain' } },
    );
    const { headers } = response;
    assert.equal(headers.get('content-type'), 'text/event-stream');
    assert.equal(headers.get('cache-control'), 'no-store, no-transform');
    assert.equal(headers.get('x-more'), '1');
    assert.equal(
      await response.text(),
      'data:{"a":1}\nid:1\n\ndata:two\ndata:lines\n\nevent:end\ndata:\n\n',
    );
  });

  it('asks for no event before the client has taken the one before', async () => {
    let asked = 0;
    async function* events(): AsyncGenerator<EventBlock, void> {
      for (; asked < 10;) {
        asked++;
        await Promise.resolve();
        yield { data: 'x' };
      }
    }
    const body = eventStream(events()).body!.getReader();
    await wait(5);
    assert.equal(asked, 0);
    await body.read();
    await wait(5);
    assert.equal(asked, 1);
    await body.cancel();
  });

  it('has comments in silences, and the events behind them', async () => {
    const heard = new AbortController();
    async function* events(): AsyncGenerator<EventBlock, void> {
      yield { data: 'first' };
      await new Promise((resolve) => heard.signal.addEventListener('abort', resolve));
      yield { data: 'last' };
    }
    const body = eventStream(events(), { silenceMs: 10 }).body!.getReader();
    const decoder = new TextDecoder();
    let text = '';
    for (let chunk = await body.read(); !chunk.done; chunk = await body.read()) {
      text += decoder.decode(chunk.value, { stream: true });
      if (text.endsWith(':\n:\n')) heard.abort();
    }
    assert.match(text, /^data:first\n\n(?::\n){2,4}data:last\n\n$/);
  });

  it('tells who makes the events when the client goes away', async () => {
    for (const by of ['the body', 'the signal', 'the signal, before']) {
      const [maker, client] = [new AbortController(), new AbortController()];
      const { events, log } = waiting(maker.signal);
      let gone = 0;
      if (by === 'the signal, before') client.abort();
      const response = eventStream(events, {
        signal: client.signal,
        onGone: () => {
          gone++;
          maker.abort();
        },
      });
      const body = response.body!.getReader();
      if (by !== 'the signal, before') {
        await body.read();
        const next = body.read();
        await wait(1);
        if (by === 'the body') await body.cancel();
        else client.abort();
        assert.equal((await next).done, true, by);
        await wait(1);
        assert.deepEqual(log, ['cleaned up'], by);
      }
      client.abort();
      assert.equal((await body.read()).done, true, by);
      assert.equal(gone, 1, by);
    }
  });

  it('is cut by an error, and tells nobody that it has ended well', async () => {
    async function* fails(): AsyncGenerator<EventBlock, void> {
      await Promise.resolve();
      yield { data: 'first' };
      throw new Error('broken');
    }
    let gone = 0;
    await assert.rejects(eventStream(fails(), { onGone: () => gone++ }).text(), /broken/);
    const { events, log } = waiting();
    await assert.rejects(
      eventStream(given({ id: 'a\nb', data: '' }), { onGone: () => gone++ }).text(),
      { code: 'E_INVALID_VALUE', message: /id: must be a line/ },
    );
    assert.equal(gone, 2);
    await eventStream(given({ data: '' }), { onGone: () => gone++ }).text();
    assert.equal(gone, 2);
    assert.deepEqual(log, []);
    await events.return();
  });

  it('rejects wrong options', () => {
    for (const options of [{ silenceMs: 0 }, { onGone: 1 }, { quiet: 1 }]) {
      assert.throws(() => eventStream(given(), options as object), { code: 'E_INVALID_VALUE' });
    }
  });
});
