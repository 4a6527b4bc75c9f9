/**
 * The gates of a turn, and the open ones of a runner's turns.
 */
import { EventKind, Method, Op, Scope, Settle } from '../abi/frames.gen.js';
import { CodecError } from '../codec/decoder.js';
import { requireShape } from '../codec/shape.js';
import { setHead } from '../events/base-event.js';
import { gateResultOf, type Settlement, TurnGate } from '../events/turn-gate.js';
import type { TurnSession } from './contract.js';

/** GateResult on the wire. */
const ABORTED = 2;

/** Tells the events of gates, by their kind. */
export function isGateEvent(kind: unknown): boolean {
  return kind === EventKind.TurnGateOpen || kind === EventKind.TurnGateClosed;
}

/** Converts what a gate is resolved with, on the host. @throws what refuses it */
export type ResolutionCheck = (value: unknown, id: string) => unknown;

/** Gates by a key that several may have: most have one of their own, which needs no set. */
class GatesByKey {
  readonly #gates = new Map<string, TurnGate | Set<TurnGate>>();

  add(key: string, gate: TurnGate): void {
    const there = this.#gates.get(key);
    if (there === undefined) this.#gates.set(key, gate);
    else if (there instanceof Set) there.add(gate);
    else this.#gates.set(key, new Set([there, gate]));
  }

  remove(key: string, gate: TurnGate): void {
    const there = this.#gates.get(key);
    if (there instanceof Set) there.delete(gate);
    if (there === gate || (there instanceof Set && there.size === 0)) this.#gates.delete(key);
  }

  /** The gate that alone has a key. */
  only(key: string): TurnGate | undefined {
    const there = this.#gates.get(key);
    if (!(there instanceof Set)) return there;
    return there.size === 1 ? [...there][0] : undefined;
  }
}

/** The open gates of a runner's turns. What is done with one takes as long whatever their number. */
export class GateBook {
  readonly #open = new Set<TurnGate>();
  readonly #byId = new GatesByKey();
  readonly #byTurn = new GatesByKey();

  add(gate: TurnGate): void {
    this.#open.add(gate);
    this.#byId.add(gate.id, gate);
    this.#byTurn.add(ofTurn(gate.turnId, gate.id), gate);
  }

  remove(gate: TurnGate): void {
    if (!this.#open.delete(gate)) return;
    this.#byId.remove(gate.id, gate);
    this.#byTurn.remove(ofTurn(gate.turnId, gate.id), gate);
  }

  /** The one open gate with an id, of one turn or of any; undefined if there is none or more than one. */
  find(id: string, turnId: string | undefined): TurnGate | undefined {
    return turnId === undefined ? this.#byId.only(id) : this.#byTurn.only(ofTurn(turnId, id));
  }

  /** All of them, in the order of their opening. */
  list(): TurnGate[] {
    return [...this.#open];
  }
}

/** The key of a turn's gates with an id. */
function ofTurn(turnId: string | undefined, id: string): string {
  return `${turnId?.length} ${turnId}${id}`;
}

interface Numbered {
  readonly gate: TurnGate;
  readonly dispatch: number;
}

/** The gates of one turn. */
export class Gates {
  readonly #session: TurnSession;
  readonly #book: GateBook | undefined;
  /** Those whose closing was not delivered yet, by number. */
  readonly #gates = new Map<number, Numbered>();
  #check: ResolutionCheck | undefined;

  constructor(session: TurnSession, book: GateBook | undefined) {
    this.#session = session;
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

  /** Takes note of a gate that opens or closes, when its frame comes out of the module. */
  note(frame: readonly unknown[]): void {
    if (frame[3] === EventKind.TurnGateOpen) this.#open(frame);
    else {
      const closed = requireShape(frame[8], 'nsn', 'GateClosedEvent');
      const numbered = this.#gates.get(closed[0] as number);
      if (numbered !== undefined) this.#close(numbered.gate, closed[2] as number);
    }
  }

  /** The gate of an event. @throws CodecError if there is none */
  of(number: number): TurnGate {
    const numbered = this.#gates.get(number);
    if (numbered === undefined) throw new CodecError('frame', 0, `unknown gate ${number}`);
    return numbered.gate;
  }

  /** Lets go of a gate whose closing is being told. */
  forget(number: number): void {
    this.#gates.delete(number);
  }

  /** Event frames that close what is open: the instance has died. */
  *abandon(turn: number, elapsed: number, seq: () => number): Generator<readonly unknown[]> {
    for (const [number, { gate, dispatch }] of this.#gates) {
      if (gate.isSettled) continue;
      this.#close(gate, ABORTED);
      const scope = dispatch === 0 ? Scope.Turn : Scope.Turn | Scope.Dispatch;
      const payload = [number, gate.id, ABORTED];
      const kind = EventKind.TurnGateClosed;
      yield [Op.Event, turn, seq(), kind, elapsed, dispatch, -1, scope, payload];
    }
  }

  #open(frame: readonly unknown[]): void {
    const session = this.#session;
    const p = requireShape(frame[8], 'nss*is', 'GateOpenEvent');
    const number = p[0] as number;
    const id = p[1] as string;
    const check = this.#check;
    this.#check = undefined;
    const gate = new TurnGate({
      id,
      reason: p[2] as string,
      payload: p[3],
      createdAt: p[4] as number,
      digest: p[5] as string,
      settle: (settlement) => this.#settle(number, id, settlement, check),
    });
    const dispatch = frame[5] as number;
    const dispatchId = dispatch === 0 ? undefined : session.dispatchId(dispatch);
    const at = session.now + (frame[4] as number);
    setHead(gate, frame[2] as number, at, session.id, dispatchId, frame[6] as number);
    this.#gates.set(number, { gate, dispatch });
    this.#book?.add(gate);
  }

  #close(gate: TurnGate, result: number): void {
    gate.close(gateResultOf(result));
    this.#book?.remove(gate);
  }

  #settle(
    gate: number,
    id: string,
    settlement: Settlement,
    check: ResolutionCheck | undefined,
  ): void {
    const session = this.#session;
    const value =
      settlement.by === 'resolve' && check !== undefined
        ? check(settlement.value, id)
        : settlement.by === 'resolve'
          ? settlement.value
          : undefined;
    const enc = session.beginCall(0, Method.SettleGate);
    const { call } = session;
    enc.arrayHeader(5);
    enc.int(gate);
    switch (settlement.by) {
      case 'resolve':
        enc.int(Settle.Resolve);
        if (value === undefined) enc.nil();
        else enc.value(value, 'value');
        enc.str(settlement.digest);
        enc.nil();
        break;
      case 'reject':
        enc.int(Settle.Reject);
        enc.nil();
        enc.str('');
        session.errors.encode(enc, settlement.error, undefined);
        break;
      case 'abort':
        enc.int(Settle.Abort);
        enc.nil();
        enc.str('');
        enc.nil();
    }
    session.callNow(enc, call);
  }
}
