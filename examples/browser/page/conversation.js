// Shows turns as they happen: what was said, thoughts, tool calls, errors.
import { element, EndKeeper } from './elements.js';

/** The conversation, a list of turns. */
export class Conversation {
  #log;
  #welcome;
  /** What stands before the first turn. */
  #head;
  #end;

  /** @param log the box that scrolls; what it holds is the welcome */
  constructor(log) {
    this.#log = log;
    this.#welcome = [...log.childNodes];
    this.#head = this.#welcome;
    this.#end = new EndKeeper(log);
  }

  /**
   * Shows what the visitor says.
   *
   * @param answer called with a gate's id, the visitor's answer and the digest of what was shown
   * @returns a view of the turn that answers it
   */
  begin(message, answer) {
    const turn = new TurnView(message, () => this.#end.follow(), answer);
    this.#log.append(turn.box);
    this.#end.jump();
    return turn;
  }

  /**
   * Shows what a store has of a conversation.
   *
   * @param records messages, thoughts and tool calls, each kind in order
   */
  async restore({ messages, thoughts, toolCalls }) {
    const records = [
      ...messages.map((record) => ({ event: 'message', record })),
      ...thoughts.map((record) => ({ event: 'thought', record })),
      ...toolCalls.map((record) => ({ event: 'toolCall', record })),
    ].sort((a, b) => a.record.createdAt - b.record.createdAt);
    let turn;
    for (const { event, record } of records) {
      const text = await textOf(event, record);
      if (turn === undefined || record.role === 'user') {
        turn?.past();
        turn = this.begin(record.role === 'user' ? text : undefined, () => undefined);
        if (record.role === 'user') continue;
      }
      turn.show({ event, id: record.id, isComplete: true, ...shown(event, record, text) });
    }
    turn?.past();
  }

  /** Shows a failure that belongs to no turn. */
  fail(error) {
    this.#log.append(errorBlock(error));
    this.#end.jump();
  }

  /** Shows who answers, in place of the welcome; undefined for the page's own agent. */
  introduce(sheet) {
    this.#head = sheet === undefined ? this.#welcome : [sheet];
    this.clear();
  }

  clear() {
    this.#log.replaceChildren(...this.#head);
  }
}

/** One turn. */
class TurnView {
  box;
  #changed;
  /** What is shown, by kind and id: the parts of text streams and tool calls. */
  #parts = new Map();
  #answer;

  constructor(message, changed, answer) {
    this.#changed = changed;
    this.#answer = answer;
    this.box = element('article', { className: 'turn' });
    if (message !== undefined) {
      this.box.append(element('div', { className: 'said by-user' }, message));
    }
    this.box.setAttribute('aria-busy', 'true');
  }

  /** Shows an event, if it is one for this view. */
  show(event) {
    switch (event.event) {
      case 'message':
        this.#part(event, () => new Answer()).show(event);
        break;
      case 'thought':
        this.#part(event, () => new ThoughtBlock()).show(event);
        break;
      case 'toolCall':
        this.#part(event, () => new ToolCard()).show(event);
        break;
      case 'toolExecutionStart':
      case 'toolExecutionEnd':
        this.#running(event)?.execute(event);
        break;
      case 'turnGateOpen':
        this.#asking(event)?.ask(event, this.#answer);
        break;
      case 'turnGateClosed':
        for (const part of this.#parts.values()) part.answered?.(event);
        break;
      default:
        return;
    }
    this.#changed();
  }

  /** The turn has ended. */
  end({ status, interrupted, iterations, usage, error }, ms) {
    this.box.setAttribute('aria-busy', 'false');
    for (const part of this.#parts.values()) part.end();
    if (interrupted) this.#lastAnswer()?.breakOff();
    if (status === 'nack' || status === 'failed') this.box.append(errorBlock(error));
    const facts = [
      status === 'aborted' ? 'stopped' : status,
      count(iterations, 'iteration'),
      ...(usage.totalTokens > 0 ? [count(usage.totalTokens, 'token')] : []),
      ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`,
    ];
    this.box.append(element('p', { className: 'facts' }, facts.join(' · ')));
    this.#changed();
  }

  /** The turn ended some time ago. */
  past() {
    this.box.setAttribute('aria-busy', 'false');
    for (const part of this.#parts.values()) part.end();
  }

  /** The turn could not begin. */
  refuse(error) {
    this.box.setAttribute('aria-busy', 'false');
    this.box.append(errorBlock(error));
    this.#changed();
  }

  #part(event, make) {
    const key = `${event.event} ${event.dispatchId} ${event.id}`;
    let part = this.#parts.get(key);
    if (part === undefined) {
      part = make();
      this.#parts.set(key, part);
      this.box.append(part.box);
    }
    return part;
  }

  /** The card of the call that an execution belongs to: they share the checksum of tool and arguments. */
  #running({ callId }) {
    return [...this.#parts.values()].findLast(
      (part) => part instanceof ToolCard && part.checksum === callId,
    );
  }

  #lastAnswer() {
    return [...this.#parts.values()].findLast((part) => part instanceof Answer);
  }

  /** The card of the call that asks: its tool says its name in what it shows, or it is the one that runs. */
  #asking({ payload }) {
    const cards = [...this.#parts.values()].filter((part) => part instanceof ToolCard);
    return (
      cards.findLast((card) => card.name === payload?.tool) ??
      cards.findLast((card) => card.box.dataset.state === 'running')
    );
  }
}

/** What the model says. */
class Answer {
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
class ThoughtBlock {
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
class ToolCard {
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

/** What a view shows of a record. */
function shown(event, { tool, args, checksum, isError }, text) {
  if (event !== 'toolCall') return { aDelta: text };
  return { tool, args, checksum, isError, results: text };
}

/** The text of a record: what was said, thought or answered. */
async function textOf(event, record) {
  if (event !== 'toolCall') return record.content?.toString() ?? '';
  const parts = [record.results].flat();
  const texts = parts.map((part) => part.asString?.() ?? part.filename ?? part.toString());
  return (await Promise.all(texts)).join('\n');
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

function count(n, noun) {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}
