/**
 * Runs turns that run elsewhere: on a server, in a worker.
 */
import { uuidv6, UUID_ENTROPY, systemClock, systemEntropy } from '../entropy.js';
import { invalidValue, messageOf, TurncoreError } from '../errors.js';
import { ErrorEvent, setHead, type TurnEvent } from '../events/events.js';
import type { Question, Settlement } from '../events/turn-gate.js';
import { RunnerEvents } from '../runners/runner-events.js';
import { TurnStream } from '../runners/turn-stream.js';
import type { TurnEnd } from '../sse/turn-end.js';
import { RemoteGate } from './remote-gate.js';

/** The input of a turn that runs elsewhere. What more it may have its place says. */
export interface RemoteInput {
  /** The user's message. */
  readonly message?: unknown;
  /** The turn's id. Starting a turn whose id is already running attaches to the running turn. Default: a UUID. */
  readonly turnId?: string | undefined;
  /** Aborts the turn. */
  readonly signal?: AbortSignal | undefined;
}

/** A turn that a {@link TurnPlace} runs. */
export interface RemoteTurn<Input> {
  readonly id: string;
  /** The input, without the signal. */
  readonly input: Input;
  /** Aborts when the turn is to be aborted. Its end still comes from where it runs. */
  readonly signal: AbortSignal;
  /** Tells an event, in order. */
  event(event: TurnEvent): void;
  /** Makes the gate of an event. */
  gate(question: Question): RemoteGate;
}

/** Where turns run. */
export interface TurnPlace<Input extends RemoteInput> {
  /**
   * Starts a turn, or attaches to it. The promise resolves when the turn has ended, and rejects if its end cannot be
   * told. What is wrong with the input may be thrown at once.
   */
  start(turn: RemoteTurn<Input>): Promise<TurnEnd>;
  /** Settles an open gate of a turn. The promise rejects with the refusal. */
  settle(turnId: string, gateId: string, settlement: Settlement): Promise<void>;
}

/**
 * A runner whose turns run elsewhere: `stream`, `run`, listeners and gates are those of a runner here. A gate's
 * `resolve`, `reject` and `abort` return a promise.
 */
export class RemoteRunner<
  Input extends RemoteInput = RemoteInput,
  Output = unknown,
> extends RunnerEvents<RemoteGate> {
  readonly #place: TurnPlace<Input>;
  readonly #live = new Map<string, TurnStream<Output>>();

  /** @internal */
  constructor(place: TurnPlace<Input>) {
    super();
    this.#place = place;
  }

  /**
   * Runs a turn. Resolves when it has ended, however it ended; events report what happened.
   *
   * @throws TurncoreError (rejects) if the turn could not start, or if its end could not be told
   */
  async run(input: Input): Promise<void> {
    const { stream, outcome } = this.#begin(input);
    await Promise.all([outcome, stream.result]);
  }

  /**
   * Runs a turn and yields its events as they come. Leaving the loop aborts the turn.
   *
   * @throws TurncoreError E_INVALID_VALUE for an input that cannot be sent
   */
  stream(input: Input): TurnStream<Output> {
    return this.#begin(input).stream;
  }

  #begin(given: Input): { stream: TurnStream<Output>; outcome: Promise<unknown> } {
    const { signal, ...rest } = requireInput(given);
    const id = rest.turnId ?? uuidv6(systemClock(), systemEntropy(UUID_ENTROPY));
    const running = this.#live.get(id);
    if (running !== undefined) {
      abortBy(signal, running);
      return { stream: running, outcome: running.result };
    }

    const aborter = new AbortController();
    const stream = new TurnStream<Output>(() => aborter.abort());
    const gates = new Set<RemoteGate>();
    const outcome = this.#place.start({
      id,
      input: rest as Input,
      signal: aborter.signal,
      event: (event) => this.#tell(stream, gates, event),
      gate: (question) =>
        new RemoteGate(question, (settlement) => this.#place.settle(id, question.id, settlement)),
    });
    this.#live.set(id, stream);
    const abort = (): void => aborter.abort(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted === true) abort();
    const ended = (): void => {
      this.#live.delete(id);
      signal?.removeEventListener('abort', abort);
      for (const gate of gates) {
        gate.close('aborted');
        this.openGates.remove(gate);
      }
    };
    outcome.then(ended, ended);
    stream.follow(outcome);
    return { stream, outcome };
  }

  #tell(stream: TurnStream<Output>, gates: Set<RemoteGate>, event: TurnEvent): void {
    if (event instanceof RemoteGate) {
      gates.add(event);
      this.openGates.add(event);
    } else if (event.event === 'turnGateClosed') {
      for (const gate of gates) {
        if (gate.id !== event.gateId) continue;
        gate.close(event.result);
        gates.delete(gate);
        this.openGates.remove(gate);
        break;
      }
    }
    stream.push(event);
    this.bus.deliver(event, (cause) => this.#failed(stream, cause, event));
  }

  /** Reports the error of a listener once, as an event. The errors of error listeners are reported to nobody. */
  #failed(stream: TurnStream<Output>, cause: unknown, event: TurnEvent): void {
    const why = `${event.event}: ${messageOf(cause)}`;
    const error = TurncoreError.of('E_LISTENER_ERROR', why, { cause });
    if (event.event === 'error') {
      console.error(error);
      return;
    }
    const { seq, at, turnId, dispatchId, iteration = -1 } = event;
    const report = Object.assign(new ErrorEvent(), { error });
    setHead(report, seq, at, turnId, dispatchId, iteration);
    this.#tell(stream, new Set(), report);
  }
}

/** Aborts a turn that runs already when a signal aborts. */
function abortBy(signal: AbortSignal | undefined, running: TurnStream): void {
  if (signal === undefined) return;
  if (signal.aborted) {
    running.abort();
    return;
  }
  const abort = (): void => running.abort();
  signal.addEventListener('abort', abort, { once: true });
  void running.result.then(() => signal.removeEventListener('abort', abort));
}

/** Half a surrogate pair: such a text has no UTF-8. */
export const HALF = /\p{Surrogate}/u;

/** @throws TurncoreError E_INVALID_VALUE for an input that no place takes */
function requireInput<Input extends RemoteInput>(input: Input): Input {
  if (typeof input !== 'object' || input === null) throw invalidValue('input', 'must be an object');
  const { turnId, signal } = input;
  if (turnId !== undefined && (typeof turnId !== 'string' || turnId === '')) {
    throw invalidValue('turnId', 'must be a string that is not empty');
  }
  if (turnId !== undefined && HALF.test(turnId)) {
    throw invalidValue('turnId', 'has half a surrogate pair');
  }
  if (
    signal !== undefined &&
    typeof (signal as Partial<AbortSignal>).addEventListener !== 'function'
  ) {
    throw invalidValue('signal', 'must be an AbortSignal');
  }
  return input;
}
