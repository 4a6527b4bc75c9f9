/**
 * Kinds of effect that some turns have and others never: what runs them can load late.
 */
import { ChatExecutor } from '../chat/chat-executor.js';
import type { Definition } from './definition.js';
import type { Late, Runs } from './runs.js';

let late: Runs<Late> | undefined;

/** How to run effects of late kinds; undefined until that is loaded. */
export function lateEffects(): Runs<Late> | undefined {
  return late;
}

/** Takes what effects of late kinds run. */
export function useLateEffects(runs: Runs<Late>): void {
  late = runs;
}

/** Loads what effects of late kinds run. */
export async function loadLateEffects(): Promise<void> {
  useLateEffects((await import('./late-effects.js')).lateEffects);
}

/** Whether everything is loaded that the turns of a definition are known to need. */
export function hasEffectsOf({ executor, tools }: Definition): boolean {
  return late !== undefined || (tools.length === 0 && !(executor instanceof ChatExecutor));
}
