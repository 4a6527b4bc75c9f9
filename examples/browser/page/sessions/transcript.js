// Shows the events of a session as a conversation.
import { element, EndKeeper } from '../elements.js';
import { Answer, errorBlock, ThoughtBlock, ToolCard } from '../parts.js';

/** The conversation of a session. Each message of the visitor begins an article. */
export class Transcript {
  #log;
  #welcome;
  #end;
  #answer;
  #turn;
  /** Function calls and their cards, by id. */
  #cards = new Map();
  /** The text and the thought that are being streamed. */
  #streams = new Map();

  /**
   * @param log the box that scrolls; what it holds is the welcome
   * @param answer called with a function call and whether the visitor confirms it
   */
  constructor(log, answer) {
    this.#log = log;
    this.#welcome = [...log.childNodes];
    this.#end = new EndKeeper(log);
    this.#answer = answer;
  }

  clear() {
    this.#log.replaceChildren(...this.#welcome);
    this.#turn = undefined;
    this.#cards.clear();
    this.#streams.clear();
  }

  /** Shows what the visitor says. */
  say(text) {
    this.#begin(element('div', { className: 'said by-user' }, text));
    this.#end.jump();
  }

  /** Shows an event: a stored one, or a part of a stream. */
  show(event) {
    if (event.actions?.rewindBeforeInvocationId !== undefined) {
      this.#begin(
        element('p', { className: 'facts' }, 'Back to before this point: see the events.'),
      );
    }
    for (const part of event.content?.parts ?? []) this.#part(part, event);
    if (event.errorMessage ?? event.errorCode) {
      this.#box().append(errorBlock({ code: event.errorCode, message: event.errorMessage ?? '' }));
    }
    if (!event.partial && event.author !== 'user') this.#endStreams();
    this.#end.follow();
  }

  /** Asks the visitor about the calls that wait. */
  ask(pending) {
    for (const call of pending) {
      const reason = call.confirmation?.hint ?? `Run ${call.name}?`;
      this.#cards
        .get(call.id)
        ?.card.ask({ id: call.id, reason }, (_id, approved) => this.#answer(call, approved));
    }
    this.#end.follow();
  }

  /** Takes the question about a call away: it was answered. */
  answered(id) {
    this.#cards.get(id)?.card.answered({ gateId: id });
  }

  /** An answer has ended. @param error why it failed; undefined if it did not */
  ended(error) {
    this.#endStreams();
    this.#turn?.setAttribute('aria-busy', 'false');
    if (error?.name === 'AbortError') {
      this.#box().append(element('p', { className: 'facts' }, 'stopped'));
    } else if (error !== undefined) {
      this.#box().append(errorBlock(error));
    }
    this.#end.follow();
  }

  #begin(...children) {
    this.#endStreams();
    this.#turn?.setAttribute('aria-busy', 'false');
    if (this.#turn === undefined) this.#log.replaceChildren();
    this.#turn = element('article', { className: 'turn' }, ...children);
    this.#turn.setAttribute('aria-busy', 'true');
    this.#log.append(this.#turn);
  }

  #box() {
    if (this.#turn === undefined) this.#begin();
    return this.#turn;
  }

  #part(
    { text, thought, functionCall, functionResponse },
    { author, partial, longRunningToolIds },
  ) {
    if (author === 'user' && typeof text === 'string') this.say(text);
    else if (typeof text === 'string') this.#text(thought ? 'thought' : 'text', text, partial);
    else if (functionCall !== undefined) this.#call(functionCall, longRunningToolIds ?? []);
    else if (functionResponse !== undefined) this.#result(functionResponse, author);
  }

  /** Shows a text: a part of a stream, or the whole of one, of which the rest is left to show. */
  #text(kind, text, partial) {
    let stream = this.#streams.get(kind);
    if (stream === undefined) {
      if (text === '') return;
      stream = { shown: '', view: kind === 'thought' ? new ThoughtBlock() : new Answer() };
      this.#streams.set(kind, stream);
      this.#box().append(stream.view.box);
    }
    const delta = partial ? text : text.slice(stream.shown.length);
    stream.shown += delta;
    stream.view.show({ aDelta: delta, isComplete: !partial });
    if (!partial) this.#streams.delete(kind);
  }

  #endStreams() {
    for (const { view } of this.#streams.values()) view.end();
    this.#streams.clear();
  }

  #call({ id, name, args }, waiting) {
    if (this.#cards.has(id)) return;
    const card = new ToolCard();
    const shown = { tool: name, args: args ?? {}, checksum: id };
    this.#cards.set(id, { card, shown });
    card.show({ ...shown, isComplete: false });
    if (!waiting.includes(id)) card.execute({ event: 'toolExecutionStart' });
    this.#box().append(card.box);
  }

  #result({ id, response }, author) {
    if (author === 'user') {
      this.answered(id);
      // What a person has confirmed has its result later.
      if (typeof response?.confirmed === 'boolean') return;
    }
    const { error, result, ...others } = response ?? {};
    const alone = Object.keys(others).length === 0;
    const isError = error !== undefined && alone;
    const results = isError ? error : result !== undefined && alone ? result : response;
    const { card, shown } = this.#cards.get(id) ?? {};
    card?.show({ ...shown, isComplete: true, isError, results });
  }
}
