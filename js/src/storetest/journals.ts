/**
 * What every store of journals must do.
 */
import { isTurncoreError } from '../errors.js';
import type { Journal } from '../store/journal.js';
import { happened } from './appends.js';
import { code, equal, failureOf, IDS, type Run, same } from './opened.js';
import { message, store as put } from './records.js';

const FENCED = 'E_TURN_FENCED';
const utf8 = new TextEncoder();
const text = new TextDecoder();

async function add(store: Journal, turn: string, epoch: number, at: number, ...texts: string[]) {
  await store.appendJournal(turn, { epoch, at, entries: texts.map((each) => utf8.encode(each)) });
}

/** A journal from an entry on, in words. */
async function told(store: Journal, turn: string, from?: number): Promise<string> {
  const part = await store.readJournal(turn, from);
  if (part === undefined) return 'none';
  const checkpoint = part.checkpoint && `[${text.decode(part.checkpoint)}] `;
  const entries = part.entries.map((each) => ` ${text.decode(each)}`).join('');
  return `${part.epoch}: ${checkpoint ?? ''}${part.first}${entries}`;
}

/** Does what must be fenced, and change nothing. */
async function fenced(store: Journal, turn: string, run: () => unknown): Promise<void> {
  const before = await told(store, turn);
  const error = await failureOf(run);
  equal(isTurncoreError(error) ? error.code : String(error), FENCED, `turn ${turn}`);
  equal(String(error).includes(JSON.stringify(turn)), true, `${String(error)} names the turn`);
  equal(await told(store, turn), before, 'the journal afterwards');
}

const entries: Record<string, Run> = {
  'entries of journals come back': async (opened) => {
    const first = await opened.journal();
    equal(await told(first, 't'), 'none', 'before the first');
    await add(first, 't', 1, 0, 'a', 'b');
    await add(first, 't', 1, 2, 'c');
    await add(first, 'other', 7, 0, 'x');
    const bodies = ['', '\0\r\n', 'ü 😀', 'long '.repeat(300_000), 'end'].map((s) =>
      utf8.encode(s),
    );
    bodies.push(Uint8Array.from([255, 0, 254]));
    for (const [at, body] of bodies.entries()) {
      await first.appendJournal('bodies', { epoch: 1, at, entries: [body] });
    }
    for await (const store of opened.twice(first)) {
      for (const [from, want] of ['1: 0 a b c', '1: 1 b c', '1: 2 c', '1: 3'].entries()) {
        equal(await told(store, 't', from), want, `from ${from} on`);
      }
      equal(await told(store, 'other'), '7: 0 x', 'of another turn');
      equal(await told(store, 'T'), 'none', 'of no turn');
      const read = (await store.readJournal('bodies'))!.entries;
      equal(read.length, bodies.length, 'the number of entries');
      equal(
        read.every((each, i) => same([...each], bodies[i]!)),
        true,
        'the bytes of entries',
      );
    }
  },

  'any text names a turn': async (opened) => {
    const first = await opened.journal();
    for (const [i, id] of IDS.entries()) await add(first, id, i + 1, 0, `${i}`);
    for await (const store of opened.twice(first)) {
      for (const [i, id] of IDS.entries()) equal(await told(store, id), `${i + 1}: 0 ${i}`, id);
    }
  },

  'a checkpoint stands for entries': async (opened) => {
    const store = await opened.journal();
    const compact = (epoch: number, before: number, checkpoint: string) =>
      store.compactJournal('t', { epoch, before, checkpoint: utf8.encode(checkpoint) });
    await fenced(store, 't', () => compact(1, 0, 'x'));
    await add(store, 't', 2, 0, 'a', 'b', 'c', 'd', 'e');
    for (const epoch of [1, 3]) await fenced(store, 't', () => compact(epoch, 2, 'x'));
    await fenced(store, 't', () => compact(2, 6, 'x'));
    for (const [before, checkpoint, want] of [
      [0, 'x', '2: 0 a b c d e'],
      [2, 'ab', '2: [ab] 2 c d e'],
      [2, 'again', '2: [ab] 2 c d e'],
      [1, 'gone', '2: [ab] 2 c d e'],
      [4, 'abcd', '2: [abcd] 4 e'],
    ] as const) {
      await compact(2, before, checkpoint);
      for await (const each of opened.twice(store)) equal(await told(each, 't'), want, checkpoint);
    }
    await add(store, 't', 2, 5, 'f');
    await add(store, 't', 2, 4, 'e', 'f');
    await fenced(store, 't', () => add(store, 't', 2, 3, 'd', 'e', 'f'));
    await compact(2, 6, 'long '.repeat(300_000));
    await add(store, 't', 3, 6, 'g');
    await compact(3, 7, '');
    equal(await told(store, 't'), '3: [] 7', 'an empty checkpoint');
  },

  'a journal is deleted, and begins anew': async (opened) => {
    const store = await opened.journal();
    await store.deleteJournal('t', 1);
    await add(store, 't', 2, 0, 'a', 'b');
    await add(store, 'other', 2, 0, 'x');
    await fenced(store, 't', () => store.deleteJournal('t', 1));
    for (const epoch of [2, 3]) {
      await store.deleteJournal('t', epoch);
      equal(await told(store, 't'), 'none', 'after the deletion');
      equal(await told(store, 'other'), '2: 0 x', 'of another turn');
      await fenced(store, 't', () => add(store, 't', 9, 2, 'c'));
      await add(store, 't', 1, 0, 'new', 'journal');
      equal(await told(store, 't'), '1: 0 new journal', 'begun again');
    }
  },

  'five thousand entries are read, and compacted': async (opened) => {
    const store = await opened.journal();
    const [all, each] = [5000, 20];
    for (let at = 0; at < all; at += each) {
      await add(store, 't', 1, at, ...Array.from({ length: each }, (_, i) => `${at + i}`));
    }
    const read = (await store.readJournal('t'))!.entries.map((entry) => text.decode(entry));
    equal(
      read,
      Array.from({ length: all }, (_, i) => `${i}`),
      'the entries',
    );
    const checkpoint = utf8.encode('x');
    await store.compactJournal('t', { epoch: 1, before: all - 1, checkpoint });
    equal(await told(store, 't'), `1: [x] ${all - 1} ${all - 1}`, 'compacted');
  },

  'what was journaled stays as it is': async (opened) => {
    const store = await opened.journal();
    const list = ['a', 'b'].map((each) => utf8.encode(each));
    const checkpoint = utf8.encode('x');
    await store.appendJournal('t', { epoch: 1, at: 0, entries: list });
    await store.compactJournal('t', { epoch: 1, before: 1, checkpoint });
    list[1]![0] = checkpoint[0] = 33;
    const part = (await store.readJournal('t'))!;
    part.entries[0]![0] = part.checkpoint![0] = 33;
    equal(await told(store, 't'), '1: [x] 1 b', 'afterwards');
  },

  'an invalid append to a journal is refused': async (opened) => {
    const store = await opened.journal();
    for (const [epoch, at, ...texts] of [
      [0, 0, 'a'],
      [-1, 0, 'a'],
      [1, -1, 'a'],
      [1, 0],
    ] as const) {
      const refused = await code(() => add(store, 't', epoch, at, ...texts));
      equal(refused, 'E_INVALID_VALUE', `${epoch}, ${at}`);
    }
    equal(await told(store, 't'), 'none', 'afterwards');
  },
};

const fences: Record<string, Run> = {
  'an earlier epoch is fenced off': async (opened) => {
    const first = await opened.journal();
    await fenced(first, 't', () => add(first, 't', 1, 1, 'a'));
    await add(first, 't', 3, 0, 'a', 'b');
    for await (const store of opened.twice(first)) {
      for (const [epoch, at] of [
        ...[1, 2].map((each) => [each, 2] as const),
        ...[3, 1, 0].map((each) => [3, each] as const),
        ...[1, 3, 0].map((each) => [4, each] as const),
      ]) {
        await fenced(store, 't', () => add(store, 't', epoch, at, 'c'));
      }
    }
    await add(first, 't', 3, 2, 'c');
    await add(first, 't', 5, 3, 'd');
    await fenced(first, 't', () => add(first, 't', 3, 3, 'd'));
    await add(first, 't', 5, 4, 'e');
    equal(await told(first, 't'), '5: 0 a b c d e', 'the journal');
    const error = await failureOf(() => add(first, 't', 4, 5, 'f'));
    const { details } = error as { details?: { turn?: unknown; epoch?: unknown } };
    equal([details?.turn, details?.epoch], ['t', 5], 'the details');
  },

  'an append to a journal is repeated without harm': async (opened) => {
    const first = await opened.journal();
    await add(first, 't', 1, 0, 'a');
    await add(first, 't', 1, 1, 'b', 'c');
    for await (const store of opened.twice(first)) {
      await add(store, 't', 1, 1, 'b', 'c');
      await add(store, 't', 1, 2, 'c');
      await add(store, 't', 1, 0, 'a', 'b', 'c');
      for (const other of ['b x', 'x c', 'b', 'b c d', 'b ']) {
        await fenced(store, 't', () => add(store, 't', 1, 1, ...other.split(' ')));
      }
      await fenced(store, 't', () => add(store, 't', 2, 1, 'b', 'c'));
    }
    equal(await told(first, 't'), '1: 0 a b c', 'the journal');
  },

  'commits and appends check the epoch of their turn': async (opened) => {
    const first = await opened.journal();
    const commit = (epoch: number) => {
      return { deltas: [put(message(`m${epoch}`))], key: 'k', turn: 't', epoch };
    };
    const append = (epoch: number) => happened(`e${epoch}`, { key: 'l', turn: 't', epoch });
    const refused = async (store: typeof first, epoch: number): Promise<void> => {
      const before = await store.load('s');
      await fenced(store, 't', () => store.commit('s', commit(epoch)));
      await fenced(store, 't', () => store.append('s', append(epoch)));
      equal((await store.load('s')).revision, before.revision, 'the revision');
    };
    await refused(first, 1);
    equal((await first.list()).sessions.length, 0, 'no session has begun');
    await add(first, 't', 2, 0, 'a');
    await add(first, 'other', 1, 0, 'a');
    for (const epoch of [1, 3]) await refused(first, epoch);
    for (let i = 0; i < 2; i++) {
      await first.commit('s', commit(2));
      await first.append('s', append(2));
      await refused(first, 1); // also where the key is there
    }
    await add(first, 't', 3, 1, 'b');
    for await (const store of opened.twice(first)) {
      await refused(store, 2);
      for (const epoch of [3, 0]) {
        await store.commit('s', commit(epoch));
        await store.append('s', append(epoch));
      }
    }
    await first.deleteJournal('t', 3);
    await refused(first, 3);
    const ended = { deltas: [], ended: ['t'], turn: 't', epoch: 3 };
    await fenced(first, 't', () => first.commit('s', ended));
    await first.commit('s', commit(0)); // whose key is not forgotten
    equal((await first.load('s')).messages.length, 1, 'the messages');
    equal((await first.events('s')).length, 1, 'the events');
  },

  'one of those that go on with a turn does': async (opened) => {
    const store = await opened.journal();
    const alone = opened.maker.again === undefined;
    const other = alone ? store : ((await opened.again(store)) as typeof store);
    for (let round = 0; round < 10; round++) {
      const turn = `turn ${round}`;
      await add(store, turn, 1, 0, 'begun');
      const outcomes = await Promise.all(
        [store, other, store, other].map((each, i) =>
          code(() => add(each, turn, 2, 1, `writer ${i}`)),
        ),
      );
      const winner = outcomes.indexOf('');
      const want = outcomes.map((_, i) => (i === winner ? '' : FENCED));
      equal([winner >= 0, outcomes], [true, want], 'the outcomes');
      equal(await told(other, turn), `2: 0 begun writer ${winner}`, 'the journal');
      const late = { deltas: [put(message('m'))], turn, epoch: 1 };
      equal(await code(() => other.commit('s', late)), FENCED, 'a commit of the first');
    }
  },
};

/** The tests of {@link Journal}. */
export const journals: Record<string, Run> = { ...entries, ...fences };
