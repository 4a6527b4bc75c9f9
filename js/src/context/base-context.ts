/**
 * The common part of TurnContext and DispatchContext.
 */
import { Collection, EventKind, Method } from '../abi/frames.gen.js';
import type { Item } from '../codec/tuples.gen.js';
import { attempt } from '../attempt.js';
import { type Entry, requireEntry } from '../collections/kinds.js';
import { renderTexts } from '../collections/record-size.js';
import type { RecordSet } from '../collections/record-set.js';
import { requireList, TurncoreError } from '../errors.js';
import { encodeBody } from '../primitives/body.js';
import { countTokens } from '../primitives/estimate.js';
import type { Memory } from '../primitives/memory.js';
import type { Message } from '../primitives/message.js';
import {
  type ConduitBytes,
  isMediaReader,
  isSpoolReader,
  type MediaReader,
  type SpoolReader,
} from '../primitives/readers.js';
import type { Retrievable } from '../primitives/retrievable.js';
import type { Thought } from '../primitives/thought.js';
import { isTokenizable, Tokenizable } from '../primitives/tokenizable.js';
import type { ToolCall } from '../primitives/tool-call.js';
import type { ContextState } from '../turn/context-state.js';
import { countTexts, estimateTexts } from '../turn/estimate.js';
import { spoolRetrievable } from '../turn/spool.js';
import type { Stash } from '../stash/stash.js';
import type { AnyTool } from '../tools/tool.js';
import type { ToolRegistry } from '../tools/tool-registry.js';
import { requireBytes, requireString, requireStrings } from './arguments.js';
import { emitText, emitToolCall, emitToolExecutionEnd, emitToolExecutionStart } from './emit.js';
import { requireOwner } from './own-methods.js';
import { stateOf } from './state-of.js';
import { type RawTurnGate, waitFor } from './wait-for.js';
import type {
  EmittedText,
  EmittedToolCall,
  EmittedToolExecutionEnd,
  EmittedToolExecutionStart,
} from './emit.js';

/** Number of the callback that fetches tools, behind those of the collections. */
const FETCH_TOOLS = 6;

/**
 * The common part of turn and dispatch contexts: collections, stash, tools, the abort signal, and methods that read
 * and write records.
 *
 * On a TurnContext the write methods call the storage callback immediately and then change the collection. Within a
 * dispatch's iteration they change the dispatch's collection immediately and queue the write. If the iteration
 * succeeds, the write reaches storage and then the parent's collections; if it was nacked, aborted or failed, it
 * reaches neither. After the end of the turn or iteration all of them reject with E_CALL_AFTER_END.
 */
export abstract class BaseContext {
  static {
    requireOwner(this.prototype, 'ctx');
  }

  /** @internal */
  readonly [stateOf]: ContextState;

  /**
   * Names the call that the context was passed to, for systems that must not do the same thing twice: in a tool's
   * handler the tool's call, in a storage callback the write. Undefined elsewhere. It stays the same when the turn is
   * replayed.
   *
   * A tool's call has the key `TURN.PATH.CHECKSUM.N`: the turn's id, the place in the turn such as `d1.0.x`, the
   * checksum of tool and arguments, and the number of the call among equal calls of that place, from 1. A write has
   * `TURN@START.eN`, the number of its effect in this run of the turn; each of several calls for one effect has a part
   * more. docs/tools.md and docs/turn-runner.md tell when two keys are equal.
   */
  get idempotencyKey(): string | undefined {
    return this.#key?.();
  }

  readonly #key: (() => string) | undefined;

  /** Of the call alone; undefined if it has none. */
  readonly #signal: AbortSignal | undefined;

  /** @internal */
  constructor(state: ContextState, key?: () => string, signal?: AbortSignal) {
    this[stateOf] = state;
    this.#key = key;
    this.#signal = signal;
  }

  /** The id of the turn or the dispatch, which events carry as `turnId` or `dispatchId`. */
  get id(): string {
    return this[stateOf].id;
  }

  /** Whether the context was aborted. */
  get aborted(): boolean {
    return (this.#signal ?? this[stateOf]).aborted;
  }

  /** Fires when the context is aborted. Pass it to every slow operation. */
  get abortSignal(): AbortSignal {
    return this.#signal ?? this[stateOf].signal;
  }

  /** Aborts the context and the contexts inside it. Running code is not stopped: the signal tells it. */
  abort(reason?: unknown): void {
    this[stateOf].abort(reason);
  }

  /** Data that middleware, executor and tools pass on. */
  get stash(): Stash {
    return this[stateOf].stash;
  }

  /** The system prompt. */
  get systemPrompt(): Tokenizable {
    return this[stateOf].turn.systemPrompt;
  }

  /** Instructions to the model in addition to the system prompt. */
  get standingInstructions(): RecordSet<Tokenizable> {
    return this.#set(Collection.Instructions);
  }

  /** The memories in scope. */
  get turnMemories(): RecordSet<Memory> {
    return this.#set(Collection.Memories);
  }

  /** The retrieved documents in scope. */
  get turnRetrievables(): RecordSet<Retrievable> {
    return this.#set(Collection.Retrievables);
  }

  /** The conversation in scope. */
  get turnMessages(): RecordSet<Message> {
    return this.#set(Collection.Messages);
  }

  /** The model's reasoning in scope. */
  get turnThoughts(): RecordSet<Thought> {
    return this.#set(Collection.Thoughts);
  }

  /** The tool calls in scope. */
  get turnToolCalls(): RecordSet<ToolCall> {
    return this.#set(Collection.ToolCalls);
  }

  /**
   * Tokens that texts have in an encoding: `claude` has ceil(UTF-16 units / 3.5); another one is counted by the
   * runner's tokenizer for it, all texts in one call. Without a tokenizer, or if it fails, the estimate is
   * ceil(UTF-16 units / 4), and a `warning` event of the kind token-estimation-degraded says so, once per encoding
   * and context.
   *
   * @throws TurncoreError E_INVALID_VALUE for an encoding that is not a name; E_TOKENIZABLE_EVALUATOR_INVALID
   */
  estimateTokens(encoding: string, texts: Iterable<string | Tokenizable>): readonly number[] {
    requireList('texts', texts);
    const list = Array.from(texts, (text) => String(text));
    return estimateTexts(this[stateOf], encoding, list);
  }

  /** @internal */
  [countTokens](encoding: string, text: string): number | undefined {
    return countTexts(this[stateOf], encoding, [text])?.[0];
  }

  /** The tools in scope. */
  get tools(): ToolRegistry {
    return this[stateOf].tools;
  }

  /** Calls fetchMemoriesCallback and returns its result; the collection does not change. */
  fetchMemories(): Promise<Memory[]> {
    return this.#fetch(Collection.Memories) as Promise<Memory[]>;
  }

  /** Calls fetchMessagesCallback and returns its result; the collection does not change. */
  fetchMessages(): Promise<Message[]> {
    return this.#fetch(Collection.Messages) as Promise<Message[]>;
  }

  /** Calls fetchThoughtsCallback and returns its result; the collection does not change. */
  fetchThoughts(): Promise<Thought[]> {
    return this.#fetch(Collection.Thoughts) as Promise<Thought[]>;
  }

  /** Calls fetchToolCallsCallback and returns its result; the collection does not change. */
  fetchToolCalls(): Promise<ToolCall[]> {
    return this.#fetch(Collection.ToolCalls) as Promise<ToolCall[]>;
  }

  /** Calls fetchToolsCallback and returns its result; the registry does not change. */
  fetchTools(): Promise<AnyTool[]> {
    return this.#fetch(FETCH_TOOLS) as Promise<AnyTool[]>;
  }

  /**
   * Calls fetchRetrievablesCallback and returns its result with the texts spooled: if a document is not inline and
   * its content is a string, storeRetrievableBytesCallback gets the text, and the document in the list has an
   * artifact. The collection does not change.
   *
   * @throws Error (rejects) if two documents share an id, before anything is written; E_INVALID_VALUE for anything
   * that is not a list
   *   of documents; E_NOT_A_SPOOL_READER
   */
  async fetchRetrievables(): Promise<Retrievable[]> {
    const list = (await this.#fetch(Collection.Retrievables)) as Retrievable[];
    requireList('fetchRetrievables', list);
    const ids = new Set<string>();
    for (const document of list) {
      requireEntry(Collection.Retrievables, document, 'fetchRetrievables');
      const { id } = document;
      if (ids.has(id)) throw new Error(`Duplicate retrievable id: ${id}`);
      ids.add(id);
    }
    const { callbacks } = this[stateOf].turn.definition;
    const spooled: Retrievable[] = [];
    for (const document of list) {
      spooled.push(await spoolRetrievable(this.#owner, callbacks.storeRetrievableBytes, document));
    }
    return spooled;
  }

  /** Calls refreshStandingInstructionsCallback and returns its result; the collection does not change. */
  refreshStandingInstructions(): Promise<(string | Tokenizable)[]> {
    return this.#fetch(Collection.Instructions) as Promise<(string | Tokenizable)[]>;
  }

  /** Stores a standing instruction. */
  storeStandingInstruction(value: string | Tokenizable): Promise<void> {
    return this.#write(Method.Store, Collection.Instructions, toText(value));
  }

  /** Replaces the standing instruction with the text `old`. */
  mutateStandingInstruction(old: string | Tokenizable, value: string | Tokenizable): Promise<void> {
    return attempt(() =>
      this.#write(Method.Mutate, Collection.Instructions, toText(value), textOf(old)),
    );
  }

  /** Deletes the standing instruction with this text. */
  deleteStandingInstruction(value: string | Tokenizable): Promise<void> {
    return attempt(() => this.#delete(Collection.Instructions, textOf(value)));
  }

  /** Stores a memory. */
  storeMemory(memory: Memory): Promise<void> {
    return this.#write(Method.Store, Collection.Memories, memory);
  }

  /** Replaces the memory with the same id. */
  mutateMemory(memory: Memory): Promise<void> {
    return this.#write(Method.Mutate, Collection.Memories, memory);
  }

  /** Deletes a memory. */
  deleteMemory(id: string): Promise<void> {
    return this.#delete(Collection.Memories, id);
  }

  /**
   * Stores a retrieved document and spools its text like {@link fetchRetrievables}. Rejects with
   * E_ARTIFACT_ID_COLLISION, before anything is written, if a tool call has its id.
   *
   * @returns the stored document
   */
  storeRetrievable(retrievable: Retrievable): Promise<Retrievable> {
    return this.#writeRetrievable(Method.Store, retrievable);
  }

  /** Replaces the document with the same id, otherwise like {@link storeRetrievable}. */
  mutateRetrievable(retrievable: Retrievable): Promise<Retrievable> {
    return this.#writeRetrievable(Method.Mutate, retrievable);
  }

  /** Deletes a retrieved document. */
  deleteRetrievable(id: string): Promise<void> {
    return this.#delete(Collection.Retrievables, id);
  }

  /** Stores a message. */
  storeMessage(message: Message): Promise<void> {
    return this.#write(Method.Store, Collection.Messages, message);
  }

  /** Replaces the message with the same id. */
  mutateMessage(message: Message): Promise<void> {
    return this.#write(Method.Mutate, Collection.Messages, message);
  }

  /** Deletes a message. */
  deleteMessage(id: string): Promise<void> {
    return this.#delete(Collection.Messages, id);
  }

  /** Stores a thought. */
  storeThought(thought: Thought): Promise<void> {
    return this.#write(Method.Store, Collection.Thoughts, thought);
  }

  /** Replaces the thought with the same id. */
  mutateThought(thought: Thought): Promise<void> {
    return this.#write(Method.Mutate, Collection.Thoughts, thought);
  }

  /** Deletes a thought. */
  deleteThought(id: string): Promise<void> {
    return this.#delete(Collection.Thoughts, id);
  }

  /** Stores a tool call. Rejects with E_ARTIFACT_ID_COLLISION if a retrieved document has its id. */
  storeToolCall(toolCall: ToolCall): Promise<void> {
    return this.#write(Method.Store, Collection.ToolCalls, toolCall);
  }

  /** Replaces the tool call with the same id. */
  mutateToolCall(toolCall: ToolCall): Promise<void> {
    return this.#write(Method.Mutate, Collection.ToolCalls, toolCall);
  }

  /** Deletes a tool call. */
  deleteToolCall(id: string): Promise<void> {
    return this.#delete(Collection.ToolCalls, id);
  }

  /** Replaces tool calls by others, at the position of the first. */
  replaceToolCallGroup(ids: readonly string[], replacements: readonly ToolCall[]): Promise<void> {
    return attempt(() => {
      const names = requireStrings(ids, 'ids');
      requireList('replacements', replacements);
      replacements.forEach((call, i) =>
        requireEntry(Collection.ToolCalls, call, `replacements[${i}]`),
      );
      for (const item of replacements) renderTexts(item);
      const { turn, number } = this[stateOf];
      const items = replacements.map((item) => this.#item(item));
      return turn.callLater(number, Method.ReplaceGroup, { ids: names, items }) as Promise<void>;
    });
  }

  /**
   * Passes bytes to storeMediaBytesCallback immediately and returns its reader. Nothing else changes.
   *
   * @throws TurncoreError (rejects) E_NOT_A_MEDIA_READER if it returns anything else
   */
  async storeMediaBytes(id: string, bytes: ConduitBytes): Promise<MediaReader> {
    requireString(id, 'id');
    requireBytes(bytes, 'bytes');
    const { storeMediaBytes } = this[stateOf].turn.definition.callbacks;
    const reader = await storeMediaBytes(this.#owner, id, bytes);
    if (!isMediaReader(reader))
      throw TurncoreError.of('E_NOT_A_MEDIA_READER', `what storeMediaBytes gave for ${id}`);
    return reader;
  }

  /**
   * Passes text or bytes to storeRetrievableBytesCallback immediately and returns its reader. Nothing else changes.
   *
   * @throws TurncoreError (rejects) E_NOT_A_SPOOL_READER if it returns anything else
   */
  async storeRetrievableBytes(id: string, bytes: ConduitBytes): Promise<SpoolReader> {
    requireString(id, 'id');
    requireBytes(bytes, 'bytes');
    const { storeRetrievableBytes } = this[stateOf].turn.definition.callbacks;
    const reader = await storeRetrievableBytes(this.#owner, id, bytes);
    if (!isSpoolReader(reader))
      throw TurncoreError.of('E_NOT_A_SPOOL_READER', `what storeRetrievableBytes gave for ${id}`);
    return reader;
  }

  /** Notifies listeners of a piece of an answer. */
  emitMessage(content: EmittedText): void {
    emitText(this[stateOf], EventKind.Message, content);
  }

  /** Notifies listeners of a piece of reasoning. */
  emitThought(content: EmittedText): void {
    emitText(this[stateOf], EventKind.Thought, content);
  }

  /** Notifies listeners of a tool call. */
  emitToolCall(content: EmittedToolCall): void {
    emitToolCall(this[stateOf], content);
  }

  /** Notifies observers that a tool's handler is about to run. */
  emitToolExecutionStart(content: EmittedToolExecutionStart): void {
    emitToolExecutionStart(this[stateOf], content);
  }

  /** Notifies observers that a tool's handler has ended. */
  emitToolExecutionEnd(content: EmittedToolExecutionEnd): void {
    emitToolExecutionEnd(this[stateOf], content);
  }

  /**
   * Opens a gate and waits until outside code settles it: a listener of turnGateOpen, or code that finds it by
   * `runner.gate(id)`. The gate belongs to the turn, whichever context opened it: a dispatch's abort leaves it open.
   *
   * @returns the value of its resolution
   * @throws TurncoreError (rejects) E_INVALID_INITIAL_TURN_GATE_VALUE listing every violation, before any event; the
   * error object of its rejection; E_TURN_GATE_ABORTED after its own abort or the turn's; E_TURN_GATE_TIMEOUT;
   *   E_LLM_EXECUTION_GATE_NOT_SUPPORTED in a raw dispatch without `waitFor`
   */
  waitFor<Value = unknown>(gate: RawTurnGate<Value>): Promise<Value> {
    return attempt(() => waitFor(this[stateOf], gate) as Promise<Value>);
  }

  #set<T extends Entry>(collection: number): RecordSet<T> {
    return this[stateOf].set(collection) as unknown as RecordSet<T>;
  }

  /** The owner of the callbacks: a dispatch within a turn calls the turn's methods. */
  get #owner(): object {
    return (this[stateOf].turn.contexts[0] ?? this[stateOf]).facade;
  }

  async #fetch(which: number): Promise<unknown> {
    return await this[stateOf].turn.definition.callbacks.fetches[which]!(this.#owner);
  }

  async #writeRetrievable(method: StoreMethod, retrievable: Retrievable): Promise<Retrievable> {
    const collection = Collection.Retrievables;
    const handle = await this.#writeEntry(method, collection, retrievable, '');
    if (typeof handle !== 'number') return retrievable;
    return this[stateOf].turn.handles.entryOf(handle) as Retrievable;
  }

  #write(method: StoreMethod, collection: number, entry: Entry, old = ''): Promise<void> {
    return this.#writeEntry(method, collection, entry, old) as Promise<void>;
  }

  #writeEntry(
    method: StoreMethod,
    collection: number,
    entry: Entry,
    old: string,
  ): Promise<unknown> {
    return attempt(() => {
      requireEntry(collection, entry, 'record');
      renderTexts(entry);
      const { turn, number } = this[stateOf];
      const { handle, data } = this.#item(entry);
      return turn.callLater(number, method, { collection, handle, data, old });
    });
  }

  #delete(collection: number, id: string): Promise<void> {
    return attempt(() => {
      requireString(id, 'id');
      const { turn, number } = this[stateOf];
      return turn.callLater(number, Method.Delete, { collection, id }) as Promise<void>;
    });
  }

  /** A record's handle, and its body if the module has not seen it in this turn. */
  #item(entry: Entry): Item {
    const { handles } = this[stateOf].turn;
    const handle = handles.handleOf(entry);
    if (handle !== 0) return { handle, data: null };
    return { handle: handles.assign(entry), data: (e) => entry[encodeBody](e) };
  }
}

type StoreMethod = typeof Method.Store | typeof Method.Mutate;

/** The text of an instruction, which identifies it. */
function textOf(value: string | Tokenizable): string {
  return isTokenizable(value) ? String(value) : requireString(value, 'text');
}

function toText(value: string | Tokenizable): Entry {
  return typeof value === 'string' ? new Tokenizable(value) : value;
}
