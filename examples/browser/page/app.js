// Wires the page: what the visitor does goes to the agent, what the agent does is shown.
import { Agent } from './agent.js';
import { Conversation } from './conversation.js';
import { byId, element } from './elements.js';
import { Timeline } from './timeline.js';

const suggestions = [
  { text: 'What is the weather in Oslo?' },
  { text: 'Calculate (17 + 4) * 2.5' },
  { text: 'What time is it in Tokyo?' },
  { label: 'A tool that asks', text: 'Delete the note "groceries"' },
  { label: 'A tool that fails', text: 'Calculate 1 / 0' },
  { label: 'A model that fails', text: 'Are you there?', fails: true },
];

const [log, composer, text, send, stop] = ['log', 'composer', 'text', 'send', 'stop'].map(byId);
const [panel, toggle, announcer] = ['timeline', 'toggle', 'announcer'].map(byId);
const conversation = new Conversation(log);
const timeline = new Timeline({
  list: byId('events'),
  empty: byId('no-events'),
  total: byId('event-count'),
  groups: byId('groups'),
  search: byId('search'),
});
/** There is room for both columns. */
const wide = matchMedia('(min-width: 60rem)');

let agent;
/** The turn that runs, if one does. */
let running;
/** Resolves when it has ended. */
let ended = Promise.resolve();

for (const { text: words, label = words, fails } of suggestions) {
  const button = element('button', { type: 'button', className: 'chip', disabled: true }, label);
  button.addEventListener('click', () => begin(words, { fails }));
  byId('suggestions').append(button);
}

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
  else if (!wide.matches) showPanel(false);
});
toggle.addEventListener('click', () => showPanel(panel.hidden));
byId('close').addEventListener('click', () => {
  showPanel(false);
  toggle.focus();
});
wide.addEventListener('change', () => showPanel(wide.matches));
byId('reset').addEventListener('click', async () => {
  running?.abort();
  await ended;
  agent?.forget();
  conversation.clear();
  timeline.clear();
  if (agent !== undefined) showState('ready');
  byId('iteration').lastElementChild.textContent = '–';
  text.focus();
});

showPanel(wide.matches);
await start();

/** Loads the module and lets the visitor begin. */
async function start() {
  try {
    const config = await (await fetch('config.json')).json();
    byId('model').textContent = config.live ? config.description : 'simulated model';
    agent = new Agent(config);
    showModule(await agent.start());
    showState('ready');
    showBusy(false);
    if (wide.matches) text.focus();
  } catch (error) {
    showState('failed');
    byId('module').textContent = 'The module could not be started.';
    conversation.fail(error);
  }
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
  const view = conversation.begin(message, (...answer) => agent.answer(...answer));
  const begun = performance.now();
  showBusy(true);
  showState('running');
  try {
    const stream = agent.send(message, options);
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
    if (wide.matches) text.focus();
  }
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

function showModule({ ms, bytes, wireBytes }) {
  const size =
    bytes === undefined ? '' : `${megabytes(bytes)} (${megabytes(wireBytes)} compressed), `;
  byId('module').textContent = `module ${size}ready in ${Math.round(ms)} ms`;
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
