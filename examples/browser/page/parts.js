// What a conversation is shown with: answers, thoughts, tool calls, errors.
import { element } from './elements.js';

/** What the model says. */
export class Answer {
  box = element('div', { className: 'said by-agent streaming' });

  show({ aDelta, isComplete }) {
    if (aDelta !== '') this.box.append(aDelta);
    if (isComplete) this.end();
  }

  end() {
    this.box.classList.remove('streaming');
    this.box.normalize();
  }

  /** Marks it as a part of an answer. */
  breakOff() {
    this.box.append(' ', element('span', { className: 'broken-off' }, '(broken off)'));
  }
}

/** What the model thinks: open while it does, closed afterwards, as the visitor wishes in between. */
export class ThoughtBlock {
  #title = element('summary', {}, 'Thinking…');
  #text = element('p');
  box = element('details', { className: 'thought', open: true }, this.#title, this.#text);
  #touched = false;
  #ended = false;

  constructor() {
    this.#title.addEventListener('click', () => (this.#touched = true));
  }

  show({ aDelta, isComplete }) {
    this.#text.append(aDelta);
    if (isComplete) this.end();
  }

  end() {
    if (this.#ended) return;
    this.#ended = true;
    this.#title.textContent = 'Thought';
    this.#text.normalize();
    if (!this.#touched) this.box.open = false;
  }
}

/** A tool call. */
export class ToolCard {
  checksum = '';
  #name = element('code', { className: 'name' });
  #state = element('span', { className: 'badge' });
  #args = element('pre');
  #results = element('pre');
  #resultsTitle = element('dt', {}, 'result');
  box = element(
    'section',
    { className: 'tool' },
    element('header', {}, this.#name, this.#state),
    element(
      'dl',
      {},
      element('dt', {}, 'arguments'),
      element('dd', {}, this.#args),
      this.#resultsTitle,
      element('dd', {}, this.#results),
    ),
  );
  #ms;
  #question;
  #complete = false;

  constructor() {
    this.#set('called');
    this.#results.textContent = '…';
  }

  show({ tool, args, checksum, isComplete, isError, results }) {
    this.#name.textContent = tool;
    this.box.setAttribute('aria-label', `Call of ${tool}`);
    this.checksum = checksum;
    this.#args.textContent = args === undefined ? '…' : layOut(args);
    if (!isComplete) return;
    this.#complete = true;
    this.#results.textContent = readable(results);
    this.#resultsTitle.textContent = isError ? 'error' : 'result';
    this.#set(isError ? 'error' : 'done', this.#ms === undefined ? undefined : `${this.#ms} ms`);
  }

  execute({ event, durationMs }) {
    if (event === 'toolExecutionEnd') this.#ms = durationMs;
    else if (!this.#complete) this.#set('running');
  }

  get name() {
    return this.#name.textContent;
  }

  /** Shows a question with two buttons. */
  ask({ id, reason, digest }, answer) {
    const button = (label, approved, className) => {
      const made = element('button', { type: 'button', className }, label);
      made.addEventListener('click', () => answer(id, approved, digest));
      return made;
    };
    this.#question?.remove();
    this.#question = element(
      'div',
      { className: 'question', role: 'alert' },
      element('p', {}, reason),
      button('Approve', true, 'primary'),
      button('Refuse', false, 'danger'),
    );
    this.#question.dataset.gate = id;
    this.box.append(this.#question);
    this.#set('waiting');
  }

  /** Takes the question away: a gate was settled. */
  answered({ gateId }) {
    if (this.#question?.dataset.gate !== gateId) return;
    this.#question.remove();
    this.#question = undefined;
    this.#set('running');
  }

  end() {
    if (this.#complete) return;
    this.#set('stopped');
    this.#results.textContent = 'none: the turn ended first';
  }

  #set(state, detail) {
    this.box.dataset.state = state;
    this.#state.textContent = detail === undefined ? state : `${state} · ${detail}`;
  }
}

/** Results as text: JSON is laid out. */
function readable(results) {
  if (typeof results !== 'string') return results === undefined ? 'nothing' : layOut(results);
  if (!/^\s*[[{]/.test(results)) return results;
  try {
    return layOut(JSON.parse(results));
  } catch {
    return results;
  }
}

/** JSON on one line if it is short, else indented. */
function layOut(value) {
  const lines = JSON.stringify(value, null, 2);
  return lines.length <= 72 ? lines.replace(/\n\s*/g, ' ') : lines;
}

/** An error with its code, what to do about it, and what led to it. */
export function errorBlock(error) {
  const { code, name, message, help } = error ?? {};
  const box = element(
    'section',
    { className: 'error', role: 'alert' },
    element('header', {}, element('code', { className: 'name' }, code || name || 'Error')),
    element('p', {}, message ?? String(error)),
  );
  if (help) box.append(element('p', { className: 'help' }, help));
  const causes = causesOf(error);
  if (causes.length > 0) {
    const items = causes.map((cause) => element('li', {}, cause));
    box.append(
      element('details', {}, element('summary', {}, 'Caused by'), element('ol', {}, ...items)),
    );
  }
  return box;
}

function causesOf(error) {
  const causes = [];
  for (let cause = error?.cause; cause != null && causes.length < 8; cause = cause.cause) {
    causes.push(`${cause.code || cause.name || 'Error'}: ${cause.message ?? String(cause)}`);
  }
  return causes;
}
