/**
 * Appending to sessions.
 */
import { equal } from '../storetest/opened.js';
import { changed, fails, KEY, type Run, said, shown } from './place.js';

const CONFLICT = 'E_SESSION_CONFLICT';

export const appends: Record<string, Run> = {
  'an event comes back as it was stored': async (place) => {
    const session = await place.create();
    const event = {
      ...{ id: 'e1', invocationId: 'i', author: 'host', timestamp: 1_000, branch: 'a.b' },
      content: {
        role: 'model' as const,
        parts: [
          { text: 'x\0ä😀' },
          { functionCall: { id: 'c', name: 'f', args: { n: 1 } } },
          { inlineData: { mimeType: 'a/b', data: new Uint8Array([0, 255]) } },
        ],
      },
      actions: { stateDelta: { k: [null, {}] }, escalate: true },
    };
    const stored = await place.append(session, event);
    equal([stored.id, stored.timestamp], ['e1', 1_000], 'what was given');
    for (const { events } of [session, await place.get()]) equal(events, [stored], 'the event');
    if (!Object.isFrozen(stored.actions.stateDelta)) throw new Error('it can be changed');
  },

  'an event gets an id and a time': async (place) => {
    const session = await place.create();
    const [a, b] = [await place.append(session, said('a')), await place.append(session, said('b'))];
    if (a.id === '' || a.id === b.id || !(a.timestamp > 0)) throw new Error(JSON.stringify([a, b]));
  },

  'changes of an event after its append change nothing': async (place) => {
    const session = await place.create();
    const k = { n: 1 };
    await place.append(session, changed({ k }));
    k.n = 2;
    for (const { events, state } of [session, await place.get()]) {
      equal([events[0]!.actions.stateDelta, state], [{ k: { n: 1 } }, { k: { n: 1 } }], 'it');
    }
  },

  'a partial event changes nothing': async (place) => {
    const session = await place.create();
    const before = shown(session);
    const listed = JSON.stringify(await place.service.listSessions(KEY));
    await place.append(session, {
      ...changed({ k: 1, 'app:k': 1, 'user:k': 1 }),
      partial: true,
    });
    equal(shown(session), before, 'the handle');
    equal(shown(await place.get()), before, 'the store');
    equal(JSON.stringify(await place.service.listSessions(KEY)), listed, 'its times');
    equal((await place.create({}, 't')).state, {}, 'another session');
  },

  'an event is appended once': async (place) => {
    const session = await place.create();
    const event = await place.append(session, changed({ n: 1 }));
    const again = { ...changed({ n: 2 }), id: event.id };
    const { session: id, kind, id: of } = await place.refused(session, again, CONFLICT);
    equal([id, kind, of], ['s', 'event', event.id], 'details');
    await place.append(session, said('next'));
    let tries = 0;
    const retried = place.service.retry(session, (of) => {
      tries++;
      return place.service.appendEvent(of, again);
    });
    await fails(() => retried, CONFLICT);
    equal(tries, 1, 'the tries of a retry');
  },

  'of two handles the second is refused, and a retry loads anew': async (place) => {
    const session = await place.create({ n: 0 });
    const stale = await place.get();
    await place.append(session, changed({ n: 1, 'app:n': 1 }));
    const late = changed({ n: 2, 'app:n': 2 });
    equal(await place.refused(stale, late, CONFLICT), { session: 's', user: 'ada' }, 'details');
    let tries = 0;
    const other = await place.another();
    await other.retry(await place.get(), async (of) => {
      if (++tries === 1) await place.append(session, changed({ n: 5 }));
      await other.appendEvent(of, changed({ n: (of.state['n'] as number) + 1 }));
    });
    equal([tries, (await place.get()).state], [2, { 'app:n': 1, n: 6 }], 'the retry');
  },

  'events that are none are refused': async (place) => {
    const session = await place.create();
    const call = { author: 'host', content: { parts: [{ functionCall: { id: 'c' } as never }] } };
    equal(
      await place.refused(session, call, 'E_INVALID_EVENT'),
      { field: 'content.parts[0].functionCall.name' },
      'details',
    );
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    for (const k of [cycle, () => 1, Number.NaN, new Map()]) {
      equal(
        await place.refused(session, changed({ k }), 'E_INVALID_STATE'),
        { field: k === cycle ? 'actions.stateDelta.k.self' : 'actions.stateDelta.k' },
        'details',
      );
    }
    const odd = { author: 'host', customMetadata: { k: cycle } };
    await place.refused(session, odd, 'E_INVALID_EVENT');
    equal(
      await place.refused(session, { content: said('whose?').content }, 'E_INVALID_EVENT'),
      { field: 'author' },
      'details',
    );
  },

  'an append costs the same however long the session is': async (place) => {
    const session = await place.create();
    const cost = () => place.watched.cost(() => place.append(session, changed({ n: 1 })));
    const first = await cost();
    for (let i = 0; i < 150; i++) await place.append(session, said('x'));
    equal(await cost(), first, 'behind 150 events');
    equal(first, { calls: 1, read: 0 }, 'the first one');
  },

  'a failed append changes nothing': async (place) => {
    const session = await place.create({ k: 1 });
    const before = shown(session);
    place.watched.failAt(1);
    let failure: unknown;
    await place.append(session, changed({ k: 2 })).catch((error: unknown) => (failure = error));
    equal(String(failure), 'Error: the store fails', 'the error');
    equal(shown(session), before, 'the handle');
    equal(shown(await place.get()), before, 'the store');
    await place.append(session, changed({ k: 3 }));
    equal((await place.get()).state, { k: 3 }, 'the state');
    await fails(
      () => place.service.appendEvent(session, changed({ temp_x: 1 })),
      'E_INVALID_STATE',
    );
  },
};
