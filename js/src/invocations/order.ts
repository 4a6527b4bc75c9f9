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

  /** Runs an effect when its turn has come. */
  run(effect: Effect, run: () => void): void {
    if (this.#behind === undefined) run();
    else this.#behind.push({ effect, run });
  }

  /**
   * The module goes ahead of an event: effects that come from now on wait for it.
   *
   * @param event its effect
   * @returns what ends the effect in its place, when the event was handled or has failed
   */
  ahead(event: Effect): Pick<Effect, 'settle' | 'fail'> {
    this.#behind = [];
    return {
      settle: () => void soon.then(() => this.#goOn(event, this.#waiting())),
      fail: (thrown) => void soon.then(() => dropBehind(event, this.#waiting(), thrown)),
    };
  }

  /** Those that wait: in a microtask all are there that the step of the event has asked for. They wait no longer. */
  #waiting(): readonly Waiting[] {
    const behind = this.#behind ?? [];
    this.#behind = undefined;
    return behind;
  }

  /** Runs those behind an event, or those up to the next event that the module has gone ahead of. */
  #goOn(event: Effect, behind: readonly Waiting[]): void {
    if (behind.length === 0) {
      event.settle();
      return;
    }
    const { root, watch } = event.turn;
    watch.effects--; // the results of those behind it tell that it has succeeded
    for (const { effect, run } of behind) {
      if (root.aborted) effect.fail(root.reason);
      else this.run(effect, run);
    }
  }
}

/** Fails an event. The module ends those behind it by itself. */
function dropBehind(event: Effect, behind: readonly Waiting[], thrown: unknown): void {
  event.turn.watch.effects -= behind.length;
  event.fail(thrown);
}
