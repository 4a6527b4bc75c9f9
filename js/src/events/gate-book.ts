/**
 * The open gates of a runner's turns.
 */
import type { TurnGate } from './turn-gate.js';

/** Gates by a key that several may share. Most gates have a key of their own and need no set. */
class GatesByKey<Gate extends TurnGate> {
  readonly #gates = new Map<string, Gate | Set<Gate>>();

  add(key: string, gate: Gate): void {
    const there = this.#gates.get(key);
    if (there === undefined) this.#gates.set(key, gate);
    else if (there instanceof Set) there.add(gate);
    else this.#gates.set(key, new Set([there, gate]));
  }

  remove(key: string, gate: Gate): void {
    const there = this.#gates.get(key);
    if (there instanceof Set) there.delete(gate);
    if (there === gate || (there instanceof Set && there.size === 0)) this.#gates.delete(key);
  }

  /** The gate that alone has a key. */
  only(key: string): Gate | undefined {
    const there = this.#gates.get(key);
    if (!(there instanceof Set)) return there;
    return there.size === 1 ? [...there][0] : undefined;
  }
}

/** The open gates of a runner's turns. Every operation on one takes constant time. */
export class GateBook<Gate extends TurnGate = TurnGate> {
  readonly #open = new Set<Gate>();
  readonly #byId = new GatesByKey<Gate>();
  readonly #byTurn = new GatesByKey<Gate>();

  add(gate: Gate): void {
    this.#open.add(gate);
    this.#byId.add(gate.id, gate);
    this.#byTurn.add(ofTurn(gate.turnId, gate.id), gate);
  }

  remove(gate: Gate): void {
    if (!this.#open.delete(gate)) return;
    this.#byId.remove(gate.id, gate);
    this.#byTurn.remove(ofTurn(gate.turnId, gate.id), gate);
  }

  /** The one open gate with an id, of one turn or of any; undefined if there is none or more than one. */
  find(id: string, turnId: string | undefined): Gate | undefined {
    return turnId === undefined ? this.#byId.only(id) : this.#byTurn.only(ofTurn(turnId, id));
  }

  /** All open gates in the order in which they were opened. */
  list(): Gate[] {
    return [...this.#open];
  }
}

/** The key of a turn's gates with an id. */
function ofTurn(turnId: string | undefined, id: string): string {
  return `${turnId?.length} ${turnId}${id}`;
}
