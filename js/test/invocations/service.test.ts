/**
 * Sessions outside of invocations.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { isTurncoreError } from '../../src/index.js';
import { type Part, type Session, SessionService, storedId } from '../../src/entries/sessions.js';
import { skip } from '../turn/harness.js';
import { answers, KEY, lines, llm, sessionHost, stage, text } from './setup.js';

const host = skip === false ? await sessionHost() : undefined!;
const agent = llm('a', answers());

/** The error of a code, and the field that it names. */
function named(code: string, field?: string) {
  return (error: unknown): boolean => {
    assert.ok(isTurncoreError(error, code), String(error));
    const { details } = error;
    if (field !== undefined) assert.equal((details as { field?: string }).field, field);
    return true;
  };
}

describe('a session service', { skip }, () => {
  it('creates, lists and deletes sessions', async () => {
    const service = new SessionService({ host });
    const made: Session[] = [];
    for (const userId of ['u', 'v', 'u/x']) {
      for (const sessionId of ['one', 'two/2%']) {
        made.push(await service.createSession({ appName: 'a', userId, sessionId }));
      }
    }
    assert.deepEqual(
      made.map(({ id, events, lastUpdateTime }) => [id, events.length, lastUpdateTime]).slice(0, 2),
      [
        ['one', 0, 0],
        ['two/2%', 0, 0],
      ],
    );
    const ids = async (userId: string) =>
      (await service.listSessions({ appName: 'a', userId })).map(({ sessionId }) => sessionId);
    assert.deepEqual(await ids('u'), ['two/2%', 'one']);
    assert.deepEqual(await ids('u/x'), ['two/2%', 'one']);
    assert.deepEqual(await ids('w'), []);
    await service.deleteSession({ appName: 'a', userId: 'u', sessionId: 'one' });
    assert.deepEqual(await ids('u'), ['two/2%']);
    assert.equal(
      await service.getSession({ appName: 'a', userId: 'u', sessionId: 'one' }),
      undefined,
    );
    assert.ok(await service.getSession({ appName: 'a', userId: 'v', sessionId: 'one' }));
  });

  it('creates a session once', async () => {
    const { service } = await stage({ agent }, { k: 1 });
    await assert.rejects(service.createSession(KEY), named('E_SESSION_EXISTS'));
    assert.deepEqual((await service.getSession(KEY))!.state, { k: 1 });
  });

  it('knows nothing of a session that was deleted and made anew', async () => {
    const { service, load } = await stage({ agent }, { k: 1 });
    await service.appendEvent(await load(), text('old', { author: 'a' }));
    assert.equal((await load()).events.length, 1);
    const other = new SessionService({ host, store: service.store });
    await other.deleteSession(KEY);
    await other.createSession(KEY);
    assert.deepEqual([(await load()).events, (await load()).state], [[], {}]);
  });

  it('refuses an invalid state', async () => {
    const service = new SessionService({ host });
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    const create = (state: Record<string, unknown>) => service.createSession({ ...KEY, state });
    for (const name of ['App:x', 'users:x', 'tmp:x', 'temp_x']) {
      await assert.rejects(create({ [name]: 1 }), named('E_INVALID_STATE'));
    }
    for (const value of [cycle, () => 1, Number.NaN, new Map()]) {
      const field = value === cycle ? 'k.self' : 'k';
      await assert.rejects(create({ k: value }), named('E_INVALID_STATE', field));
    }
    assert.equal(await service.getSession(KEY), undefined);
  });

  it('refuses an invalid event, and names the field', async () => {
    const { service, load } = await stage({ agent });
    const session = await load();
    const wrong = {
      content: { parts: [{ functionCall: { id: 'c' } }] },
    } as never;
    await assert.rejects(
      service.appendEvent(session, wrong),
      named('E_INVALID_EVENT', 'content.parts[0].functionCall.name'),
    );
    await assert.rejects(
      service.appendEvent(session, { actions: { stateDelta: { 'users:x': 1 } } }),
      named('E_INVALID_STATE'),
    );
    assert.equal(session.events.length, 0);
    assert.equal((await load()).events.length, 0);
  });

  it('appends an event with its delta, and updates the handle', async () => {
    const { service, load } = await stage({ agent }, { gone: 1, 'user:b': 1 });
    const session = await load();
    const delta = { k: { deep: [1] }, gone: null, 'user:b': null, 'app:a': 2, 'temp:t': 3 };
    const stored = await service.appendEvent(
      session,
      text('one', { author: 'a', actions: { stateDelta: delta } }),
    );
    delta.k.deep.push(2);
    const state = { k: { deep: [1] }, 'app:a': 2 };
    assert.deepEqual(session.state, state);
    const fresh = await load();
    assert.deepEqual(fresh.state, state);
    assert.deepEqual(fresh.events, session.events);
    assert.deepEqual(fresh.events, [stored]);
    assert.ok(stored.id !== '' && stored.timestamp > 0);
    assert.equal(fresh.revision, session.revision);
    assert.equal(session.lastUpdateTime, stored.timestamp);
  });

  it('changes nothing for a partial event', async () => {
    const { service, store, load } = await stage({ agent }, { k: 1 });
    const before = await store.list();
    const session = await load();
    const stateDelta = { 'app:a': 1, 'user:b': 2, c: 3 };
    await service.appendEvent(session, text('He', { partial: true, actions: { stateDelta } }));
    assert.deepEqual(await store.list(), before);
    assert.deepEqual((await load()).state, { k: 1 });
    assert.deepEqual(session.state, { k: 1 });
  });

  it('refuses an append of a handle that is behind, and loads anew to retry', async () => {
    const { service, load } = await stage({ agent });
    const [first, second] = [await load(), await load()];
    await service.appendEvent(first, text('first', { author: 'a' }));
    const late = text('second', { author: 'a', actions: { stateDelta: { k: 1 } } });
    await assert.rejects(service.appendEvent(second, late), named('E_SESSION_CONFLICT'));
    assert.deepEqual([second.events, second.state], [[], {}]);
    assert.deepEqual(lines((await load()).events), ['a: first']);
    let runs = 0;
    await service.retry(second, (session) => {
      runs++;
      return service.appendEvent(session, late);
    });
    assert.equal(runs, 2);
    assert.deepEqual(lines((await load()).events), ['a: first', 'a: second {"k":1}']);
  });

  it('takes an event once', async () => {
    const { service, load } = await stage({ agent });
    const session = await load();
    const event = await service.appendEvent(session, text('one', { author: 'a' }));
    await assert.rejects(service.appendEvent(session, event), named('E_SESSION_CONFLICT'));
    assert.equal((await load()).events.length, 1);
  });

  it('forks a session, from its end or from an event', async () => {
    const { service, load } = await stage({ agent }, { init: 1 });
    const session = await load();
    for (const n of [1, 2, 3]) {
      const stateDelta = { n, 'user:n': n, ...(n === 2 && { init: null }) };
      await service.appendEvent(session, text(String(n), { author: 'a', actions: { stateDelta } }));
    }
    const whole = await service.forkSession(KEY, { sessionId: 'whole' });
    assert.deepEqual(whole.events, session.events);
    assert.deepEqual(whole.state, { n: 3, 'user:n': 3 });
    // It goes on by itself, also for a service that has not made it.
    await service.appendEvent(whole, text('behind', { author: 'a' }));
    await service.forkSession(KEY, { sessionId: 'other' });
    const { store } = service;
    const elsewhere = new SessionService({ host, store });
    const other = (await elsewhere.getSession({ ...KEY, sessionId: 'other' }))!;
    await elsewhere.appendEvent(other, text('first', { author: 'a' }));
    await elsewhere.appendEvent(other, text('second', { author: 'a' }));
    const late = new SessionService({ host, store });
    const seen = (await late.getSession({ ...KEY, sessionId: 'other' }))!;
    assert.equal(seen.events.length, 5);
    await late.appendEvent(seen, text('third', { author: 'a' }));
    const conflict = elsewhere.appendEvent(other, text('unseen', { author: 'a' }));
    await assert.rejects(conflict, named('E_SESSION_CONFLICT'));
    const part = await service.forkSession(KEY, { upTo: session.events[0]!.id });
    assert.deepEqual(part.events, session.events.slice(0, 1));
    assert.deepEqual(part.state, { init: 1, n: 1, 'user:n': 3 });
    await service.appendEvent(part, text('on', { author: 'a' }));
    assert.equal((await load()).events.length, 3);
    await assert.rejects(
      service.forkSession(KEY, { sessionId: 'whole' }),
      named('E_SESSION_EXISTS'),
    );
    await assert.rejects(
      service.forkSession(KEY, { upTo: 'nowhere' }),
      named('E_INVALID_EVENT', 'upTo'),
    );
    await assert.rejects(
      service.forkSession({ ...KEY, sessionId: 'nowhere' }),
      named('E_SESSION_NOT_FOUND'),
    );
  });

  it('forks what an event has of artifacts and of the state, whatever its name', async () => {
    const seen: (Part | undefined)[] = [];
    const keeper = llm('a', answers(), {
      beforeAgentCallback: async (ctx) => {
        seen.push(await ctx.loadArtifact('notes'));
        ctx.state['no:scope'] = seen.length;
        const data = new Uint8Array([seen.length]);
        await ctx.saveArtifact('notes', { inlineData: { mimeType: 'image/png', data } });
        await ctx.saveArtifact('notes', { text: `v${seen.length}` });
        await ctx.saveArtifact('user:all', { text: String(seen.length) });
        return 'saved';
      },
    });
    const { service, say, load, runner, store } = await stage({ agent: keeper });
    await say();
    const { events } = await load();
    await say();
    const fork = await service.forkSession(KEY, { upTo: events.at(-1)!.id });
    assert.deepEqual(fork.state, { 'no:scope': 1 });
    const versions = await store.artifacts(storedId({ ...KEY, sessionId: fork.id }), '');
    assert.deepEqual(
      versions.map(({ name, version }) => [name, version]),
      [
        ['notes', 0],
        ['notes', 1],
      ],
    );
    await runner.run({ userId: KEY.userId, sessionId: fork.id, newMessage: 'on' });
    assert.deepEqual(seen, [undefined, { text: 'v1' }, { text: 'v1' }]);
  });
});
