// What the sessions of the example do on every host, by plain requests: as curl would.
import assert from 'node:assert/strict';

/** @param user the address of a user's sessions @param send sends a request */
export function sessionsOf(user, send = fetch) {
  const request = (method, path, body, more = {}) =>
    send(user + path, { method, body: body && JSON.stringify(body), ...more });
  const json = async (response, status = 200) => {
    const text = await response.text();
    assert.equal(response.status, status, text);
    return JSON.parse(text);
  };
  /** Reads events to their end. @returns what came, and the end */
  const read = async (response) => {
    const text = await response.text();
    assert.equal(response.status, 200, text);
    assert.match(response.headers.get('content-type'), /^text\/event-stream/);
    return eventsIn(text);
  };
  return {
    request,
    read,
    create: async (id, state) => (await json(await request('POST', '', { id, state }), 201)).id,
    list: async () => json(await request('GET', '')),
    session: async (id) => json(await request('GET', `/${id}`)),
    fork: async (id, upTo) => (await json(await request('POST', `/${id}/fork`, { upTo }), 201)).id,
    run: async (id, message) => read(await request('POST', `/${id}/run`, { message })),
    confirm: async (id, call, confirmed) =>
      read(await request('POST', `/${id}/confirm`, { id: call, confirmed })),
    events: async (id, last) =>
      read(
        await request(
          'GET',
          `/${id}/events`,
          undefined,
          last && { headers: { 'last-event-id': last } },
        ),
      ),
    refused: async (response, status, code) => {
      const { error } = await json(await response, status);
      assert.equal(error.code, code);
    },
  };
}

/** The events of a stream that are complete. */
export function eventsIn(text) {
  const blocks = text
    .split('\n\n')
    .slice(0, -1)
    .map((block) => ({
      kind: /^event:(.*)$/m.exec(block)?.[1],
      id: /^id:(.*)$/m.exec(block)?.[1],
      data: JSON.parse(/^data:(.*)$/m.exec(block)[1]),
    }));
  const events = blocks.filter(({ kind }) => kind === undefined);
  for (const { id, data } of events) assert.equal(id, data.partial ? undefined : data.id);
  return {
    events: events.map(({ data }) => data),
    stored: events.map(({ data }) => data).filter(({ partial }) => !partial),
    end: blocks.find(({ kind }) => kind === 'end')?.data,
  };
}

/** The text of an event. */
export const textOf = ({ content }) => content.parts.map(({ text }) => text ?? '').join('');

/** Sends bodies that are wrong. Each gets a status and an error that names what is wrong. */
export async function refusesBodies({ create, request, session }) {
  await create('wrong', { kept: true });
  const refusal = async (path, body, status, code, why) => {
    const response = await request('POST', path, undefined, { body });
    const { error } = await response.json();
    assert.deepEqual([response.status, error.code], [status, code], `${path} ${body}`);
    assert.match(error.message, why);
  };
  const invalid = (path, body, why) => refusal(path, body, 400, 'E_TURN_REQUEST_INVALID', why);
  for (const path of ['', '/wrong/run', '/wrong/confirm', '/wrong/fork']) {
    for (const body of ['', 'no', '{']) await invalid(path, body, /the body must be JSON$/);
    for (const body of ['null', '[]', '5', '"x"']) {
      await invalid(path, body, /the body must be a JSON object$/);
    }
    await invalid(path, '{"other":1}', /`other` is not known/);
    const long = JSON.stringify({ message: 'x'.repeat(2 ** 20) });
    await refusal(path, long, 413, 'E_TURN_REQUEST_INVALID', /over the limit of 1048576 bytes/);
  }
  await invalid('', '{"id":5}', /`id` must be a string/);
  for (const id of ['', 'a/b', 'a b', 'x'.repeat(65)]) {
    await invalid('', JSON.stringify({ id }), /`id` must be 1 to 64 letters, digits, - or _/);
  }
  for (const state of ['5', 'null', '[]']) {
    await invalid('', `{"state":${state}}`, /`state` must be an object/);
  }
  await invalid('/wrong/fork', '{"upTo":null}', /`upTo` must be a string/);
  await invalid('/wrong/confirm', '{"id":5,"confirmed":true}', /`id` must be a string/);
  await invalid('/wrong/confirm', '{"id":"a"}', /`confirmed` must be true or false/);
  for (const [message, why] of [
    ['5', /message: must be a text or a content/],
    ['null', /message: must be a text or a content/],
    ['{"parts":[{"text":5}]}', /message\.parts\[0\]\.text: must be a string/],
  ]) {
    await refusal('/wrong/run', `{"message":${message}}`, 422, 'E_INVALID_INVOCATION', why);
  }
  assert.deepEqual(await session('wrong'), { id: 'wrong', state: { kept: true }, pending: [] });
  assert.equal((await request('DELETE', '/wrong')).status, 204);
}

/** Plays a message with a tool, a call that waits for a person, a fork, and the list. */
export async function playsSessions(user) {
  const { create, list, session, fork, run, confirm, events, request, refused } = user;
  assert.equal(await create('first', { mood: 'good' }), 'first');
  const weather = await run('first', 'How is the weather in Oslo?');
  assert.match(textOf(weather.stored.at(-1)), /4 degrees in Oslo/);
  assert.ok(weather.events.length > weather.stored.length, 'it streams');
  assert.deepEqual(weather.end, { pending: [] });

  const asked = await run('first', 'Please transfer money to Grace.');
  const [call, ...others] = asked.end.pending;
  assert.deepEqual(others, []);
  assert.deepEqual([call.name, call.args], ['transfer', { to: 'Grace' }]);
  assert.equal(call.confirmation.hint, 'Transfer money to Grace?');
  assert.deepEqual((await session('first')).pending, [call]);
  const copy = await fork('first');
  const half = await fork('first', weather.stored.at(-1).id);

  const answered = await confirm('first', call.id, true);
  assert.match(textOf(answered.stored.at(-1)), /Grace has the money/);
  assert.equal(answered.stored[0].invocationId, asked.stored[0].invocationId);
  assert.deepEqual((await session('first')).state, { mood: 'good', transfers: ['Grace'] });
  const refusal = await confirm(copy, call.id, false);
  assert.match(textOf(refusal.stored.at(-1)), /did not confirm/);
  assert.deepEqual((await session(copy)).state, { mood: 'good' });
  assert.deepEqual((await session(half)).pending, []);

  const all = await events('first');
  const rest = await events('first', all.stored[2].id);
  assert.deepEqual(rest.stored, all.stored.slice(3));
  assert.equal(all.stored.at(-1).id, answered.stored.at(-1).id);
  assert.deepEqual(
    (await list()).map(({ sessionId }) => sessionId).sort(),
    ['first', copy, half].sort(),
  );

  const twice = request('POST', '/first/confirm', { id: call.id, confirmed: true });
  await refused(twice, 409, 'E_CALL_ANSWERED');
  const never = request('POST', '/first/confirm', { id: 'never', confirmed: true });
  await refused(never, 404, 'E_CALL_NOT_ASKED');
  await refused(request('POST', '/none/run', { message: 'hello' }), 404, 'E_SESSION_NOT_FOUND');
  await refused(request('POST', '', { id: 'first' }), 409, 'E_SESSION_EXISTS');
  await refused(request('POST', '', { state: { temp_x: 1 } }), 422, 'E_INVALID_STATE');
  assert.equal((await request('DELETE', `/${half}`)).status, 204);
  assert.equal((await list()).length, 2);
}
