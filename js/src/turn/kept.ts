/**
 * What handlers returned and does not cross: kept by the number of the effect that it is the result of.
 */
export class Kept {
  #results: Map<number, unknown> | undefined;

  keep(effect: number, result: unknown): void {
    (this.#results ??= new Map<number, unknown>()).set(effect, result);
  }

  has(effect: number): boolean {
    return this.#results?.has(effect) === true;
  }

  /** What is kept of an effect, undefined if nothing is. It stays. */
  get(effect: number): unknown {
    return this.#results?.get(effect);
  }

  /** What is kept of an effect, undefined if nothing is. It is kept no longer. */
  take(effect: number): unknown {
    const result = this.#results?.get(effect);
    this.#results?.delete(effect);
    return result;
  }

  clear(): void {
    this.#results = undefined;
  }
}
