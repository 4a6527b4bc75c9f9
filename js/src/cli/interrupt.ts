/**
 * Ctrl-C, and what else ends the process from outside, such as a closed terminal.
 */

/** Aborts at the first interrupt of the process. A second one ends the process as usual. */
export class Interrupt {
  /** Aborts the turn. */
  readonly controller = new AbortController();
  readonly #interrupted = (): void => {
    this.close();
    this.controller.abort(new DOMException('interrupted', 'AbortError'));
  };

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#interrupted);
  }

  /** Stops listening: interrupts end the process again. */
  close(): void {
    for (const signal of SIGNALS) process.off(signal, this.#interrupted);
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
