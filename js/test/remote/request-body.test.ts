import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { type BodyMembers, checkBody, jsonBody } from '../../src/entries/remote.js';

const request = (body?: BodyInit): Request =>
  new Request('http://localhost/', { method: 'POST', ...(body === undefined ? {} : { body }) });

describe('bodies of requests', () => {
  it('are objects of known members', async () => {
    const body = '{"a":"x","b":{},"c":1,"d":false,"e":null}';
    const { a, b, c, d, e, f } = await jsonBody(request(body), {
      ...({
        a: 'string',
        b: 'object',
        c: 'number?',
        d: 'boolean',
        e: 'any',
        f: 'string?',
      } as const),
    });
    const types: [string, object, number | undefined, boolean, unknown, string | undefined] = [
      ...([a, b, c, d, e, f] as const),
    ];
    assert.deepEqual(types, ['x', {}, 1, false, null, undefined]);
    const invalid = (text: string | undefined, members: BodyMembers, why: RegExp): Promise<void> =>
      assert.rejects(jsonBody(request(text), members), {
        code: 'E_TURN_REQUEST_INVALID',
        status: 400,
        message: why,
      });
    for (const text of [undefined, '', 'no', '{"a":'])
      await invalid(text, {}, /body must be JSON$/);
    for (const text of ['null', '[]', '1', 'true', '"a"']) {
      await invalid(text, {}, /body must be a JSON object$/);
    }
    const known = { a: 'string?', b: 'any?' } as const;
    await invalid('{"a":"x","c":2}', known, /`c` is not known: a body has `a`, `b`$/);
    await invalid('{"a":1}', {}, /`a` is not known: a body has no members$/);
    await invalid('{"__proto__":1}', known, /`__proto__` is not known/);
    await invalid('{"toString":1}', known, /`toString` is not known/);
    for (const text of ['{"a":null}', '{"a":1}', '{"a":[]}']) {
      await invalid(text, known, /`a` must be a string$/);
    }
    await invalid('{}', { a: 'string' }, /`a` must be a string$/);
    await invalid('{}', { a: 'any' }, /`a` must be given$/);
    await invalid('{"a":1}', { a: 'boolean' }, /`a` must be true or false$/);
    await invalid('{"a":"1"}', { a: 'number?' }, /`a` must be a number$/);
    for (const text of ['{"a":null}', '{"a":[]}', '{"a":"x"}']) {
      await invalid(text, { a: 'object' }, /`a` must be an object$/);
    }
    assert.throws(() => checkBody({ a: 1 }, {}), { code: 'E_TURN_REQUEST_INVALID' });
  });

  it('are read no farther than their bound', async () => {
    const long = { code: 'E_TURN_REQUEST_INVALID', status: 413 };
    const members = { a: 'string' } as const;
    const text = `{"a":"${'x'.repeat(2 ** 20)}"}`;
    await assert.rejects(jsonBody(request(text), members), long);
    assert.equal((await jsonBody(request(text), members, text.length)).a.length, 2 ** 20);
    await assert.rejects(jsonBody(request(text), members, text.length - 1), long);
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(body) {
        pulled++;
        body.enqueue(new Uint8Array(1000));
      },
    });
    const init = { method: 'POST', body: endless, duplex: 'half' };
    await assert.rejects(
      jsonBody(new Request('http://localhost/', init as RequestInit), members, 10_000),
      long,
    );
    assert.ok(pulled < 20, `${pulled} pieces`);
  });
});
