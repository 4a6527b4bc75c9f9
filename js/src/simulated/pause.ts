/**
 * Pauses between the parts of an answer.
 */

/** Settings of the simulated provider. */
export interface SimulatedProviderOptions {
  /** Milliseconds between two parts of a streamed answer. Default 0. */
  readonly pauseMs?: number | undefined;
}

/** Resolves after a time, or when a signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
