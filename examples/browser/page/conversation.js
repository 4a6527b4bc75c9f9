// Shows turns as they happen: what was said, thoughts, tool calls, errors.
import { element, EndKeeper } from './elements.js';
import { Answer, errorBlock, ThoughtBlock, ToolCard } from './parts.js';

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

function count(n, noun) {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}
