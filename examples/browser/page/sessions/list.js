// The sessions that this browser keeps, and what a visitor does with them.
import { storedId, sessionKeyOf } from '/turncore/sessions.min.js';

import { exchange } from '../kept.js';
import { KeptList, titleOf } from '../kept-list.js';
import { OWNER } from './guide.js';

/** How many are listed: those updated last. */
const MOST = 50;

/** The list of sessions. */
export class SessionList extends KeptList {
  #guide;

  /**
   * @param parts elements: `list`, `empty`, `failure`
   * @param open called with the id of the session to show, undefined for another one
   */
  constructor(parts, { guide, open }) {
    super(parts, open, 'session');
    this.#guide = guide;
  }

  async list() {
    const { sessions, store } = this.#guide;
    const known = (await sessions.listSessions(OWNER)).slice(0, MOST);
    return Promise.all(
      known.map(async (each) => {
        const title = (await store.find(storedId(each)))?.title;
        return { id: each.sessionId, title, updatedAt: each.updatedAt };
      }),
    );
  }

  /** Gives a session the title that its first message makes. */
  async name(sessionId, message) {
    await this.#guide.store.setTitle(storedId({ ...OWNER, sessionId }), titleOf(message));
  }

  /** Makes a session that begins as another one, up to an event, and opens it. */
  async fork(sessionId, event) {
    await this.try('The session cannot be forked', async () => {
      const { sessions, store } = this.#guide;
      const from = { ...OWNER, sessionId };
      const fork = await sessions.forkSession(from, event && { upTo: event.id });
      const title = (await store.find(storedId(from)))?.title ?? '';
      await store.setTitle(storedId({ ...OWNER, sessionId: fork.id }), `Fork: ${title}`);
      await this.enter(fork.id);
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
      await this.enter(sessionId);
    });
  }

  write(sessionId) {
    return exchange.write(this.#guide.store, storedId({ ...OWNER, sessionId }));
  }

  delete(sessionId) {
    return this.#guide.sessions.deleteSession({ ...OWNER, sessionId });
  }

  actions({ id }) {
    return [['Fork', () => this.fork(id)]];
  }
}
