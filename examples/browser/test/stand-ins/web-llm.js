// Stands in for @mlc-ai/web-llm: no shaders, no weights.
const { standIn } = globalThis;

export const hasModelInCache = async () => standIn.stored;

export class MLCEngine {
  #report;
  #loading = new AbortController();
  #interrupted = false;
  chat = { completions: { create: async (request) => this.#stream(request) } };

  constructor({ initProgressCallback }) {
    this.#report = (progress) =>
      initProgressCallback({ progress, timeElapsed: 0, text: 'Fetching param cache' });
  }

  /** Ends without an error when it is cancelled. */
  async reload() {
    await standIn.download(this.#report, this.#loading.signal).catch(() => undefined);
  }

  async unload() {
    this.#loading.abort();
  }

  interruptGenerate() {
    this.#interrupted = true;
  }

  async *#stream({ messages }) {
    this.#interrupted = false;
    for await (const content of standIn.answer(messages)) {
      if (this.#interrupted) break;
      yield { choices: [{ index: 0, delta: { content }, finish_reason: null }] };
    }
    yield { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
    yield { choices: [], usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 } };
  }
}
