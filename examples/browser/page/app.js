// Wires the page: what the visitor does goes to the agent, what the agent does is shown.
import { Agent } from './agent.js';
import { agentSheet } from './agent-sheet.js';
import { Conversation } from './conversation.js';
import { Conversations } from './conversations.js';
import { byId, element } from './elements.js';
import { ForeignAgent } from './foreign-agent.js';
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

const [log, composer, text, send, stop] = ['log', 'composer', 'text', 'send', 'stop'].map(byId);
const [panel, toggle, announcer, who] = ['timeline', 'toggle', 'announcer', 'who'].map(byId);
const conversation = new Conversation(log);
const timeline = new Timeline({
  list: byId('events'),
  empty: byId('no-events'),
  total: byId('event-count'),
  groups: byId('groups'),
  search: byId('search'),
});
/** There is room for the conversation and its events. */
const wide = matchMedia('(min-width: 60rem)');
/** There is room for the list of conversations too. */
const wider = matchMedia('(min-width: 75rem)');
const past = byId('conversations');
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

composer.addEventListener('submit', (event) => {
  event.preventDefault();
  begin(text.value);
});
text.addEventListener('input', fitText);
text.addEventListener('keydown', (event) => {
  // While an input method composes a word, Enter belongs to it.
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  begin(text.value);
});
stop.addEventListener('click', () => running?.abort());
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  if (running !== undefined) running.abort();
  else if (!wider.matches && !past.hidden) showPast(false);
  else if (!wide.matches) showPanel(false);
});
byId('past').addEventListener('click', () => showPast(past.hidden));
byId('close-conversations').addEventListener('click', () => {
  showPast(false);
  byId('past').focus();
});
wider.addEventListener('change', () => showPast(wider.matches));
byId('import').addEventListener('click', () => byId('file').click());
byId('file').addEventListener('change', async ({ target }) => {
  const [file] = target.files;
  target.value = '';
  if (file !== undefined) await conversations.import(file);
});
addEventListener('hashchange', () => openNamed());
toggle.addEventListener('click', () => showPanel(panel.hidden));
byId('close').addEventListener('click', () => {
  showPanel(false);
  toggle.focus();
});
wide.addEventListener('change', () => showPanel(wide.matches));
byId('reset').addEventListener('click', () => go(undefined));

showPanel(wide.matches);
showPast(wider.matches);
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
    showState('failed');
    conversation.fail(error);
  }
}

/** Goes to a conversation, or to another one. */
async function go(id) {
  if (!wider.matches) showPast(false);
  if (id !== undefined && foreign !== undefined) {
    // Conversations that are kept are those of the page's own agent.
    who.value = '';
    await take(undefined);
  }
  const hash = id === undefined ? '' : `#${encodeURIComponent(id)}`;
  history.pushState(null, '', location.pathname + location.search + hash);
  await openNamed();
  if (wide.matches) text.focus();
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
  if (agent !== undefined) showState('ready');
}

/** Takes copies of all that the page needs, for when its server is not there. */
function prepareOffline(version) {
  // What was loaded before the worker was there passes it once more.
  navigator.serviceWorker?.addEventListener('controllerchange', () => {
    for (const { name } of performance.getEntriesByType('resource')) {
      if (name.startsWith(`${location.origin}/libraries/`)) fetch(name).catch(() => undefined);
    }
  });
  // Browsers without service workers, and pages that are not on the own machine or https, do without.
  navigator.serviceWorker?.register(`offline.js?version=${version}`).catch((error) => {
    console.info(`This page will not work offline: ${error.message}`);
  });
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
    showState('failed');
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
  send.disabled = true;
  byId('suggestions').replaceChildren();
  byId('module').textContent = '';
  running?.abort();
  await ended;
  if (agent === undefined) showState(state);
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
    showState('asks you');
    return;
  }
  const { config, model, engine } = answering;
  const { options, context } = model;
  const other = foreign?.agent;
  const next = new Agent({ model: config.model, engine, options, context, store, foreign: other });
  agent = next;
  showState('loading');
  byId('module').textContent = 'The module is being loaded.';
  try {
    const started = await next.start();
    if (agent !== next) return;
    showModule(other?.name ?? 'module', started);
  } catch (error) {
    if (agent !== next) return;
    showState('failed');
    byId('module').textContent = 'The module could not be started.';
    conversation.fail(error);
    return;
  }
  showSuggestions(other?.suggestions ?? suggestionsFor(model));
  showState('ready');
  showBusy(false);
  if (wide.matches) text.focus();
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
  text.value = '';
  fitText();
  ended = run(message, options);
}

/** Runs a turn and shows it. Never rejects. */
async function run(message, options) {
  const where = session;
  const view = conversation.begin(message, (...answer) => agent.answer(...answer));
  const begun = performance.now();
  showBusy(true);
  showState('running');
  try {
    const stream = agent.send(where.id, message, options);
    running = stream;
    const result = await show(stream, view);
    view.end(result, performance.now() - begun);
    showState(result.status);
    announce(result);
  } catch (error) {
    view.refuse(error);
    showState('failed');
  } finally {
    running = undefined;
    showBusy(false);
    await keep(where, message);
    if (wide.matches) text.focus();
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

function showState(state) {
  const chip = byId('state');
  chip.textContent = state;
  chip.dataset.state = state;
  byId('note').textContent = state === 'running' ? 'Esc stops' : '';
}

function showIteration(n) {
  byId('iteration').lastElementChild.textContent = n;
}

function showBusy(busy) {
  stop.hidden = !busy;
  send.hidden = busy;
  send.disabled = busy;
  for (const button of byId('suggestions').children) button.disabled = busy;
}

/** What to say to the page's own agent with a model. */
function suggestionsFor({ id }) {
  return suggestions.filter(({ only }) => only === undefined || only === id);
}

function showSuggestions(some) {
  const buttons = some.map(({ text: words, label = words, fails }) => {
    const button = element('button', { type: 'button', className: 'chip' }, label);
    button.addEventListener('click', () => begin(words, { fails }));
    return button;
  });
  byId('suggestions').replaceChildren(...buttons);
}

function showModule(name, { ms, bytes, wireBytes }) {
  // What comes by the service worker does not say how large it was on the wire.
  const wire = wireBytes < bytes ? ` (${megabytes(wireBytes)} compressed)` : '';
  const size = bytes === undefined ? '' : `${megabytes(bytes)}${wire}, `;
  byId('module').textContent = `${name} ${size}ready in ${Math.round(ms)} ms`;
}

function showPast(shown) {
  past.hidden = !shown;
  byId('past').setAttribute('aria-expanded', String(shown));
}

function showPanel(shown) {
  panel.hidden = !shown;
  toggle.setAttribute('aria-expanded', String(shown));
  if (shown) timeline.jump();
}

/** Makes the box as high as its text, up to where the style stops it. */
function fitText() {
  text.style.height = 'auto';
  text.style.height = `${text.scrollHeight + 2}px`;
}

function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(2)} MB`;
}
