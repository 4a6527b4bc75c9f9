/**
 * A turn that a server runs, and its clients.
 */
import type { GateResult } from '../events/turn-gate.js';
import { Owner } from '../runners/owner.js';
import type { TurnStream } from '../runners/turn-stream.js';
import type { ServedTurn } from '../sse/turn-body.js';
import type { OnDisconnect } from '../sse/turn-response.js';

/** A turn of a server. */
export class LiveTurn {
  readonly id: string;
  readonly stream: TurnStream;
  /** The request that runs it. */
  readonly owner: Owner;
  /** How its gates were settled, by their ids. */
  readonly closed = new Map<string, GateResult>();
  /** Number of clients that read its events. */
  readers = 0;

  constructor(id: string, stream: TurnStream, platform: readonly unknown[]) {
    this.id = id;
    this.stream = stream;
    this.owner = new Owner(stream, platform);
  }

  /** The number of its last event, so far. */
  get lastSeq(): number {
    return this.stream.log.last?.seq ?? 0;
  }

  /** Why it did not start; undefined if it did, or may still. */
  get refusal(): Error | undefined {
    const { log } = this.stream;
    const refused = log.end?.status === 'failed' && log.last === undefined;
    return refused ? (log.end.error as Error) : undefined;
  }

  /** Waits for its first event, or for its end. @param own whether the request that waits runs it */
  async begun(own: boolean): Promise<void> {
    const { log } = this.stream;
    while (log.last === undefined && log.end === undefined) {
      if (!own) await this.owner.requireAlive();
      await new Promise<void>((resolve) => (own ? log : this.owner).onMore(resolve));
    }
  }

  /** The turn for one of its clients. @param own whether the client's request runs it */
  served(onDisconnect: OnDisconnect, own: boolean): ServedTurn {
    const { log } = this.stream;
    this.readers += 1;
    const abort = (): void => {
      this.readers -= 1;
      if (onDisconnect !== 'abort' || this.readers > 0) return;
      if (own) this.stream.abort();
      else void this.owner.run(() => this.stream.abort()).catch(() => undefined);
    };
    if (own) return { log, abort };
    return { log, abort, onMore: (call) => this.owner.onMore(call), fault: this.owner.watch() };
  }
}
