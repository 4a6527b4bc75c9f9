// The list of what this browser keeps: conversations, or sessions.
import { element } from './elements.js';

/** Characters of a first message that become a title. */
const TITLE = 60;

/** A list, of which one thing is open, or none for one that has not begun. Subclasses know where things are kept. */
export class KeptList {
  /** The id of what is open. */
  current;
  #parts;
  #open;
  #kind;
  /** Tells the other tabs of this page. */
  #others;
  /** The list that is being made: a later one replaces it. */
  #listing = 0;

  /**
   * @param parts elements: `list`, `empty`, `failure`
   * @param open called with the id of what to show, undefined for something else
   * @param kind what is kept, in a word
   */
  constructor(parts, open, kind) {
    this.#parts = parts;
    this.#open = open;
    this.#kind = kind;
    this.#others = new BroadcastChannel(`turncore-demo-${kind}s`);
    this.#others.addEventListener('message', () => this.show(this.current));
  }

  /** Shows the list with one marked, undefined for none. */
  async show(current) {
    this.current = current;
    const listing = ++this.#listing;
    const kept = await this.list();
    if (listing !== this.#listing) return;
    const { list, empty } = this.#parts;
    list.replaceChildren(...kept.map((each) => this.#item(each)));
    empty.hidden = kept.length > 0;
  }

  /** Shows the list here and in other tabs: something has changed. @param current the id of what is open */
  async changed(current) {
    await this.show(current);
    this.#others.postMessage('changed');
  }

  /** Goes to what has come to the list. */
  async enter(id) {
    await this.changed(this.current);
    this.#open(id);
  }

  /** Does something, and says why if it fails. */
  async try(failure, act) {
    const alert = this.#parts.failure;
    alert.hidden = true;
    try {
      await act();
    } catch (error) {
      alert.textContent = `${failure}: ${error.message}`;
      alert.hidden = false;
    }
  }

  #item(kept) {
    const { id, title, updatedAt } = kept;
    const time = element('time', { dateTime: updatedAt.toISOString() }, when(updatedAt));
    const name = element('span', { className: 'subject' }, title || 'Untitled');
    const opener = element('button', { type: 'button', className: 'opener' }, name, time);
    opener.addEventListener('click', () => this.#open(id));
    const item = element('li', {}, opener);
    item.dataset.id = id;
    if (id === this.current) {
      opener.setAttribute('aria-current', 'true');
      item.append(this.#actions(item, kept));
    }
    return item;
  }

  #actions(item, kept) {
    const { id, title } = kept;
    const action = ([label, act]) => {
      const button = element('button', { type: 'button', className: 'quiet' }, label);
      button.addEventListener('click', act);
      return button;
    };
    const remove = action([
      'Delete',
      () => {
        if (remove.textContent === 'Delete') remove.textContent = 'Really delete?';
        else this.#delete(id);
      },
    ]);
    remove.addEventListener('blur', () => (remove.textContent = 'Delete'));
    const others = [...this.actions(kept, item), ['Export', () => this.#export(id, title)]];
    return element('div', { className: 'actions' }, ...others.map(action), remove);
  }

  async #export(id, title) {
    await this.try(`The ${this.#kind} cannot be exported`, async () => {
      const file = new Blob([await this.write(id)], { type: 'application/json' });
      const href = URL.createObjectURL(file);
      const name = (title || id).replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '');
      element('a', { href, download: `${name}.json` }).click();
      setTimeout(() => URL.revokeObjectURL(href), 60_000);
    });
  }

  async #delete(id) {
    await this.try(`The ${this.#kind} cannot be deleted`, async () => {
      await this.delete(id);
      await this.changed(undefined);
      this.#open(undefined);
    });
  }
}

/** The beginning of a message, at a word's end. */
export function titleOf(message) {
  const line = message.trim().replace(/\s+/g, ' ');
  if (line.length <= TITLE) return line;
  return `${line.slice(0, TITLE).replace(/\s\S*$/, '')}…`;
}

/** A time of today as a time, any other as a date. */
function when(date) {
  const today = new Date().toDateString() === date.toDateString();
  return today
    ? date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })
    : date.toLocaleDateString(undefined, { dateStyle: 'medium' });
}
