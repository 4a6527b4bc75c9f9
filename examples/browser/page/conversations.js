// The conversations that this browser keeps, and what a visitor does with them.
import { element } from './elements.js';

/** How many conversations the list shows at a time. */
const PAGE = 30;
/** Characters of a conversation's first message that become its title. */
const TITLE = 60;

/** The list of conversations. One of them is open, or none for one that has not begun. */
export class Conversations {
  #parts;
  #store;
  #exchange;
  #open;
  #current;
  /** How many are shown. */
  #shown = PAGE;
  /** The list that is being made: a later one replaces it. */
  #listing = 0;
  /** Tells the other tabs of this page. */
  #others = new BroadcastChannel('turncore-demo-conversations');

  /**
   * @param parts elements: `list`, `empty`, `more`, `failure`
   * @param store keeps the conversations
   * @param exchange `write(store, id)` gives a conversation's document, `read(store, document, id)` takes one in
   * @param open called with the id of the conversation to show, undefined for another one
   */
  constructor(parts, { store, exchange, open }) {
    this.#parts = parts;
    this.#store = store;
    this.#exchange = exchange;
    this.#open = open;
    parts.more.addEventListener('click', () => {
      this.#shown += PAGE;
      this.show(this.#current);
    });
    this.#others.addEventListener('message', () => this.show(this.#current));
  }

  /** Shows the list with a conversation marked, undefined for none. */
  async show(current) {
    this.#current = current;
    const listing = ++this.#listing;
    const { sessions, next } = await this.#store.list({ limit: this.#shown });
    if (listing !== this.#listing) return;
    const { list, empty, more } = this.#parts;
    list.replaceChildren(...sessions.map((session) => this.#item(session)));
    empty.hidden = sessions.length > 0;
    more.hidden = next === '';
  }

  /** Whether a conversation is kept. */
  async has(id) {
    return (await this.#store.newest(id)) !== undefined;
  }

  /** Gives a conversation the title that its first message makes. */
  async name(id, message) {
    await this.#store.setTitle(id, titleOf(message));
  }

  /** Shows the list here and in other tabs: a conversation has changed. @param current the one that is open */
  async changed(current) {
    await this.show(current);
    this.#others.postMessage('changed');
  }

  /** Takes in a file that was exported, here or elsewhere, and opens it. */
  async import(file) {
    await this.#try(`${file.name} cannot be imported`, async () => {
      const document = JSON.parse(await file.text());
      // One that is there stays: it may have gone on since.
      const taken = typeof document?.id === 'string' && (await this.has(document.id));
      const id = await this.#exchange.read(
        this.#store,
        document,
        taken ? crypto.randomUUID() : undefined,
      );
      await this.changed(this.#current);
      this.#open(id);
    });
  }

  #item(session) {
    const { id, title, updatedAt } = session;
    const current = id === this.#current;
    const time = element('time', { dateTime: updatedAt.toISOString() }, when(updatedAt));
    const name = element('span', { className: 'subject' }, title || 'Untitled');
    const opener = element('button', { type: 'button', className: 'opener' }, name, time);
    if (current) opener.setAttribute('aria-current', 'true');
    opener.addEventListener('click', () => this.#open(id));
    const item = element('li', {}, opener);
    item.dataset.id = id;
    if (current) item.append(this.#actions(item, session));
    return item;
  }

  #actions(item, { id, title }) {
    const action = (label, act, className = 'quiet') => {
      const button = element('button', { type: 'button', className }, label);
      button.addEventListener('click', act);
      return button;
    };
    const remove = action('Delete', () => {
      if (remove.textContent === 'Delete') remove.textContent = 'Really delete?';
      else this.#delete(id);
    });
    remove.addEventListener('blur', () => (remove.textContent = 'Delete'));
    return element(
      'div',
      { className: 'actions' },
      action('Rename', () => this.#rename(item, id, title)),
      action('Export', () => this.#export(id, title)),
      remove,
    );
  }

  #rename(item, id, title) {
    const input = element('input', { value: title ?? '', 'aria-label': 'Title', maxLength: 200 });
    const form = element('form', {}, input);
    let over = false;
    const end = async (keep) => {
      if (over) return;
      over = true;
      const text = input.value.trim();
      if (keep && text !== '') {
        await this.#try('The title cannot be changed', () => this.#store.setTitle(id, text));
      }
      await this.changed(this.#current);
    };
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      end(true);
    });
    input.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      end(false);
    });
    input.addEventListener('blur', () => end(true));
    item.firstElementChild.replaceWith(form);
    input.select();
  }

  async #export(id, title) {
    await this.#try('The conversation cannot be exported', async () => {
      const document = await this.#exchange.write(this.#store, id);
      const file = new Blob([document], { type: 'application/json' });
      const href = URL.createObjectURL(file);
      const name = `${(title || id).replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '')}.json`;
      element('a', { href, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(href), 60_000);
    });
  }

  async #delete(id) {
    await this.#try('The conversation cannot be deleted', async () => {
      await this.#store.delete(id);
      await this.changed(undefined);
      this.#open(undefined);
    });
  }

  /** Does something, and says why if it fails. */
  async #try(failure, act) {
    const alert = this.#parts.failure;
    alert.hidden = true;
    try {
      await act();
    } catch (error) {
      alert.textContent = `${failure}: ${error.message}`;
      alert.hidden = false;
    }
  }
}

/** The beginning of a message, at a word's end. */
function titleOf(message) {
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
