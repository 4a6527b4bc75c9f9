/**
 * Results of handlers that do not cross, by the number of their effect.
 */
export class Kept {
  #results: Map<number, unknown> | undefined;

  keep(effect: number, result: unknown): void {
    (this.#results ??= new Map<number, unknown>()).set(effect, result);
  }

  has(effect: number): boolean {
    return this.#results?.has(effect) === true;
  }

  /** The kept result of an effect, or undefined. It stays kept. */
  get(effect: number): unknown {
    return this.#results?.get(effect);
  }

  /** Removes and returns the kept result of an effect, or undefined. */
  take(effect: number): unknown {
    const result = this.#results?.get(effect);
    this.#results?.delete(effect);
    return result;
  }

  clear(): void {
    this.#results = undefined;
  }
}
