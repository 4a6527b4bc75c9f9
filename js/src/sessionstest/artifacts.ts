/**
 * Artifacts of sessions.
 */
import type { Session } from '../invocations/session.js';
import { equal } from '../storetest/opened.js';
import { changed, fails, KEY, type Place, type Run, WHO } from './place.js';

/** An event that names a version. */
const named = (artifactDelta: Readonly<Record<string, number>>) => ({
  author: 'host',
  actions: { artifactDelta },
});

/** Saves a version of an artifact, and appends an event with it. */
export async function save(
  { service }: Place,
  session: Session,
  name: string,
  text: string,
): Promise<number> {
  const version = await service.saveArtifact(session, name, { text });
  await service.appendEvent(session, named({ [name]: version }));
  return version;
}

/** The last versions of a session's artifacts, as another process finds them. */
export async function versions(place: Place, key = KEY): Promise<[string, number][]> {
  const all = Object.entries(await (await place.another()).listArtifacts(key));
  return all.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The text of a version, as another process finds it. */
export async function text(
  place: Place,
  name: string,
  version?: number,
  key = KEY,
): Promise<string | undefined> {
  return (await (await place.another()).loadArtifact(key, name, version))?.text;
}

export const artifacts: Record<string, Run> = {
  'versions of artifacts count from 0': async (place) => {
    const session = await place.create();
    await place.create({}, 't');
    for (const [i, [name, want]] of (
      [
        ['f', 0],
        ['f', 1],
        ['user:f', 0],
        ['a/b c', 0],
        ['user:f', 1],
        ['f', 2],
      ] as const
    ).entries()) {
      equal(await save(place, session, name, `${name} ${i}`), want, name);
    }
    const t = { ...WHO, sessionId: 't' };
    equal(
      await versions(place),
      [
        ['a/b c', 0],
        ['f', 2],
        ['user:f', 1],
      ],
      'the artifacts',
    );
    equal(await versions(place, t), [['user:f', 1]], 'those of another session');
    equal(await text(place, 'f'), 'f 5', 'the last version');
    equal(await text(place, 'f', 0), 'f 0', 'the first version');
    equal(await text(place, 'user:f', 1, t), 'user:f 4', "the user's");
    equal(await text(place, 'f', 3), undefined, 'a version that is not there');
    equal(await text(place, 'g'), undefined, 'a name that is not there');
    equal(await text(place, 'f', 0, t), undefined, "another session's");
    equal(await text(place, 'user:f', 0, { ...KEY, userId: 'bob' }), undefined, "another user's");
  },

  'bytes have their type': async (place) => {
    const session = await place.create();
    const data = Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * i) >> 8);
    const part = { inlineData: { mimeType: 'image/x', data } };
    await place.service.saveArtifact(session, 'f', part);
    await place.append(session, named({ f: 0 }));
    const found = await (await place.another()).loadArtifact(KEY, 'f');
    equal(found!.inlineData!.mimeType, 'image/x', 'the type');
    const same = found!.inlineData!.data.every((byte, i) => byte === data[i]);
    equal([same, found!.inlineData!.data.length], [true, data.length], 'the bytes');
  },

  'an artifact is there when an event names it': async (place) => {
    const { service } = place;
    const session = await place.create();
    for (let i = 0; i < 3; i++) {
      equal(await service.saveArtifact(session, 'f', { text: `${i}` }), i, 'the version');
    }
    equal([await versions(place), await text(place, 'f', 0)], [[], undefined], 'before');
    // With the one before it.
    await place.append(session, named({ f: 1 }));
    equal([await versions(place), await text(place, 'f', 0)], [[['f', 1]], '0'], 'after');
    await place.append(session, named({ f: 2 }));
    const deltas = (await place.get()).events.map(({ actions }) => actions.artifactDelta);
    equal(deltas, [{ f: 1 }, { f: 2 }], 'the events');
  },

  'an invocation saves versions, and events name them': async (place) => {
    await place.create();
    place.agent = async function* (ctx) {
      for (const content of ['a', 'b']) await ctx.saveArtifact('f', { text: content });
      equal((await ctx.loadArtifact('f'))?.text, 'b', 'inside');
      yield named({ f: 1 });
    };
    await place.run();
    equal([await text(place, 'f', 0), await text(place, 'f', 1)], ['a', 'b'], 'the artifacts');
  },

  'a version that nobody has saved is refused': async (place) => {
    const session = await place.create();
    await save(place, session, 'f', 'x');
    for (const [name, version] of [
      ['f', 1],
      ['user:f', 0],
      ['g', 0],
    ] as const) {
      const event = { ...changed({ k: 1 }), actions: { artifactDelta: { [name]: version } } };
      const { field } = await place.refused(session, event, 'E_INVALID_EVENT');
      equal(field, `actions.artifactDelta.${name}`, 'details');
    }
    for (const name of ['', 'user:']) {
      await fails(() => place.service.saveArtifact(session, name, { text: '' }), 'E_INVALID_EVENT');
    }
  },

  'of two writers of an artifact one is refused': async (place) => {
    const { service } = place;
    const [session, other] = [await place.create(), await place.create({}, 't')];
    const saved = [
      await service.saveArtifact(session, 'user:f', { text: 'a' }),
      await service.saveArtifact(other, 'user:f', { text: 'b' }),
    ];
    equal(saved, [0, 0], 'the versions');
    await place.append(session, named({ 'user:f': 0 }));
    const details = await place.refused(other, named({ 'user:f': 0 }), 'E_SESSION_CONFLICT');
    equal([details['session'], details['kind']], ['t', 'artifact'], 'details');
    equal(await text(place, 'user:f'), 'a', 'the artifact');
  },

  'artifacts go with their session, and those of the user stay': async (place) => {
    const session = await place.create();
    await save(place, session, 'f', 'x');
    await save(place, session, 'user:f', 'y');
    await place.service.deleteSession(KEY);
    equal(await text(place, 'f'), undefined, 'deleted');
    await place.create();
    equal(await versions(place), [['user:f', 0]], 'made anew');
    equal(await text(place, 'user:f'), 'y', "the user's");
  },
};
