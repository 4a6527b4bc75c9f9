/**
 * Tells of the calls of models.
 */
import { EventKind } from '../abi/frames.gen.js';
import type { EventFrame } from '../codec/tuples.gen.js';
import { ModelCallEndEvent, ModelCallStartEvent, type TokenUsage } from '../events/model-call.js';
import { setHead } from '../events/base-event.js';
import type {
  ModelCallEffect,
  ModelCallEnd,
  ModelCallTurn,
  NamedModelCall,
  OpenModelCalls,
} from './contract.js';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

interface OpenCall {
  readonly effect: ModelCallEffect;
  readonly named: NamedModelCall;
  readonly startedAt: number;
  firstTokenAt: number | undefined;
  usage: TokenUsage | undefined;
}

/** The open calls of a turn. */
export class ModelCalls implements OpenModelCalls {
  readonly #turn: ModelCallTurn;
  readonly #open = new Map<number, OpenCall>();

  constructor(turn: ModelCallTurn) {
    this.#turn = turn;
  }

  /** Tells that a call begins. */
  begin(effect: ModelCallEffect, named: NamedModelCall): void {
    const event = new ModelCallStartEvent() as Writable<ModelCallStartEvent>;
    const startedAt = this.#turn.now + this.#turn.elapsed();
    name(event, named);
    event.startedAt = startedAt;
    const call = { effect, named, startedAt, firstTokenAt: undefined, usage: undefined };
    this.#open.set(effect.number, call);
    this.#tell(event as ModelCallStartEvent, effect, startedAt);
  }

  /** Tells that a call has ended, unless that was told. */
  end(effect: number, { status, error, aborted }: ModelCallEnd): void {
    const call = this.#open.get(effect);
    if (call === undefined) return;
    this.#open.delete(effect);
    const event = new ModelCallEndEvent() as Writable<ModelCallEndEvent>;
    const endedAt = this.#turn.now + this.#turn.elapsed();
    name(event, call.named);
    event.status =
      aborted === true ? 'aborted' : error !== undefined || (status ?? 0) >= 400 ? 'error' : 'ok';
    if (status !== undefined && aborted !== true) event.httpStatus = status;
    event.startedAt = call.startedAt;
    event.endedAt = endedAt;
    event.durationMs = endedAt - call.startedAt;
    if (call.firstTokenAt !== undefined) event.firstTokenAt = call.firstTokenAt;
    if (call.usage !== undefined) event.usage = call.usage;
    if (error !== undefined && aborted !== true) event.error = error;
    this.#tell(event as ModelCallEndEvent, call.effect, endedAt);
  }

  /** Ends all calls, because the instance has died. */
  fail(error: unknown): void {
    for (const effect of [...this.#open.keys()]) this.end(effect, { error });
  }

  #tell(
    event: ModelCallStartEvent | ModelCallEndEvent,
    { state }: ModelCallEffect,
    at: number,
  ): void {
    const turn = this.#turn;
    turn.tell((seq) => {
      setHead(event, seq, at, turn.publicTurnId, state.id, state.iteration);
      return event;
    }, state);
  }

  /** Notes what an event says of the open calls of its dispatch. */
  note(frame: EventFrame): void {
    for (const call of this.#open.values()) {
      if (call.effect.state.number !== frame.dispatch) continue;
      if (frame.kind <= EventKind.ToolCall || frame.kind >= EventKind.MessageInterrupted) {
        call.firstTokenAt ??= this.#turn.now + frame.elapsed;
      } else if (frame.kind === EventKind.GenerationStats) {
        call.usage = usageOf(frame.payload.stats) ?? call.usage;
      }
    }
  }
}

function name(
  event: Writable<ModelCallStartEvent | ModelCallEndEvent>,
  named: NamedModelCall,
): void {
  if (named.provider !== undefined) event.provider = named.provider;
  event.model = named.model;
  event.attempt = named.attempt;
}

/** The tokens that statistics tell; undefined for none. */
function usageOf(stats: unknown): TokenUsage | undefined {
  const told = (stats ?? {}) as Readonly<Record<string, unknown>>;
  const count = (key: string): number => (typeof told[key] === 'number' ? told[key] : 0);
  const promptTokens = count('promptTokens');
  const completionTokens = count('completionTokens');
  const totalTokens = count('totalTokens') || promptTokens + completionTokens;
  return totalTokens === 0 ? undefined : { promptTokens, completionTokens, totalTokens };
}
