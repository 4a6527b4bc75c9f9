/**
 * Pages and their workers: what runs turns loads beside the module, which is much larger, when the first turn starts.
 */
import { messageOf, TurncoreError } from '../errors.js';
import { loadRemedies } from '../remedies/late.js';
import type * as engineModule from './engine.js';

/** What runs turns. */
export type Engine = typeof engineModule;

const REMEDY =
  'Serve all files of the bundle beside each other, also those that it imports late, and let the page try again.';

let loaded: Engine | undefined;

/** What runs turns; undefined until it is loaded. */
export function engine(): Engine | undefined {
  return loaded;
}

/**
 * Loads what runs turns.
 *
 * @throws TurncoreError (rejects) E_INVALID_MODULE if it cannot be loaded. The next call tries again
 */
export async function loadEngine(): Promise<Engine> {
  try {
    const remedies = loadRemedies(); // the turn's errors have theirs at once
    const everything = await import('./engine.js');
    await remedies;
    return (loaded = everything);
  } catch (cause) {
    const message = `A part of this package cannot be loaded: ${messageOf(cause)}`;
    throw new TurncoreError('E_INVALID_MODULE', message, { help: REMEDY, cause });
  }
}
