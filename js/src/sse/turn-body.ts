/**
 * The body of a turn's response, piece by piece.
 */
import { type EventLog, lost } from './event-log.js';
import { SILENCE } from './silence.js';
import { TurnEncoder } from './turn-encoder.js';

/** A turn with a response. */
export interface ServedTurn {
  readonly log: EventLog;
  /** The client has gone away, or cannot be told the rest, and the turn is to be aborted. */
  abort(): void;
  /** Calls a function when there may be more. Default: that of the log. */
  onMore?(call: () => void): void;
  /** The error that ends the response before the turn; undefined for none. */
  fault?(): Error | undefined;
}

/** Who reads a body. */
export interface Client {
  /** The number of the last event that it has. */
  readonly after: number;
  /** It gets no more. */
  gone: boolean;
  /** Ends a wait for events. */
  wake?: () => void;
  /** Marks it as gone. */
  readonly forget: () => void;
  /** It goes away. */
  readonly leave: () => void;
}

/** Characters in a piece of the body, unless a single event has more. */
const PIECE = 65_536;

const utf8 = new TextEncoder();

/** Reads a turn's events for a client. */
export class TurnBody {
  readonly #turn: ServedTurn;
  readonly #client: Client;
  readonly #encoder: TurnEncoder;
  #next = -1;

  constructor(turn: ServedTurn, client: Client) {
    this.#turn = turn;
    this.#client = client;
    this.#encoder = new TurnEncoder(client.after);
  }

  /** Gives the next piece, when there is one. */
  async pull(body: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    let text: string;
    try {
      text = await this.#piece();
    } catch (error) {
      text = this.#encoder.fault(error);
      this.#client.leave();
    }
    if (text !== '') body.enqueue(utf8.encode(text));
    if (this.#client.gone) body.close();
  }

  async #piece(): Promise<string> {
    const { log } = this.#turn;
    let text = this.#read();
    while (text === '' && log.end === undefined && !this.#client.gone) {
      text = (await this.#silence()) ? `${this.#encoder.close()}:\n` : this.#read();
    }
    if (text !== '' || this.#client.gone) return text;
    this.#client.forget();
    return this.#encoder.end(log.end!);
  }

  /** What the client is to get. @throws what ends the response */
  #read(): string {
    const { log } = this.#turn;
    const { after } = this.#client;
    if (this.#next < 0) {
      // Some that the client has may be gone.
      this.#next = log.first;
      if ((log.at(this.#next)?.seq ?? 0) > after + 1 && this.#next > 0) throw lost();
    }
    let text = '';
    for (
      let event;
      text.length < PIECE && (event = log.at(this.#next)) !== undefined;
      this.#next++
    ) {
      if (event.seq > after) text += this.#encoder.event(event);
    }
    if (text === '' && log.end === undefined) {
      const fault = this.#turn.fault?.();
      if (fault !== undefined) throw fault;
    }
    return text;
  }

  /** Waits for more. @returns whether nothing came for a long time */
  async #silence(): Promise<boolean> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const silent = await new Promise<boolean>((resolve) => {
      const wake = (): void => resolve(false);
      this.#client.wake = wake;
      timer = setTimeout(() => resolve(true), SILENCE);
      if (this.#turn.onMore === undefined) this.#turn.log.onMore(wake);
      else this.#turn.onMore(wake);
    });
    clearTimeout(timer);
    return silent;
  }
}
