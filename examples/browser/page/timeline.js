// Lists the events of all turns, filtered by kind and by text.
import { element, EndKeeper } from './elements.js';

/** Rows that are kept; older ones go. */
const MAX_ROWS = 2000;

const groupOf = {
  turnStart: 'turn',
  turnEnd: 'turn',
  dispatchStart: 'turn',
  dispatchEnd: 'turn',
  iterationStart: 'turn',
  iterationEnd: 'turn',
  message: 'text',
  thought: 'text',
  toolCall: 'tools',
  toolExecutionStart: 'tools',
  toolExecutionEnd: 'tools',
  turnGateOpen: 'tools',
  turnGateClosed: 'tools',
};
const groups = ['turn', 'text', 'tools', 'other'];

/** The list and its filters. */
export class Timeline {
  #list;
  #empty;
  #total;
  #end;
  #query = '';
  #turns = 0;
  #begun = 0;
  #count = 0;
  /** Group to the element that shows how many there are. */
  #counts = new Map();

  /** @param parts elements of the page: list, empty, total, groups, search */
  constructor(parts) {
    this.#list = parts.list;
    this.#empty = parts.empty;
    this.#total = parts.total;
    this.#end = new EndKeeper(this.#list);
    for (const group of groups) parts.groups.append(this.#toggle(group));
    parts.search.addEventListener('input', () => this.#filter(parts.search.value));
  }

  /** Adds an event. */
  add(event) {
    if (event.event === 'turnStart') this.#beginTurn(event);
    const group = groupOf[event.event] ?? 'other';
    const row = this.#row(event, group);
    row.hidden = !this.#matches(row);
    this.#list.append(row);
    if (this.#list.childElementCount > MAX_ROWS) this.#list.firstElementChild.remove();
    const count = this.#counts.get(group);
    count.textContent = Number(count.textContent) + 1;
    this.#total.textContent = ++this.#count;
    this.#end.follow();
  }

  clear() {
    this.#list.replaceChildren();
    this.#turns = 0;
    this.#count = 0;
    this.#total.textContent = 0;
    for (const count of this.#counts.values()) count.textContent = 0;
    this.#empty.hidden = false;
  }

  /** Shows the latest events, wherever the list was. */
  jump() {
    this.#end.jump();
  }

  #beginTurn({ at }) {
    this.#empty.hidden = true;
    this.#begun = at;
    const time = new Date(at).toLocaleTimeString();
    this.#list.append(
      element('li', { className: 'turn-head' }, `Turn ${++this.#turns}`, element('time', {}, time)),
    );
  }

  #row(event, group) {
    const summary = element(
      'summary',
      {},
      element('span', { className: 'seq' }, event.seq),
      element('span', { className: 'at' }, `+${event.at - this.#begun}`),
      element('span', { className: 'event' }, event.event),
      element('span', { className: 'payload' }, describe(event)),
    );
    const details = element('details', {}, summary);
    // The full event is written when somebody opens the row.
    details.addEventListener(
      'toggle',
      () => details.append(element('pre', {}, JSON.stringify(event, null, 2))),
      { once: true },
    );
    const row = element('li', {}, details);
    row.dataset.group = group;
    row.dataset.event = event.event;
    if (event.event === 'error' || event.isError === true || isBad(event.status)) {
      row.dataset.bad = '';
    }
    return row;
  }

  #toggle(group) {
    const count = element('span', { className: 'count' }, 0);
    this.#counts.set(group, count);
    const button = element('button', { type: 'button', className: 'chip' }, group, ' ', count);
    button.setAttribute('aria-pressed', 'true');
    button.addEventListener('click', () => {
      const shown = button.getAttribute('aria-pressed') !== 'true';
      button.setAttribute('aria-pressed', String(shown));
      this.#list.classList.toggle(`without-${group}`, !shown);
      this.#end.follow();
    });
    return button;
  }

  #filter(query) {
    this.#query = query.trim().toLowerCase();
    for (const row of this.#list.children) row.hidden = !this.#matches(row);
    this.#end.follow();
  }

  #matches(row) {
    if (this.#query === '' || row.className === 'turn-head') return true;
    return row.querySelector('summary').textContent.toLowerCase().includes(this.#query);
  }
}

function isBad(status) {
  return status === 'nack' || status === 'failed' || status === 'aborted';
}

/** An event's payload in a few words. */
function describe(event) {
  switch (event.event) {
    case 'turnStart':
      return event.turnId;
    case 'dispatchStart':
      return event.dispatchId.slice(event.dispatchId.lastIndexOf('.') + 1);
    case 'iterationStart':
      return `iteration ${event.iteration}`;
    case 'iterationEnd':
    case 'turnEnd':
      return `${event.status}, ${event.durationMs} ms`;
    case 'dispatchEnd':
      return `${event.status} after ${event.iterations}, ${event.durationMs} ms`;
    case 'message':
    case 'thought':
      if (!event.isComplete) return JSON.stringify(event.aDelta);
      return `${event.isInterrupted ? 'broken off' : 'complete'}, ${event.length} bytes`;
    case 'toolCall':
      return `${event.tool} ${event.isComplete ? short(event.results) : short(event.args)}`;
    case 'toolExecutionStart':
      return `${event.toolName} ${short(event.args)}`;
    case 'toolExecutionEnd':
      return `${event.toolName} ${event.isError ? 'failed' : 'returned'}, ${event.durationMs} ms`;
    case 'turnGateOpen':
      return event.reason;
    case 'turnGateClosed':
      return event.result;
    case 'generationStats':
      return `${event.promptTokens ?? '?'} + ${event.completionTokens ?? '?'} tokens, ${event.finishReason ?? ''}`;
    case 'error':
      return `${event.error?.code ?? event.error?.name ?? 'Error'}: ${event.error?.message ?? ''}`;
    case 'log':
    case 'warning':
      return `${event.kind}: ${event.message}`;
    default:
      return '';
  }
}

function short(value) {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
