/**
 * The turns that a server knows.
 */
import { TurncoreError } from '../errors.js';
import { PastTurns } from '../runners/past-turns.js';
import type { TurnStream } from '../runners/turn-stream.js';
import { LiveTurn } from './live-turn.js';

/** The turns that run, and those that have ended as far as there is room. */
export class ServedTurns {
  readonly #maxReplayBytes: number;
  readonly #turns = new Map<string, LiveTurn>();
  /** Ended turns, the first ended first. */
  readonly #ended = new Map<string, number>();
  #endedSize = 0;
  /** Turns whose events are no longer kept, or whose request is gone. */
  readonly #past = new PastTurns();

  constructor(maxReplayBytes: number) {
    this.#maxReplayBytes = maxReplayBytes;
  }

  get(id: string): LiveTurn | undefined {
    return this.#turns.get(id);
  }

  /** A turn; undefined for one that is not known. @throws TurncoreError E_TURN_EVENTS_LOST, E_TURN_ABANDONED */
  find(id: string): LiveTurn | undefined {
    this.#past.collect(this.#turns, id);
    const past = this.#past.find(id);
    if (past !== undefined) throw past;
    return this.#turns.get(id);
  }

  /** A turn. @throws TurncoreError E_TURN_UNKNOWN, E_TURN_EVENTS_LOST, E_TURN_ABANDONED */
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
      this.#past.add(oldest, 'E_TURN_EVENTS_LOST');
    }
  }
}
