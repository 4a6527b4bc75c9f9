// Where the visitor chooses a model and sees it load.
import { checkDevice } from '/turncore/models.min.js';

import { byId, element } from './elements.js';

/** The bar under the head of the page. */
export class ModelBar {
  #models;
  #changed;
  /** Stands for what the visitor wants last: whatever else is under way no longer counts. */
  #wish;
  /** The engine of the current choice, if it has one. */
  #engine;
  #choice = byId('choice');
  #note = byId('model-note');
  #loading = byId('loading');
  #progress = byId('progress');
  #detail = byId('progress-detail');
  #load = byId('load');
  /** What that button does. */
  #onLoad;
  #error = byId('model-error');

  /**
   * @param models what there is to choose from
   * @param changed called with a state, and with a model and its engine when the state is "ready"; otherwise it is
   * "loading", "no model" or "failed"
   */
  constructor(models, changed) {
    this.#models = models;
    this.#changed = changed;
    for (const [where, group] of Object.entries(Object.groupBy(models, (each) => each.where))) {
      const options = group.map(({ id, label }) => element('option', { value: id }, label));
      this.#choice.append(element('optgroup', { label: where }, ...options));
    }
    this.#choice.disabled = false;
    this.#choice.addEventListener('change', () => this.choose(this.#choice.value));
    this.#load.addEventListener('click', () => this.#onLoad());
    byId('cancel').addEventListener('click', () => this.#cancel());
  }

  /** Takes a model, or the first one if there is none of that id. */
  async choose(id) {
    const model = this.#models.find((each) => each.id === id) ?? this.#models[0];
    this.#choice.value = model.id;
    this.#note.textContent = model.note;
    const url = new URL(location.href);
    url.searchParams.set('model', model.id);
    window.history.replaceState(null, '', url);

    const wish = await this.#leave('loading');
    if (model.engine === undefined) {
      if (wish === this.#wish) await this.#changed('ready', model);
      return;
    }
    await this.#attempt(wish, async () => {
      const stored = (await model.stored?.()) ?? true;
      await checkDevice({ ...model.needs, storage: stored ? undefined : model.bytes });
      if (wish !== this.#wish) return;
      if (stored) await this.#begin();
      else await this.#offer('no model', downloadLabel(model), () => this.#begin());
    });
  }

  get #model() {
    return this.#models.find(({ id }) => id === this.#choice.value);
  }

  /** Makes the chosen engine and loads it. */
  async #begin() {
    const model = this.#model;
    // So that the browser does not throw the model away when space runs short. It may ask, or not answer at all.
    if (model.stored !== undefined) void navigator.storage?.persist?.();
    const wish = await this.#leave('loading');
    await this.#attempt(wish, async () => {
      const engine = await model.engine((progress) => {
        if (wish === this.#wish) this.#show(progress, model);
      });
      if (wish !== this.#wish) return;
      this.#engine = engine;
      await engine.load();
      if (wish !== this.#wish) return;
      this.#loading.hidden = true;
      await this.#changed('ready', model, engine);
    });
  }

  /** Does something for a wish. Its failure is shown, unless the wish is an old one. */
  async #attempt(wish, act) {
    try {
      await act();
    } catch (error) {
      if (wish !== this.#wish) return;
      await this.#offer('failed', 'Try again', () => this.choose(this.#choice.value));
      const { code, message } = error;
      this.#error.textContent =
        code === 'E_MODEL_UNSUPPORTED'
          ? `${message}. Choose another model.`
          : `Loading failed: ${message}`;
      this.#error.hidden = false;
    }
  }

  /** Ends a download. What was chosen stays chosen. */
  #cancel() {
    return this.#offer('no model', 'Load', () => this.choose(this.#choice.value));
  }

  /** Leaves the engine behind. @returns what stands for the visitor's wish from now on */
  async #leave(state) {
    const wish = (this.#wish = {});
    this.#engine?.dispose().catch(() => undefined);
    this.#engine = undefined;
    this.#loading.hidden = true;
    this.#load.hidden = true;
    this.#error.hidden = true;
    await this.#changed(state);
    return wish;
  }

  /** Waits for the visitor, who has a button. */
  async #offer(state, label, act) {
    await this.#leave(state);
    this.#onLoad = act;
    this.#load.textContent = label;
    this.#load.hidden = false;
  }

  #show({ phase, progress, detail }, { bytes }) {
    if (phase !== 'loading' && phase !== 'compiling') return;
    this.#loading.hidden = false;
    if (phase === 'compiling' || progress === undefined) {
      this.#progress.removeAttribute('value');
      this.#detail.textContent = phase === 'compiling' ? 'preparing it' : (detail ?? 'loading it');
      return;
    }
    this.#progress.value = progress;
    const whole = bytes === undefined ? '' : ` of ${megabytes(bytes)}`;
    this.#detail.textContent = `${Math.floor(progress * 100)} %${whole}`;
  }
}

function downloadLabel({ bytes }) {
  return bytes === undefined ? 'Download it' : `Download ${megabytes(bytes)}`;
}

function megabytes(bytes) {
  return `${Math.round(bytes / 1e6)} MB`;
}
