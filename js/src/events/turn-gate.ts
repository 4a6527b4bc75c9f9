/**
 * Gates: points where a turn waits for an outside decision.
 */
import { TurncoreError } from '../errors.js';
import { check } from '../validation/rules.js';
import { BaseEvent } from './base-event.js';

/** How a gate was settled. */
export type GateResult = 'resolved' | 'rejected' | 'aborted' | 'timeout';

const results: readonly GateResult[] = ['resolved', 'rejected', 'aborted', 'timeout'];

/** How a gate was settled, by the number on the wire. */
export function gateResultOf(result: number): GateResult {
  return results[result] ?? 'aborted';
}

/** Ways to settle a gate, with their data. */
export type Settlement =
  | { readonly by: 'resolve'; readonly value: unknown; readonly digest: string }
  | { readonly by: 'reject'; readonly error: unknown }
  | { readonly by: 'abort' };

/** What a gate asks. */
export interface Question {
  readonly id: string;
  readonly reason: string;
  readonly payload: unknown;
  readonly createdAt: number;
  readonly digest: string;
}

/** Binds a decision to its question. */
export interface ResolveOptions {
  /**
   * The {@link TurnGate.digest} of the question that was shown. If this option is present and differs from the gate's
   * digest, the decision is rejected with E_INVALID_TURN_GATE_RESOLUTION and the gate stays open. That includes an
   * empty, null or undefined digest, for example from a form without the field.
   */
  readonly digest?: string | null | undefined;
}

/**
 * A live gate: the turnGateOpen event, and the result of `runner.gate`. The first call to settle it wins. Later calls
 * change nothing and throw E_TURN_GATE_SETTLED, whose details say how it was settled.
 */
export class TurnGate extends BaseEvent {
  readonly event = 'turnGateOpen';
  /** Identifies the gate in answers. */
  readonly id: string;
  /** The question, for people. */
  readonly reason: string;
  /** The data to decide on. */
  readonly payload: unknown;
  /** When the question arose, ms since the Unix epoch. */
  readonly createdAt: number;
  /**
   * Identifies the question: the SHA-256 of the canonical JSON (RFC 8785) of `{id, payload, reason}`, in lower-case
   * hexadecimal digits.
   */
  readonly digest: string;
  readonly #settle: (settlement: Settlement) => void;
  #result: GateResult | undefined;

  /** @internal Turns make gates. @param settle settles it in the module, synchronously */
  constructor(question: Question, settle: (settlement: Settlement) => void) {
    super();
    this.id = question.id;
    this.reason = question.reason;
    this.payload = question.payload;
    this.createdAt = question.createdAt;
    this.digest = question.digest;
    this.#settle = settle;
  }

  /** Whether the gate is settled. */
  get isSettled(): boolean {
    return this.#result !== undefined;
  }

  /**
   * Settles the gate with a value, JSON-like data, which the waiting code gets.
   *
   * @throws TurncoreError E_INVALID_TURN_GATE_RESOLUTION, with details that list the violations of the gate's schema:
   * the gate stays open; E_TURN_GATE_SETTLED, whatever the value; E_INVALID_VALUE for options that are not known
   */
  resolve(value?: unknown, options?: ResolveOptions): void {
    this.requireOpen();
    this.#settle({ by: 'resolve', value, digest: digestIn(this.id, options) });
  }

  /**
   * Settles the gate with an error; the waiting code gets the same object. @throws TurncoreError E_TURN_GATE_SETTLED
   */
  reject(error: unknown): void {
    this.requireOpen();
    this.#settle({ by: 'reject', error });
  }

  /** Settles the gate with E_TURN_GATE_ABORTED. @throws TurncoreError E_TURN_GATE_SETTLED */
  abort(): void {
    this.requireOpen();
    this.#settle({ by: 'abort' });
  }

  /** @internal Records that the module has closed the gate. */
  close(result: GateResult): void {
    this.#result = result;
  }

  /** @internal @throws TurncoreError E_TURN_GATE_SETTLED */
  protected requireOpen(): void {
    const result = this.#result;
    if (result !== undefined) {
      throw TurncoreError.of('E_TURN_GATE_SETTLED', result, { details: { result } });
    }
  }

  protected describe(json: Record<string, unknown>): void {
    json['gateId'] = this.id;
    json['reason'] = this.reason;
    json['payload'] = this.payload;
    json['createdAt'] = this.createdAt;
    json['digest'] = this.digest;
  }
}

const rules = {
  title: 'options',
  code: 'E_INVALID_VALUE',
  fields: { digest: { kind: 'any' } },
} as const;

/** @internal The digest of a decision; an empty string for none. @throws TurncoreError E_INVALID_VALUE */
export function digestIn(id: string, options: ResolveOptions | undefined): string {
  if (options === undefined || options === null) return '';
  check(rules, options);
  if (!('digest' in options)) return '';
  const { digest } = options;
  if (typeof digest === 'string' && digest !== '') return digest;
  const why = `${id}: the digest of what was shown is empty`;
  throw TurncoreError.of('E_INVALID_TURN_GATE_RESOLUTION', why);
}

/**
 * A gate was settled. This comes before the waiting code continues. Every open gate is closed before its turn's end,
 * as aborted if it was not settled.
 */
export class TurnGateClosedEvent extends BaseEvent {
  readonly event = 'turnGateClosed';
  declare readonly gateId: string;
  declare readonly result: GateResult;
  declare readonly settledAt: number;

  protected describe(json: Record<string, unknown>): void {
    json['gateId'] = this.gateId;
    json['result'] = this.result;
    json['settledAt'] = this.settledAt;
  }
}
