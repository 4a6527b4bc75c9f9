/**
 * Ctrl-C.
 */

/** Aborts when the process is interrupted, once: a second interrupt ends it the usual way. */
export class Interrupt {
  /** For a turn to be aborted by. */
  readonly controller = new AbortController();
  readonly #interrupted = (): void => {
    this.close();
    this.controller.abort(new DOMException('interrupted', 'AbortError'));
  };

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#interrupted);
  }

  /** Leaves interrupts to the process again. */
  close(): void {
    for (const signal of SIGNALS) process.off(signal, this.#interrupted);
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
