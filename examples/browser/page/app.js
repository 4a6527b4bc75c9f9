// Wires the page: what the visitor does goes to the agent, what the agent does is shown.
import { Agent } from './agent.js';
import { agentSheet } from './agent-sheet.js';
import { Conversation } from './conversation.js';
import { Conversations } from './conversations.js';
import { byId, element } from './elements.js';
import { ForeignAgent } from './foreign-agent.js';
import { Frame } from './frame.js';
import { exchange, openStore } from './kept.js';
import { ModelBar } from './model-bar.js';
import { modelsOf } from './models.js';
import { Timeline } from './timeline.js';

/** What to say, to every model or to one only. */
const suggestions = [
  { text: 'What is the weather in Oslo?' },
  { text: 'Calculate (17 + 4) * 2.5' },
  { text: 'What time is it in Tokyo?' },
  { label: 'A tool that asks', text: 'Delete the note "groceries"' },
  { label: 'A tool that fails', text: 'Calculate 1 / 0' },
  { label: 'A model that fails', text: 'Are you there?', fails: true, only: 'server' },
  { label: 'A song to stop', text: 'Sing!', only: 'scripted' },
];

const [announcer, who] = ['announcer', 'who'].map(byId);
const conversation = new Conversation(byId('log'));
const timeline = new Timeline({
  list: byId('events'),
  empty: byId('no-events'),
  total: byId('event-count'),
  groups: byId('groups'),
  search: byId('search'),
});
const store = await openStore('turncore-demo');
const conversations = new Conversations(
  {
    list: byId('conversation-list'),
    empty: byId('no-conversations'),
    more: byId('more'),
    failure: byId('conversations-failure'),
  },
  { store, exchange, open: (id) => go(id) },
);
/** The conversation that is open: its id, and whether anything was said in it. */
let session = { id: crypto.randomUUID(), begun: false };

let agent;
/** Somebody else's agent that was chosen, and whether the visitor lets it run; undefined for the page's own. */
let foreign;
/** The model that answers, once it does: what the server says of itself, the choice, the engine. */
let answering;
/** The turn that runs, if one does. */
let running;
/** Resolves when it has ended. */
let ended = Promise.resolve();

const frame = new Frame(byId('timeline'), {
  say: (words, { fails } = {}) => begin(words, { fails }),
  abort() {
    running?.abort();
    return running !== undefined;
  },
  reset: () => go(undefined),
  import: (file) => conversations.import(file),
  navigate: () => openNamed(),
  panel: () => timeline.jump(),
});

await openNamed();
await start();

/** Learns what the server offers and takes the model that the page's address names. */
async function start() {
  try {
    const config = await (await fetch('config.json')).json();
    byId('offline').hidden = config.offline !== true;
    prepareOffline(config.version);
    await offer(config.agents);
    const bar = new ModelBar(modelsOf(config), (state, model, engine) =>
      state === 'ready' ? meet({ config, model, engine }) : leave(state),
    );
    await bar.choose(new URL(location.href).searchParams.get('model'));
  } catch (error) {
    frame.showState('failed');
    conversation.fail(error);
  }
}

/** Goes to a conversation, or to another one. */
async function go(id) {
  if (id !== undefined && foreign !== undefined) {
    // Conversations that are kept are those of the page's own agent.
    who.value = '';
    await take(undefined);
  }
  await frame.go(id);
}

/** Opens the conversation that the page's address names, another one if it names none that is kept. */
async function openNamed() {
  const id = decodeURIComponent(location.hash.slice(1));
  const next = { id: crypto.randomUUID(), begun: false };
  session = next;
  await clear();
  const kept = id !== '' && foreign === undefined && (await conversations.has(id));
  if (session !== next) return; // another one is being opened
  if (kept) {
    session = { id, begun: true };
    try {
      await conversation.restore(await store.load(id));
    } catch (error) {
      conversation.fail(error);
    }
  }
  await conversations.show(kept ? id : undefined);
  if (agent !== undefined) frame.showState('ready');
}

/** Takes copies of all that the page needs, for when its server is not there. */
function prepareOffline(version) {
  // What was loaded before the worker was there passes it once more.
  navigator.serviceWorker?.addEventListener('controllerchange', () => {
    for (const { name } of performance.getEntriesByType('resource')) {
      if (name.startsWith(`${location.origin}/libraries/`)) passAgain(name).catch(() => undefined);
    }
  });
  // Browsers without service workers, and pages that are not on the own machine or https, do without.
  navigator.serviceWorker?.register(`offline.js?version=${version}`).catch((error) => {
    console.info(`This page will not work offline: ${error.message}`);
  });
}

/** Has the service worker take a copy of what is there. A body that nobody reads would keep the worker busy. */
async function passAgain(address) {
  await (await fetch(address)).body?.cancel();
}

/** Offers agents beside the page's own, and takes the one that the page's address names. */
async function offer(agents) {
  const others = agents.map((each) => new ForeignAgent(each));
  who.append(
    element('option', { value: '' }, "This page's"),
    element(
      'optgroup',
      { label: "Somebody else's" },
      ...others.map(({ name }) => element('option', { value: name }, `${name}.wasm`)),
    ),
  );
  const chosen = () => others.find(({ name }) => name === who.value);
  who.addEventListener('change', () => take(chosen()));
  const named = new URL(location.href).searchParams.get('agent');
  who.value = others.some(({ name }) => name === named) ? named : '';
  who.disabled = false;
  if (who.value !== '') await take(chosen());
}

/** Takes an agent: the page's own if there is none, or somebody else's, which runs when the visitor lets it. */
async function take(other) {
  const taken = other && { agent: other, allowed: false };
  foreign = taken;
  const url = new URL(location.href);
  if (other === undefined) url.searchParams.delete('agent');
  else url.searchParams.set('agent', other.name);
  url.hash = '';
  history.replaceState(null, '', url);
  session = { id: crypto.randomUUID(), begun: false };
  await dismiss('loading');
  await clear();
  await conversations.show(undefined);
  try {
    await other?.open();
    if (foreign !== taken) return;
    const allow = () => {
      taken.allowed = true;
      return wake();
    };
    conversation.introduce(other && agentSheet(other, allow));
    await wake();
  } catch (error) {
    if (foreign !== taken) return;
    frame.showState('failed');
    conversation.fail(error);
  }
}

/** Nobody answers until a model is there. */
async function leave(state) {
  answering = undefined;
  await dismiss(state);
}

/** Nobody answers. */
async function dismiss(state) {
  agent = undefined;
  frame.allow(false);
  frame.suggest([]);
  byId('module').textContent = '';
  running?.abort();
  await ended;
  if (agent === undefined) frame.showState(state);
}

/** A model answers. */
async function meet(model) {
  answering = model;
  await wake();
}

/** Makes the agent and starts it, if there is a model and the visitor lets it run. */
async function wake() {
  if (answering === undefined) return;
  if (foreign?.allowed === false) {
    frame.showState('asks you');
    return;
  }
  const { config, model, engine } = answering;
  const { options, context } = model;
  const other = foreign?.agent;
  const next = new Agent({ model: config.model, engine, options, context, store, foreign: other });
  agent = next;
  frame.showState('loading');
  byId('module').textContent = 'The module is being loaded.';
  try {
    const started = await next.start();
    if (agent !== next) return;
    showModule(other?.name ?? 'module', started);
  } catch (error) {
    if (agent !== next) return;
    frame.showState('failed');
    byId('module').textContent = 'The module could not be started.';
    conversation.fail(error);
    return;
  }
  frame.suggest(other?.suggestions ?? suggestionsFor(model));
  frame.showState('ready');
  frame.showBusy(false, true);
  frame.focus();
}

/** Stops what runs, and shows nothing. */
async function clear() {
  running?.abort();
  await ended;
  conversation.clear();
  timeline.clear();
  byId('iteration').lastElementChild.textContent = '–';
}

/** Begins a turn, unless one runs or there is nothing to say. */
function begin(words, options) {
  const message = words.trim();
  if (message === '' || running !== undefined || agent === undefined) return;
  frame.emptyText();
  ended = run(message, options);
}

/** Runs a turn and shows it. Never rejects. */
async function run(message, options) {
  const where = session;
  const view = conversation.begin(message, (...answer) => agent.answer(...answer));
  const begun = performance.now();
  frame.showBusy(true);
  frame.showState('running');
  try {
    const stream = agent.send(where.id, message, options);
    running = stream;
    const result = await show(stream, view);
    view.end(result, performance.now() - begun);
    frame.showState(result.status);
    announce(result);
  } catch (error) {
    view.refuse(error);
    frame.showState('failed');
  } finally {
    running = undefined;
    frame.showBusy(false, true);
    await keep(where, message);
    frame.focus();
  }
}

/** What was said is kept: the list shows it, and the page's address names it. */
async function keep(where, message) {
  const { id, begun } = where;
  if (!(await conversations.has(id))) return;
  if (!begun) await conversations.name(id, message);
  where.begun = true;
  if (where === session) {
    const { pathname, search } = location;
    history.replaceState(null, '', `${pathname}${search}#${encodeURIComponent(id)}`);
  }
  await conversations.changed(where === session ? id : undefined);
}

/** Shows the events of a turn. @returns its result @throws why it could not begin */
async function show(stream, view) {
  let begun = false;
  try {
    for await (const event of stream) {
      begun = true;
      timeline.add(event);
      view.show(event);
      if (event.event === 'iterationStart') showIteration(event.iteration + 1);
    }
  } catch (error) {
    // How a turn failed is shown by its end.
    if (!begun || error !== (await stream.result).error) throw error;
  }
  return stream.result;
}

/** Reads the answer out in one piece, not word by word. Errors are alerts and speak for themselves. */
function announce({ status, text: answer }) {
  if (status === 'ack') announcer.textContent = answer;
  else if (status === 'aborted') announcer.textContent = 'Stopped.';
}

function showIteration(n) {
  byId('iteration').lastElementChild.textContent = n;
}

/** What to say to the page's own agent with a model. */
function suggestionsFor({ id }) {
  return suggestions.filter(({ only }) => only === undefined || only === id);
}

function showModule(name, { ms, bytes, wireBytes }) {
  // What comes by the service worker does not say how large it was on the wire.
  const wire = wireBytes < bytes ? ` (${megabytes(wireBytes)} compressed)` : '';
  const size = bytes === undefined ? '' : `${megabytes(bytes)}${wire}, `;
  byId('module').textContent = `${name} ${size}ready in ${Math.round(ms)} ms`;
}

function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(2)} MB`;
}
