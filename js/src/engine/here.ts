/**
 * Platforms whose programs do not wait for a download: the engine, and the effects of every kind, are part of the
 * program.
 */
import * as everything from './engine.js';
import { useLateEffects } from '../turn/late.js';
import { lateEffects } from '../turn/late-effects.js';

useLateEffects(lateEffects);

/** What runs turns. */
export function engine(): typeof everything {
  return everything;
}

/** The same. */
export function loadEngine(): Promise<typeof everything> {
  return Promise.resolve(everything);
}
