/**
 * The order of effects behind an event that the module has gone ahead of.
 */
import type { Effect } from '../turn/effect.js';

/** An effect that waits. */
interface Waiting {
  readonly effect: Effect;
  readonly run: () => void;
}

/** Runs functions in a microtask. */
const soon = Promise.resolve();

/** Holds effects back until the event before them was handled. */
export class EffectOrder {
  #behind: Waiting[] | undefined;
  /** The effect of an event that was handled, of which the module has not heard. */
  #handled: Effect | undefined;

  /** Runs an effect when its turn has come. */
  run(effect: Effect, run: () => void): void {
    if (this.#behind !== undefined) {
      this.#behind.push({ effect, run });
      return;
    }
    if (this.#handled === undefined) {
      run();
      return;
    }
    this.#handled = undefined;
    effect.turn.watch.effects--; // the result of this effect tells that the one before has succeeded
    start(effect, run);
  }

  /** The module goes ahead of an event: effects that come from now on wait for it. */
  hold(): void {
    this.#behind = [];
  }

  /** Goes on behind the effect of an event, which was handled. */
  release(event: Effect): void {
    const behind = this.#behind ?? [];
    this.#behind = undefined;
    this.#handled = event;
    for (const { effect, run } of behind) this.run(effect, () => start(effect, run));
    // Those that the same step has asked for may come yet.
    if (this.#handled === event) void soon.then(this.#settle);
  }

  /** Drops those that wait for an event which has failed. */
  drop(event: Effect): void {
    event.turn.watch.effects -= this.#behind?.length ?? 0;
    this.#behind = undefined;
  }

  readonly #settle = (): void => {
    const event = this.#handled;
    this.#handled = undefined;
    event?.settle();
  };
}

/** Starts an effect that has waited, unless its invocation was aborted meanwhile. */
function start(effect: Effect, run: () => void): void {
  const { root } = effect.turn;
  if (root.aborted) effect.fail(root.reason);
  else run();
}
