/**
 * What many turns share: executor, tools, pipelines and callbacks.
 */
import type { Entry } from '../collections/kinds.js';
import type { AnyTool } from '../tools/tool.js';
import { ToolRegistry, type ToolState } from '../tools/tool-registry.js';
import type { Tokenizers } from '../primitives/tokenizers.js';
import type { ChatExecutor } from '../chat/chat-executor.js';
import type { Wrappers } from './wrap.js';
import type { Delta } from '../collections/deltas.js';

/** Writes one record; a deletion gets the id or the text. */
export type WriteFn = (ctx: object, value: Entry | string, instruction?: Entry) => unknown;

/** Stores bytes under an id and returns a reader. */
export type BytesFn = (ctx: object, id: string, bytes: unknown) => unknown;

/** The callbacks of a runner or of a raw context, under one set of names. */
export interface Callbacks {
  /** By collection number and by kind of write: store, mutate, delete. */
  readonly writes: readonly (readonly [WriteFn, WriteFn, WriteFn])[];
  readonly replaceToolCallGroup:
    ((ctx: object, ids: string[], replacements: Entry[]) => unknown) | undefined;
  readonly commit: ((ctx: object, deltas: Delta[]) => unknown) | undefined;
  /** The writes that functions of the program make instead of `commit`. */
  readonly own:
    | { readonly single: readonly (readonly boolean[])[]; readonly replaceGroup: boolean }
    | undefined;
  readonly discard: ((ctx: object, deltas: Delta[], status: string) => unknown) | undefined;
  readonly storeMediaBytes: BytesFn;
  readonly storeRetrievableBytes: BytesFn;
  /** By collection number; tools last. */
  readonly fetches: readonly ((ctx: object) => unknown)[];
}

/** A middleware, whatever contexts it takes. Its type is checked where it is given. */
export type MiddlewareFn = (ctx: never, next: never) => unknown;

/** An executor function, whatever contexts it takes. Its type is checked where it is given. */
export type ExecutorFn = (ctx: never, helpers: never) => unknown;

/** What many turns share. */
export interface Definition {
  readonly executor: ExecutorFn | ChatExecutor;
  readonly tools: readonly AnyTool[];
  /** Numbers of the tools. */
  readonly toolNumbers: ReadonlyMap<AnyTool, number>;
  /** What contexts begin with. */
  readonly toolState: ToolState;
  /** By pipeline number. */
  readonly pipelines: readonly (readonly MiddlewareFn[])[];
  readonly callbacks: Callbacks;
  readonly tokenizers: Tokenizers;
  readonly wrappers: Wrappers;
}

/** The tools of a definition, numbered from 1 in order. */
export function toolParts(
  tools: readonly AnyTool[],
): Pick<Definition, 'tools' | 'toolNumbers' | 'toolState'> {
  const toolNumbers = new Map<AnyTool, number>();
  const registry = new ToolRegistry();
  tools.forEach((tool, i) => {
    if (!toolNumbers.has(tool)) toolNumbers.set(tool, i + 1);
    // The module refuses a name that occurs twice.
    if (!registry.has(tool.name)) registry.register(tool);
  });
  return { tools, toolNumbers, toolState: registry.snapshot() };
}
