/**
 * The callbacks of a runner and of a raw dispatch context, by their names in the API.
 */
import type { DispatchContext } from '../context/dispatch-context.js';
import type { Awaitable } from '../awaitable.js';
import type { TurnContext } from '../context/turn-context.js';
import type { Memory } from '../primitives/memory.js';
import type { Message } from '../primitives/message.js';
import type { ConduitBytes, MediaReader, SpoolReader } from '../primitives/readers.js';
import type { Retrievable } from '../primitives/retrievable.js';
import type { Thought } from '../primitives/thought.js';
import type { Tokenizable } from '../primitives/tokenizable.js';
import type { ToolCall } from '../primitives/tool-call.js';
import type { Delta } from '../collections/deltas.js';
import type { BytesFn, Callbacks, WriteFn } from '../turn/definition.js';
import type { AnyTool } from '../tools/tool.js';
import type { Checked } from '../validation/rules.js';
import { ops, ownGroup, ownWrites, singular } from './own-callbacks.js';

export type { ConduitBytes };

/** Functions that read and write one kind of context's records, by their names in a raw context. */
export interface RecordCallbacks<Ctx> {
  readonly fetchMemories: (ctx: Ctx) => Awaitable<Memory[]>;
  readonly fetchMessages: (ctx: Ctx) => Awaitable<Message[]>;
  readonly fetchThoughts: (ctx: Ctx) => Awaitable<Thought[]>;
  readonly fetchToolCalls: (ctx: Ctx) => Awaitable<ToolCall[]>;
  readonly fetchTools: (ctx: Ctx) => Awaitable<AnyTool[]>;
  readonly fetchRetrievables: (ctx: Ctx) => Awaitable<Retrievable[]>;
  readonly refreshStandingInstructions: (ctx: Ctx) => Awaitable<(string | Tokenizable)[]>;
  readonly storeStandingInstruction: (ctx: Ctx, value: Tokenizable) => unknown;
  /** `old` is the text that is replaced. */
  readonly mutateStandingInstruction: (ctx: Ctx, old: string, value: Tokenizable) => unknown;
  readonly deleteStandingInstruction: (ctx: Ctx, value: string) => unknown;
  readonly storeMemory: (ctx: Ctx, memory: Memory) => unknown;
  readonly mutateMemory: (ctx: Ctx, memory: Memory) => unknown;
  readonly deleteMemory: (ctx: Ctx, id: string) => unknown;
  readonly storeRetrievable: (ctx: Ctx, retrievable: Retrievable) => unknown;
  readonly mutateRetrievable: (ctx: Ctx, retrievable: Retrievable) => unknown;
  readonly deleteRetrievable: (ctx: Ctx, id: string) => unknown;
  readonly storeMessage: (ctx: Ctx, message: Message) => unknown;
  readonly mutateMessage: (ctx: Ctx, message: Message) => unknown;
  readonly deleteMessage: (ctx: Ctx, id: string) => unknown;
  readonly storeThought: (ctx: Ctx, thought: Thought) => unknown;
  readonly mutateThought: (ctx: Ctx, thought: Thought) => unknown;
  readonly deleteThought: (ctx: Ctx, id: string) => unknown;
  readonly storeToolCall: (ctx: Ctx, toolCall: ToolCall) => unknown;
  readonly mutateToolCall: (ctx: Ctx, toolCall: ToolCall) => unknown;
  readonly deleteToolCall: (ctx: Ctx, id: string) => unknown;
  /** Keeps the bytes of a media and returns a reader of them. */
  readonly storeMediaBytes: (ctx: Ctx, id: string, bytes: ConduitBytes) => Awaitable<MediaReader>;
  /** Keeps the text of a retrieved document and returns a reader of it. */
  readonly storeRetrievableBytes: (
    ctx: Ctx,
    id: string,
    bytes: ConduitBytes,
  ) => Awaitable<SpoolReader>;
}

/** Optional functions of a context. */
export interface OptionalCallbacks<Ctx> {
  /** Replaces a group of tool calls in one transaction. Without it they are deleted and stored one by one. */
  readonly replaceToolCallGroup?:
    ((ctx: Ctx, removedIds: string[], replacements: ToolCall[]) => unknown) | undefined;
  /** Writes an iteration's queue in one transaction. Without it the writes are made one by one. */
  readonly commit?: ((ctx: Ctx, deltas: Delta[]) => unknown) | undefined;
  /** Gets the writes dropped by an iteration's nack, abort or failure. */
  readonly discard?:
    ((ctx: Ctx, deltas: Delta[], status: 'nack' | 'aborted') => unknown) | undefined;
}

/** The callbacks of a TurnRunner: those of a context, with `Callback` behind their names. */
export type TurnCallbacks = {
  readonly [
    K in keyof RecordCallbacks<TurnContext> as `${K}Callback`
  ]: RecordCallbacks<TurnContext>[K];
} & {
  readonly [
    K in keyof OptionalCallbacks<TurnContext> as `${K}Callback`
  ]?: OptionalCallbacks<TurnContext>[K];
};

/** The functions of a raw dispatch context. */
export type DispatchCallbacks = RecordCallbacks<DispatchContext> &
  OptionalCallbacks<DispatchContext>;

/** The same with `Callback` behind their names, as for a TurnRunner: both forms are accepted. */
export type NamedDispatchCallbacks = {
  readonly [
    K in keyof RecordCallbacks<DispatchContext> as `${K}Callback`
  ]: RecordCallbacks<DispatchContext>[K];
} & {
  readonly [
    K in keyof OptionalCallbacks<DispatchContext> as `${K}Callback`
  ]?: OptionalCallbacks<DispatchContext>[K];
};

const fetches = [
  'refreshStandingInstructions',
  'fetchMemories',
  'fetchRetrievables',
  'fetchMessages',
  'fetchThoughts',
  'fetchToolCalls',
  'fetchTools',
];

/** The callbacks by their numbers on the wire, from checked values. */
export function callbacksOf(values: Checked, suffix: '' | 'Callback'): Callbacks {
  const get = (name: string): unknown => values[name + suffix];
  const own = ownWrites(values);
  const group =
    own?.replaceGroup === true && !ownGroup(values) ? undefined : get('replaceToolCallGroup');
  return {
    writes: singular.map((kind) => ops.map((op) => get(op + kind)) as [WriteFn, WriteFn, WriteFn]),
    own,
    fetches: fetches.map((name) => get(name) as (ctx: object) => unknown),
    replaceToolCallGroup: group as Callbacks['replaceToolCallGroup'],
    storeMediaBytes: get('storeMediaBytes') as BytesFn,
    storeRetrievableBytes: get('storeRetrievableBytes') as BytesFn,
    commit: get('commit') as Callbacks['commit'],
    discard: get('discard') as Callbacks['discard'],
  };
}
