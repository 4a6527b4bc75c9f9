/**
 * Creating, loading, listing and deleting sessions.
 */
import { equal } from '../storetest/opened.js';
import {
  changed,
  fails,
  KEY,
  loaded,
  type Place,
  type Run,
  said,
  shown,
  sorted,
  WHO,
  words,
} from './place.js';
import type { Session } from '../invocations/session.js';
import type { SummaryPage } from '../invocations/session-service.js';

const EXISTS = 'E_SESSION_EXISTS';

/** Ids that a path, a key or a query would take for something else. */
const ODD = [
  'a/b',
  'a',
  'a%2Fb',
  '%',
  '/',
  '//',
  '__proto__',
  '../x',
  'a b',
  'ä',
  '😀',
  "'",
  'a\0b',
];

/** When the events of some tests begin. */
const NOON = Date.UTC(2026, 0, 1, 12);
const MINUTE = 60_000;

/** Appends events, one a minute from noon on, whose texts are their numbers from 0. */
async function timed(place: Place, session: Session, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await place.append(session, { ...said(String(i)), timestamp: NOON + i * MINUTE });
  }
}

export const lives: Record<string, Run> = {
  'a session that was created is there': async (place) => {
    const state = { k: { n: 1, list: ['x', null, true, 1.5] } };
    const made = await place.create(state);
    equal([made.events, made.state], [[], state], 'the handle');
    const stored = await place.get();
    equal(shown(stored), shown(made), 'the stored session');
    equal([stored.id, stored.userId, stored.appName], ['s', 'ada', 'app'], 'whose it is');
  },

  'a session without an id gets one': async ({ service }) => {
    const [a, b] = [await service.createSession(WHO), await service.createSession(WHO)];
    if (a.id === '' || a.id === b.id) throw new Error(`the ids are ${a.id} and ${b.id}`);
  },

  'a session that is there is not created': async (place) => {
    const made = await place.create({ k: 1 });
    for (const service of [place.service, await place.another()]) {
      const again = { ...KEY, state: { k: 2, 'app:k': 2 } };
      equal(
        await fails(() => service.createSession(again), EXISTS),
        { session: 's', user: 'ada' },
        'details',
      );
    }
    equal(shown(await place.get()), shown(made), 'the session');
  },

  "unknown sessions and other users' are not there": async (place) => {
    await place.create();
    for (const service of [place.service, await place.another()]) {
      for (const [userId, sessionId] of [
        ['ada', 't'],
        ['bob', 's'],
        ['ad', 'a/s'],
        ['ada/s', 's'],
      ] as const) {
        const key = { ...KEY, userId, sessionId };
        equal(await service.getSession(key), undefined, 'the session');
        equal(await service.getSession(key, { last: 1 }), undefined, 'its last event');
        await fails(() => service.forkSession(key), 'E_SESSION_NOT_FOUND');
      }
      equal(await service.getSession({ ...KEY, appName: 'other' }), undefined, "another app's");
    }
  },

  'names that are none are refused': async ({ service }) => {
    for (const [field, key] of [
      ['userId', { ...KEY, userId: '' }],
      ['sessionId', { ...KEY, sessionId: '' }],
      ['appName', { ...KEY, appName: '' }],
    ] as const) {
      for (const call of [
        () => service.getSession(key),
        () => service.createSession(key),
        () => service.deleteSession(key),
      ]) {
        equal(await fails(call, 'E_INVALID_INVOCATION'), { field }, 'details');
      }
    }
  },

  'ids are only names': async (place) => {
    for (const [i, userId] of ODD.entries()) {
      for (const [j, sessionId] of ODD.entries()) {
        const state = { i, j, 'user:i': i };
        await place.service.createSession({ ...WHO, userId, sessionId, state });
      }
    }
    const other = await place.another();
    for (const [i, userId] of ODD.entries()) {
      for (const [j, sessionId] of ODD.entries()) {
        const session = await loaded(other, { ...WHO, userId, sessionId });
        equal(sorted(session.state), sorted({ i, j, 'user:i': i }), `${sessionId} of ${userId}`);
      }
    }
  },

  'sessions are listed by user, those updated last first': async (place) => {
    for (const id of ['a', 'b', 'c']) await place.create({}, id);
    for (const userId of ['ad', 'ada/x', 'bob']) {
      await place.service.createSession({ ...WHO, userId, sessionId: 'd' });
    }
    await place.service.createSession({ ...WHO, appName: 'other', sessionId: 'e' });
    await place.append(await place.get('a'), said('x'));
    for (const service of [place.service, await place.another()]) {
      const list = await service.listSessions(WHO);
      equal(list.map(({ sessionId }) => sessionId).join(' '), 'a c b', 'those of the user');
      equal(await service.listSessions({ ...WHO, userId: 'nobody' }), [], 'those of nobody');
    }
  },

  'a page of sessions reads no others': async (place) => {
    for (let i = 0; i < 30; i++) {
      await place.service.createSession({ ...WHO, userId: 'bob', sessionId: String(i) });
      if (i % 6 === 0) await place.create({}, String(i));
    }
    const pages: string[] = [];
    const { calls } = await place.watched.cost(async () => {
      for (let cursor: string | undefined; cursor !== '';) {
        const page: SummaryPage = await place.service.listPage(WHO, { cursor, limit: 2 });
        pages.push(page.sessions.map(({ sessionId }) => sessionId).join(' '));
        cursor = page.next;
      }
    });
    equal(pages, ['24 18', '12 6', '0'], 'the pages');
    equal([calls, place.watched.listed], [3, 5], 'what it cost');
  },

  'a session that was deleted is not there': async (place) => {
    const session = await place.create({ k: 1, 'app:a': 1, 'user:u': 1 });
    await place.append(session, said('x'));
    await place.create({}, 't');
    // Once more is no error.
    for (let i = 0; i < 2; i++) await place.service.deleteSession(KEY);
    for (const service of [place.service, await place.another()]) {
      equal(await service.getSession(KEY), undefined, 'the session');
    }
    const shared = { 'app:a': 1, 'user:u': 1 };
    equal((await place.get('t')).state, shared, 'another one');
    await fails(() => place.append(session, said('late')), 'E_SESSION_CONFLICT');
    equal(await place.service.getSession(KEY), undefined, 'the session after an append to it');
    const again = await place.create();
    equal([again.events, again.state], [[], shared], 'the one made anew');
    await fails(() => place.append(session, said('late')), 'E_SESSION_CONFLICT');
    equal(words((await place.get()).events), '', 'the one made anew, stored');
  },

  'another process sees what is stored': async (place) => {
    const session = await place.create();
    const other = await place.another();
    await loaded(other, KEY);
    for (const word of ['a', 'b', 'c']) {
      await place.append(session, said(word, { stateDelta: { word } }));
      equal(shown(await loaded(other, KEY)), shown(session), word);
    }
  },

  'a session is loaded with its last events': async (place) => {
    const session = await place.create({ k: 1 });
    await timed(place, session, 5);
    const other = await place.another();
    for (const [recent, want] of [
      [{}, '0 1 2 3 4'],
      [{ last: 1 }, '4'],
      [{ last: 4 }, '1 2 3 4'],
      [{ last: 5 }, '0 1 2 3 4'],
      [{ last: 100 }, '0 1 2 3 4'],
      [{ since: NOON }, '0 1 2 3 4'],
      [{ since: NOON + 2.5 * MINUTE }, '3 4'],
      [{ since: NOON + 60 * MINUTE }, ''],
      [{ last: 1, since: NOON }, '4'],
      [{ last: 3, since: NOON + 4 * MINUTE }, '4'],
    ] as const) {
      const part = await other.getSession(KEY, recent);
      const texts = words(part!.events).replaceAll('host:', '');
      equal(texts, want, JSON.stringify(recent));
      equal([part!.state, part!.revision], [{ k: 1 }, session.revision], 'the rest');
    }
    await other.appendEvent((await other.getSession(KEY, { last: 1 }))!, changed({ k: 2 }));
    const all = 'host:0 host:1 host:2 host:3 host:4 host:';
    equal(words((await loaded(other, KEY)).events), all, 'after an append');
    equal(words((await place.get()).events), all, 'the store');
    await place.refused(session, said('late'), 'E_SESSION_CONFLICT');
  },

  'a session without events has no last ones': async (place) => {
    await place.create();
    for (const recent of [{ last: 1 }, { since: NOON }]) {
      equal((await (await place.another()).getSession(KEY, recent))!.events, [], 'events');
    }
  },

  'the last events of a long session are few to read': async (place) => {
    await timed(place, await place.create(), 200);
    for (const [recent, first, most] of [
      [{ last: 3 }, '197', 8],
      [{ since: NOON + 198 * MINUTE }, '198', 80],
    ] as const) {
      let part: Session | undefined;
      const { read } = await place.watched.cost(async () => {
        part = await place.service.getSession(KEY, recent);
      });
      equal(words(part!.events.slice(0, 1)), `host:${first}`, 'the first');
      if (read > most) throw new Error(`${read} events were read`);
    }
  },
};
