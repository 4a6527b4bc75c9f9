// Wires the page of sessions: what the visitor does goes to the agent, and its events are shown.
import { byId } from '../elements.js';
import { Frame } from '../frame.js';
import { openStore } from '../kept.js';
import { ModelBar } from '../model-bar.js';
import { modelsOf } from '../models.js';
import { Guide, OWNER, pendingCalls } from './guide.js';
import { Inside } from './inside.js';
import { SessionList } from './list.js';
import { Transcript } from './transcript.js';

/** What to say. */
const suggestions = [
  { text: 'Remember "buy milk"' },
  { label: 'A call that waits for you', text: 'Forget "buy milk"' },
  { text: 'What is the weather in Oslo?' },
  { text: 'Calculate (17 + 4) * 2.5' },
];

const [log, announcer] = ['log', 'announcer'].map(byId);
const guide = new Guide(await openStore('turncore-demo-sessions'));
const transcript = new Transcript(log, (call, confirmed) => decide(call, confirmed));
const inside = new Inside(
  {
    values: byId('values'),
    noValues: byId('no-values'),
    events: byId('events'),
    noEvents: byId('no-events'),
    total: byId('event-count'),
  },
  {
    fork: (event) => list.fork(open.id, event),
    rewind: (event) => rewind(event),
  },
);
const list = new SessionList(
  {
    list: byId('conversation-list'),
    empty: byId('no-conversations'),
    failure: byId('conversations-failure'),
  },
  { guide, open: (id) => frame.go(id) },
);

/** The session that is open: its id, undefined for one that has not begun; and the answers to calls of one event. */
let open = { id: undefined, answers: new Map() };
/** Whether a model is there. */
let ready = false;
/** Aborts the answer that is being given, if one is. */
let running;
/** Resolves when it has ended. */
let ended = Promise.resolve();

const frame = new Frame(byId('inside'), {
  say,
  abort() {
    running?.abort();
    return running !== undefined;
  },
  reset: () => frame.go(undefined),
  import: (file) => list.import(file),
  navigate: () => openNamed(),
});

frame.allow(false);
frame.suggest(suggestions);
await openNamed();
await start();

/** Learns what the server offers and takes the model that the page's address names. */
async function start() {
  try {
    const config = await (await fetch('config.json')).json();
    byId('offline').hidden = config.offline !== true;
    navigator.serviceWorker
      ?.register(`offline.js?version=${config.version}`)
      .catch((error) => console.info(`This page will not work offline: ${error.message}`));
    const api = { baseURL: `${location.origin}/v1`, model: config.model };
    const bar = new ModelBar(modelsOf(config), (state, model, engine) => {
      ready = state === 'ready';
      if (ready) guide.use(engine === undefined ? api : { engine, ...model.options });
      frame.showState(ready && waits() ? 'asks you' : state);
      frame.showBusy(running !== undefined, ready);
    });
    await bar.choose(new URL(location.href).searchParams.get('model') ?? 'server');
  } catch (error) {
    frame.showState('failed');
    transcript.ended(error);
  }
}

/** Opens the session that the page's address names, another one if it names none that is kept. */
async function openNamed() {
  const next = { id: undefined, answers: new Map() };
  open = next;
  running?.abort();
  await ended;
  if (open !== next) return;
  transcript.clear();
  inside.clear();
  const id = decodeURIComponent(location.hash.slice(1));
  try {
    const session = id === '' ? undefined : await guide.load(id);
    if (open !== next) return; // another one is being opened
    if (session !== undefined) {
      next.id = id;
      for (const event of session.events) transcript.show(event);
      transcript.ended();
      transcript.ask(pendingCalls(session.events));
      inside.show(session);
    }
  } catch (error) {
    transcript.ended(error);
  }
  await list.show(next.id);
  if (ready) frame.showState(waits() ? 'asks you' : 'ready');
}

/** Says something, unless an answer is being given or there is nothing to say. */
function say(words) {
  const message = words.trim();
  if (message === '' || running !== undefined || !ready) return;
  frame.emptyText();
  transcript.say(message);
  ended = run(message, message);
}

/** Takes the visitor's answer to a call. Those to all calls of an event that wait go together. */
async function decide(call, confirmed) {
  if (running !== undefined || !ready) return;
  const { answers, id } = open;
  const { name, eventId } = call;
  const response = call.confirmation === undefined ? { result: confirmed } : { confirmed };
  answers.set(call.id, { functionResponse: { id: call.id, name, response } });
  transcript.answered(call.id);
  const session = await guide.load(id);
  const asked = pendingCalls(session.events).filter((each) => each.eventId === eventId);
  if (!asked.every((each) => answers.has(each.id))) return;
  const parts = asked.map((each) => answers.get(each.id));
  answers.clear();
  ended = run({ role: 'user', parts });
}

/** Answers a message and shows the events. Never rejects. @param title of a session that begins with it */
async function run(message, title) {
  const where = open;
  const controller = (running = new AbortController());
  frame.showBusy(true);
  frame.showState('running');
  let state = 'ready';
  let answer = '';
  try {
    if (where.id === undefined) {
      where.id = (await guide.sessions.createSession(OWNER)).id;
      await list.name(where.id, title);
      history.replaceState(null, '', `${location.pathname}${location.search}#${where.id}`);
    }
    for await (const event of guide.answer(where.id, message, controller.signal)) {
      if (where !== open) break;
      transcript.show(event);
      if (event.partial) continue;
      // It is in the store, with what it changes.
      inside.show(await guide.load(where.id));
      if (event.isFinalResponse()) answer = textOf(event);
    }
    transcript.ended();
    announcer.textContent = answer;
  } catch (error) {
    state = error?.name === 'AbortError' ? 'aborted' : 'failed';
    if (where === open) transcript.ended(error);
  }
  running = undefined;
  frame.showBusy(false, ready);
  await settle(where, state);
}

/** Shows what an answer has left: the list, what the session keeps, and the calls that wait. */
async function settle(where, state) {
  const session = where.id === undefined ? undefined : await guide.load(where.id);
  await list.changed(open.id);
  if (where !== open) return;
  if (session !== undefined) {
    inside.show(session);
    transcript.ask(pendingCalls(session.events));
  }
  frame.showState(waits() ? 'asks you' : state);
  if (!waits()) frame.focus();
}

/** Takes the session back to before the invocation of an event. */
async function rewind({ invocationId }) {
  if (running !== undefined || !ready) return;
  await list.try('The session cannot be rewound', async () => {
    await guide.rewind(open.id, invocationId);
    await openNamed();
  });
}

/** Whether a question is shown. */
function waits() {
  return log.querySelector('.question') !== null;
}

function textOf({ content }) {
  return (content?.parts ?? []).map((part) => (part.thought ? '' : (part.text ?? ''))).join('');
}
