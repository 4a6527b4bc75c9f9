/**
 * Tools: what a model may call.
 */
import { attempt } from '../attempt.js';
import type { Encoder } from '../codec/encoder.js';
import type { DispatchContext } from '../context/dispatch-context.js';
import { Registry } from '../stash/registry.js';
import { check } from '../validation/rules.js';

/** What happens when registries are merged and a tool's name is taken. */
export type CollisionPolicy = 'throw' | 'replace' | 'keep';

/** A JSON Schema 2020-12 of object type, as data. */
export interface ObjectSchema {
  readonly type: 'object';
  readonly [keyword: string]: unknown;
}

/**
 * Runs a tool. It may return anything; what it returns or throws reaches whoever asked for the call.
 *
 * @param args the arguments, validated, defaults filled in
 * @param ctx the dispatch that the call belongs to
 * @param meta the tool's own data
 */
export type ToolHandler<Args, Result> = (
  args: Args,
  ctx: DispatchContext,
  meta: Registry,
) => Result | PromiseLike<Result>;

/** Name of the method by which a context runs a tool. */
export const executeTool = Symbol('executeTool');

/** What a {@link Tool} is made of. */
export interface RawTool<Args, Result> {
  /** Unique in its registry. */
  readonly name: string;
  /** For the model. */
  readonly description: string;
  /** What the arguments must be. */
  readonly inputSchema: ObjectSchema;
  readonly handler: ToolHandler<Args, Result>;
  /** The tool's own data, which its handler gets. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** Whether it goes when its dispatch has acked. Default false. */
  readonly ephemeral?: boolean | undefined;
  /** Whether its results count as written by the operator. Default false. */
  readonly trusted?: boolean | undefined;
  /** What happens when a merged registry has the name already. Default "throw". */
  readonly onCollision?: CollisionPolicy | undefined;
}

/** How a model is told of a tool. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
}

/**
 * Something a model may call. Immutable.
 *
 * @typeParam Args type of the arguments, as its schema describes them
 * @typeParam Result what the handler returns
 */
export class Tool<Args = Record<string, unknown>, Result = unknown> {
  /** Unique in its registry. */
  readonly name: string;
  /** For the model. */
  readonly description: string;
  /** What the arguments must be, deeply frozen. */
  readonly inputSchema: ObjectSchema;
  /** Runs the tool. {@link executor} is how it is called. */
  readonly handler: ToolHandler<Args, Result>;
  /** The tool's own data. */
  readonly meta: Registry;
  /** Whether it goes when its dispatch has acked. */
  readonly ephemeral: boolean;
  /** Whether its results count as written by the operator. */
  readonly trusted: boolean;
  /** What happens when a merged registry has the name already. */
  readonly onCollision: CollisionPolicy;

  /** @throws TurncoreError E_INVALID_INITIAL_TOOL_VALUE listing every violation */
  constructor(raw: RawTool<Args, Result>) {
    const values = check('Tool', raw);
    this.name = values['name'] as string;
    this.description = values['description'] as string;
    this.inputSchema = values['inputSchema'] as ObjectSchema;
    this.handler = values['handler'] as ToolHandler<Args, Result>;
    this.meta = new Registry(values['meta'] as Record<string, unknown>);
    this.ephemeral = values['ephemeral'] as boolean;
    this.trusted = values['trusted'] as boolean;
    this.onCollision = values['onCollision'] as CollisionPolicy;
    Object.freeze(this);
  }

  /** What a model is told of it. */
  describe(): ToolDescription {
    return { name: this.name, description: this.description, inputSchema: this.inputSchema };
  }

  /**
   * The way to call the tool within a dispatch: checks the arguments against the schema, tells observers with
   * toolExecutionStart and toolExecutionEnd, and runs the handler.
   *
   * @returns a function that resolves to what the handler returned. It rejects with E_INVALID_TOOL_ARGS when the
   *   arguments break the schema (the handler is not called), and with E_TOOL_DOWNSTREAM_ERROR when the handler threw
   */
  executor(ctx: DispatchContext): (args: Args) => Promise<Result> {
    return (args) => attempt(() => ctx[executeTool](this, args) as Promise<Result>);
  }
}

/** A tool whatever its arguments. */
export type AnyTool = Tool<never>;

/** Writes a tool's definition for the module. */
export function encodeTool(enc: Encoder, number: number, tool: AnyTool): void {
  enc.arrayHeader(8);
  enc.int(number);
  enc.str(tool.name);
  enc.str(tool.description);
  enc.value(tool.inputSchema, 'inputSchema');
  enc.int((tool.trusted ? 1 : 0) | (tool.ephemeral ? 2 : 0));
  enc.int(collisions.indexOf(tool.onCollision));
  enc.str('');
  enc.nil();
}

const collisions: readonly CollisionPolicy[] = ['throw', 'replace', 'keep'];
