// What a session keeps: its state and its events.
import { element, EndKeeper } from '../elements.js';

/** The panel beside the conversation. */
export class Inside {
  #parts;
  #act;
  #end;
  /** Values as they were shown last, as JSON by name. */
  #values = new Map();

  /**
   * @param parts elements: `values`, `noValues`, `events`, `noEvents`, `total`
   * @param act what the visitor can do at an event: `fork(event)`, `rewind(event)`
   */
  constructor(parts, act) {
    this.#parts = parts;
    this.#act = act;
    this.#end = new EndKeeper(parts.events);
  }

  clear() {
    this.#values.clear();
    this.show({ state: {}, events: [] });
  }

  /** Shows a session. What changed in the state since the last time is marked. */
  show({ state, events }) {
    this.#showState(state);
    const { events: list, noEvents, total } = this.#parts;
    // Events do not change: those that are there stay.
    const known = list.children;
    let same = 0;
    while (same < known.length && known[same].dataset.id === events[same]?.id) same++;
    while (known.length > same) known[same].remove();
    for (const [i, event] of events.entries()) if (i >= same) list.append(this.#row(event, i));
    noEvents.hidden = events.length > 0;
    total.textContent = events.length;
    this.#end.follow();
  }

  #showState(state) {
    const { values, noValues } = this.#parts;
    const before = this.#values;
    this.#values = new Map(
      Object.entries(state)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, value]) => [name, JSON.stringify(value, null, 1)]),
    );
    const rows = [...this.#values].flatMap(([name, value]) => [
      element('dt', {}, name),
      element(
        'dd',
        { className: before.get(name) === value ? '' : 'changed' },
        value.length > 60 ? value : value.replace(/\n\s*/g, ' '),
      ),
    ]);
    values.replaceChildren(...rows);
    noValues.hidden = rows.length > 0;
  }

  #row(event, i) {
    const summary = element(
      'summary',
      {},
      element('span', { className: 'seq' }, i + 1),
      element('span', { className: 'event' }, event.author),
      element('span', { className: 'payload' }, summaryOf(event)),
    );
    const action = (label, act) => {
      const button = element('button', { type: 'button', className: 'quiet' }, label);
      button.addEventListener('click', () => act(event));
      return button;
    };
    const details = element('details', {}, summary);
    // Most are never opened.
    details.addEventListener(
      'toggle',
      () =>
        details.append(
          element(
            'div',
            { className: 'actions' },
            action('Fork here', this.#act.fork),
            action('Rewind to before', this.#act.rewind),
          ),
          element('pre', {}, JSON.stringify({ ...event }, hexed, 2)),
        ),
      { once: true },
    );
    const row = element('li', {}, details);
    row.dataset.id = event.id;
    row.dataset.group = groupOf(event);
    return row;
  }
}

/** An event in a line. */
function summaryOf({ content, actions, errorCode }) {
  const parts = (content?.parts ?? []).filter(({ thought }) => !thought);
  const said = parts.map(({ text, functionCall, functionResponse }) => {
    if (functionCall) return `→ ${functionCall.name} ${JSON.stringify(functionCall.args ?? {})}`;
    if (functionResponse) {
      return `← ${functionResponse.name} ${JSON.stringify(functionResponse.response ?? {})}`;
    }
    return text ?? 'media';
  });
  const { stateDelta = {}, rewindBeforeInvocationId: before } = actions ?? {};
  if (Object.keys(stateDelta).length > 0) said.push(`state ${JSON.stringify(stateDelta)}`);
  if (before !== undefined) said.push('back to before an invocation');
  if (errorCode !== undefined) said.push(errorCode);
  return said.join(' ').slice(0, 300);
}

function groupOf({ author, content }) {
  const tools = content?.parts?.some((part) => part.functionCall ?? part.functionResponse);
  return tools ? 'tools' : author === 'user' ? 'turn' : 'text';
}

/** Bytes for people. */
function hexed(_name, value) {
  return value instanceof Uint8Array ? `${value.length} bytes` : value;
}
