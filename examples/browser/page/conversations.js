// The conversations that this browser keeps, and what a visitor does with them.
import { element } from './elements.js';
import { KeptList, titleOf } from './kept-list.js';

/** How many conversations the list shows at a time. */
const PAGE = 30;

/** The list of conversations. */
export class Conversations extends KeptList {
  #more;
  #store;
  #exchange;
  /** How many are shown. */
  #shown = PAGE;

  /**
   * @param parts elements: `list`, `empty`, `more`, `failure`
   * @param store keeps the conversations
   * @param exchange `write(store, id)` gives a conversation's document, `read(store, document, id)` takes one in
   * @param open called with the id of the conversation to show, undefined for another one
   */
  constructor(parts, { store, exchange, open }) {
    super(parts, open, 'conversation');
    this.#more = parts.more;
    this.#store = store;
    this.#exchange = exchange;
    this.#more.addEventListener('click', () => {
      this.#shown += PAGE;
      this.show(this.current);
    });
  }

  async list() {
    const { sessions, next } = await this.#store.list({ limit: this.#shown });
    this.#more.hidden = next === '';
    return sessions;
  }

  /** Whether a conversation is kept. */
  async has(id) {
    return (await this.#store.newest(id)) !== undefined;
  }

  /** Gives a conversation the title that its first message makes. */
  async name(id, message) {
    await this.#store.setTitle(id, titleOf(message));
  }

  /** Takes in a file that was exported, here or elsewhere, and opens it. */
  async import(file) {
    await this.try(`${file.name} cannot be imported`, async () => {
      const document = JSON.parse(await file.text());
      // One that is there stays: it may have gone on since.
      const taken = typeof document?.id === 'string' && (await this.has(document.id));
      const other = taken ? crypto.randomUUID() : undefined;
      await this.enter(await this.#exchange.read(this.#store, document, other));
    });
  }

  write(id) {
    return this.#exchange.write(this.#store, id);
  }

  delete(id) {
    return this.#store.delete(id);
  }

  actions({ id, title }, item) {
    return [['Rename', () => this.#rename(item, id, title)]];
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
        await this.try('The title cannot be changed', () => this.#store.setTitle(id, text));
      }
      await this.changed(this.current);
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
}
