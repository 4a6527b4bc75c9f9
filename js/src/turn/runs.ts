/**
 * How effects are run, by their kinds.
 */
import type { EffectKind } from '../abi/frames.gen.js';
import type { EffectFrame } from '../codec/tuples.gen.js';
import type { Effect } from './effect.js';

/** Runs an effect with the arguments of its kind, which are in its frame. */
export type Run<Args> = (effect: Effect, args: Args, frame: EffectFrame) => void;

/** How to run effects of some kinds. */
export type Runs<Kind extends EffectFrame['kind']> = {
  readonly [F in EffectFrame as F['kind'] & Kind]: Run<F['args']>;
};

/** The kinds of effect that every turn may have. */
export type Early =
  | typeof EffectKind.Executor
  | typeof EffectKind.Middleware
  | typeof EffectKind.Store
  | typeof EffectKind.Commit
  | typeof EffectKind.Discard;

/** The kinds of effect that a turn has with tools, a model or artifacts only. */
export type Late = Exclude<EffectFrame['kind'], Early>;
