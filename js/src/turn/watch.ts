/**
 * What the module has outstanding in a turn, and what it has said of its end: so a module that has lost a turn is told
 * from one that waits.
 */

/**
 * How long a module may take to end a turn that was aborted, in ms, once none of its effects runs. A sound one ends it in
 * the step that tells of the abort, or of the last effect's end.
 */
const ABORT_GRACE = 5000;

/** Watches over one turn. */
export class Watch {
  /** Effects that have not been settled. */
  effects = 0;
  /** The module is owed the time. */
  ticking = false;
  /** It has said that the turn has ended; its events may not have been delivered yet. */
  over = false;
  #grace: ReturnType<typeof setTimeout> | undefined;

  /**
   * Tells, after a step, whether the turn is lost: the module waits for nothing that its host could give.
   *
   * @param calls whether calls wait for their replies
   * @param aborted whether the turn was aborted
   * @param late called when the turn was aborted and does not end in time
   */
  lost(calls: boolean, aborted: boolean, late: (reason: string) => void): boolean {
    if (this.effects > 0 || this.over || !aborted) {
      if (this.#grace !== undefined) this.close();
      return this.effects === 0 && !this.over && !this.ticking && !calls;
    }
    this.#grace ??= setTimeout(
      () => late(`the turn did not end within ${ABORT_GRACE / 1000}s of its abort`),
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
