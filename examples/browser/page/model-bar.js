// Where the visitor chooses a model and sees it load.
import { byId, element } from './elements.js';

/** The bar under the head of the page. */
export class ModelBar {
  #models;
  #changed;
  /** The engine of the current choice, if it has one. */
  #engine;
  #choice = byId('choice');
  #note = byId('model-note');
  #loading = byId('loading');
  #progress = byId('progress');
  #detail = byId('progress-detail');
  #load = byId('load');
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
    this.#load.addEventListener('click', () => this.#begin());
    byId('cancel').addEventListener('click', () => this.#cancel());
  }

  /** Takes a model, or the first one if there is none of that id. */
  async choose(id) {
    const model = this.#models.find((each) => each.id === id) ?? this.#models[0];
    this.#drop();
    this.#choice.value = model.id;
    this.#note.textContent = model.note;
    const url = new URL(location.href);
    url.searchParams.set('model', model.id);
    window.history.replaceState(null, '', url);
    if (model.engine === undefined) {
      await this.#changed('loading');
      if (model === this.#model) await this.#changed('ready', model);
      return;
    }
    await this.#begin();
  }

  get #model() {
    return this.#models.find(({ id }) => id === this.#choice.value);
  }

  /** Makes the chosen engine and loads it. */
  async #begin() {
    const model = this.#model;
    this.#drop();
    const engine = model.engine((progress) => {
      if (engine === this.#engine) this.#show(progress);
    });
    this.#engine = engine;
    await this.#changed('loading');
    if (engine !== this.#engine) return;
    try {
      await engine.load();
    } catch (error) {
      if (engine === this.#engine) this.#fail(error);
      return;
    }
    if (engine !== this.#engine) return;
    this.#loading.hidden = true;
    await this.#changed('ready', model, engine);
  }

  #fail(error) {
    const { code, message, help = '' } = error;
    this.#loading.hidden = true;
    this.#error.textContent =
      code === 'E_MODEL_UNSUPPORTED' ? `${message}. ${help}` : `Loading failed: ${message}`;
    this.#error.hidden = false;
    this.#offer('Try again');
    this.#changed('failed');
  }

  #offer(label) {
    this.#load.textContent = label;
    this.#load.hidden = false;
  }

  /** Ends a download. What was chosen stays chosen. */
  #cancel() {
    this.#drop();
    this.#offer('Load');
    this.#changed('no model');
  }

  /** Leaves the engine behind. */
  #drop() {
    this.#engine?.dispose().catch(() => undefined);
    this.#engine = undefined;
    this.#loading.hidden = true;
    this.#load.hidden = true;
    this.#error.hidden = true;
  }

  #show({ phase, progress, detail }) {
    if (phase !== 'loading' && phase !== 'compiling') return;
    this.#loading.hidden = false;
    if (progress === undefined || phase === 'compiling') this.#progress.removeAttribute('value');
    else this.#progress.value = progress;
    this.#detail.textContent = detail ?? (phase === 'compiling' ? 'preparing it' : 'loading it');
  }
}
