/**
 * Gates of turns that run elsewhere.
 */
import {
  digestIn,
  type Question,
  type ResolveOptions,
  type Settlement,
  TurnGate,
} from '../events/turn-gate.js';

/** Sends how a gate is to be settled. Resolves when the turn's place has taken it, and rejects with its refusal. */
export type Settle = (settlement: Settlement) => Promise<void>;

/* eslint-disable @typescript-eslint/no-misused-promises -- code that knows no place awaits what a gate returns */

/** The gate of a turn that runs elsewhere. It is settled when the promise of the call resolves. */
export class RemoteGate extends TurnGate {
  readonly #settle: Settle;

  /** @internal */
  constructor(question: Question, settle: Settle) {
    super(question, () => undefined);
    this.#settle = settle;
  }

  /**
   * Settles the gate with a value. Unless the options have another digest, the decision is bound to this question.
   *
   * @throws TurncoreError (rejects) what `resolve` of a gate here throws, or what is wrong with the connection
   */
  override async resolve(value?: unknown, options?: ResolveOptions): Promise<void> {
    await this.#send({ by: 'resolve', value, digest: digestIn(this.id, options) || this.digest });
  }

  /** @throws TurncoreError (rejects) E_TURN_GATE_SETTLED, or what is wrong with the connection */
  override async reject(error: unknown): Promise<void> {
    await this.#send({ by: 'reject', error });
  }

  /** @throws TurncoreError (rejects) E_TURN_GATE_SETTLED, or what is wrong with the connection */
  override async abort(): Promise<void> {
    await this.#send({ by: 'abort' });
  }

  async #send(settlement: Settlement): Promise<void> {
    this.requireOpen();
    await this.#settle(settlement);
  }
}
