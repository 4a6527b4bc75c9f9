/**
 * Functions that never return unless they are told to stop.
 */
import type { Frame } from './frame.js';

/** Milliseconds that a function has hung before something is done about it. */
const HANGS = 5;

/**
 * Waits until what the function belongs to is aborted, which happens to the run a moment later, unless the argument
 * says that something else sees to it.
 */
export function hang(f: Frame, arg: unknown): Promise<void> {
  const controller = f.stage.values.get('abort') as AbortController;
  const signal = f.ctx?.abortSignal ?? controller.signal;
  if (arg === undefined) abortSoon(f.stage.values);
  return aborted(signal);
}

/** Resolves when a signal fires. */
export function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve();
    else signal?.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Has the run aborted a moment later. */
export function abortSoon(values: ReadonlyMap<string, unknown>): void {
  const controller = values.get('abort') as AbortController;
  setTimeout(() => controller.abort(), HANGS);
}

/** Goes on a moment later. */
export function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, HANGS));
}
