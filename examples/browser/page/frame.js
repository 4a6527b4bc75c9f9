// What both pages have around a conversation: the box for a message, the panels at both sides, the state.
import { byId, element } from './elements.js';

const [composer, text, send, stop] = ['composer', 'text', 'send', 'stop'].map(byId);
const [past, toggle] = ['conversations', 'toggle'].map(byId);
/** There is room for the conversation and the panel at its right. */
const wide = matchMedia('(min-width: 60rem)');
/** There is room for the list at its left too. */
const wider = matchMedia('(min-width: 75rem)');

/** The frame of a page. */
export class Frame {
  #panel;
  #on;

  /**
   * @param panel the element at the right
   * @param on what the visitor does: `say` gets words and what a suggestion has besides, `abort` tells whether there was
   *   something to abort, `reset` begins anew, `import` gets a file, `navigate` follows the page's address, `panel` is told
   *   that the panel is there
   */
  constructor(panel, on) {
    this.#panel = panel;
    this.#on = on;
    composer.addEventListener('submit', (event) => {
      event.preventDefault();
      on.say(text.value);
    });
    text.addEventListener('input', fitText);
    text.addEventListener('keydown', (event) => {
      // While an input method composes a word, Enter belongs to it.
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      on.say(text.value);
    });
    stop.addEventListener('click', () => on.abort());
    document.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || on.abort()) return;
      if (!wider.matches && !past.hidden) this.#showPast(false);
      else if (!wide.matches) this.#showPanel(false);
    });
    byId('past').addEventListener('click', () => this.#showPast(past.hidden));
    byId('close-conversations').addEventListener('click', () => {
      this.#showPast(false);
      byId('past').focus();
    });
    toggle.addEventListener('click', () => this.#showPanel(panel.hidden));
    byId('close').addEventListener('click', () => {
      this.#showPanel(false);
      toggle.focus();
    });
    wide.addEventListener('change', () => this.#showPanel(wide.matches));
    wider.addEventListener('change', () => this.#showPast(wider.matches));
    byId('reset').addEventListener('click', () => on.reset());
    byId('import').addEventListener('click', () => byId('file').click());
    byId('file').addEventListener('change', async ({ target }) => {
      const [file] = target.files;
      target.value = '';
      if (file !== undefined) await on.import(file);
    });
    addEventListener('hashchange', () => on.navigate());
    this.#showPanel(wide.matches);
    this.#showPast(wider.matches);
  }

  /** Goes to what the page's address is to name, undefined for something else. */
  async go(id) {
    if (!wider.matches) this.#showPast(false);
    const hash = id === undefined ? '' : `#${encodeURIComponent(id)}`;
    history.pushState(null, '', location.pathname + location.search + hash);
    await this.#on.navigate();
    this.focus();
  }

  /** The words in the box were said. */
  emptyText() {
    text.value = '';
    fitText();
  }

  /** The visitor may write, without a keyboard that covers the page. */
  focus() {
    if (wide.matches) text.focus();
  }

  showState(state) {
    const chip = byId('state');
    chip.textContent = state;
    chip.dataset.state = state;
    byId('note').textContent = state === 'running' ? 'Esc stops' : '';
  }

  /** @param busy an answer is being given @param able something can be said if none is */
  showBusy(busy, able) {
    stop.hidden = !busy;
    send.hidden = busy;
    this.allow(!busy && able);
  }

  /** Whether something can be said. */
  allow(able) {
    send.disabled = !able;
    for (const button of byId('suggestions').children) button.disabled = !able;
  }

  /** What to say. */
  suggest(suggestions) {
    const buttons = suggestions.map((suggestion) => {
      const { text: words, label = words } = suggestion;
      const properties = { type: 'button', className: 'chip', disabled: send.disabled };
      const button = element('button', properties, label);
      button.addEventListener('click', () => this.#on.say(words, suggestion));
      return button;
    });
    byId('suggestions').replaceChildren(...buttons);
  }

  #showPast(shown) {
    past.hidden = !shown;
    byId('past').setAttribute('aria-expanded', String(shown));
  }

  #showPanel(shown) {
    this.#panel.hidden = !shown;
    toggle.setAttribute('aria-expanded', String(shown));
    if (shown) this.#on.panel?.();
  }
}

/** Makes the box as high as its text, up to where the style stops it. */
function fitText() {
  text.style.height = 'auto';
  text.style.height = `${text.scrollHeight + 2}px`;
}
