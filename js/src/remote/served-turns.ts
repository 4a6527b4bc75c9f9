/**
 * The turns that a server knows.
 */
import { TurncoreError } from '../errors.js';
import type { TurnStream } from '../runners/turn-stream.js';
import { lost } from '../sse/event-log.js';
import { LiveTurn } from './live-turn.js';

/** How many ids of forgotten turns are known. */
const FORGOTTEN = 10_000;

/** The turns that run, and those that have ended as far as there is room. */
export class ServedTurns {
  readonly #maxReplayBytes: number;
  readonly #turns = new Map<string, LiveTurn>();
  /** Ended turns, the first ended first. */
  readonly #ended = new Map<string, number>();
  #endedSize = 0;
  /** Turns whose events are no longer kept. */
  readonly #forgotten = new Set<string>();

  constructor(maxReplayBytes: number) {
    this.#maxReplayBytes = maxReplayBytes;
  }

  get(id: string): LiveTurn | undefined {
    return this.#turns.get(id);
  }

  /** A turn; undefined for one that was never here. @throws TurncoreError E_TURN_EVENTS_LOST for a forgotten one */
  find(id: string): LiveTurn | undefined {
    if (this.#forgotten.has(id)) throw lost();
    return this.#turns.get(id);
  }

  /** A turn. @throws TurncoreError E_TURN_UNKNOWN, E_TURN_EVENTS_LOST */
  require(id: string): LiveTurn {
    const turn = this.find(id);
    if (turn === undefined) throw TurncoreError.of('E_TURN_UNKNOWN', id);
    return turn;
  }

  add(id: string, stream: TurnStream, platform: readonly unknown[]): LiveTurn {
    stream.log.keep(this.#maxReplayBytes);
    const turn = new LiveTurn(id, stream, platform);
    this.#turns.set(id, turn);
    void stream.result.then(() => this.#end(id, turn));
    return turn;
  }

  delete(id: string): void {
    this.#turns.delete(id);
    this.#endedSize -= this.#ended.get(id) ?? 0;
    this.#ended.delete(id);
  }

  #end(id: string, turn: LiveTurn): void {
    if (this.#turns.get(id) !== turn) return;
    const { size } = turn.stream.log;
    this.#ended.set(id, size);
    this.#endedSize += size;
    for (const oldest of this.#ended.keys()) {
      if (this.#endedSize <= this.#maxReplayBytes || oldest === id) break;
      this.delete(oldest);
      this.#forgotten.add(oldest);
    }
    for (const oldest of this.#forgotten) {
      if (this.#forgotten.size <= FORGOTTEN) break;
      this.#forgotten.delete(oldest);
    }
  }
}
