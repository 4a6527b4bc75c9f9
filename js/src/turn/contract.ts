/**
 * What turns, their contexts and their core know of each other. Lower files import these types instead of the files
 * above them.
 */
import type { EventFrame, MethodArgs, ToolDef } from '../codec/tuples.gen.js';
import type { Decoder } from '../codec/decoder.js';
import type { Encoder } from '../codec/encoder.js';
import type { HandleTable } from '../collections/handle-table.js';
import type { Clock } from '../entropy.js';
import type { TurncoreError } from '../errors.js';
import type { Bus } from '../events/bus.js';
import type { TurnEvent, TurnEvents } from '../events/events.js';
import type { Tokenizable } from '../primitives/tokenizable.js';
import type { AnyTool } from '../tools/tool.js';
import type { EditQueue } from './edits.js';
import type { ErrorTable } from './error-table.js';
import type { PendingCall } from './pending-call.js';
import type { Definition } from './definition.js';
import type { Halves } from './whole-text.js';

/** A context among those of its turn. */
export interface OpenContext {
  /** What user code sees: a TurnContext or a DispatchContext. */
  readonly facade: object;
  /** The context that it was copied from. */
  readonly parent: OpenContext | undefined;
  /** Aborts the context on the host only. */
  mark(reason: unknown): void;
}

/** A message or thought that a context emits. */
export interface EmittedEvent {
  /** Number of the context. */
  readonly context: number;
  /** EventKind.Message or EventKind.Thought. */
  readonly kind: number;
  readonly id: string;
  /** The text that its event shows. */
  readonly full: string;
}

/** A running turn, as its contexts see it. */
export interface OpenTurn extends Halves {
  readonly core: OpenCore;
  readonly number: number;
  /** The turn's id as users see it. */
  readonly id: string;
  readonly definition: Definition;
  /** When the turn began, in ms since the Unix epoch. */
  readonly now: number;
  /** Names this run of the turn: another one of its id begins at another time. */
  readonly run: string;
  readonly systemPrompt: Tokenizable;
  readonly edits: EditQueue;
  readonly handles: HandleTable;
  readonly errors: ErrorTable;
  /** By number; 0 is the turn's. */
  readonly contexts: readonly (OpenContext | undefined)[];
  /** What the module may give up, by effect: with the context that a tool's handler has got. */
  readonly requests: ReadonlyMap<number, { readonly facade?: object }> | undefined;
  readonly ended: boolean;
  /** Settles when it has ended. */
  readonly done: PromiseLike<unknown>;
  /** A dispatch without a turn. */
  readonly standalone: boolean;
  /** What waits in place of a gate; standalone only. */
  readonly waitFor: ((raw: unknown) => unknown) | undefined;
  readonly gates: OpenGates;
  elapsed(): number;
  callNow<M extends keyof MethodArgs>(context: number, method: M, args: MethodArgs[M]): unknown;
  callLater<M extends keyof MethodArgs>(
    context: number,
    method: M,
    args: MethodArgs[M],
  ): Promise<unknown>;
  sendAbort(context: number, reason: unknown): void;
  takeKept(effect: number): unknown;
  /** Tells, after a step, whether the module has lost the turn. */
  isLost(): boolean;
  opening<T>(definition: Definition, bus: Bus<TurnEvents> | undefined, run: () => T): T;
  emitting<T>(event: EmittedEvent, run: () => T): T;
  readonly tools: ToolNumbers;
  dispatchId(dispatch: number): string;
}

/** How the call of a model ended. */
export interface ModelCallEnd {
  readonly status?: number | undefined;
  readonly error?: unknown;
  readonly aborted?: boolean;
}

/** Names the call of a model. */
export interface NamedModelCall {
  readonly provider: string | undefined;
  readonly model: string;
  readonly attempt: number;
}

/** The effect that calls a model, and where. */
export interface ModelCallEffect {
  readonly number: number;
  readonly state: {
    readonly number: number;
    readonly id: string;
    readonly iteration: number;
    readonly bus: Bus<TurnEvents> | undefined;
  };
}

/** The open calls of models, of which somebody wants to know. */
export interface OpenModelCalls {
  /** Tells that a call begins. */
  begin(effect: ModelCallEffect, named: NamedModelCall): void;
  /** Tells that the call of an effect has ended, unless that was told. */
  end(effect: number, end: ModelCallEnd): void;
  /** Ends all calls, because the instance has died. */
  fail(error: unknown): void;
  /** Notes what an event says of the open calls of its dispatch. */
  note(frame: EventFrame): void;
}

/** What of a turn its calls of models need. */
export interface ModelCallTurn {
  readonly now: number;
  readonly publicTurnId: string | undefined;
  elapsed(): number;
  /** Tells of an event of a dispatch that the host makes. */
  tell(event: (seq: number) => TurnEvent, at: { readonly bus: Bus<TurnEvents> | undefined }): void;
}

/** The tools of a turn by their numbers, as its contexts see them. */
export interface ToolNumbers {
  numberOf(tool: AnyTool): number;
  get(number: number): AnyTool;
  define(def: ToolDef): void;
}

/** The gates of a turn, as its contexts see them. */
export interface OpenGates {
  checking<T>(check: ((value: unknown, id: string) => unknown) | undefined, run: () => T): T;
}

/** The core of an instance, as the turns that run in it see it. */
export interface OpenCore {
  readonly clock: Clock;
  /** The innermost call that is answered in its step: each is made while the one before it is under way. */
  calling: PendingCall | undefined;
  readonly instance: {
    readonly features: number;
    readonly limits: {
      readonly frame: number;
      readonly string: number;
      readonly turnEffects: number;
    };
  };
  readonly alive: boolean;
  frame(): Encoder;
  send(turn: OpenTurn | undefined, enc: Encoder): TurncoreError | undefined;
  sendAndDrain(turn: OpenTurn, enc: Encoder): void;
  fail(reason: string, cause?: unknown): TurncoreError;
  drain(turn?: OpenTurn): void;
  drainUntil(waiting: { readonly done: boolean }): void;
  read<T>(bytes: Uint8Array, read: (d: Decoder) => T): T;
  openRunner(definition: Definition): number;
  recordRunner(turn: OpenTurn, definition: Definition): void;
  closeRunner(definition: object): void;
  defineTool(turn: OpenTurn, number: number, tool: AnyTool): void;
  closed(turn: OpenTurn): void;
}
