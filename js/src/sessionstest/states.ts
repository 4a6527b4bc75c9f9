/**
 * State of sessions.
 */
import { equal } from '../storetest/opened.js';
import { changed, fails, KEY, type Run, said, sorted, WHO } from './place.js';

const INVALID = 'E_INVALID_STATE';

export const states: Record<string, Run> = {
  'values are shared as their scopes say': async (place) => {
    await place.create({ 'app:a': 1, 'user:b': 2, c: 3 }, 'created');
    await place.append(
      await place.create({}, 'appended'),
      changed({ 'app:a': 4, 'user:b': 5, c: 6 }),
    );
    const state = async (id: string) => sorted((await place.get(id)).state);
    equal(await state('created'), sorted({ 'app:a': 4, 'user:b': 5, c: 3 }), 'the first');
    equal(await state('appended'), sorted({ 'app:a': 4, 'user:b': 5, c: 6 }), 'the second');
    await place.create({}, 'later');
    equal(await state('later'), sorted({ 'app:a': 4, 'user:b': 5 }), 'a later one');
    const other = await place.service.createSession({ ...KEY, userId: 'bob' });
    equal(other.state, { 'app:a': 4 }, "another user's");
    const foreign = await place.service.createSession({ ...KEY, appName: 'other' });
    equal(foreign.state, {}, "another application's");
  },

  'null deletes in every scope': async (place) => {
    const session = await place.create({ a: 1, 'app:a': 1, 'user:a': 1, b: null });
    equal(sorted(session.state), sorted({ a: 1, 'app:a': 1, 'user:a': 1 }), 'created');
    await place.append(
      session,
      changed({ a: null, 'app:a': undefined, 'user:a': null, nothing: null }),
    );
    equal([session.state, (await place.get()).state], [{}, {}], 'deleted');
    equal((await place.create({}, 't')).state, {}, 'another session');
    await place.append(session, changed({ a: 2 }));
    equal((await place.get()).state, { a: 2 }, 'set again');
  },

  'temporary values are not stored': async (place) => {
    const session = await place.create({ 'temp:x': 1, k: 1 });
    await place.append(session, changed({ 'temp:y': 1, k: 2 }));
    for (const { state, events } of [session, await place.get()]) {
      equal([state, events[0]!.actions.stateDelta], [{ k: 2 }, { k: 2 }], 'it');
    }
  },

  'misspelled scopes are refused': async (place) => {
    const session = await place.create();
    for (const name of ['temp_x', 'usr:x', 'App:x', 'users:x', 'tmp:x']) {
      const field = `actions.stateDelta.${name}`;
      equal(await place.refused(session, changed({ k: 1, [name]: 1 }), INVALID), { field }, name);
      await fails(() => place.create({ [name]: 1 }, 't'), INVALID);
    }
    equal(
      await place.service.getSession({ ...WHO, sessionId: 't' }),
      undefined,
      'what was refused',
    );
  },

  'a value that is too large is refused': async (place) => {
    const large = changed({ large: 'x'.repeat(1024 * 1024) });
    const details = await place.refused(await place.create(), large, INVALID);
    equal(details, { field: 'actions.stateDelta.large' }, 'details');
  },

  'a state that is too large is refused': async (place) => {
    const session = await place.create();
    const value = 'x'.repeat(1024 * 1024 - 64);
    for (const name of ['a', 'b', 'app:a', 'app:b', 'user:a', 'user:b', 'c', 'd']) {
      await place.append(session, changed({ [name]: value }));
    }
    for (const name of ['e', 'user:e']) {
      const { field } = await place.refused(session, changed({ [name]: value }), INVALID);
      equal(field, `actions.stateDelta.${name}`, 'details');
    }
    const own = { 1: value, 2: value, 3: value, 4: value, 5: value };
    await fails(() => place.create(own, 't'), INVALID);
    await place.append(session, changed({ a: null, e: value }));
    place.agent = async function* () {
      yield await Promise.resolve(said('done'));
    };
    equal((await place.run()).length, 1, 'a run with all of it');
  },
};
