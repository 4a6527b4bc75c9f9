/**
 * The host's half of a context: its mirrored collections, its signal, its flags.
 */
import { letGo } from '../awaitable.js';
import { type Entry, RECORD_KINDS } from '../collections/kinds.js';
import { RecordSet } from '../collections/record-set.js';
import type { Bus } from '../events/bus.js';
import type { TurnEvents } from '../events/events.js';
import { Stash, type Root, type StashSink } from '../stash/stash.js';
import type { AnyTool } from '../tools/tool.js';
import { ToolRegistry, type ToolSink, type ToolState } from '../tools/tool-registry.js';
import type { OpenContext, OpenTurn } from './contract.js';
import type { Definition } from './definition.js';

/** The text of a stream so far. */
interface StreamText {
  readonly stream: number;
  readonly id: string;
  full: string;
}

/** Makes what user code sees: in all calls, or in a single one that has a key, and may have a signal of its own. */
export type MakeFacade = (state: ContextState, key?: () => string, signal?: AbortSignal) => object;

/** What TurnContext and DispatchContext have in common, and what the core needs of them. */
export class ContextState implements OpenContext {
  readonly turn: OpenTurn;
  /** 0 for the turn, n for its n-th dispatch. */
  readonly number: number;
  /** The turn's id, or the dispatch's. */
  readonly id: string;
  /** The context it was copied from; undefined for the turn's, and for a standalone dispatch. */
  readonly parent: ContextState | undefined;
  /** Whose executor and dispatch pipelines are used. */
  readonly definition: Definition;
  /** Hooks and observers of a dispatch. */
  readonly bus: Bus<TurnEvents> | undefined;
  /** What user code sees. */
  readonly facade: object;

  iteration = 0;
  /** The dispatch or turn is over. */
  ended = false;
  acked = false;
  /** User code is calling `ack`. */
  acking = false;
  nacked = false;
  nackError: unknown = undefined;
  aborted = false;
  reason: unknown = undefined;

  readonly #sets: (RecordSet<Entry> | undefined)[] = new Array<undefined>(RECORD_KINDS);
  // What the context began with, and what user code has asked for so far.
  readonly #root: Root;
  #stash: Stash | undefined;
  readonly #toolState: ToolState;
  #tools: ToolRegistry | undefined;
  #controller: AbortController | undefined;
  #ackHandlers: Set<() => unknown> | undefined;
  /** The streams by id: messages, thoughts. */
  readonly #streams: (Map<string, StreamText> | undefined)[] = [];
  /** The stream of the last delta. */
  #streaming: StreamText | undefined;
  #results: Map<string, unknown> | undefined;

  constructor(
    turn: OpenTurn,
    number: number,
    parent: ContextState | undefined,
    definition: Definition,
    bus: Bus<TurnEvents> | undefined,
    stash: Root,
    tools: ToolState,
    makeFacade: MakeFacade,
  ) {
    this.turn = turn;
    this.number = number;
    this.id = number === 0 ? turn.id : `${turn.id}.d${number}`;
    this.parent = parent;
    this.definition = definition;
    this.bus = bus;
    this.#root = stash;
    this.#toolState = tools;
    if (parent !== undefined) this.#inherit(parent);
    this.facade = makeFacade(this);
  }

  get stash(): Stash {
    this.#stash ??= Stash.of(this.#root, this.#stashSink());
    return this.#stash;
  }

  get tools(): ToolRegistry {
    this.#tools ??= ToolRegistry.of(this.#toolState, this.#toolSink());
    return this.#tools;
  }

  /** The stash as it is now, for a context that is copied from this one. */
  stashSnapshot(): Root {
    return this.#stash?.share() ?? this.#root;
  }

  /** The tools as they are now, for a context that is copied from this one. */
  toolSnapshot(): ToolState {
    return this.#tools?.snapshot() ?? this.#toolState;
  }

  /** A collection of records, by its number. */
  set(collection: number): RecordSet<Entry> {
    let set = this.#sets[collection];
    if (set === undefined) {
      set = new RecordSet<Entry>(this.turn.edits, this.number, collection);
      this.#sets[collection] = set;
    }
    return set;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.aborted) this.#controller.abort(this.reason);
    }
    return this.#controller.signal;
  }

  /** Aborts the context for user code, and the contexts that were copied from it. */
  abort(reason: unknown): void {
    if (this.aborted || this.ended) return;
    const none = new DOMException('This operation was aborted', 'AbortError');
    this.mark(reason === undefined ? none : reason);
    this.turn.sendAbort(this.number, reason);
  }

  /** Aborts the context on the host only. */
  mark(reason: unknown): void {
    if (this.aborted || this.ended) return;
    this.aborted = true;
    this.reason = reason;
    this.#controller?.abort(reason);
    for (const inner of this.turn.contexts) if (inner?.parent === this) inner.mark(reason);
  }

  /** Aborts the context at its deadline. The signal fires as soon as user code may run. */
  expire(reason: unknown): void {
    if (this.aborted || this.ended) return;
    this.aborted = true;
    this.reason = reason;
    queueMicrotask(() => {
      this.#controller?.abort(reason);
    });
  }

  /** Follows the caller's controller. Returns a function that stops this. */
  follow(controller: AbortController): () => void {
    this.#controller = controller;
    const { signal } = controller;
    if (signal.aborted) {
      this.aborted = true;
      this.reason = signal.reason;
      return () => undefined;
    }
    const listener = (): void => this.abort(signal.reason);
    signal.addEventListener('abort', listener, { once: true });
    return () => signal.removeEventListener('abort', listener);
  }

  onAck(handler: () => void): () => void {
    if (this.acked) return () => undefined;
    this.#ackHandlers ??= new Set();
    this.#ackHandlers.add(handler);
    return () => void this.#ackHandlers?.delete(handler);
  }

  /** Calls the ack handlers in order and ignores their errors. */
  callAckHandlers(): void {
    if (this.#ackHandlers === undefined) return;
    for (const handler of this.#ackHandlers) {
      try {
        letGo(handler());
      } catch {
        // The contract says so: an ack cannot fail any more.
      }
    }
  }

  /** Adds a delta to a stream and returns its text. Engines keep such sums as trees and flatten them when read. */
  addText(stream: number, id: string, delta: string): string {
    let text = this.#streaming;
    if (text?.id !== id || text.stream !== stream) {
      const streams = (this.#streams[stream] ??= new Map<string, StreamText>());
      text = streams.get(id);
      if (text === undefined) streams.set(id, (text = { stream, id, full: '' }));
      this.#streaming = text;
    }
    return (text.full += delta);
  }

  /** Keeps the results that host code reported for a tool call. */
  setResults(id: string, results: unknown): void {
    this.#results ??= new Map();
    this.#results.set(id, results);
  }

  /** Runs a report of a tool call's results, and keeps the results unless it throws. */
  reporting(id: string, results: unknown, run: () => void): void {
    const before = this.results(id);
    if (results !== undefined) this.setResults(id, results);
    try {
      run();
    } catch (error) {
      this.setResults(id, before);
      throw error;
    }
  }

  results(id: string): unknown {
    return this.#results?.get(id);
  }

  #inherit(parent: ContextState): void {
    for (let kind = 0; kind < RECORD_KINDS; kind++) {
      const set = parent.#sets[kind];
      if (set !== undefined) this.#sets[kind] = set.fork(this.turn.edits, this.number);
    }
    this.aborted = parent.aborted;
    this.reason = parent.reason;
  }

  #stashSink(): StashSink {
    const { edits } = this.turn;
    const { number } = this;
    return {
      set: (key, value) => edits.stashSet(number, key, value),
      unset: (key) => edits.stashUnset(number, key),
    };
  }

  #toolSink(): ToolSink {
    const { turn, number } = this;
    return {
      define: (tool: AnyTool) => void turn.tools.numberOf(tool),
      registered: (tool) => turn.edits.toolRegistered(number, turn.tools.numberOf(tool)),
      unregistered: (name) => turn.edits.toolUnregistered(number, name),
      hidden: (names) => turn.edits.toolsHidden(number, names),
    };
  }
}
