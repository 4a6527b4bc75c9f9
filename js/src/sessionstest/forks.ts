/**
 * Forking and rewinding sessions.
 */
import type { Event } from '../invocations/event.js';
import { equal } from '../storetest/opened.js';
import { save, text, versions } from './artifacts.js';
import {
  changed,
  fails,
  KEY,
  type Place,
  type Run,
  said,
  shown,
  sorted,
  WHO,
  words,
} from './place.js';

/**
 * Makes a session whose i-th event, from 0, sets n to i, deletes what the one before it has set besides, and has the
 * i-th version of an artifact. Returns the events.
 */
async function history(place: Place, count: number): Promise<Event[]> {
  const session = await place.create({ init: 'kept', n: 'none', 'app:a': 1 });
  const list: Event[] = [];
  for (let n = 0; n < count; n++) {
    const stateDelta = { n, [`k${n}`]: true, 'app:a': n, ...(n > 0 && { [`k${n - 1}`]: null }) };
    const f = await place.service.saveArtifact(session, 'f', { text: `f${n}` });
    const actions = { stateDelta, artifactDelta: { f } };
    list.push(await place.append(session, { ...said(String(n)), actions }));
  }
  return list;
}

export const forks: Record<string, Run> = {
  'a fork begins as the session was after any event': async (place) => {
    const list = await history(place, 4);
    const before = shown(await place.get());
    for (const [i, { id }] of list.entries()) {
      const sessionId = `fork ${i}`;
      place.watched.failAt(0);
      const { forks: before0 } = place.watched;
      const made = await place.service.forkSession(KEY, { sessionId, upTo: id });
      equal([place.watched.forks - before0, place.watched.appends], [1, 0], 'transactions');
      for (const fork of [made, await place.get(sessionId)]) {
        equal(words(fork.events), words(list.slice(0, i + 1)), 'the events');
        const state = { 'app:a': 3, init: 'kept', n: i, [`k${i}`]: true };
        equal(sorted(fork.state), sorted(state), 'the state');
      }
      const key = { ...WHO, sessionId };
      equal(await versions(place, key), [['f', i]], 'the artifacts');
      equal(await text(place, 'f', undefined, key), `f${i}`, 'the last version');
      equal(await text(place, 'f', 0, key), 'f0', 'the first version');
    }
    equal(shown(await place.get()), before, 'the session');
  },

  'a fork of all events begins as the session is': async (place) => {
    const list = await history(place, 3);
    const fork = await place.service.forkSession(KEY);
    const state = sorted((await place.get()).state);
    equal([words(fork.events), sorted(fork.state)], [words(list), state], 'the fork');
    const key = { ...WHO, sessionId: fork.id };
    equal(await versions(place, key), await versions(place), 'its artifacts');
  },

  'a fork goes its own way': async (place) => {
    const { service } = place;
    const list = await history(place, 3);
    for (const [i, upTo] of [list[1]!.id, undefined].entries()) {
      const sessionId = `fork${i}`;
      const key = { ...WHO, sessionId };
      const fork = await service.forkSession(KEY, {
        sessionId,
        ...(upTo !== undefined && { upTo }),
      });
      const before = shown(await place.get());
      await place.append(fork, changed({ n: 'fork', init: null }));
      const version = await save(place, fork, 'f', 'fork');
      equal(version, 2 + 2 * i, 'the version');
      equal(shown(await place.get()), before, 'the session');
      const [session, forked] = [await place.get(), shown(await place.get(sessionId))];
      await place.append(session, changed({ n: 'own', more: 1 }));
      await save(place, session, 'f', 'own');
      equal(shown(await place.get(sessionId)), forked, 'the fork');
      equal(await text(place, 'f', undefined, key), 'fork', 'its artifact');
      const again = await service.forkSession(key, { upTo: list[0]!.id });
      equal(words(again.events), 'host:0', 'a fork of the fork');
      const twice = { author: 'host', id: list[0]!.id };
      await place.refused(await place.get(sessionId), twice, 'E_SESSION_CONFLICT');
    }
    await service.deleteSession(KEY);
    equal(
      words((await place.get('fork0')).events),
      'host:0 host:1 host: host:',
      'a fork that is left',
    );
    equal(await text(place, 'f', 0, { ...WHO, sessionId: 'fork0' }), 'f0', 'its artifact');
  },

  'a fork is refused': async (place) => {
    const { service } = place;
    const list = await history(place, 2);
    await place.create({}, 't');
    for (const upTo of [undefined, list[0]!.id]) {
      const at = upTo === undefined ? {} : { upTo };
      for (const sessionId of ['t', 's']) {
        const fork = () => service.forkSession(KEY, { sessionId, ...at });
        const { session, user } = await fails(fork, 'E_SESSION_EXISTS');
        equal([session, user], [sessionId, KEY.userId], 'details');
      }
      const unknown = { ...WHO, sessionId: 'nothing' };
      await fails(
        () => service.forkSession(unknown, { sessionId: 'u', ...at }),
        'E_SESSION_NOT_FOUND',
      );
    }
    const nowhere = { sessionId: 'u', upTo: 'nothing' };
    await fails(() => service.forkSession(KEY, nowhere), 'E_INVALID_EVENT');
    equal(await service.getSession({ ...WHO, sessionId: 'u' }), undefined, 'what was refused');
    equal((await place.get('t')).events, [], 'what is there');
  },

  "a rewind restores the session's own state": async (place) => {
    await place.create({ init: 1, n: 0, 'app:a': 0 });
    const ids: string[] = [];
    for (const n of [1, 2, 3]) {
      place.agent = async function* () {
        yield await Promise.resolve(changed({ init: null, n, 'app:a': n, [`k${n}`]: true }));
      };
      ids.push((await place.run())[0]!.invocationId);
    }
    const who = { userId: WHO.userId, sessionId: 's' };
    for (const [i, own] of [
      { init: 1, n: 0 },
      { n: 1, k1: true },
      { n: 2, k1: true, k2: true },
    ]
      .map((state, at) => [at, state] as const)
      .reverse()) {
      await place.runner.rewind({ ...who, rewindBeforeInvocationId: ids[i]! });
      equal(sorted((await place.get()).state), sorted({ 'app:a': 3, ...own }), `before ${i}`);
    }
    equal((await place.get()).events.length, 9, 'the events');
    const unknown = { ...who, rewindBeforeInvocationId: 'nothing' };
    await fails(() => place.runner.rewind(unknown), 'E_INVOCATION_NOT_FOUND');
  },
};
