/**
 * Gates: places where a turn waits until somebody outside decides.
 */
import { BaseEvent, type JSONObject } from './base-event.js';

/** How a gate was settled. */
export type GateResult = 'resolved' | 'rejected' | 'aborted' | 'timeout';

/** Ways to settle a gate, with what they carry. */
export type Settlement =
  | { readonly by: 'resolve'; readonly value: unknown; readonly digest: string }
  | { readonly by: 'reject'; readonly error: unknown }
  | { readonly by: 'abort' };

/** What a gate is made of. */
export interface GateParts {
  readonly id: string;
  readonly reason: string;
  readonly payload: unknown;
  readonly createdAt: number;
  readonly digest: string;
  /** Settles it in the module, at once. */
  readonly settle: (settlement: Settlement) => void;
}

/** What a decision may be bound to. */
export interface ResolveOptions {
  /**
   * The {@link TurnGate.digest} of what was shown to whoever decided. When it is not the gate's, the decision is refused
   * with E_INVALID_TURN_GATE_RESOLUTION and the gate stays open.
   */
  readonly digest?: string | undefined;
}

/**
 * A live gate: the turnGateOpen event, and what `runner.gate` finds. The first to settle it wins; whatever is called
 * after that does nothing.
 */
export class TurnGate extends BaseEvent {
  readonly event = 'turnGateOpen';
  /** Names the gate to who settles it. */
  readonly id: string;
  /** What is to be decided, for people. */
  readonly reason: string;
  /** What there is to decide on. */
  readonly payload: unknown;
  /** When the question arose, ms since the Unix epoch. */
  readonly createdAt: number;
  /**
   * Names what the gate shows: the SHA-256 of the canonical JSON (RFC 8785) of `{id, payload, reason}`, in lower-case
   * hexadecimal digits.
   */
  readonly digest: string;
  readonly #settle: (settlement: Settlement) => void;
  #settled = false;

  /** @internal Turns make gates. */
  constructor(parts: GateParts) {
    super();
    this.id = parts.id;
    this.reason = parts.reason;
    this.payload = parts.payload;
    this.createdAt = parts.createdAt;
    this.digest = parts.digest;
    this.#settle = parts.settle;
  }

  /** Whether somebody has settled the gate. */
  get isSettled(): boolean {
    return this.#settled;
  }

  /**
   * Settles the gate with a value, JSON-like data, which whoever waits gets.
   *
   * @throws TurncoreError E_INVALID_TURN_GATE_RESOLUTION, its details listing what breaks the gate's schema: the gate
   *   stays open
   */
  resolve(value?: unknown, options: ResolveOptions = {}): void {
    if (this.#settled) return;
    this.#settle({ by: 'resolve', value, digest: options.digest ?? '' });
  }

  /** Settles the gate with an error, which whoever waits gets as it is. */
  reject(error: unknown): void {
    if (!this.#settled) this.#settle({ by: 'reject', error });
  }

  /** Settles the gate with E_TURN_GATE_ABORTED. */
  abort(): void {
    if (!this.#settled) this.#settle({ by: 'abort' });
  }

  /** @internal Takes note that the module has closed the gate. */
  close(): void {
    this.#settled = true;
  }

  protected describe(json: JSONObject): void {
    json['gateId'] = this.id;
    json['reason'] = this.reason;
    json['payload'] = this.payload;
    json['createdAt'] = this.createdAt;
    json['digest'] = this.digest;
  }
}

/**
 * A gate was settled. It comes before whoever waits goes on. Every gate that opened is closed before its turn's end: one
 * that nobody settled as aborted.
 */
export class TurnGateClosedEvent extends BaseEvent {
  readonly event = 'turnGateClosed';
  declare readonly gateId: string;
  declare readonly result: GateResult;
  declare readonly settledAt: number;

  protected describe(json: JSONObject): void {
    json['gateId'] = this.gateId;
    json['result'] = this.result;
    json['settledAt'] = this.settledAt;
  }
}
