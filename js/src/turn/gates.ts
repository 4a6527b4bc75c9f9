/**
 * The gates of a turn.
 */
import { EventKind, GateResult, Method, Op, Scope, Settle } from '../abi/frames.gen.js';
import type {
  EventFrame,
  GateClosedEvent,
  GateOpenEvent,
  SettleGateArgs,
} from '../codec/tuples.gen.js';
import { wrongFrame } from '../codec/decoder.js';
import type { Write } from '../codec/encoder.js';
import { setHead } from '../events/base-event.js';
import type { GateBook } from '../events/gate-book.js';
import { gateResultOf, type Settlement, TurnGate } from '../events/turn-gate.js';
import type { OpenTurn } from './contract.js';

/** Converts the value of a gate's resolution on the host. @throws the refusal */
export type ResolutionCheck = (value: unknown, id: string) => unknown;

interface Numbered {
  readonly gate: TurnGate;
  readonly dispatch: number;
}

/** The gates of one turn. */
export class Gates {
  readonly #turn: OpenTurn;
  readonly #book: GateBook | undefined;
  /** The gates whose closing was not delivered yet, by number. */
  readonly #gates = new Map<number, Numbered>();
  #check: ResolutionCheck | undefined;
  /** How many are open. */
  open = 0;

  constructor(turn: OpenTurn, book: GateBook | undefined) {
    this.#turn = turn;
    this.#book = book;
  }

  /** Runs a call that opens a gate whose resolutions the host checks. */
  checking<T>(check: ResolutionCheck | undefined, run: () => T): T {
    this.#check = check;
    try {
      return run();
    } finally {
      this.#check = undefined;
    }
  }

  /** Notes that a gate closes, as soon as the module's frame arrives. */
  noteClosed({ gate: number, result }: GateClosedEvent): void {
    const numbered = this.#gates.get(number);
    if (numbered !== undefined) this.#close(numbered.gate, result);
  }

  /** The gate of an event. @throws CodecError if there is none */
  of(number: number): TurnGate {
    const numbered = this.#gates.get(number);
    if (numbered === undefined) throw wrongFrame(`unknown gate ${number}`);
    return numbered.gate;
  }

  /** Forgets a gate when its closing is delivered. */
  forget(number: number): void {
    this.#gates.delete(number);
  }

  /** Event frames that close all gates, after the instance's death. */
  *abandon(turn: number, elapsed: number, seq: () => number): Generator<EventFrame> {
    for (const [number, { gate, dispatch }] of this.#gates) {
      if (gate.isSettled) continue;
      this.#close(gate, GateResult.Aborted);
      yield {
        op: Op.Event,
        turn,
        seq: seq(),
        kind: EventKind.TurnGateClosed,
        elapsed,
        dispatch,
        iteration: -1,
        scope: dispatch === 0 ? Scope.Turn : Scope.Turn | Scope.Dispatch,
        payload: { gate: number, id: gate.id, result: GateResult.Aborted },
      };
    }
  }

  /** Notes that a gate opens, as soon as the module's frame arrives. */
  noteOpen(frame: EventFrame, opened: GateOpenEvent): void {
    const { gate: number, id } = opened;
    const turn = this.#turn;
    const check = this.#check;
    this.#check = undefined;
    const gate = new TurnGate(opened, (settlement) => {
      this.#settle(number, id, settlement, check);
    });
    const { dispatch } = frame;
    const dispatchId = dispatch === 0 ? undefined : turn.dispatchId(dispatch);
    const at = turn.now + frame.elapsed;
    setHead(gate, frame.seq, at, turn.id, dispatchId, frame.iteration);
    this.#gates.set(number, { gate, dispatch });
    this.#book?.add(gate);
    this.open++;
  }

  #close(gate: TurnGate, result: number): void {
    gate.close(gateResultOf(result));
    this.open--;
    this.#book?.remove(gate);
  }

  #settle(
    gate: number,
    id: string,
    settlement: Settlement,
    check: ResolutionCheck | undefined,
  ): void {
    const turn = this.#turn;
    turn.callNow(0, Method.SettleGate, this.#argsOf(gate, id, settlement, check));
    // What the module's own code does behind a gate follows the answer, and nobody else may be waiting for it.
    queueMicrotask(() => turn.core.drain(turn));
  }

  #argsOf(
    gate: number,
    id: string,
    settlement: Settlement,
    check: ResolutionCheck | undefined,
  ): SettleGateArgs {
    let settle: number = Settle.Abort;
    let value: Write | null = null;
    let digest = '';
    let error: SettleGateArgs['error'] = null;
    if (settlement.by === 'resolve') {
      settle = Settle.Resolve;
      const resolution = check === undefined ? settlement.value : check(settlement.value, id);
      if (resolution !== undefined) value = (e) => e.value(resolution, 'value');
      digest = settlement.digest;
    } else if (settlement.by === 'reject') {
      settle = Settle.Reject;
      error = this.#turn.errors.wireOf(settlement.error, undefined);
    }
    return { gate, settle, value, digest, error };
  }
}
