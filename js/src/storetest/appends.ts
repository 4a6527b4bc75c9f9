/**
 * What every store of events, state and artifacts must do.
 */
import { isTurncoreError } from '../errors.js';
import type {
  AddedArtifact,
  Append,
  Appender,
  EventQuery,
  StateChange,
} from '../store/appender.js';
import type { SessionPage, Sessions, Store } from '../store/store.js';
import { bytesIn, code, equal, failureOf, IDS, type Run, same } from './opened.js';
import { instruction, message, mutate, remove, store as put } from './records.js';

const CONFLICT = 'E_SESSION_CONFLICT';
const NO_BYTES = 'E_BYTES_NOT_FOUND';
const utf8 = new TextEncoder();
const text = new TextDecoder();

/** Appends an event. */
export function happened(id: string, by: Partial<Append> = {}): Append {
  return { event: { id, body: utf8.encode(`body of ${id}`) }, ...by };
}

/** Changes a value; undefined deletes it. */
function set(scope: string, name: string, value?: string): StateChange {
  return { scope, name, value: value === undefined ? null : utf8.encode(value) };
}

/** Adds a version of an artifact. */
function version(scope: string, name: string, number: number, bytes: string): AddedArtifact {
  return { scope, name, version: number, bytes, body: utf8.encode(`${name} ${number}`) };
}

async function putAll(store: Store, session: string, ...ids: string[]): Promise<void> {
  for (const id of ids) await store.putBytes(session, id, `bytes ${id}`);
}

/** What an appender says of a session and of the scope "shared", in words. */
export async function said(store: Appender, session: string): Promise<string[]> {
  const words = (await store.events(session)).map(({ id, body }) => `${id}: ${text.decode(body)}`);
  for (const scope of ['', 'shared']) {
    for (const each of await store.state(session, scope)) {
      equal(each.scope, scope, `the scope of ${each.name}`);
      words.push(`${scope} ${each.name}=${text.decode(each.value)}`);
    }
    for (const each of await store.artifacts(session, scope)) {
      const reader = await store.openArtifact(session, scope, each.name, each.version);
      const content = await reader.readAll();
      equal([each.scope, each.size], [scope, utf8.encode(content).length], `artifact ${each.name}`);
      const body = text.decode(each.body);
      words.push(`${scope} ${each.name} ${each.version}: ${body}, ${content.slice(0, 99)}`);
    }
  }
  return words;
}

async function ids(store: Appender, session: string, query?: EventQuery): Promise<string> {
  return (await store.events(session, query)).map(({ id }) => id).join(' ');
}

async function revisionOf(store: Store, session = 's'): Promise<string> {
  return (await store.load(session)).revision ?? '';
}

/** Appends what must fail with a code and store nothing. */
async function refused(
  store: Appender,
  append: Append,
  want: string,
  words: string[] = [],
  session = 's',
) {
  const before = [await said(store, session), await revisionOf(store, session)];
  const error = await failureOf(() => store.append(session, append));
  equal(isTurncoreError(error) ? error.code : String(error), want, JSON.stringify(append));
  for (const word of words) {
    equal(String(error).includes(word), true, `${String(error)} names ${word}`);
  }
  const after = [await said(store, session), await revisionOf(store, session)];
  equal(after, before, 'after a refused append');
}

const events: Record<string, Run> = {
  'events come back in their order': async (opened) => {
    const first = await opened.appender();
    equal(await said(first, 's'), [], 'an unknown session');
    const bodies = ['{}', '', '\0\r\n', 'ü 😀', 'long '.repeat(300_000)].map((s) => utf8.encode(s));
    bodies.push(Uint8Array.from([0, 255, 254]));
    const revisions: string[] = [];
    for (const [i, body] of bodies.entries()) {
      revisions.push(await first.append('s', { event: { id: `${9 - i}`, body } }));
    }
    await first.append('other', happened('9'));
    equal(new Set(revisions).size, bodies.length, 'different revisions');
    for await (const store of opened.twice(first)) {
      const all = await store.events('s');
      equal(
        all.map(({ id, revision }) => [id, revision]),
        revisions.map((revision, i) => [`${9 - i}`, revision]),
        'ids and revisions',
      );
      const equalBodies = all.map(({ body }, i) => same([...body], bodies[i]!));
      equal(equalBodies.includes(false), false, 'the bodies');
      equal(await ids(store, 'other'), '9', 'of another session');
    }
  },

  'events are asked for by revision and number': async (opened) => {
    const first = await opened.appender();
    const at = [await revisionOf(first)];
    for (let i = 0; i < 10; i++) at.push(await first.append('s', happened(`${i}`)));
    at.push(await first.commit('s', { deltas: [put(message('m'))] }));
    const all = '0 1 2 3 4 5 6 7 8 9';
    for await (const store of opened.twice(first)) {
      for (const [query, want] of [
        [{}, all],
        [{ limit: 3 }, '0 1 2'],
        [{ limit: 3, newest: true }, '7 8 9'],
        [{ limit: 100 }, all],
        [{ limit: 100, newest: true }, all],
        [{ newest: true }, all],
        [{ after: at[0]! }, all],
        [{ after: at[1]! }, '1 2 3 4 5 6 7 8 9'],
        [{ after: at[7]! }, '7 8 9'],
        [{ after: at[7]!, limit: 2 }, '7 8'],
        [{ after: at[7]!, limit: 2, newest: true }, '8 9'],
        [{ after: at[7]!, limit: 5, newest: true }, '7 8 9'],
        [{ after: at[10]! }, ''],
        [{ after: at[11]! }, ''],
        [{ after: 'nobody’s', limit: 2 }, '0 1'],
      ] as const) {
        equal(await ids(store, 's', query), want, JSON.stringify(query));
      }
    }
  },

  'an event of an id that is there is refused': async (opened) => {
    const first = await opened.appender();
    await first.append('s', happened('a'));
    for await (const store of opened.twice(first)) {
      const again = happened('a', { state: [set('', 'n', '1')] });
      await refused(store, again, CONFLICT, ['"s"', 'event', '"a"']);
    }
    await first.append('s', happened('b'));
    await first.append('other', happened('a'));
  },

  'any text is the id of an event, a scope, a name and a turn': async (opened) => {
    const first = await opened.appender();
    await putAll(first, 's', 'b');
    for (const [i, id] of IDS.entries()) {
      await first.append('s', {
        ...happened(id, { key: id, turn: id }),
        state: [set('', id, `${i}`), set(`${id}s`, id, `${i}`)],
        artifacts: [version('', id, 0, 'b'), version(`${id}s`, id, 0, 'b')],
      });
    }
    for await (const store of opened.twice(first)) {
      const all = await store.events('s');
      equal(
        all.map(({ id, body }) => [id, text.decode(body)]),
        IDS.map((id) => [id, `body of ${id}`]),
        'the events',
      );
      for (const [i, id] of IDS.entries()) {
        const own = (await store.state('s', '')).find(({ name }) => name === id)!;
        const [shared] = await store.state('other', `${id}s`);
        const told = [text.decode(own.value), shared!.name, text.decode(shared!.value)];
        equal(told, [`${i}`, id, `${i}`], `the values of ${id}`);
        for (const scope of ['', `${id}s`]) {
          const reader = await store.openArtifact('s', scope, id, 0);
          equal(await reader.readAll(), 'bytes b', `the artifact of ${id}`);
        }
        const again = happened(`again ${id}`, { key: id, turn: id });
        equal(await store.append('s', again), all[i]!.revision, `the key ${id} again`);
      }
    }
  },

  'two thousand events are appended at the same time': async (opened) => {
    const store = await opened.appender();
    const count = 2000;
    const appends = Array.from({ length: count }, (_, i) =>
      store.append('s', happened(`${i}`, { key: `k${i}`, turn: `w${i % 8}` })),
    );
    const revisions = await Promise.all(appends.map((each) => Promise.resolve(each)));
    equal(new Set(revisions).size, count, 'different revisions');
    const all = await store.events('s');
    equal(new Set(all.map(({ id }) => id)).size, count, 'the events');
    const last = all.at(-1)!.id;
    equal(await ids(store, 's', { after: all.at(-2)!.revision }), last, 'the last');
    equal(await ids(store, 's', { limit: 1, newest: true }), last, 'the newest');
  },
};

const state: Record<string, Run> = {
  'state is set, changed and deleted': async (opened) => {
    const first = await opened.appender();
    const long = 'long '.repeat(300_000);
    for (const changes of [
      [set('', 'b', '1'), set('', 'a', '1'), set('', 'empty', ''), set('shared', 'a', '1')],
      [set('', 'a', '2'), set('', 'b'), set('', 'never there')],
      [set('', 'c', '1'), set('', 'c', '2'), set('', 'd', '1'), set('', 'd'), set('', 'e', '1')],
      [set('shared', 'b', 'ü'), set('', 'long', long)],
    ]) {
      await first.append('s', { state: changes });
    }
    const shared = ['shared a=1', 'shared b=ü'];
    const own = [' a=2', ' c=2', ' e=1', ' empty=', ` long=${long}`];
    for await (const store of opened.twice(first)) {
      equal(await said(store, 's'), [...own, ...shared], 'of the session');
      equal(await said(store, 'other'), shared, 'of another session');
    }
  },

  'names are in the order of their UTF-8 bytes': async (opened) => {
    const first = await opened.appender();
    const names = ['', 'A', 'B', 'a', 'aa', 'b', 'é', '\uffff', '\u{10000}'];
    const mixed = [8, 3, 0, 5, 1, 7, 2, 6, 4].map((i) => names[i]!);
    await putAll(first, 's', 'b');
    for (const scope of ['', 'shared']) {
      await first.append('s', {
        state: mixed.map((name) => set(scope, name, 'x')),
        artifacts: mixed.map((name) => version(scope, name, 0, 'b')),
      });
    }
    for await (const store of opened.twice(first)) {
      for (const scope of ['', 'shared']) {
        const values = (await store.state('s', scope)).map(({ name }) => name);
        const artifacts = (await store.artifacts('s', scope)).map(({ name }) => name);
        equal([values, artifacts], [names, names], `of scope ${scope}`);
      }
    }
  },

  'scopes are apart': async (opened) => {
    const store = await opened.appender();
    const sessions = ['a', 'b', '0', '1', 'shared'];
    for (const id of sessions) {
      await store.append(id, {
        state: [set('', 'n', `of ${id}`), set(id, 'n', `scope ${id}`), set('shared', id, 'x')],
      });
    }
    for (const id of sessions.slice(0, 4)) {
      const [own, ...more] = await store.state(id, '');
      equal([text.decode(own!.value), more.length], [`of ${id}`, 0], `of session ${id}`);
      const [shared] = await store.state('nobody', id);
      equal(text.decode(shared!.value), `scope ${id}`, `of scope ${id}`);
    }
    equal((await store.state('nobody', 'shared')).length, sessions.length + 1, 'shared');
  },
};

const artifacts: Record<string, Run> = {
  'artifacts have versions': async (opened) => {
    const first = await opened.appender();
    await putAll(first, 's', 'x', 'y', 'z');
    for (const added of [
      [version('', 'b', 0, 'x')],
      [version('', 'a', 0, 'y'), version('', 'b', 1, 'y'), version('', 'b', 2, 'z')],
      [version('shared', 'b', 0, 'x')],
      [version('', 'b', 3, 'x'), version('shared', 'b', 1, 'z')],
    ]) {
      await first.append('s', { artifacts: added });
    }
    const shared = ['shared b 0: b 0, bytes x', 'shared b 1: b 1, bytes z'];
    const own = [
      ...[' a 0: a 0, bytes y', ' b 0: b 0, bytes x', ' b 1: b 1, bytes y'],
      ...[' b 2: b 2, bytes z', ' b 3: b 3, bytes x'],
    ];
    for await (const store of opened.twice(first)) {
      equal(await said(store, 's'), [...own, ...shared], 'of the session');
      equal(await said(store, 'other'), shared, 'of another session');
    }
  },

  'a version that is not the next is refused': async (opened) => {
    const store = await opened.appender();
    await putAll(store, 's', 'x');
    const there = [version('', 'a', 0, 'x'), version('shared', 'a', 0, 'x')];
    await store.append('s', { artifacts: [...there, version('shared', 'a', 1, 'x')] });
    for (const added of [
      [version('', 'a', 0, 'x')],
      [version('', 'a', 2, 'x')],
      [version('', 'b', 1, 'x')],
      [version('shared', 'a', 1, 'x')],
      [version('shared', 'a', 3, 'x')],
      [version('other', 'a', 1, 'x')],
      [version('', 'a', 1, 'x'), version('', 'a', 1, 'x')],
      [version('', 'a', 1, 'x'), version('', 'a', 3, 'x')],
    ]) {
      const changes = [set('', 'n', '1'), set('shared', 'n', '1')];
      const append = happened('e', { state: changes, artifacts: added });
      await refused(store, append, CONFLICT, ['"s"', 'artifact', `"${added[0]!.name}"`]);
    }
    await store.append('s', {
      artifacts: [version('', 'a', 1, 'x'), version('shared', 'a', 2, 'x')],
    });
  },

  'bytes and versions that are not there are told of': async (opened) => {
    const store = await opened.appender();
    const append = happened('e', {
      state: [set('shared', 'n', '1')],
      artifacts: [version('', 'a', 0, 'x')],
    });
    await refused(store, append, NO_BYTES, ['"s"', '"x"']);
    equal((await store.list()).sessions.length, 0, 'no session has begun');
    await putAll(store, 'other', 'x');
    await refused(store, append, NO_BYTES);
    await putAll(store, 's', 'x');
    await store.append('s', append);
    for (const [session, scope, name, number] of [
      ['s', '', 'a', 1],
      ['s', '', 'b', 0],
      ['s', 'shared', 'a', 0],
      ['other', '', 'a', 0],
      ['nobody', '', 'a', 0],
    ] as const) {
      const error = await failureOf(() => store.openArtifact(session, scope, name, number));
      equal(isTurncoreError(error, NO_BYTES), true, `${session}, ${scope}, ${name}, ${number}`);
      equal(String(error).includes(`"${name}"`), true, `${String(error)} names ${name}`);
    }
  },

  'artifacts keep their bytes': async (opened) => {
    const first = await opened.appender();
    const long = new Uint8Array(2_500_000).map((_, i) => (i * 7) % 251);
    await first.putBytes('s', 'x', long);
    for (const number of [0, 1]) {
      if (number === 1) await putAll(first, 's', 'x');
      const added = ['', 'shared'].map((scope) => version(scope, 'a', number, 'x'));
      await first.append('s', { artifacts: added });
    }
    await first.putBytes('s', 'x', 'other');
    const check = async (store: Appender, scope: string): Promise<void> => {
      const reader = await store.openArtifact('s', scope, 'a', 0);
      equal(same(await bytesIn(reader), long), true, `version 0 of scope ${scope}`);
      equal(await reader.byteLength(), long.length, 'its length');
      const other = await store.openArtifact('s', scope, 'a', 1);
      equal(await other.readAll(), 'bytes x', `version 1 of scope ${scope}`);
    };
    for await (const store of opened.twice(first)) {
      await check(store, '');
      await check(store, 'shared');
    }
    await first.delete('s');
    for await (const store of opened.twice(first)) {
      await check(store, 'shared');
      equal(await code(() => store.openArtifact('s', '', 'a', 0)), NO_BYTES, 'after the deletion');
    }
  },
};

const rules: Record<string, Run> = {
  'an append is stored once under a key, which commits share': async (opened) => {
    const first = await opened.appender();
    const keyed = (id: string, key: string): Append => happened(id, { key, turn: 't' });
    const revision = await first.append('s', keyed('a', 'k1'));
    await first.append('s', keyed('b', 'k2'));
    for await (const store of opened.twice(first)) {
      equal(await store.append('s', keyed('c', 'k1')), revision, 'the answer of the second');
      const commit = { deltas: [put(message('m'))], key: 'k1', turn: 't' };
      equal(await store.commit('s', commit), revision, 'the answer of a commit');
    }
    const other = { key: 'k3', turn: 't2', deltas: [put(message('m'))] };
    await first.commit('s', { ...other, ended: ['t'] });
    await first.append('s', keyed('c', 'k1'));
    await first.append('s', happened('d', { ended: ['t', 't2'] }));
    await first.append('s', keyed('e', 'k1'));
    await first.commit('s', { ...other, deltas: [put(message('n'))] });
    equal(await ids(first, 's'), 'a b c d e', 'the events');
    equal((await first.load('s')).messages.length, 2, 'the messages');
  },

  'an append that failed has no key, and one of nothing no revision': async (opened) => {
    const store = await opened.appender();
    await store.append('nobody', {});
    equal((await store.list()).sessions.length, 0, 'no session has begun');
    const revision = await store.append('s', happened('a'));
    equal(await store.append('s', { revision }), revision, 'an append of nothing');
    await refused(store, happened('a', { key: 'k', turn: 't' }), CONFLICT);
    await store.append('s', happened('b', { key: 'k', turn: 't' }));
    equal(await ids(store, 's'), 'a b', 'the events');
  },

  'an append conflicts with those of other turns only': async (opened) => {
    const store = await opened.appender();
    const start = await revisionOf(store);
    const next = (turn: string, id: string, revision: string): Append =>
      happened(id, { key: turn + id, turn, revision });
    await store.append('s', next('t1', '1', start));
    await store.append('s', next('t1', '2', start));
    await store.commit('s', { deltas: [put(message('m'))] });
    await store.append('s', next('t1', '3', start));
    await refused(store, next('t2', '4', start), CONFLICT, ['"s"']);
    await refused(store, next('t2', '4', 'nobody’s'), CONFLICT);
    await refused(store, next('', '4', start), CONFLICT);
    const seen = await revisionOf(store);
    await store.append('s', next('t2', '4', seen));
    for await (const each of opened.twice(store)) {
      await refused(each, next('t1', '5', start), CONFLICT);
      await refused(each, next('t1', '5', seen), CONFLICT);
    }
    await store.append('s', next('t2', '5', seen));
    await store.append('s', next('t1', '6', await revisionOf(store)));
    await store.append('s', next('t3', '7', ''));
    await refused(store, next('t1', '8', 'nobody’s'), CONFLICT, ['"other"'], 'other');
    equal(await ids(store, 's'), '1 2 3 4 5 6 7', 'the events');
  },

  'an append to a session that has been deleted is refused': async (opened) => {
    const store = await opened.appender();
    const revision = await store.append('s', happened('1'));
    const late = happened('2', { key: 'k', turn: 't', revision });
    await store.append('other', happened('1'));
    await store.delete('s');
    await refused(store, late, CONFLICT, ['"s"']);
    equal(
      (await store.list()).sessions.map(({ id }) => id),
      ['other'],
      'the list',
    );
    await store.commit('s', { deltas: [put(message('m'))] }); // makes another one of that id
    for await (const each of opened.twice(store)) await refused(each, late, CONFLICT, ['"s"']);
    await store.append('s', { ...late, revision: await revisionOf(store) });
    equal(await ids(store, 's'), '2', 'the events');
  },

  'commits and appends are no conflict of each other': async (opened) => {
    const store = await opened.appender();
    await store.commit('s', { deltas: [put(message('a')), instruction.store('i')] });
    const seen = await revisionOf(store);
    await store.append('s', happened('e'));
    const loaded = await store.load('s', seen);
    equal([loaded.after, loaded.messages.length], [seen, 0], 'what is loaded after an append');
    const deltas = [mutate(message('a', '2')), remove('b'), put(message('c'))];
    await store.commit('s', { deltas, revision: seen });
    const by = { turn: 't', revision: seen };
    await store.commit('s', { deltas: [put(message('d'))], key: 'k1', ...by });
    await store.append('s', happened('f', { key: 'k2', turn: 't' }));
    await store.commit('s', { deltas: [mutate(message('d', '2'))], key: 'k3', ...by });
    const told = (await store.load('s')).messages.map(
      ({ id, content }) => `${id}=${String(content)}`,
    );
    equal(told, ['a=2', 'c=c', 'd=2'], 'the messages');
  },

  'a session may have events only': async (opened) => {
    const store = await opened.appender();
    await store.append('older', happened('e'));
    const revision = await store.append('s', happened('e'));
    const loaded = await store.load('s');
    equal([loaded.revision, loaded.messages.length], [revision, 0], 'what is loaded');
    const listed = async () => (await store.list()).sessions.map(({ id }) => id);
    equal(await listed(), ['s', 'older'], 'the list');
    const before = (await store.find('older'))!;
    const at = await store.append('older', happened('f'));
    const after = (await store.find('older'))!;
    equal([after.revision, after.updatedAt >= before.updatedAt], [at, true], 'what is found');
    equal(await listed(), ['older', 's'], 'the list after another append');
  },

  'a fork has what was appended, and each goes its own way': async (opened) => {
    const first: Appender & Sessions = await opened.appender();
    await putAll(first, 's', 'x', 'y');
    await first.append('s', {
      ...happened('e1'),
      state: [set('', 'n', '1'), set('shared', 'n', '1')],
      artifacts: [version('', 'a', 0, 'x'), version('shared', 'a', 0, 'x')],
    });
    await first.append('s', happened('e2'));
    const was = await said(first, 's');
    await first.fork('s', 'f');
    equal(await said(first, 'f'), was, 'the fork');
    const forked = await revisionOf(first, 'f');
    const [e1, e2] = await first.events('f');
    for (const [after, want] of [
      [e1!.revision, 'e2'],
      [e2!.revision, ''],
      [forked, ''],
    ] as const) {
      equal(await ids(first, 'f', { after }), want, `events of the fork after ${after}`);
    }
    await first.append('s', happened('e3'));
    await first.append('f', {
      ...happened('e3', { revision: forked }),
      state: [set('', 'n', '2')],
      artifacts: [version('', 'a', 1, 'y')],
    });
    equal(await ids(first, 'f', { after: forked }), 'e3', 'what the fork has appended');
    const fork = await said(first, 'f');
    await first.delete('s');
    for await (const store of opened.twice(first)) {
      equal(await said(store, 'f'), fork, 'the fork alone');
      const shared = ['shared n=1', 'shared a 0: a 0, bytes x'];
      equal(await said(store, 's'), shared, 'the deleted session');
    }
    await first.append('s', happened('e1'));
    equal(await ids(first, 's', { after: forked }), 'e1', 'begun again');
    equal(await said(first, 'f'), fork, 'the fork afterwards');
  },

  'what was appended stays as it is': async (opened) => {
    const store = await opened.appender();
    await putAll(store, 's', 'x');
    const [event, value, artifact] = [
      happened('e'),
      set('', 'n', 'value'),
      version('', 'a', 0, 'x'),
    ];
    await store.append('s', { ...event, state: [value], artifacts: [artifact] });
    const want = await said(store, 's');
    for (const bytes of [event.event!.body, value.value!, artifact.body]) bytes[0] = 33;
    (await store.events('s'))[0]!.body[0] = 33;
    (await store.state('s', ''))[0]!.value[0] = 33;
    equal(await said(store, 's'), want, 'afterwards');
  },

  'an invalid append is refused': async (opened) => {
    const store = await opened.appender();
    const bad = '\ud800';
    for (const append of [
      happened(bad),
      { state: [set('', bad, 'x')] },
      { state: [set(bad, 'x', 'x')] },
      { artifacts: [version('', bad, 0, 'x')] },
      { artifacts: [version(bad, 'x', 0, 'x')] },
      { artifacts: [version('', 'x', -1, 'x')] },
      { event: { id: 'e', body: 'text' as unknown as Uint8Array } },
    ]) {
      await refused(store, append, 'E_INVALID_VALUE');
    }
  },
};

const forks: Record<string, Run> = {
  'a fork takes the events up to one': async (opened) => {
    const store = await opened.appender();
    await putAll(store, 's', 'b0', 'b1', 'b2');
    const revisions: string[] = [];
    for (const n of [0, 1, 2]) {
      const changes = [set('', 'n', `${n}`), set('shared', 'n', `${n}`)];
      const added = [version('', 'a', n, `b${n}`), version('shared', 'a', n, `b${n}`)];
      const append = { ...happened(`e${n}`), state: changes, artifacts: added };
      revisions.push(await store.append('s', append));
    }
    const before = await said(store, 's');
    for (const [n, revision] of revisions.entries()) {
      const value = utf8.encode(`${n}`);
      const at = { revision, state: [{ scope: '', name: 'n', value }], artifacts: { a: n + 1 } };
      await store.forkAt('s', `f${n}`, at);
      const want = (await said(store, 'f0')).length + 2 * n;
      for await (const each of opened.twice(store)) {
        equal((await said(each, `f${n}`)).length, want, `fork ${n}`);
        equal(await ids(each, `f${n}`), ['e0', 'e1', 'e2'].slice(0, n + 1).join(' '), 'its events');
      }
      if (n === 0) continue;
      // Who has seen the fork's last event has seen all of it.
      const seen = (await store.events(`f${n}`)).at(-1)!.revision;
      await store.append(`f${n}`, happened('next', { revision: seen }));
      const late = () => store.append(`f${n}`, happened('late', { revision: seen }));
      equal(await code(late), CONFLICT, 'a second append after the last event');
    }
    equal(await said(store, 's'), before, 'the session');
  },

  'a fork at an event is refused': async (opened) => {
    const store = await opened.appender();
    const revision = await store.append('s', happened('e0'));
    for (const id of ['there', 'other']) await store.append(id, happened('e0'));
    const bad = [{ scope: '', name: '\ud800', value: utf8.encode('x') }];
    for (const [from, to, at, want] of [
      ['nothing', 'new', { revision }, 'E_SESSION_NOT_FOUND'],
      ['other', 'new', { revision }, 'E_SESSION_NOT_FOUND'],
      ['s', 'new', { revision: 'nothing' }, 'E_SESSION_NOT_FOUND'],
      ['s', 'new', { revision: '' }, 'E_SESSION_NOT_FOUND'],
      ['s', 'new', { revision, artifacts: { a: 1 } }, 'E_SESSION_NOT_FOUND'],
      ['s', 'there', { revision }, 'E_SESSION_EXISTS'],
      ['s', 's', { revision }, 'E_SESSION_EXISTS'],
      ['s', 'new', { revision, state: bad }, 'E_INVALID_VALUE'],
    ] as const) {
      equal(await code(() => store.forkAt(from, to, at)), want, `${from} to ${to}`);
    }
    equal(await ids(store, 'new'), '', 'what was refused');
  },

  'a list of a prefix': async (opened) => {
    const store = await opened.appender();
    const all = ['a/b/1', 'a/b/2', 'a/bc/1', 'a/b', 'a/b/c/d', 'b', 'a/b/ä', 'a%2Fb/1'];
    for (const id of [...all, 'a/b/1']) await store.append(id, { state: [set('', 'x', 'x')] });
    for (const [prefix, want] of [
      ['a/b/', 'a/b/1 a/b/ä a/b/c/d a/b/2'],
      ['a/', 'a/b/1 a/b/ä a/b/c/d a/b a/bc/1 a/b/2'],
      ['a/b/c', 'a/b/c/d'],
      ['c', ''],
    ] as const) {
      const got: string[] = [];
      for (let cursor: string | undefined; cursor !== '';) {
        const page: SessionPage = await store.list({ prefix, cursor, limit: 2 });
        got.push(...page.sessions.map(({ id }) => id));
        cursor = page.next;
      }
      equal(got.join(' '), want, prefix);
    }
  },
};

/** The tests of {@link Appender}. */
export const appends: Record<string, Run> = {
  ...events,
  ...state,
  ...artifacts,
  ...rules,
  ...forks,
};
