/**
 * Distinguishes a module that has lost a turn from one that waits, by its outstanding effects and timers.
 */

/**
 * How long a module may take to end an aborted turn without running effects, in ms. A sound module ends it in the step
 * of the abort, or of the last effect's result.
 */
const ABORT_GRACE = 5000;

/** How often in a row a module may ask for a time that has passed: a sound one asks for the time to come. */
export const OVERDUE = 1000;

/** Watches over one turn. */
export class Watch {
  /** Effects that have not been settled. */
  effects = 0;
  /** The module waits for a tick. */
  ticking = false;
  /** How often in a row it has asked for a time that had passed. */
  overdue = 0;
  /** The module has ended the turn. Events may still be queued. */
  over = false;
  #grace: ReturnType<typeof setTimeout> | undefined;

  /**
   * Tells after a step whether the turn is lost, because the module waits for nothing that the host could give.
   *
   * @param waits whether calls wait for their replies, or gates for their answers
   * @param aborted whether the turn was aborted
   * @param turn is given up if it was aborted and does not end in time
   */
  lost(waits: boolean, aborted: boolean, turn: { giveUp(reason: string): void }): boolean {
    if (this.effects > 0 || this.over || !aborted) {
      if (this.#grace !== undefined) this.close();
      return this.effects === 0 && !this.over && !this.ticking && !waits;
    }
    this.#grace ??= setTimeout(
      () => turn.giveUp(`the turn did not end within ${ABORT_GRACE / 1000}s of its abort`),
      ABORT_GRACE,
    );
    return false;
  }

  /** The turn has ended. */
  close(): void {
    clearTimeout(this.#grace);
    this.#grace = undefined;
  }
}
