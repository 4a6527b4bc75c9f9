/**
 * Invocations, and what is left of them.
 */
import type { Event } from '../invocations/event.js';
import { equal } from '../storetest/opened.js';
import { text, versions } from './artifacts.js';
import {
  fails,
  KEY,
  loaded,
  type Place,
  type Run,
  said,
  type Script,
  sorted,
  words,
} from './place.js';
import { FAILS } from './watched.js';

/** How many events the agent yields. */
const STEPS = 3;

/** An agent that yields events, each with a change of each scope, an artifact, and a partial one before it. */
const steps: Script = async function* (ctx) {
  for (let n = 0; n < STEPS; n++) {
    yield { partial: true, content: { parts: [{ text: '…' }] } };
    const f = await ctx.saveArtifact('f', { text: String(n) });
    const stateDelta = { n, 'user:n': n, 'app:n': n, 'temp:n': n };
    const parts = [{ text: String(n) }];
    yield { content: { role: 'model', parts }, actions: { stateDelta, artifactDelta: { f } } };
  }
};

/** The first events of a run. */
function first(count: number): string {
  return ['user:hello', 'agent:0', 'agent:1', 'agent:2'].slice(0, count).join(' ');
}

/** Compares what a run has left with what there is after some of its events. */
async function left(place: Place, events: number): Promise<void> {
  const session = await place.get();
  const n = events - 2;
  const state = n < 0 ? {} : { n, 'user:n': n, 'app:n': n };
  equal(words(session.events), first(events), 'the events');
  equal(sorted(session.state), sorted(state), 'the state');
  equal(await versions(place), n < 0 ? [] : [['f', n]], 'the artifacts');
  if (n >= 0) equal(await text(place, 'f'), String(n), 'the last artifact');
}

/** Runs an agent. Returns the events that are not partial, and the error. */
async function collected(run: AsyncIterable<Event>): Promise<{ whole: Event[]; error: unknown }> {
  const whole: Event[] = [];
  try {
    for await (const event of run) if (event.partial !== true) whole.push(event);
    return { whole, error: undefined };
  } catch (error) {
    return { whole, error };
  }
}

export const runs: Record<string, Run> = {
  'an event is stored before it is delivered': async (place) => {
    await place.create();
    place.agent = steps;
    let events = 1;
    for await (const { partial } of place.runAsync()) {
      if (partial !== true) events++;
      await left(place, events);
    }
    equal(events, 1 + STEPS, 'events');
  },

  'a caller that leaves at any event': async (place) => {
    place.agent = steps;
    for (let stop = 1; stop <= 2 * STEPS; stop++) {
      await place.create({ n: null, 'user:n': null, 'app:n': null });
      let [events, seen] = [1, 0];
      for await (const { partial } of place.runAsync()) {
        if (partial !== true) events++;
        if (++seen === stop) break;
      }
      equal(words((await place.get()).events), first(events), `left at ${stop}`);
      await place.service.deleteSession(KEY);
    }
  },

  'a store that fails at any append': async (place) => {
    for (const late of [false, true]) {
      for (let n = 1; n <= STEPS + 1; n++) {
        await place.create();
        place.agent = steps;
        place.watched.failAt(n, late);
        const { whole, error } = await collected(place.runAsync());
        if (error !== FAILS) throw new Error(`append ${n}: ${String(error)}`);
        equal(place.watched.appends, n, 'appends');
        place.watched.failAt(0);
        equal(words(whole), first(n - 1).replace(/^user:hello ?/u, ''), 'what was delivered');
        // One more than was delivered, if the store has done it.
        const stored = late ? n : n - 1;
        equal(words((await place.get()).events), first(stored), `stored, append ${n}`);
        place.agent = async function* () {
          yield await Promise.resolve({ content: { parts: [{ text: 'on' }] } });
        };
        equal(words(await place.run('go on')), 'agent:on', 'the next run');
        await place.service.deleteSession(KEY);
      }
    }
  },

  'a second writer between any two events': async (place) => {
    for (let n = 1; n <= STEPS; n++) {
      await place.create();
      place.agent = steps;
      let delivered = 0;
      const run = async (): Promise<void> => {
        for await (const { partial } of place.runAsync()) {
          if (partial === true || ++delivered !== n) continue;
          const other = await place.another();
          await other.appendEvent(await loaded(other, KEY), said('other'));
        }
      };
      // Nothing comes behind the last event.
      if (n === STEPS) await run();
      else {
        const details = await fails(run, 'E_SESSION_CONFLICT');
        equal([details['session'], details['user']], ['s', 'ada'], 'details');
      }
      equal(words((await place.get()).events), `${first(1 + n)} host:other`, 'the events');
      await place.service.deleteSession(KEY);
    }
  },

  'a session goes on in another process': async (place) => {
    await place.create();
    place.agent = steps;
    await place.run();
    const other = place.runnerOn(await place.another());
    place.agent = async function* () {
      yield await Promise.resolve({ content: { parts: [{ text: 'more' }] } });
    };
    const who = { userId: KEY.userId, sessionId: KEY.sessionId };
    equal(words(await other.run({ ...who, newMessage: 'again' })), 'agent:more', 'the other');
    equal(words(await place.run('last')), 'agent:more', 'the first');
    const all = `${first(4)} user:again agent:more user:last agent:more`;
    equal(words((await place.get()).events), all, 'the events');
  },

  'invocations of a session queue': async (place) => {
    await place.create();
    place.agent = steps;
    const [one, other] = [place.runnerOn(place.plain()), place.runnerOn(place.plain())];
    const who = { userId: KEY.userId, sessionId: KEY.sessionId, newMessage: 'hello' };
    const all = Array.from({ length: 6 }, (_, i) => (i % 2 === 0 ? one : other).run(who));
    await Promise.all(all);
    const want = Array.from({ length: 6 }, () => first(4)).join(' ');
    equal(words((await place.get()).events), want, 'the events');
  },

  'an invocation of a busy session is refused, if it is to be': async (place) => {
    await place.create();
    place.agent = steps;
    const refusing = place.runnerOn(place.plain(), 'refuse');
    const who = { userId: KEY.userId, sessionId: KEY.sessionId, newMessage: 'hello' };
    for await (const { id } of place.runnerOn(place.plain()).runAsync(who)) {
      const { session } = await fails(() => refusing.run(who), 'E_SESSION_BUSY');
      equal(session, 's', `while there is ${id}`);
    }
    await refusing.run(who);
    equal(words((await place.get()).events), `${first(4)} ${first(4)}`, 'the events');
  },

  'an invocation inside another one of its session is refused': async (place) => {
    await place.create();
    const who = { userId: KEY.userId, sessionId: KEY.sessionId, newMessage: 'inside' };
    place.agent = async function* (ctx) {
      await place.runner.run({ ...who, signal: ctx.abortSignal });
      yield said('never');
    };
    const { session } = await fails(() => place.run(), 'E_SESSION_BUSY');
    equal([session, words((await place.get()).events)], ['s', 'user:hello'], 'what is left');
  },

  'an unknown session runs nothing': async (place) => {
    place.agent = steps;
    const { session } = await fails(() => place.run(), 'E_SESSION_NOT_FOUND');
    equal(session, 's', 'details');
    equal(await place.service.getSession(KEY), undefined, 'the session');
  },
};
