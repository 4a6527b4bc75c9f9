// The sessions that this browser keeps, and what a visitor does with them.
import { storedId, sessionKeyOf } from '/turncore/sessions.min.js';

import { element } from '../elements.js';
import { exchange } from '../kept.js';
import { OWNER } from './guide.js';

/** How many are listed: those updated last. */
const MOST = 50;
/** Characters of a session's first message that become its title. */
const TITLE = 60;

/** The list of sessions. One of them is open, or none for one that has not begun. */
export class SessionList {
  #parts;
  #guide;
  #open;
  #current;
  /** The list that is being made: a later one replaces it. */
  #listing = 0;
  /** Tells the other tabs of this page. */
  #others = new BroadcastChannel('turncore-demo-sessions');

  /**
   * @param parts elements: `list`, `empty`, `failure`
   * @param open called with the id of the session to show, undefined for another one
   */
  constructor(parts, { guide, open }) {
    this.#parts = parts;
    this.#guide = guide;
    this.#open = open;
    this.#others.addEventListener('message', () => this.show(this.#current));
  }

  /** Shows the list with a session marked, undefined for none. */
  async show(current) {
    this.#current = current;
    const listing = ++this.#listing;
    const { sessions, store } = this.#guide;
    const known = (await sessions.listSessions(OWNER)).slice(0, MOST);
    const titles = await Promise.all(known.map((each) => store.find(storedId(each))));
    if (listing !== this.#listing) return;
    const { list, empty } = this.#parts;
    list.replaceChildren(...known.map((each, i) => this.#item(each, titles[i]?.title)));
    empty.hidden = known.length > 0;
  }

  /** Shows the list here and in other tabs: a session has changed. @param current the one that is open */
  async changed(current) {
    await this.show(current);
    this.#others.postMessage('changed');
  }

  /** Gives a session the title that its first message makes. */
  async name(sessionId, message) {
    const line = message.trim().replace(/\s+/g, ' ');
    const title = line.length <= TITLE ? line : `${line.slice(0, TITLE).replace(/\s\S*$/, '')}…`;
    await this.#guide.store.setTitle(storedId({ ...OWNER, sessionId }), title);
  }

  /** Makes a session that begins as another one, up to an event, and opens it. */
  async fork(sessionId, event) {
    await this.try('The session cannot be forked', async () => {
      const { sessions, store } = this.#guide;
      const from = { ...OWNER, sessionId };
      const fork = await sessions.forkSession(from, event && { upTo: event.id });
      const title = (await store.find(storedId(from)))?.title ?? '';
      await store.setTitle(storedId({ ...OWNER, sessionId: fork.id }), `Fork: ${title}`);
      await this.changed(this.#current);
      this.#open(fork.id);
    });
  }

  /** Takes in a file that was exported, here or elsewhere, and opens it. */
  async import(file) {
    await this.try(`${file.name} cannot be imported`, async () => {
      const document = JSON.parse(await file.text());
      const named = sessionKeyOf(String(document?.id))?.sessionId;
      // One that is there stays: it may have gone on since.
      const taken = named !== undefined && (await this.#guide.load(named)) !== undefined;
      const sessionId = named === undefined || taken ? crypto.randomUUID() : named;
      await exchange.read(this.#guide.store, document, storedId({ ...OWNER, sessionId }));
      await this.changed(this.#current);
      this.#open(sessionId);
    });
  }

  #item({ sessionId, updatedAt }, title) {
    const current = sessionId === this.#current;
    const time = element('time', { dateTime: updatedAt.toISOString() }, when(updatedAt));
    const name = element('span', { className: 'subject' }, title || 'Untitled');
    const opener = element('button', { type: 'button', className: 'opener' }, name, time);
    if (current) opener.setAttribute('aria-current', 'true');
    opener.addEventListener('click', () => this.#open(sessionId));
    const item = element('li', {}, opener);
    item.dataset.id = sessionId;
    if (current) item.append(this.#actions(sessionId, title));
    return item;
  }

  #actions(sessionId, title) {
    const action = (label, act) => {
      const button = element('button', { type: 'button', className: 'quiet' }, label);
      button.addEventListener('click', act);
      return button;
    };
    const remove = action('Delete', () => {
      if (remove.textContent === 'Delete') remove.textContent = 'Really delete?';
      else this.#delete(sessionId);
    });
    remove.addEventListener('blur', () => (remove.textContent = 'Delete'));
    return element(
      'div',
      { className: 'actions' },
      action('Fork', () => this.fork(sessionId)),
      action('Export', () => this.#export(sessionId, title)),
      remove,
    );
  }

  async #export(sessionId, title) {
    await this.try('The session cannot be exported', async () => {
      const document = await exchange.write(this.#guide.store, storedId({ ...OWNER, sessionId }));
      const href = URL.createObjectURL(new Blob([document], { type: 'application/json' }));
      const name = (title || sessionId).replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '');
      element('a', { href, download: `${name}.json` }).click();
      setTimeout(() => URL.revokeObjectURL(href), 60_000);
    });
  }

  async #delete(sessionId) {
    await this.try('The session cannot be deleted', async () => {
      await this.#guide.sessions.deleteSession({ ...OWNER, sessionId });
      await this.changed(undefined);
      this.#open(undefined);
    });
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
}

/** A time of today as a time, any other as a date. */
function when(date) {
  const today = new Date().toDateString() === date.toDateString();
  return today
    ? date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })
    : date.toLocaleDateString(undefined, { dateStyle: 'medium' });
}
